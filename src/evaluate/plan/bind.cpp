#include "evaluate/plan/bind.h"

#include "base/glob.h"
#include "base/try.h"
#include "config/check_keys.h"
#include "config/yaml_values.h"
#include "evaluate/plan/reader.h"
#include "evaluate/plan/stack_order.h"
#include "mapping/operators.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <set>
#include <unordered_map>

namespace monet {

namespace {

LoopCut& cut_along(std::vector<LoopCut>& cuts, Dim loop) {
  const auto found = std::ranges::find(cuts, loop, &LoopCut::loop);
  return found != cuts.end() ? *found : cuts.emplace_back(LoopCut{.loop = loop});
}

const Loop* loop_in(const std::vector<Loop>& loops, Dim name) {
  const auto found = std::ranges::find(loops, name, &Loop::name);
  return found == loops.end() ? nullptr : &*found;
}

std::string loop_names(const std::vector<Loop>& loops) {
  if (loops.empty()) return "it is a view and has no loops";
  std::vector<std::string> names;
  for (const Loop& loop : loops) names.push_back(fmt::format("{} of {}", name_of(loop.name), loop.size));
  return fmt::format("it has {}", fmt::join(names, ", "));
}

OperatorLoops loops_of(const Graph& graph, const Node& node) {
  OperatorLoops result;
  for (const Nest& nest : nests_of(site_of(graph, node)).nests) {
    result.counts.push_back(nest.per_point);
    for (const Loop& loop : nest.loops) {
      // Where nests differ in it, the longest is what can be cut.
      const auto known = std::ranges::find(result.loops, loop.name, &Loop::name);
      if (known == result.loops.end()) {
        result.loops.push_back(loop);
      } else {
        known->size = std::max(known->size, loop.size);
      }
    }
  }
  return result;
}

}  // namespace

// One plan on its way to ids.
class PlanBinding {
 public:
  PlanBinding(const Binder& binder, const Plan& plan) : of_(binder), plan_(plan) {
    result_.operators.resize(of_.graph_.nodes().size());
    split_.resize(result_.operators.size());
    result_.order = plan.order;
    result_.transfers = plan.transfers;
    if (plan.stacks.empty() && plan.operators.empty()) return;
    for (std::size_t i = 0; i < graph().nodes().size(); ++i) nodes_.emplace(graph().nodes()[i].name, NodeId(i));
    for (std::size_t i = 0; i < hardware().cores.size(); ++i) cores_.emplace(hardware().cores[i].name, CoreId(i));
  }

  Expected<BoundPlan> run() {
    for (std::size_t i = 0; i < plan_.stacks.size(); ++i) MONET_RETURN_IF_ERROR(bind_stack(i));
    MONET_RETURN_IF_ERROR(run_order(of_.graph_, of_.dependencies_, stacks_, plan_.order == PlanOrder::listed));
    for (const PlannedOperator& planned : plan_.operators) MONET_RETURN_IF_ERROR(bind_operator(planned));
    for (std::size_t i = 0; i < result_.operators.size(); ++i) MONET_RETURN_IF_ERROR(complete(NodeId(i)));
    return std::move(result_);
  }

 private:
  // Pieces over cores, as an entry stated them.
  struct Split {
    const PlannedOperator* by = nullptr;        // null: not stated
    const PlannedOperator* cores_by = nullptr;  // null: not stated
    std::vector<LoopSize> pieces;               // cut down to what the operator has
  };

  const Graph& graph() const { return of_.graph_; }
  const Hardware& hardware() const { return of_.hardware_; }

  Expected<NodeId> node_named(const std::string& name, const Place& place) const {
    const auto found = nodes_.find(name);
    if (found != nodes_.end()) return found->second;
    const std::string message = fmt::format("there is no operator '{}'", shown(name));
    const std::size_t mark = name.rfind('~');
    if (mark != std::string::npos && nodes_.contains(std::string_view(name).substr(0, mark))) {
      return error_at(place, message,
                      fmt::format("'{}' has no such copy: name under tensors what is to be recomputed",
                                  shown(name.substr(0, mark))));
    }
    std::vector<std::string> names;
    for (const Node& node : graph().nodes()) names.push_back(node.name);
    return error_at(place, message, meant_name(name, names));
  }

  Status bind_stack(std::size_t index) {
    const PlannedStack& planned = plan_.stacks[index];
    const auto number = static_cast<std::uint32_t>(result_.stacks.size());
    StackNodes stack{.name = planned.name, .nodes = {}, .place = planned.place};
    std::vector<NodeId> members;
    for (const std::string& name : planned.operators) {
      MONET_TRY(const NodeId node, node_named(name, planned.place));
      members.push_back(node);
      if (of_.dependencies_.is_view(node)) continue;
      std::optional<std::uint32_t>& place = result_.operators[node.index()].stack;
      if (place) {
        const bool same = *place == number;
        return error_at(planned.place,
                        fmt::format("operator '{}' is {}", name, same ? "twice in this stack" : "in two stacks"),
                        same ? "name it once"
                             : fmt::format("take it out of this one or of that at {}", stacks_[*place].place.text()));
      }
      place = number;
      stack.nodes.push_back(node);
    }
    MONET_RETURN_IF_ERROR(set_tile(planned.tile, members, planned.place));
    if (stack.nodes.empty()) return Done{};
    std::ranges::sort(stack.nodes);
    result_.stacks.push_back({planned.name, stack.nodes});
    stacks_.push_back(std::move(stack));
    return Done{};
  }

  // What is said of a loop: fails when no operator among `nodes` has it, or none has as many iterations.
  Status check_loop(const LoopSize& wanted, const std::vector<NodeId>& nodes, std::string_view what,
                    const Place& place) const {
    const Loop* longest = nullptr;
    NodeId longest_of;
    for (NodeId node : nodes) {
      const Loop* loop = loop_in(of_.loops(node), wanted.loop);
      if (loop == nullptr || (longest != nullptr && longest->size >= loop->size)) continue;
      longest = loop;
      longest_of = node;
    }
    const std::string loop = name_of(wanted.loop);
    if (longest == nullptr) {
      if (nodes.size() > 1)
        return error_at(place, fmt::format("none of these operators has a loop {}", loop), "take it out");
      const Node& node = graph()[nodes.front()];
      return error_at(place, fmt::format("operator '{}' ({}) has no loop {}", node.name, name_of(node.op), loop),
                      loop_names(of_.loops(nodes.front())));
    }
    if (wanted.size >= 1 && wanted.size <= longest->size) return Done{};
    return error_at(place,
                    fmt::format("{} {} along {} of operator '{}', which has {} iterations", wanted.size, what, loop,
                                graph()[longest_of].name, longest->size),
                    fmt::format("from 1 to {}", longest->size));
  }

  Status set_tile(const std::vector<LoopSize>& tile, const std::vector<NodeId>& nodes, const Place& place) {
    for (const LoopSize& wanted : tile) {
      MONET_RETURN_IF_ERROR(check_loop(wanted, nodes, "iterations in a tile", place));
      for (NodeId node : nodes) {
        const Loop* loop = loop_in(of_.loops(node), wanted.loop);
        if (loop == nullptr) continue;
        BoundOperator& bound = result_.operators[node.index()];
        cut_along(bound.cuts, wanted.loop).tile = std::min(wanted.size, loop->size);
        bound.tile_stated = true;
      }
    }
    return Done{};
  }

  Expected<std::vector<NodeId>> nodes_of(const PlannedOperator& planned) const {
    if (!is_pattern(planned.name) || nodes_.contains(planned.name)) {
      MONET_TRY(const NodeId node, node_named(planned.name, planned.place));
      return std::vector{node};
    }
    std::vector<NodeId> nodes;
    for (std::size_t i = 0; i < graph().nodes().size(); ++i) {
      const NodeId id(i);
      if (!of_.dependencies_.is_view(id) && matches(planned.name, graph()[id].name)) nodes.push_back(id);
    }
    if (!nodes.empty()) return nodes;
    return error_at(planned.place, fmt::format("no operator matches '{}'", shown(planned.name)),
                    "`monet inspect MODEL --layers` lists those of the forward part");
  }

  Status bind_operator(const PlannedOperator& planned) {
    MONET_TRY(const std::vector<NodeId> nodes, nodes_of(planned));
    MONET_RETURN_IF_ERROR(set_tile(planned.tile, nodes, planned.place));
    for (const LoopSize& wanted : planned.split)
      MONET_RETURN_IF_ERROR(check_loop(wanted, nodes, "pieces", planned.place));
    if (planned.priority && !std::isfinite(*planned.priority)) {
      return error_at(planned.place, fmt::format("the priority of '{}' is no number", planned.name), "give it one");
    }
    for (NodeId node : nodes) {
      if (of_.dependencies_.is_view(node)) continue;
      if (planned.priority) result_.operators[node.index()].priority = planned.priority;
      set_split(planned, node);
      if (!planned.cores.empty()) MONET_RETURN_IF_ERROR(set_cores(planned, node));
    }
    return Done{};
  }

  void set_split(const PlannedOperator& planned, NodeId node) {
    std::vector<LoopSize> pieces;
    for (const LoopSize& wanted : planned.split) {
      const Loop* loop = loop_in(of_.loops(node), wanted.loop);
      if (loop != nullptr) pieces.push_back({wanted.loop, std::min(wanted.size, loop->size)});
    }
    if (pieces.empty()) return;
    split_[node.index()].by = &planned;
    split_[node.index()].pieces = std::move(pieces);
  }

  Status set_cores(const PlannedOperator& planned, NodeId node) {
    std::vector<CoreId> cores;
    std::set<CoreId> seen;
    const std::string& name = graph()[node].name;
    for (const std::string& wanted : planned.cores) {
      const auto found = cores_.find(wanted);
      if (found != cores_.end()) {
        if (const std::string reason = of_.why_not(found->second, node); !reason.empty()) {
          return error_at(planned.place, fmt::format("core '{}' cannot run operator '{}': {}", wanted, name, reason),
                          able_text(node));
        }
        cores.push_back(found->second);
        seen.insert(found->second);
        continue;
      }
      MONET_TRY(const std::vector<CoreId> matching, cores_matching(wanted, node, planned.place));
      for (CoreId core : matching) {
        if (seen.insert(core).second) cores.push_back(core);
      }
    }
    result_.operators[node.index()].cores = std::move(cores);
    split_[node.index()].cores_by = &planned;
    return Done{};
  }

  Expected<std::vector<CoreId>> cores_matching(const std::string& pattern, NodeId node, const Place& place) const {
    std::vector<CoreId> able;
    std::string reason;
    for (std::size_t i = 0; i < hardware().cores.size(); ++i) {
      if (!is_pattern(pattern) || !matches(pattern, hardware().cores[i].name)) continue;
      const std::string why = of_.why_not(CoreId(i), node);
      if (why.empty()) able.push_back(CoreId(i));
      if (!why.empty() && reason.empty()) reason = why;
    }
    if (!able.empty()) return able;
    if (!reason.empty()) {
      return error_at(place,
                      fmt::format("no core that matches '{}' can run operator '{}': {}", shown(pattern),
                                  graph()[node].name, reason),
                      able_text(node));
    }
    std::vector<std::string> names;
    for (const Core& core : hardware().cores) names.push_back(core.name);
    return error_at(place, fmt::format("there is no core '{}'", shown(pattern)), meant_name(pattern, names));
  }

  // "these can: …"
  std::string able_text(NodeId node) const {
    constexpr std::size_t most = 4;
    std::vector<std::string_view> names;
    for (std::size_t i = 0; i < hardware().cores.size() && names.size() <= most; ++i) {
      if (of_.why_not(CoreId(i), node).empty()) names.push_back(hardware().cores[i].name);
    }
    if (names.empty()) return "no core of this machine can";
    const bool more = names.size() > most;
    names.resize(std::min(names.size(), most));
    return fmt::format("these can: {}{}", fmt::join(names, ", "), more ? ", …" : "");
  }

  // Puts split and cores together.
  Status complete(NodeId node) {
    const Split& split = split_[node.index()];
    if (split.by == nullptr) return Done{};
    BoundOperator& bound = result_.operators[node.index()];
    bound.split_stated = true;
    std::vector<LoopCut> cuts;
    std::int64_t pieces = 1;
    for (const LoopSize& part : split.pieces) {
      cuts.push_back({part.loop, part.size, 0});
      if (part.size > max_pieces / pieces) {
        return error_at(split.by->place,
                        fmt::format("operator '{}' is split into more than {} pieces", graph()[node].name, max_pieces),
                        "split it less: tiles cut it further");
      }
      pieces *= part.size;
    }
    for (const LoopCut& tiled : bound.cuts) cut_along(cuts, tiled.loop).tile = tiled.tile;
    bound.cuts = std::move(cuts);
    if (bound.cores.empty()) return Done{};
    MONET_RETURN_IF_ERROR(check_cores(node, split, pieces));
    std::vector<CoreId> by_piece;
    for (std::int64_t i = 0; i < pieces; ++i)
      by_piece.push_back(bound.cores[static_cast<std::size_t>(i) % bound.cores.size()]);
    bound.cores = std::move(by_piece);
    return Done{};
  }

  // Cores that are named one by one must all have something to do, unless a pattern cut the pieces down.
  Status check_cores(NodeId node, const Split& split, std::int64_t pieces) const {
    const std::vector<std::string>& named = split.cores_by->cores;
    const bool one_by_one = std::ranges::all_of(named, [&](const std::string& name) { return cores_.contains(name); });
    const bool cut_down = is_pattern(split.by->name);
    if (!one_by_one || cut_down || std::cmp_less_equal(named.size(), pieces)) return Done{};
    return error_at(split.cores_by->place,
                    fmt::format("operator '{}' has {} cores and {} {}", graph()[node].name, named.size(), pieces,
                                pieces == 1 ? "piece" : "pieces"),
                    "split it into at least as many pieces, or name fewer cores");
  }

  const Binder& of_;
  const Plan& plan_;
  std::unordered_map<std::string_view, NodeId> nodes_;
  std::unordered_map<std::string_view, CoreId> cores_;
  BoundPlan result_;
  std::vector<StackNodes> stacks_;  // as in result_
  std::vector<Split> split_;        // by node
};

Binder::Binder(const Graph& graph, const Hardware& hardware)
    : graph_(graph), hardware_(hardware), dependencies_(graph), own_(std::make_unique<LoopTable>()) {
  loops_.reserve(graph.nodes().size());
  for (const Node& node : graph.nodes()) {
    loops_.push_back(&own_->add(static_cast<std::uint32_t>(loops_.size()), loops_of(graph, node)));
  }
}

Binder::Binder(const Graph& graph, const Hardware& hardware, const OperatorClasses& classes, LoopTable& table)
    : graph_(graph), hardware_(hardware), dependencies_(graph) {
  loops_.reserve(graph.nodes().size());
  for (std::size_t i = 0; i < graph.nodes().size(); ++i) {
    const NodeId id(i);
    loops_.push_back(&table.find_or_make(classes[id], [&] { return loops_of(graph, graph[id]); }));
  }
}

std::string Binder::why_not(CoreId core, NodeId node) const {
  const std::vector<Counts>& counts = loops_[node.index()]->counts;
  if (counts.empty()) return {};  // a view needs no core
  return cannot_run(hardware_[core], graph_[node].op, std::span(counts));
}

Expected<BoundPlan> Binder::bind(const Plan& plan) const { return PlanBinding(*this, plan).run(); }

Expected<BoundPlan> bind(const Plan& plan, const Graph& graph, const Hardware& hardware) {
  return Binder(graph, hardware).bind(plan);
}

}  // namespace monet

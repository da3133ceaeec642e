#include "optimize/fusion/fuse.h"

#include "base/try.h"
#include "evaluate/account/totals.h"
#include "evaluate/plan/stack_order.h"
#include "optimize/fusion/check.h"

#include <fmt/format.h>

#include <algorithm>
#include <unordered_map>

namespace monet::fusion {

namespace {

class Fusing {
 public:
  Fusing(const Graph& graph, const Hardware& hardware, MappingCache& cache, const PlanRequest& base,
         const FuseSettings& settings)
      : graph_(graph), hardware_(hardware), cache_(cache), base_(base), settings_(settings) {
    settings_.candidates.stop = settings_.cover.stop = settings.stop;
  }

  Expected<Fused> run() {
    Evaluator evaluator(graph_, hardware_, cache_, settings_.evaluator);
    if (evaluator.runs_kernels()) {
      return Error{.message = fmt::format("an eager framework runs each operator on {} by itself: there are no stacks",
                                          hardware_.name),
                   .place = "--lowering",
                   .advice = "--lowering nests takes the machine as arrays"};
    }
    MONET_TRY(const Evaluated unfused, evaluator.evaluate(base_));
    const Totals sums = totals(hardware_, unfused.schedule);
    result_.unfused = {sums.cycles, sums.energy_pj};
    if (settings_.begun) settings_.begun();
    MONET_TRY(problem_, make_problem(graph_, evaluator.machine(), settings_.rules, evaluator.element_bits()));
    result_.operators = problem_.size();
    MONET_RETURN_IF_ERROR(find_candidates());
    price();
    MONET_TRY(const std::vector<Stacks> starts, find_starts());
    MONET_RETURN_IF_ERROR(improve_on(starts));
    MONET_RETURN_IF_ERROR(check(evaluator.element_bits()));
    result_.stopped = settings_.stop && settings_.stop();
    return std::move(result_);
  }

 private:
  bool is_given() const { return !settings_.given.empty(); }
  bool is_priced() const { return settings_.objective != Objective::sets && settings_.objective != Objective::traffic; }

  Status find_candidates() {
    if (is_given()) return take_given();
    candidates_ = candidates_of(problem_, settings_.rules, Reachability(problem_), settings_.candidates);
    result_.candidates = candidates_.sets.size();
    result_.complete = candidates_.complete;
    tell("sets", candidates_.sets.size(), candidates_.sets.size());
    return Done{};
  }

  Status take_given() {
    for (Index op = 0; op < problem_.size(); ++op) candidates_.sets.add(std::span(&op, 1));
    std::vector<std::uint8_t> used(problem_.size(), 0);
    for (const std::vector<NodeId>& nodes : settings_.given) {
      std::vector<Index> set;
      for (NodeId node : nodes) {
        if (const Index op = problem_.operator_of[node.index()]; op != Problem::none) set.push_back(op);
      }
      std::ranges::sort(set);
      for (Index op : set) {
        if (used[op]++ != 0) {
          return Error{.message = fmt::format("operator '{}' is in two stacks", graph_[problem_.nodes[op]].name),
                       .place = "--stacks",
                       .advice = "let the ranges not overlap"};
        }
      }
      if (set.size() > 1) candidates_.sets.add(set);
    }
    result_.candidates = candidates_.sets.size();
    return Done{};
  }

  // The sets that may be in the answer. For the fewest sets and the least traffic only those of the cover: what others
  // cost does not matter.
  void price() {
    PriceOptions options{.objective = settings_.objective, .evaluator = settings_.evaluator};
    options.tiles = settings_.tiles;
    options.stop = settings_.stop;
    options.progress = [this](std::size_t done, std::size_t all) { tell("priced", done, all); };
    if (is_given() || is_priced()) {
      if (!is_given()) find_fewest();
      price_all(options);
      return;
    }
    for (;;) {
      find_fewest();
      chosen_ = choose(problem_, candidates_, {}, settings_.objective, settings_.cover);
      const Candidates all = candidates_;
      keep_only(chosen_.covers.front());
      price_all(options);
      Lists<Index> wrong;
      for (std::size_t s = problem_.size(); s < candidates_.sets.size(); ++s)
        if (cannot_run(s)) wrong.add(candidates_.sets[s]);
      if (wrong.size() == 0) return;
      // No answer has them: the next best without.
      candidates_ = all;
      leave_out(wrong);
    }
  }

  void find_fewest() {
    result_.fewest = choose(problem_, candidates_, {}, Objective::sets, settings_.cover).covers.front();
  }

  void price_all(const PriceOptions& options) {
    prices_ = price_sets(graph_, hardware_, cache_, problem_, candidates_.sets, options);
    result_.classes = prices_.prices.size();
    result_.priced += prices_.evaluated;
  }

  // Not as it is and not in tiles; one for whose price there was no time may.
  bool cannot_run(std::size_t set) const {
    const Price& price = prices_.of(static_cast<std::uint32_t>(set));
    return price.ways.empty() && !price.failure.empty();
  }

  void leave_out(const Lists<Index>& wrong) {
    Lists<Index> kept;
    for (std::size_t s = 0; s < candidates_.sets.size(); ++s) {
      bool is_wrong = false;
      for (std::size_t w = 0; w < wrong.size(); ++w) is_wrong |= std::ranges::equal(wrong[w], candidates_.sets[s]);
      if (!is_wrong) kept.add(candidates_.sets[s]);
    }
    candidates_.sets = std::move(kept);
  }

  // Leaves single sets and those of the cover, and renumbers them.
  void keep_only(Cover& cover) {
    Lists<Index> kept;
    for (Index op = 0; op < problem_.size(); ++op) kept.add(std::span(&op, 1));
    for (std::uint32_t& s : cover.chosen) {
      if (s < problem_.size()) continue;
      kept.add(candidates_.sets[s]);
      s = static_cast<std::uint32_t>(kept.size() - 1);
    }
    candidates_.sets = std::move(kept);
  }

  Stacks stacks_of(const Cover& cover) const {
    Stacks stacks;
    for (std::uint32_t s : cover.chosen) stacks.push_back({s, prices_.of(s).ways.empty() ? no_way : 0});
    return stacks;
  }

  Expected<std::vector<Stacks>> find_starts() {
    std::vector<Stacks> starts;
    if (is_given()) {
      std::vector<std::uint8_t> used(problem_.size(), 0);
      Cover cover;
      for (std::size_t s = candidates_.sets.size(); s-- > 0;) {
        if (used[candidates_.sets[s][0]] != 0) continue;
        for (Index op : candidates_.sets[s]) used[op] = 1;
        cover.chosen.push_back(static_cast<std::uint32_t>(s));
      }
      std::ranges::sort(cover.chosen, {}, [&](std::uint32_t s) { return candidates_.sets[s][0]; });
      starts.push_back(stacks_of(cover));
      starts.push_back(uncut(starts.front()));
      return starts;
    }
    if (is_priced()) chosen_ = choose(problem_, candidates_, prices_, settings_.objective, settings_.cover);
    const Cover& first = chosen_.covers.front();
    result_.predicted = settings_.objective == Objective::edp ? product_of(first) : first.cost;
    result_.predicted_bound = chosen_.bound;
    result_.proven = chosen_.proven && candidates_.complete;
    for (const Cover& each : chosen_.covers) {
      starts.push_back(stacks_of(each));
      result_.parts = std::max(result_.parts, each.parts);
      result_.parts_solved += each.solved;
      result_.programs += each.programs;
      result_.cuts += each.cuts;
    }
    starts.push_back(uncut(starts.front()));
    if (is_priced()) {
      Stacks single;
      for (Index op = 0; op < problem_.size(); ++op) single.push_back({op, no_way});
      starts.push_back(single);
      for (Stack& stack : single) stack.way = prices_.of(stack.set).ways.empty() ? no_way : 0;
      starts.push_back(single);
    }
    return starts;
  }

  static Stacks uncut(Stacks stacks) {
    for (Stack& stack : stacks) stack.way = no_way;
    return stacks;
  }

  double product_of(const Cover& cover) const {
    Cost sum;
    for (std::uint32_t s : cover.chosen) {
      if (prices_.of(s).ways.empty()) continue;
      sum.cycles += prices_.of(s).ways.front().cost.cycles;
      sum.energy_pj += prices_.of(s).ways.front().cost.energy_pj;
    }
    return sum.cycles * sum.energy_pj;
  }

  Status improve_on(const std::vector<Stacks>& starts) {
    const Step step{graph_, hardware_, problem_, candidates_, prices_, base_};
    ImproveOptions options{
        .objective = settings_.objective, .value = settings_.value, .evaluator = settings_.evaluator};
    options.sets = is_priced() && !is_given();
    options.tile_budget = settings_.improve ? settings_.tile_budget : 0;
    options.stop = settings_.stop;
    options.progress = [this](std::size_t done, double) { tell("evaluated", done, 0); };
    MONET_TRY(const Improved improved, improve(step, cache_, starts, options));
    result_.cost = improved.cost.cost;
    result_.evaluated = improved.evaluated;
    for (const Stack& stack : improved.stacks) {
      FusedStack fused{.nodes = nodes_of(graph_, problem_, candidates_.sets[stack.set]), .tiles = {}};
      fused.tiles.resize(fused.nodes.size());
      if (stack.way != no_way) fused.tiles = prices_.of(stack.set).ways[stack.way].tiles;
      for (std::size_t i = 0; i < fused.nodes.size(); ++i) {
        const BoundOperator& stated = base_.plan.operators[fused.nodes[i].index()];
        if (stated.tile_stated || stated.split_stated) fused.tiles[i].clear();
      }
      result_.stacks.push_back(std::move(fused));
    }
    result_.fallback = std::ranges::all_of(
        result_.stacks, [](const FusedStack& stack) { return stack.nodes.size() == 1 && stack.tiles.front().empty(); });
    return Done{};
  }

  Status check(std::span<const StoredWidth> element_bits) const {
    if (is_given()) return Done{};
    std::vector<std::vector<NodeId>> stacks;
    for (const FusedStack& stack : result_.stacks) stacks.push_back(stack.nodes);
    const std::string fault = check_stacks(graph_, hardware_, settings_.rules, stacks, element_bits);
    if (fault.empty()) return Done{};
    return Error{.kind = ErrorKind::defect,
                 .message = fmt::format("the stacks break a rule: {}", fault),
                 .place = "checker",
                 .advice = "please report it"};
  }

  void tell(const char* what, std::size_t done, std::size_t all) const {
    if (settings_.progress) settings_.progress(what, done, all);
  }

  const Graph& graph_;
  const Hardware& hardware_;
  MappingCache& cache_;
  const PlanRequest& base_;
  FuseSettings settings_;
  Problem problem_;
  Candidates candidates_;
  Prices prices_;
  Chosen chosen_;
  Fused result_;
};

}  // namespace

Expected<Fused> fuse(const Graph& graph, const Hardware& hardware, MappingCache& cache, const PlanRequest& base,
                     const FuseSettings& settings) {
  return Fusing(graph, hardware, cache, base, settings).run();
}

void add_to(Plan& plan, const Graph& graph, const Fused& fused) {
  std::unordered_map<std::string, std::size_t> stated;
  for (std::size_t i = 0; i < plan.operators.size(); ++i) stated.emplace(plan.operators[i].name, i);
  for (const FusedStack& stack : fused.stacks) {
    if (stack.nodes.size() > 1) {
      PlannedStack& planned = plan.stacks.emplace_back();
      for (NodeId node : stack.nodes) planned.operators.push_back(graph[node].name);
    }
    for (std::size_t i = 0; i < stack.nodes.size(); ++i) {
      if (stack.tiles[i].empty()) continue;
      const std::string& name = graph[stack.nodes[i]].name;
      if (const auto known = stated.find(name); known != stated.end()) {
        plan.operators[known->second].tile = stack.tiles[i];
        continue;
      }
      PlannedOperator& planned = plan.operators.emplace_back();
      planned.name = name;
      planned.tile = stack.tiles[i];
    }
  }
}

}  // namespace monet::fusion

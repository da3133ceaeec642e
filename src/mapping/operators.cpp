#include "mapping/operators.h"

#include "base/glob.h"
#include "base/parallel.h"
#include "base/try.h"
#include "mapping/constraints.h"
#include "mapping/kept_mappings.h"
#include "mapping/key.h"
#include "mapping/order.h"
#include "mapping/precision.h"
#include "mapping/rate.h"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <map>
#include <set>

namespace monet {

namespace {

// A unit of a core that stands for all equal ones.
struct Place {
  CoreId core;
  std::size_t unit = 0;
  Target target;
  std::string key;
};

// One search: a problem on a place. Equal ones are one.
struct Task {
  Problem problem;
  const Place* place = nullptr;
  SearchOptions search;
  std::string key;
  MappingCache::Result result;
};

// Takes off-chip memory away from every path that has a memory of the core below it; registers alone hold no operand.
void keep_on_chip(Target& target) {
  for (std::size_t path = 0; path < path_count; ++path) {
    auto& levels = target.levels[path];
    const auto is = [&](std::uint8_t level, MemoryKind kind) { return target.memories[level].kind == kind; };
    const bool has_other = std::ranges::any_of(
        levels, [&](auto level) { return !is(level, MemoryKind::dram) && !is(level, MemoryKind::registers); });
    while (has_other && is(levels.back(), MemoryKind::dram)) {
      target.memories[levels.back()].port[path].fill(no_port);
      levels.pop_back();
    }
  }
}

std::string missing(const Core& core, const Counts& counts) {
  std::string names;
  for (std::size_t kind = 0; kind < count_kinds; ++kind) {
    const bool nowhere = core.rate
                             ? core.rate->operations_per_s[kind] == 0
                             : std::ranges::all_of(core.units, [&](const Unit& u) { return u.cycles[kind] == 0; });
    if (counts.of[kind] == 0 || !nowhere) continue;
    names += fmt::format("{}{}", names.empty() ? "" : ", ", name_of(static_cast<Count>(kind)));
  }
  return names.empty() ? "they are on different units" : "without " + names;
}

bool has_operations(const std::array<double, count_kinds>& able, const Counts& counts) {
  for (std::size_t kind = 0; kind < count_kinds; ++kind) {
    if (counts.of[kind] > 0 && able[kind] == 0) return false;
  }
  return true;
}

// Of what could run the problem if it were for its numbers.
std::string precisions_for(const Core& core, const Problem& problem) {
  std::set<std::string> names;
  const auto add = [&](const std::vector<PrecisionRate>& precisions) {
    for (const PrecisionRate& precision : precisions) names.insert(precision.name);
  };
  if (core.rate) add(core.rate->precisions);
  for (const Unit& unit : core.units) {
    if (has_operations(unit.cycles, problem.per_point)) add(unit.precisions);
  }
  return fmt::format("{}", fmt::join(names, ", "));
}

class Mapper {
 public:
  Mapper(const Graph& graph, const Hardware& hardware, MappingCache& cache, const OperatorOptions& options)
      : graph_(graph), hardware_(hardware), cache_(cache), options_(options) {}

  Expected<MappedOperators> run() {
    MONET_RETURN_IF_ERROR(find_places());
    for (std::size_t i = 0; i < graph_.nodes().size(); ++i) {
      const Node& node = graph_[NodeId(i)];
      if (options_.wanted && !options_.wanted(node)) continue;
      begin(NodeId(i));
    }
    search();
    MappedOperators result;
    result.unique = tasks_.size();
    std::size_t cut_short = 0;
    for (const Task& task : tasks_) {
      if (!task.result->has_value()) continue;
      result.evaluated += (**task.result).evaluated;
      cut_short += (**task.result).complete ? 0 : 1;
    }
    if (cut_short > 0) {
      notes_.insert(
          fmt::format("{} of {} searches were cut short: a better mapping may exist", cut_short, tasks_.size()));
    }
    for (Pending& pending : pending_) result.operators.push_back(finish(pending));
    result.notes.assign(notes_.begin(), notes_.end());
    return result;
  }

 private:
  // One way to run one nest.
  struct Way {
    std::size_t task;
  };
  // An operator on one core: the ways of each nest, or why there is none.
  struct Attempt {
    CoreId core;
    std::vector<std::vector<Way>> nests;
    std::optional<OperatorCost> rate;
    std::string reason;
  };
  struct Pending {
    NodeId node;
    std::vector<Attempt> attempts;
    bool is_view = false;
    std::string reason;
  };

  Status find_places() {
    for (std::size_t c = 0; c < hardware_.cores.size(); ++c) {
      const CoreId core(c);
      if (options_.core.valid() && options_.core != core) continue;
      const MemoryId outer = options_.off_chip ? off_chip_memory(hardware_, core) : MemoryId();
      std::string key;
      std::vector<Place> units;
      for (std::size_t unit = 0; unit < hardware_[core].units.size(); ++unit) {
        MONET_TRY(Target target, target_of(hardware_, core, unit, outer));
        if (!options_.off_chip) keep_on_chip(target);
        std::string target_key = key_of(target);
        key += target_key;
        units.push_back({core, unit, std::move(target), std::move(target_key)});
      }
      for (const std::string& op : hardware_[core].operators) key += op + "\n";
      // Cores that are equal to an earlier one cost the same.
      if (!hardware_[core].rate && !seen_.emplace(key, c).second) continue;
      cores_.push_back(core);
      places_.push_back(std::move(units));
    }
    return Done{};
  }

  void begin(NodeId id) {
    const Node& node = graph_[id];
    Pending& pending = pending_.emplace_back(Pending{.node = id});
    const std::vector<Problem> problems = problems_of(graph_, node, options_.extract);
    pending.is_view = problems.empty();
    if (pending.is_view) return;
    for (std::size_t c = 0; c < cores_.size(); ++c) pending.attempts.push_back(attempt(node, problems, c));
  }

  Attempt attempt(const Node& node, const std::vector<Problem>& problems, std::size_t c) {
    const Core& core = hardware_[cores_[c]];
    Attempt result{.core = cores_[c]};
    result.reason =
        node.op == Op::Custom ? "what a custom operator computes is not known" : cannot_run(core, node.op, problems);
    if (!result.reason.empty()) return result;
    if (core.rate) {
      result.rate = on_rate_core(problems, result);
      return result;
    }
    for (const Problem& problem : problems) {
      std::vector<Way>& ways = result.nests.emplace_back();
      for (const Place& place : places_[c]) {
        if (!can_do(place.target.unit, problem)) continue;
        auto task = task_for(node, problem, place);
        if (!task) {
          result.reason = task.error().text();
          return result;
        }
        ways.push_back({*task});
      }
    }
    return result;
  }

  std::optional<OperatorCost> on_rate_core(const std::vector<Problem>& problems, Attempt& attempt) {
    const Core& core = hardware_[attempt.core];
    OperatorCost cost{.node = {}, .core = attempt.core};
    for (const Problem& problem : problems) {
      const PrecisionRate* precision = precision_for(core.rate->precisions, problem);
      auto nest = rate_cost(*core.rate, hardware_.clock_hz, operations_of(problem),
                            precision != nullptr ? precision->name : problem.precision);
      if (precision != nullptr && precision->name != problem.precision) {
        notes_.insert(fmt::format("core {}: {} operations are costed at its rate for {}", core.type, problem.precision,
                                  precision->name));
      }
      if (!nest) {
        attempt.reason = nest.error().message;
        return std::nullopt;
      }
      const double power = core.static_w;
      if (hardware_.effects.static_energy && hardware_.clock_hz > 0) {
        nest->static_pj = power * 1e12 * nest->cycles / hardware_.clock_hz;
        nest->energy_pj += nest->static_pj;
      }
      cost.nests.push_back({.unit = "", .problem = problem, .mapping = {}, .cost = *std::move(nest), .memories = {}});
    }
    return cost;
  }

  Expected<std::size_t> task_for(const Node& node, const Problem& original, const Place& place) {
    std::string note;
    Problem problem = adapt(original, place.target.unit, &note);
    if (!note.empty()) notes_.insert(fmt::format("core {}: {}", hardware_[place.core].type, note));
    SearchOptions search = options_.search;
    const MappingFile* file = options_.mapping_file;
    const MappingFile::Entry* entry = file != nullptr ? file->find(node.name, name_of(node.op)) : nullptr;
    // What a file says is about the array: vector lanes have no dimensions to prescribe.
    if (entry != nullptr && place.target.unit.name == "array") {
      problem = coalesce(problem, place.target.unit, named_loops(*entry));
      MONET_TRY(search.constraints, constraints_of(*entry, problem, place.target));
    } else {
      problem = coalesce(problem, place.target.unit);
    }
    std::string key = key_of(problem) + place.key + key_of(search);
    const auto [position, added] = task_of_.emplace(key, tasks_.size());
    if (added) tasks_.push_back({std::move(problem), &place, std::move(search), std::move(key), nullptr});
    return position->second;
  }

  void search() {
    std::atomic<std::size_t> done = 0;
    for_each_index(tasks_.size(), options_.jobs, [&](std::size_t i) {
      Task& task = tasks_[i];
      task.result = cache_.find(task.key);
      if (!task.result && options_.stop && options_.stop()) {
        task.result = std::make_shared<const Expected<MappedProblem>>(Error{.message = "stopped before it was mapped"});
      } else if (!task.result) {
        task.result = std::make_shared<const Expected<MappedProblem>>(solve(task));
        cache_.put(task.key, task.result);
      }
      if (options_.progress) options_.progress(++done, tasks_.size());
    });
    if (options_.store == nullptr) return;
    for (const Task& task : tasks_) {
      if (task.result->has_value()) options_.store->add(digest_of(task.key), (**task.result).mapping);
    }
  }

  Expected<MappedProblem> solve(const Task& task) const {
    if (options_.store != nullptr) {
      if (const Mapping* kept = options_.store->find(digest_of(task.key))) {
        if (auto cost = cost_of(task.problem, task.place->target, *kept)) return cost;
      }
    }
    KeptMappings* const kept = KeptMappings::of_user();
    if (kept != nullptr) {
      if (auto known = kept->find(task.key, task.problem, task.place->target)) return *std::move(known);
    }
    Expected<MappedProblem> found = map_problem(task.problem, task.place->target, task.search);
    if (kept != nullptr && found) kept->add(task.key, task.problem, task.place->target, *found);
    return found;
  }

  // The better way of each nest; nothing when one of them fits nowhere.
  std::optional<OperatorCost> collect(Attempt& attempt) const {
    OperatorCost cost{.node = {}, .core = attempt.core};
    for (const std::vector<Way>& ways : attempt.nests) {
      const Task* best = nullptr;
      for (const Way& way : ways) {
        const Task& task = tasks_[way.task];
        if (!task.result->has_value()) {
          attempt.reason = task.result->error().message;
        } else if (best == nullptr || better(**task.result, **best->result)) {
          best = &task;
        }
      }
      if (best == nullptr) return std::nullopt;
      const MappedProblem& mapped = **best->result;
      NestCost nest{.unit = best->place->target.unit.name,
                    .problem = best->problem,
                    .mapping = mapped.mapping,
                    .cost = mapped.cost,
                    .memories = {},
                    .evaluated = mapped.evaluated};
      for (const TargetMemory& memory : best->place->target.memories) nest.memories.push_back(memory.name);
      cost.nests.push_back(std::move(nest));
    }
    return cost;
  }

  bool better(const MappedProblem& a, const MappedProblem& b) const {
    return score_of(options_.search.objective, a.cost.cycles, a.cost.energy_pj) <
           score_of(options_.search.objective, b.cost.cycles, b.cost.energy_pj);
  }

  OperatorCost finish(Pending& pending) const {
    OperatorCost best{.node = pending.node, .core = {}, .is_view = pending.is_view};
    std::vector<std::string> reasons;
    for (Attempt& attempt : pending.attempts) {
      std::optional<OperatorCost> cost;
      if (attempt.rate) {
        cost = std::move(attempt.rate);
      } else if (attempt.reason.empty()) {
        cost = collect(attempt);
      }
      if (!cost) {
        if (std::ranges::find(reasons, attempt.reason) == reasons.end()) reasons.push_back(attempt.reason);
        continue;
      }
      add_up(*cost);
      if (!best.core.valid() || score_of(options_.search.objective, cost->cycles, cost->energy_pj) <
                                    score_of(options_.search.objective, best.cycles, best.energy_pj)) {
        best = *std::move(cost);
      }
    }
    best.node = pending.node;
    if (!best.core.valid() && !best.is_view) best.reason = fmt::format("{}", fmt::join(reasons, "; "));
    return best;
  }

  static void add_up(OperatorCost& cost) {
    for (const NestCost& nest : cost.nests) {
      cost.cycles += nest.cost.cycles;
      cost.energy_pj += nest.cost.energy_pj;
      cost.macs += nest.cost.macs;
      cost.ideal_cycles += nest.cost.ideal_cycles;
      cost.bound_cycles += nest.cost.bound_cycles;
    }
  }

  const Graph& graph_;
  const Hardware& hardware_;
  MappingCache& cache_;
  const OperatorOptions& options_;
  std::set<std::string> notes_;
  std::map<std::string, std::size_t> seen_;
  std::vector<CoreId> cores_;               // the different ones
  std::vector<std::vector<Place>> places_;  // units of each of them
  std::vector<Task> tasks_;
  std::unordered_map<std::string, std::size_t> task_of_;
  std::vector<Pending> pending_;
};

}  // namespace

bool may_run(const Core& core, Op op) {
  if (core.operators.empty()) return true;
  bool allowed = core.operators.front().starts_with('!');
  for (std::string_view pattern : core.operators) {
    const bool takes_away = pattern.starts_with('!');
    if (takes_away) pattern.remove_prefix(1);
    if (matches(pattern, name_of(op)) || matches(pattern, name_of(family_of(op)))) allowed = !takes_away;
  }
  return allowed;
}

bool may_run_custom(const Hardware& hardware, const Core& core) {
  const auto allows = [](const Core& each) { return may_run(each, Op::Custom); };
  if (std::ranges::any_of(hardware.cores, allows)) return allows(core);
  return std::ranges::none_of(core.operators, [](std::string_view pattern) {
    if (!pattern.starts_with('!')) return false;
    pattern.remove_prefix(1);
    return matches(pattern, name_of(Op::Custom)) || matches(pattern, name_of(OpFamily::custom));
  });
}

bool can_do(const Unit& unit, const Problem& problem) {
  return has_operations(unit.cycles, problem.per_point) && has_precision(unit.precisions, problem);
}

std::string cannot_run(const Core& core, Op op, std::span<const Counts> nests) {
  if (!may_run(core, op)) return fmt::format("{} is not among the operators of core {}", name_of(op), core.name);
  for (const Counts& counts : nests) {
    if (core.rate && has_operations(core.rate->operations_per_s, counts)) continue;
    if (core.rate) {
      return fmt::format("core {} has no rate for all of its operations ({})", core.name, missing(core, counts));
    }
    if (std::ranges::none_of(core.units, [&](const Unit& unit) { return has_operations(unit.cycles, counts); })) {
      return fmt::format("no unit of core {} has all of its operations ({})", core.name, missing(core, counts));
    }
  }
  return {};
}

std::string cannot_run(const Core& core, Op op, std::span<const Problem> problems) {
  std::vector<Counts> nests;
  for (const Problem& problem : problems) nests.push_back(problem.per_point);
  std::string reason = cannot_run(core, op, nests);
  if (!reason.empty()) return reason;
  for (const Problem& problem : problems) {
    if (core.rate && has_precision(core.rate->precisions, problem)) continue;
    if (std::ranges::any_of(core.units, [&](const Unit& unit) { return can_do(unit, problem); })) continue;
    return fmt::format("core {} {} in {}, not in {}", core.name,
                       problem.per_point[Count::mac] > 0 ? "multiplies" : "works", precisions_for(core, problem),
                       problem.precision);
  }
  return {};
}

std::string cannot_run(const Core& core, double clock_hz, Op op, std::span<const Problem> problems) {
  std::string reason = cannot_run(core, op, problems);
  if (!reason.empty() || !core.rate) return reason;
  for (const Problem& problem : problems) {
    const PrecisionRate* precision = precision_for(core.rate->precisions, problem);
    const auto cost =
        rate_cost(*core.rate, clock_hz, problem.per_point, precision != nullptr ? precision->name : problem.precision);
    if (!cost) return cost.error().message;
  }
  return {};
}

MemoryId off_chip_memory(const Hardware& hardware, CoreId core) {
  for (const Level& level : hardware[core].levels) {
    if (hardware[level.memory].kind == MemoryKind::dram) return {};
  }
  for (const Link& link : hardware.links) {
    if (std::ranges::find(link.ends, End{.core = core}) == link.ends.end()) continue;
    for (const End& end : link.ends) {
      if (end.memory.valid() && hardware[end.memory].kind == MemoryKind::dram) return end.memory;
    }
  }
  return {};
}

Expected<MappedOperators> map_operators(const Graph& graph, const Hardware& hardware, MappingCache& cache,
                                        const OperatorOptions& options) {
  return Mapper(graph, hardware, cache, options).run();
}

}  // namespace monet

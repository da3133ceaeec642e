#include "optimize/placement/placement.h"

#include "base/glob.h"
#include "base/parallel.h"
#include "base/require.h"
#include "base/try.h"

#include <algorithm>
#include <map>
#include <memory>
#include <set>

namespace monet {

namespace {

constexpr std::size_t most_loops = 4;  // along which a class may be split

std::set<std::string> decided_names(const Graph& graph, const Plan& plan) {
  std::set<std::string> names;
  for (const PlannedOperator& op : plan.operators) {
    if (op.cores.empty() && op.split.empty()) continue;
    for (const Node& node : graph.nodes()) {
      if (matches(op.name, node.name)) names.insert(node.name);
    }
  }
  return names;
}

}  // namespace

PlacementSpace::PlacementSpace(RewrittenEvaluator& step, const Hardware& hardware, const Plan& plan)
    : graph_(*step.graph), hardware_(hardware) {
  const std::set<std::string> decided = decided_names(graph_, plan);
  std::map<std::uint32_t, std::size_t> gene;  // by class
  Evaluator& evaluator = step.evaluator;
  const RoutedMachine& machine = evaluator.machine();
  for (std::size_t n = 0; n < graph_.nodes().size(); ++n) {
    const NodeId node(n);
    if (family_of(graph_[node].op) == OpFamily::view || decided.contains(graph_[node].name)) continue;
    const auto [entry, added] = gene.try_emplace(evaluator.classes()[node], members_.size());
    if (added) {
      members_.emplace_back();
      std::vector<PlacementChoice>& choices = choices_.emplace_back(1);
      std::map<std::size_t, std::vector<CoreId>> by_kind;
      for (CoreId core : evaluator.costs().bound(node).cores) by_kind[machine[core].kind].push_back(core);
      for (const auto& [kind, cores] : by_kind) {
        choices.push_back({.cores = cores, .one_each = true});
        if (cores.size() < 2) continue;
        std::size_t loops = 0;
        for (const CuttableLoop& cuttable : evaluator.tiling().cuttable(node)) {
          if (loops == most_loops) break;
          ++loops;
          choices.push_back({.cores = cores, .loop = cuttable.loop.name, .extent = cuttable.loop.size});
        }
      }
    }
    members_[entry->second].push_back(node);
  }
}

std::vector<std::uint16_t> PlacementSpace::choices() const {
  std::vector<std::uint16_t> counts;
  for (const auto& choices : choices_) {
    MONET_REQUIRE(choices.size() <= 0xffff);
    counts.push_back(static_cast<std::uint16_t>(choices.size()));
  }
  return counts;
}

Plan PlacementSpace::apply(const Plan& plan, const Genome& genome) const {
  Plan result = plan;
  std::map<std::string, std::size_t> at;
  for (std::size_t i = 0; i < result.operators.size(); ++i) at.emplace(result.operators[i].name, i);
  for (std::size_t c = 0; c < members_.size(); ++c) {
    const PlacementChoice& choice = choices_[c][genome[c]];
    if (choice.cores.empty()) continue;
    for (std::size_t i = 0; i < members_[c].size(); ++i) {
      const std::string& name = graph_[members_[c][i]].name;
      const auto [entry, added] = at.try_emplace(name, result.operators.size());
      if (added) result.operators.push_back({.name = name});
      PlannedOperator& op = result.operators[entry->second];
      if (choice.one_each) {
        op.cores = {hardware_[choice.cores[i % choice.cores.size()]].name};
        op.split.clear();
        continue;
      }
      const std::int64_t pieces = std::min<std::int64_t>(choice.extent, static_cast<std::int64_t>(choice.cores.size()));
      op.split = {{choice.loop, pieces}};
      op.cores.clear();
      for (std::int64_t piece = 0; piece < pieces; ++piece) {
        op.cores.push_back(hardware_[choice.cores[static_cast<std::size_t>(piece)]].name);
      }
    }
  }
  return result;
}

Expected<Placement> place(const Graph& step, const Hardware& hardware, MappingCache& cache, const EvaluatorOptions& how,
                          const Plan& plan, std::span<const BoundTensor> tensors, const PlacementOptions& options) {
  const std::size_t jobs = threads_for(options.jobs);
  EvaluatorOptions alone = how;
  alone.jobs = 1;
  alone.progress = nullptr;
  std::vector<std::unique_ptr<Pricer>> pricers;
  for (std::size_t i = 0; i < jobs; ++i) pricers.push_back(std::make_unique<Pricer>(step, hardware, cache, alone));
  const PlacementSpace space(pricers[0]->original(), hardware, plan);
  std::optional<Error> defect;
  const auto objectives = [&](const Price& price) -> std::vector<double> {
    if (options.objective.is_function()) {
      if (price.peak_bytes.empty()) return {0, 0, 0};  // it cannot be carried out
      const std::int64_t peak = options.memory.valid() ? price.peak_bytes[options.memory.index()] : 0;
      return {options.objective(price, peak), price.cycles, price.energy_pj};
    }
    if (options.objective.of_parts() == SearchObjective::energy) return {price.energy_pj, price.cycles};
    return {price.cycles, price.energy_pj};
  };
  const auto evaluate = [&](std::span<GeneticPoint> points) {
    std::vector<Error> errors(points.size());
    std::vector<Price> prices(points.size());
    for_each_index(jobs, jobs, [&](std::size_t worker) {
      for (std::size_t i = worker; i < points.size(); i += jobs) {
        const auto priced = pricers[worker]->price(space.apply(plan, points[i].genome), tensors);
        if (!priced) {
          errors[i] = priced.error();
          points[i].violation = std::numeric_limits<double>::infinity();
          continue;
        }
        prices[i] = priced->price;
        if (!options.memory.valid()) continue;
        const std::int64_t peak = priced->price.peak_bytes[options.memory.index()];
        if (peak > options.budget_bytes) points[i].violation = static_cast<double>(peak - options.budget_bytes);
      }
    });
    for (std::size_t i = 0; i < points.size(); ++i) points[i].objectives = objectives(prices[i]);
    for (const Error& error : errors) {
      if (!error.message.empty() && error.kind == ErrorKind::defect && !defect) defect = error;
    }
  };
  GeneticOptions genetic{
      .population = options.population,
      .generations = options.generations,
      .mutation = std::min(0.5, 2.0 / static_cast<double>(std::max<std::size_t>(1, space.classes()))),
      .seed = options.seed,
      .stop = options.stop};
  if (options.progress) {
    genetic.progress = [&](std::size_t done, std::size_t) { options.progress(done, options.generations); };
  }
  const Genome policy(space.classes(), 0);
  const GeneticResult found = nsga2(space.choices(), std::span(&policy, 1), evaluate, genetic);
  if (defect) return *defect;
  Placement result{.front = {}, .evaluated = found.evaluated, .classes = space.classes()};
  for (const GeneticPoint& point : found.front) {
    Plan placed = space.apply(plan, point.genome);
    MONET_TRY(const Priced priced, pricers[0]->price(placed, tensors));
    result.front.push_back({.plan = std::move(placed), .price = priced.price});
  }
  return result;
}

}  // namespace monet

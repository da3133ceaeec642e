#include "optimize/fusion/price.h"

#include "base/checked.h"
#include "base/parallel.h"
#include "evaluate/account/totals.h"
#include "evaluate/plan/hash.h"
#include "optimize/fusion/extract.h"
#include "optimize/fusion/shared_loops.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <mutex>
#include <set>
#include <unordered_map>

namespace monet::fusion {

namespace {

// Evaluates one set with the tile sizes that a search along its shared loops comes to.
class Pricing {
 public:
  Pricing(const Extracted& set, const Hardware& hardware, MappingCache& cache, const PriceOptions& options,
          const EvaluatorOptions& evaluator)
      : set_(set), hardware_(hardware), options_(options), evaluator_(set.graph, hardware, cache, evaluator) {}

  Price run() {
    evaluate({}, {});
    std::vector<SharedLoop> loops;
    if (options_.tiles) loops = shared_loops(set_.graph, evaluator_.tiling());
    std::erase_if(loops, [](const SharedLoop& loop) { return loop.reduces; });
    const std::int64_t least = parts_that_fit();
    for (std::size_t lead = 0; lead < std::min(loops.size(), options_.loops); ++lead) {
      std::rotate(loops.begin(), loops.begin() + (lead == 0 ? 0 : 1), loops.end());
      try_parts(loops, least);
    }
    rank();
    if (price_.ways.size() > options_.ways) price_.ways.resize(options_.ways);
    return std::move(price_);
  }

  std::size_t evaluated() const { return evaluated_; }

 private:
  // Tiles cost time to evaluate: more of them must pay.
  void rank() {
    constexpr double nearly = 1.02;
    const auto value = [&](const PricedTiles& way) { return value_of(way.cost, options_.objective); };
    std::ranges::stable_sort(price_.ways, {}, value);
    if (price_.ways.empty()) return;
    const double limit = nearly * value(price_.ways.front());
    const auto rest = std::ranges::find_if(price_.ways, [&](const PricedTiles& way) { return value(way) > limit; });
    std::stable_sort(price_.ways.begin(), rest,
                     [](const PricedTiles& a, const PricedTiles& b) { return a.count < b.count; });
  }

  // From as many as fit on chip, twice as many as long as that pays.
  void try_parts(const std::vector<SharedLoop>& loops, std::int64_t least) {
    constexpr double worth_it = 0.99;
    double best = std::numeric_limits<double>::infinity();
    std::vector<std::int64_t> last;
    for (std::int64_t wanted = std::max<std::int64_t>(least, 2); wanted <= std::max(least, options_.most_parts);
         wanted *= 2) {
      std::vector<std::int64_t> parts = parts_of(loops, wanted);
      if (parts == last) return;
      last = parts;
      const double value = evaluate(loops, parts);
      if (value >= worth_it * best && std::isfinite(best)) return;
      best = std::min(best, value);
    }
  }

  // So many tiles that what the set reads, makes and passes on fits the memory of the core that has least.
  std::int64_t parts_that_fit() {
    std::int64_t bytes = 0;
    for (std::size_t t = 0; t < set_.graph.tensors().size(); ++t) {
      const Tensor& tensor = set_.graph.tensors()[t];
      const bool view = tensor.producer.valid() && family_of(set_.graph[tensor.producer].op) == OpFamily::view;
      if (!view) bytes += evaluator_.element_bits()[t].bytes(element_count(tensor.type.shape));
    }
    std::int64_t room = std::numeric_limits<std::int64_t>::max();
    for (NodeId node : set_.nodes) {
      std::int64_t most = 0;
      for (std::size_t kind = 0; kind < evaluator_.machine().kinds(); ++kind) {
        if (evaluator_.costs().refusal(node, kind) != nullptr) continue;
        const CorePlaces& core = evaluator_.machine()[evaluator_.machine().first_of_kind(kind)];
        const MemoryId local = core.local[static_cast<std::size_t>(Path::output)];
        if (local.valid()) most = std::max(most, evaluator_.machine().capacity_bytes(local));
      }
      if (most > 0) room = std::min(room, most);
    }
    std::int64_t parts = 1;
    while (parts < options_.most_parts && bytes / parts > room) parts *= 2;
    return parts;
  }

  // So many parts in all: the first loop gives as many as it has, then the next.
  static std::vector<std::int64_t> parts_of(const std::vector<SharedLoop>& loops, std::int64_t wanted) {
    std::vector<std::int64_t> parts;
    for (const SharedLoop& loop : loops) {
      std::int64_t longest = 1;
      for (const LoopOf& member : loop.members) longest = std::max(longest, member.loop.size);
      parts.push_back(std::clamp<std::int64_t>(wanted, 1, longest));
      wanted = ceil_divide(wanted, parts.back());
    }
    return parts;
  }

  Tiles tiles_of(const std::vector<SharedLoop>& loops, const std::vector<std::int64_t>& parts) const {
    Tiles tiles(set_.nodes.size());
    for (std::size_t i = 0; i < loops.size(); ++i) {
      if (parts[i] == 1) continue;
      for (const LoopOf& member : loops[i].members) {
        const auto at = static_cast<std::size_t>(std::ranges::find(set_.nodes, member.node) - set_.nodes.begin());
        tiles[at].push_back({member.loop.name, ceil_divide(member.loop.size, parts[i])});
      }
    }
    return tiles;
  }

  double evaluate(const std::vector<SharedLoop>& loops, const std::vector<std::int64_t>& parts) {
    constexpr double impossible = std::numeric_limits<double>::infinity();
    Tiles tiles = tiles_of(loops, parts);
    PlanRequest request = empty_request(set_.graph);
    for (std::size_t i = 0; i < set_.nodes.size(); ++i) {
      BoundOperator& bound = request.plan.operators[set_.nodes[i].index()];
      bound.stack = 0;
      for (const LoopSize& tile : tiles[i]) {
        bound.cuts.push_back({.loop = tile.loop, .pieces = 1, .tile = tile.size});
        bound.tile_stated = true;
      }
    }
    request.plan.stacks.push_back({.name = {}, .nodes = set_.nodes});
    ++evaluated_;
    const auto evaluated = evaluator_.evaluate(request);
    if (!evaluated) {
      if (price_.failure.empty()) price_.failure = evaluated.error().text();
      return impossible;
    }
    const Totals sums = totals(hardware_, evaluated->schedule);
    price_.ways.push_back({std::move(tiles), {sums.cycles, sums.energy_pj}, evaluated->tiles.tiles()});
    return value_of(price_.ways.back().cost, options_.objective);
  }

  const Extracted& set_;
  const Hardware& hardware_;
  const PriceOptions& options_;
  Evaluator evaluator_;
  Price price_;
  std::size_t evaluated_ = 0;
};

// Whether it leads back to an operator of the set through what is passed over; that which does goes to `between`.
bool leads_back(const Graph& graph, const Problem& problem, std::span<const Index> set, TensorId id,
                std::set<NodeId>& between) {
  if (!id.valid()) return false;
  const NodeId maker = graph[id].producer;
  if (!maker.valid()) return false;
  if (const Index op = problem.operator_of[maker.index()]; op != Problem::none)
    return std::ranges::binary_search(set, op);
  if (between.contains(maker)) return true;
  bool leads = false;
  for (TensorId input : graph[maker].inputs) leads |= leads_back(graph, problem, set, input, between);
  if (leads) between.insert(maker);
  return leads;
}

}  // namespace

double value_of(const Cost& cost, Objective objective) {
  switch (objective) {
    case Objective::energy: return cost.energy_pj;
    case Objective::edp: return cost.energy_pj * cost.cycles;
    default: return cost.cycles;
  }
}

std::vector<NodeId> nodes_of(const Graph& graph, const Problem& problem, std::span<const Index> set) {
  std::set<NodeId> nodes;
  for (Index op : set) {
    for (TensorId input : graph[problem.nodes[op]].inputs) leads_back(graph, problem, set, input, nodes);
  }
  std::erase_if(nodes, [&](NodeId id) { return family_of(graph[id].op) == OpFamily::view; });
  for (Index op : set) nodes.insert(problem.nodes[op]);
  return {nodes.begin(), nodes.end()};
}

Prices price_sets(const Graph& graph, const Hardware& hardware, MappingCache& cache, const Problem& problem,
                  const Lists<Index>& sets, const PriceOptions& options) {
  const Readers readers(graph);
  Prices result;
  std::vector<Extracted> classes;
  std::unordered_map<std::string, std::uint32_t> known;
  for (std::size_t s = 0; s < sets.size(); ++s) {
    const bool stopped = options.stop && options.stop();  // what is left is one class without a price
    Extracted set = stopped ? Extracted() : extract(graph, readers, nodes_of(graph, problem, sets[s]));
    const auto [at, fresh] =
        known.emplace(stopped ? std::string() : hash_of(set.graph), static_cast<std::uint32_t>(classes.size()));
    result.class_of.push_back(at->second);
    if (fresh) classes.push_back(std::move(set));
  }
  result.prices.resize(classes.size());
  std::mutex mutex;
  std::size_t done = 0;
  for_each_index(classes.size(), options.evaluator.jobs, [&](std::size_t c) {
    if (classes[c].nodes.empty() || (options.stop && options.stop())) return;
    EvaluatorOptions evaluator = options.evaluator;
    evaluator.jobs = 1;
    evaluator.progress = nullptr;
    evaluator.cost.store = nullptr;  // is for one thread
    Pricing pricing(classes[c], hardware, cache, options, evaluator);
    result.prices[c] = pricing.run();
    const std::scoped_lock lock(mutex);
    result.evaluated += pricing.evaluated();
    ++done;
    if (options.progress) options.progress(done, classes.size());
  });
  return result;
}

}  // namespace monet::fusion

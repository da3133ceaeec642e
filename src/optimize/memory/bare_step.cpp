#include "optimize/memory/bare_step.h"

#include "evaluate/account/step.h"
#include "evaluate/plan/dependencies.h"

#include <algorithm>
#include <optional>

namespace monet {

namespace {

double seconds_of(const Hardware& hardware, double cycles) {
  return hardware.clock_hz > 0 ? cycles / hardware.clock_hz : cycles;
}

// By operator: cycles that its tiles take, shared among its cores, and their energy in joules.
struct OperatorPrice {
  double cycles = 0;
  double energy_j = 0;
};

std::vector<OperatorPrice> operator_prices(const ScheduledStep& step) {
  std::vector<OperatorPrice> prices(step.graph.nodes().size());
  for (std::size_t n = 0; n < prices.size(); ++n) {
    const OperatorTiles& tiles = step.tiles.operators[n];
    for (std::uint32_t i = 0; i < tiles.count; ++i) {
      const ScheduledTile& tile = step.schedule.tiles[tiles.first + i];
      prices[n].cycles += length(tile);
      prices[n].energy_j += step.schedule.costs[tile.cost].energy_pj() * 1e-12;
    }
    const std::size_t cores = step.assignment.operators[n].cores.size();
    if (cores > 0) prices[n].cycles /= static_cast<double>(cores);
  }
  return prices;
}

// Operators that make a candidate, or lead to one in the forward part.
std::vector<bool> repeatable(const Graph& graph, const Dependencies& dependencies, const MemorySpace& space) {
  std::vector<bool> result(graph.nodes().size(), false);
  std::vector<NodeId> open;
  for (const MemoryCandidate& candidate : space.candidates()) {
    const bool again = std::ranges::any_of(
        candidate.choices, [](const MemoryChoice& choice) { return choice.retention == Retention::recompute; });
    if (again) open.push_back(graph[candidate.tensor].producer);
  }
  while (!open.empty()) {
    const NodeId node = open.back();
    open.pop_back();
    if (!node.valid() || result[node.index()] || graph[node].phase != Phase::forward) continue;
    result[node.index()] = true;
    for (NodeId before : dependencies.before(node)) open.push_back(before);
  }
  return result;
}

std::optional<remat::Channel> channel_of(const Hardware& hardware, const MemorySpace& space) {
  for (const MemoryCandidate& candidate : space.candidates()) {
    for (const MemoryChoice& choice : candidate.choices) {
      if (choice.retention != Retention::page) continue;
      const Memory& store = hardware[choice.memory];
      double read = 0, written = 0, pj = 0;
      for (const Port& port : store.ports) {
        if (port.kind != PortKind::write) read = std::max(read, port.bits_per_cycle());
        if (port.kind != PortKind::read) written = std::max(written, port.bits_per_cycle());
        if (port.max_bits > 0) pj = std::max(pj, store.read_pj / static_cast<double>(port.max_bits));
      }
      if (read == 0 || written == 0) return std::nullopt;
      const double clock = hardware.clock_hz > 0 ? hardware.clock_hz : 1;
      remat::Channel channel;
      channel.in_latency_s = seconds_of(hardware, std::max(store.latency_cycles, store.read_latency_cycles));
      channel.out_latency_s = seconds_of(hardware, std::max(store.latency_cycles, store.write_latency_cycles));
      channel.in_bytes_per_s = read / 8 * clock;
      channel.out_bytes_per_s = written / 8 * clock;
      channel.power_w = pj * 1e-12 * read * clock;
      channel.page_bytes = std::max<std::int64_t>(1, store.page_bits / 8);
      return channel;
    }
  }
  return std::nullopt;
}

}  // namespace

BareStep bare_step(const Priced& as_it_is, const Hardware& hardware, const MemorySpace& space, MemoryId memory) {
  const ScheduledStep step = as_it_is.scheduled(hardware);
  const Dependencies& dependencies = as_it_is.variant->evaluator.dependencies();
  const std::vector<StoredWidth>& width = as_it_is.variant->evaluator.element_bits();
  const std::vector<OperatorPrice> prices = operator_prices(step);
  const std::vector<bool> again = repeatable(step.graph, dependencies, space);
  const auto bytes_of = [&](TensorId id) { return width[id.index()].bytes(element_count(step.graph[id].type.shape)); };
  BareStep bare;
  bare.problem.name = "step";
  bare.problem.time_unit = remat::TimeUnit::second;
  bare.problem.has_energy = true;
  bare.problem.channel = channel_of(hardware, space);
  std::vector<remat::NodeIndex> index(step.graph.nodes().size(), no_bare_node);
  std::vector<std::pair<remat::NodeIndex, remat::NodeIndex>> pairs;
  for (const std::vector<NodeId>& stack : step.assignment.stacks) {
    for (NodeId node : stack) {
      if (dependencies.is_view(node)) continue;
      index[node.index()] = static_cast<remat::NodeIndex>(bare.nodes.size());
      bare.nodes.push_back(node);
    }
  }
  for (NodeId node : bare.nodes) {
    remat::Node each{.name = step.graph[node].name,
                     .time = seconds_of(hardware, prices[node.index()].cycles),
                     .energy_j = prices[node.index()].energy_j,
                     .bytes = 0,
                     .recomputable = again[node.index()]};
    for (TensorId output : step.graph[node].outputs) {
      if (output.valid() && !step.graph[output].updates.valid()) each.bytes += bytes_of(output);
    }
    bare.problem.nodes.push_back(std::move(each));
    for (NodeId before : dependencies.before(node)) pairs.emplace_back(index[before.index()], index[node.index()]);
  }
  std::ranges::sort(pairs);
  pairs.erase(std::ranges::unique(pairs).begin(), pairs.end());
  bare.problem.connect(pairs);
  for (const TensorStay& stay : step.schedule.home) {
    if (stay.memory == memory && !step.graph[stay.tensor].producer.valid()) bare.problem.fixed_bytes += stay.bytes;
  }
  for (const MemoryCandidate& candidate : space.candidates()) {
    const NodeId producer = step.graph[candidate.tensor].producer;
    bare.of_candidate.push_back(producer.valid() ? index[producer.index()] : no_bare_node);
  }
  return bare;
}

Genome decisions_of(const BareStep& bare, const MemorySpace& space, const remat::Sequence& sequence) {
  std::vector<int> computed(bare.nodes.size(), 0), paged(bare.nodes.size(), 0);
  for (const remat::Run& run : sequence) ++(run.paged() ? paged : computed)[run.node()];
  Genome genome = space.all_kept();
  for (std::size_t i = 0; i < bare.of_candidate.size(); ++i) {
    const remat::NodeIndex node = bare.of_candidate[i];
    if (node == no_bare_node) continue;
    const Retention wanted = computed[node] > 1 ? Retention::recompute
                             : paged[node] > 0  ? Retention::page
                                                : Retention::keep;
    const auto& choices = space.candidates()[i].choices;
    const auto found = std::ranges::find(choices, wanted, &MemoryChoice::retention);
    if (found != choices.end()) genome[i] = static_cast<std::uint16_t>(found - choices.begin());
  }
  genome.back() = static_cast<std::uint16_t>(space.orders().size() - 1);
  return genome;
}

}  // namespace monet

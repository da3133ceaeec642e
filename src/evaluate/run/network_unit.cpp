#include "evaluate/run/network_unit.h"

#include "evaluate/cost/custom_cost.h"
#include "mapping/operators.h"

#include <algorithm>
#include <unordered_map>

namespace monet {

namespace {

constexpr std::string_view unit_name = "network";

// The memory that the first core calls home, or that is joined to it, as its only level.
void attach(const Hardware& hardware, Core& unit) {
  const Core& like = hardware.cores.front();
  const MemoryId off_chip = off_chip_memory(hardware, CoreId(0));
  if (!off_chip.valid()) {
    Level level = like.levels.back();
    level.served = 0;
    level.link = {};
    unit.levels.push_back(level);
    return;
  }
  for (const Link& link : hardware.links) {
    const bool both = std::ranges::find(link.ends, End{.core = CoreId(0)}) != link.ends.end() &&
                      std::ranges::any_of(link.ends, [&](const End& end) { return end.memory == off_chip; });
    if (!both) continue;
    Level level;
    level.memory = off_chip;
    const Memory& memory = hardware[off_chip];
    for (auto& path : level.port) {
      for (std::size_t t = 0; t < transfer_count; ++t) {
        for (std::size_t port = 0; port < memory.ports.size() && path[t] == no_port; ++port) {
          if (fits(memory.ports[port].kind, static_cast<Transfer>(t))) path[t] = static_cast<std::int8_t>(port);
        }
      }
    }
    unit.levels.push_back(level);
    return;
  }
}

double covered(const std::vector<std::pair<double, double>>& busy, double start, double end) {
  double sum = 0;
  auto at = std::ranges::lower_bound(busy, start, {}, &std::pair<double, double>::second);
  for (; at != busy.end() && at->first < end; ++at) sum += std::min(end, at->second) - std::max(start, at->first);
  return sum;
}

}  // namespace

Hardware with_network_unit(Hardware hardware) {
  for (Core& core : hardware.cores) core.operators.emplace_back("!collective");
  Core unit{.name = std::string(unit_name), .type = std::string(unit_name)};
  unit.rate = Rate{};
  unit.rate->operations_per_s.fill(1);
  unit.operators = {"collective"};
  attach(hardware, unit);
  hardware.cores.push_back(std::move(unit));
  return hardware;
}

CustomCosts collective_costs(const Graph& graph, const ChipNetwork& network, double clock_hz,
                             const std::string& precision, CustomCosts others) {
  std::unordered_map<std::string, CustomCost> known;
  CollectivePrices prices(graph, network);
  for (const Node& node : graph.nodes()) {
    if (!is_collective(node.op)) continue;
    CustomTile tile = custom_tile(graph, node, precision);
    tile.core = unit_name;
    const PricedCollective collective = prices.of(node);
    known.emplace(key_of(tile), CustomCost{collective.price.seconds * clock_hz, collective.energy_pj()});
  }
  return [known = std::move(known),
          others = std::move(others)](const CustomTile& tile) -> Expected<std::optional<CustomCost>> {
    if (const auto found = known.find(key_of(tile)); found != known.end()) return std::optional(found->second);
    if (!others) return std::optional<CustomCost>();
    return others(tile);
  };
}

std::vector<Exchange> exchanges_of(const Graph& graph, const Hardware& hardware, const Evaluated& evaluated,
                                   const ChipNetwork& network) {
  const auto& tiles = evaluated.schedule.tiles;
  std::vector<std::pair<double, double>> busy;  // of any core, apart from each other
  std::vector<std::size_t> collectives;
  for (std::size_t i = 0; i < tiles.size(); ++i) {
    if (hardware[tiles[i].core].type == unit_name) {
      collectives.push_back(i);
    } else if (tiles[i].end > tiles[i].start) {
      busy.emplace_back(tiles[i].start, tiles[i].end);
    }
  }
  std::ranges::sort(busy);
  std::size_t last = 0;
  for (std::size_t i = 1; i < busy.size(); ++i) {
    if (busy[i].first <= busy[last].second) {
      busy[last].second = std::max(busy[last].second, busy[i].second);
    } else {
      busy[++last] = busy[i];
    }
  }
  if (!busy.empty()) busy.resize(last + 1);
  std::ranges::sort(collectives, {}, [&](std::size_t i) { return tiles[i].start; });
  CollectivePrices prices(graph, network);
  std::vector<Exchange> result;
  const double us = 1e6 / hardware.clock_hz;
  for (const std::size_t i : collectives) {
    Exchange exchange{prices.of(graph[evaluated.tiles.node[i]])};
    exchange.start_us = tiles[i].start * us;
    exchange.end_us = tiles[i].end * us;
    exchange.exposed_us = (tiles[i].end - tiles[i].start - covered(busy, tiles[i].start, tiles[i].end)) * us;
    result.push_back(exchange);
  }
  return result;
}

}  // namespace monet

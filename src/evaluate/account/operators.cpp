#include "evaluate/account/operators.h"

#include "evaluate/account/price.h"

#include <algorithm>

namespace monet {

namespace {

void add_tile(OperatorBreakdown& breakdown, const ScheduledTile& tile, const TileCost& cost, double gap) {
  breakdown.start = breakdown.tiles == 0 ? tile.start : std::min(breakdown.start, tile.start);
  breakdown.end = std::max(breakdown.end, tile.end);
  ++breakdown.tiles;
  breakdown.cost = tile.cost;
  breakdown.macs += cost.macs;
  breakdown.busy.add(tile, cost);
  breakdown.wait_cycles += gap;
  breakdown.bound_cycles += cost.bound_cycles;
  breakdown.compute_pj += cost.compute_pj;
  breakdown.network_pj += cost.network_pj;
  for (const double pj : cost.level_pj) breakdown.memory_pj += pj;
  breakdown.home_read_bytes += cost.home_read_bits / 8;
  breakdown.home_write_bytes += cost.home_write_bits / 8;
}

void add_transfer(OperatorBreakdown& breakdown, const ScheduledTransfer& transfer, const RoutePrice& price) {
  breakdown.transfer_pj += transfer_pj(price, transfer);
  const auto bytes = static_cast<double>(transfer.bytes);
  switch (transfer.kind) {
    case TransferKind::fetch:
      if (!transfer.joined) breakdown.home_read_bytes += bytes;
      break;
    case TransferKind::page_out: breakdown.home_read_bytes += bytes; break;
    case TransferKind::write_back:
    case TransferKind::page_in: breakdown.home_write_bytes += bytes; break;
    case TransferKind::core_to_core: break;
  }
}

}  // namespace

std::vector<OperatorBreakdown> operator_breakdowns(const ScheduledStep& step, std::span<const double> gaps,
                                                   std::span<const NodeId> owners) {
  const Schedule& schedule = step.schedule;
  const std::vector<double> link_pj = streaming_link_pj(step.hardware, schedule);
  std::vector<OperatorBreakdown> breakdowns(step.graph.nodes().size());
  for (std::size_t i = 0; i < schedule.tiles.size(); ++i) {
    const ScheduledTile& tile = schedule.tiles[i];
    OperatorBreakdown& of_node = breakdowns[step.tiles.node[i].index()];
    add_tile(of_node, tile, schedule.costs[tile.cost], gaps[i]);
    of_node.network_pj += streamed_pj(link_pj, tile, schedule.costs[tile.cost]);
  }
  const std::vector<RoutePrice> prices = route_prices(step.hardware, schedule);
  for (std::size_t i = 0; i < schedule.transfers.size(); ++i) {
    const ScheduledTransfer& transfer = schedule.transfers[i];
    if (owners[i].valid()) add_transfer(breakdowns[owners[i].index()], transfer, prices[transfer.route]);
  }
  return breakdowns;
}

}  // namespace monet

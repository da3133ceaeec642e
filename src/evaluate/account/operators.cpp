#include "evaluate/account/operators.h"

#include "evaluate/account/price.h"

#include <algorithm>

namespace monet {

namespace {

void add_tile(OperatorBreakdown& books, const ScheduledTile& tile, const TileCost& cost, double gap) {
  books.start = books.tiles == 0 ? tile.start : std::min(books.start, tile.start);
  books.end = std::max(books.end, tile.end);
  ++books.tiles;
  books.cost = tile.cost;
  books.macs += cost.macs;
  books.busy.add(tile, cost);
  books.wait_cycles += gap;
  books.bound_cycles += cost.bound_cycles;
  books.compute_pj += cost.compute_pj;
  books.network_pj += cost.network_pj;
  for (const double pj : cost.level_pj) books.memory_pj += pj;
  books.home_read_bytes += cost.home_read_bits / 8;
  books.home_write_bytes += cost.home_write_bits / 8;
}

void add_transfer(OperatorBreakdown& books, const ScheduledTransfer& transfer, const RoutePrice& price) {
  books.transfer_pj += transfer_pj(price, transfer);
  const auto bytes = static_cast<double>(transfer.bytes);
  switch (transfer.kind) {
    case TransferKind::fetch:
      if (!transfer.joined) books.home_read_bytes += bytes;
      break;
    case TransferKind::page_out: books.home_read_bytes += bytes; break;
    case TransferKind::write_back:
    case TransferKind::page_in: books.home_write_bytes += bytes; break;
    case TransferKind::core_to_core: break;
  }
}

}  // namespace

std::vector<OperatorBreakdown> operator_breakdowns(const ScheduledStep& step, std::span<const double> gaps,
                                                   std::span<const NodeId> owners) {
  const Schedule& schedule = step.schedule;
  const std::vector<double> link_pj = streaming_link_pj(step.hardware, schedule);
  std::vector<OperatorBreakdown> books(step.graph.nodes().size());
  for (std::size_t i = 0; i < schedule.tiles.size(); ++i) {
    const ScheduledTile& tile = schedule.tiles[i];
    OperatorBreakdown& of_node = books[step.tiles.node[i].index()];
    add_tile(of_node, tile, schedule.costs[tile.cost], gaps[i]);
    of_node.network_pj += streamed_pj(link_pj, tile, schedule.costs[tile.cost]);
  }
  const std::vector<RoutePrice> prices = route_prices(step.hardware, schedule);
  for (std::size_t i = 0; i < schedule.transfers.size(); ++i) {
    const ScheduledTransfer& transfer = schedule.transfers[i];
    if (owners[i].valid()) add_transfer(books[owners[i].index()], transfer, prices[transfer.route]);
  }
  return books;
}

}  // namespace monet

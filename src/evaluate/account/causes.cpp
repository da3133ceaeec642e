#include "evaluate/account/causes.h"

#include "evaluate/account/price.h"

#include <algorithm>

namespace monet {

namespace {

bool pages(TransferKind kind) { return kind == TransferKind::page_out || kind == TransferKind::page_in; }

// Of a part of the path that runs a tile: the cycles in which its units work.
double compute_cycles(const Schedule& schedule, const PathStep& part) {
  const ScheduledTile& tile = schedule.tiles[part.index];
  const double cycles = part.end - part.start;
  const double share = length(tile) > 0 ? cycles / length(tile) : 0;  // less than 1: what follows overlaps it
  return std::clamp(share * schedule.costs[tile.cost].compute_cycles, 0.0, cycles);
}

}  // namespace

std::string_view name_of(LatencyCause cause) {
  static constexpr std::array<std::string_view, latency_causes> names = {"compute", "stall", "traffic", "recomputation",
                                                                         "paging",  "room",  "waiting"};
  return names[static_cast<std::size_t>(cause)];
}

std::string_view name_of(EnergyCause cause) {
  static constexpr std::array<std::string_view, energy_causes> names = {"compute", "traffic", "recomputation", "paging",
                                                                        "static"};
  return names[static_cast<std::size_t>(cause)];
}

std::array<double, latency_causes> latency_by_cause(const ScheduledStep& step, const CriticalPath& path) {
  std::array<double, latency_causes> cycles{};
  const auto spend = [&](LatencyCause cause, double more) { cycles[static_cast<std::size_t>(cause)] += more; };
  for (const PathStep& part : path.steps) {
    const double all = part.end - part.start;
    if (part.node.valid() && step.graph[part.node].recomputed) {
      spend(LatencyCause::recomputation, all);
    } else if (part.what == PathStep::What::tile) {
      const double compute = compute_cycles(step.schedule, part);
      spend(LatencyCause::compute, compute);
      spend(LatencyCause::stall, all - compute);
    } else if (part.what == PathStep::What::transfer) {
      spend(pages(step.schedule.transfers[part.index].kind) ? LatencyCause::paging : LatencyCause::traffic, all);
    } else {
      spend(part.what == PathStep::What::room ? LatencyCause::room : LatencyCause::waiting, all);
    }
  }
  return cycles;
}

std::array<double, energy_causes> energy_by_cause(const ScheduledStep& step, const Energy& energy,
                                                  std::span<const OperatorBreakdown> operators,
                                                  std::span<const NodeId> owners) {
  std::array<double, energy_causes> pj{};
  const auto spend = [&](EnergyCause cause, double more) { pj[static_cast<std::size_t>(cause)] += more; };
  for (std::size_t i = 0; i < operators.size(); ++i) {
    const double moving = operators[i].memory_pj + operators[i].network_pj;
    const bool again = step.graph.nodes()[i].recomputed;
    spend(again ? EnergyCause::recomputation : EnergyCause::compute, operators[i].compute_pj);
    spend(again ? EnergyCause::recomputation : EnergyCause::traffic, moving);
  }
  const std::vector<RoutePrice> prices = route_prices(step.hardware, step.schedule);
  for (std::size_t i = 0; i < owners.size(); ++i) {
    const ScheduledTransfer& transfer = step.schedule.transfers[i];
    const bool again = owners[i].valid() && step.graph[owners[i]].recomputed;
    spend(again                  ? EnergyCause::recomputation
          : pages(transfer.kind) ? EnergyCause::paging
                                 : EnergyCause::traffic,
          transfer_pj(prices[transfer.route], transfer));
  }
  spend(EnergyCause::leakage, energy.static_pj);
  return pj;
}

}  // namespace monet

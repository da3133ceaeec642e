// What a step's latency and energy go to, in parts that are there in every result: two results can be compared by them.
#pragma once

#include "evaluate/account/critical_path.h"
#include "evaluate/account/energy.h"
#include "evaluate/account/operators.h"
#include "evaluate/account/step.h"

#include <array>
#include <cstdint>
#include <span>
#include <string_view>

namespace monet {

enum class LatencyCause : std::uint8_t {
  compute,        // cycles in which the units of critical tiles work
  stall,          // what critical tiles take beyond that: stalls, loading, filling, slowed by others
  traffic,        // critical transfers
  recomputation,  // all time on the path, waiting included, that belongs to operators which are run again
  paging,         // critical transfers to and from where tensors are paged to
  room,           // waiting until there was room in a memory
  waiting,        // the rest
};
constexpr std::size_t latency_causes = 7;
std::string_view name_of(LatencyCause cause);

enum class EnergyCause : std::uint8_t {
  compute,
  traffic,        // accesses of memories, links, wires
  recomputation,  // all energy of operators which are run again, and of the transfers for them
  paging,
  leakage,  // static energy
};
constexpr std::size_t energy_causes = 5;
std::string_view name_of(EnergyCause cause);

// Along the critical path, which spans the makespan: adds up to it. None is negative.
std::array<double, latency_causes> latency_by_cause(const ScheduledStep& step, const CriticalPath& path);

// Adds up to Energy::total. `operators` by node (operator_breakdowns), `owners` by transfer (owners_of).
std::array<double, energy_causes> energy_by_cause(const ScheduledStep& step, const Energy& energy,
                                                  std::span<const OperatorBreakdown> operators,
                                                  std::span<const NodeId> owners);

}  // namespace monet

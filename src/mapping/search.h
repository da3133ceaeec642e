// The best mapping of a problem on a target: all maximal unrollings, all orders of the pieces of loops, all cuts.
#pragma once

#include "mapping/factors.h"
#include "mapping/mapping.h"
#include "mapping/spatial.h"

#include <monet/expected.h>

#include <optional>
#include <vector>

namespace monet {

// A place in the order that a user has filled, at least in part.
struct OrderSlot {
  std::optional<std::uint8_t> loop;
  std::optional<std::int64_t> size;
  bool operator==(const OrderSlot&) const = default;
};

// Loops that must run inside the tile which a memory holds of the operands of a path.
struct HeldLoops {
  Path path = Path::input;
  std::uint8_t memory = 0;  // of the target
  std::uint32_t loops = 0;  // bit i: loop i of the problem
  bool operator==(const HeldLoops&) const = default;
};

// What a user may prescribe.
struct MappingConstraints {
  std::vector<SpatialLoop> unrolled;  // sizes for some dimensions of the unit, which are then not searched
  std::vector<OrderSlot> innermost;   // the order from inside
  std::vector<OrderSlot> outermost;   // and from outside
  std::vector<HeldLoops> held;
};

struct SearchOptions {
  Objective objective = Objective::latency;
  std::size_t factors = 6;  // pieces of loops that are arranged
  bool refine = true;       // afterwards, try other sizes of the pieces; for latency, where they save energy
  bool climb = false;       // and where they save cycles: better, but no longer monotone in what the machine has
  bool prune = true;        // leave out what cannot be better; never changes the result
  MappingConstraints constraints;
};

// Deterministic: equal inputs give equal mappings. Fails, saying why, when nothing fits.
Expected<MappedProblem> map_problem(const Problem& problem, const Target& target, const SearchOptions& options = {});

// Costs of a given mapping; fails when it does not fit or does not cover the problem.
Expected<MappedProblem> cost_of(const Problem& problem, const Target& target, const Mapping& mapping);

}  // namespace monet

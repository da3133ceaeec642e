// Published ways to decide about memory, by the rules that their papers state, for comparisons. Each gives decisions;
// what they come to is priced like every other plan.
#pragma once

#include "optimize/memory/bare_step.h"
#include "optimize/memory/search.h"

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace monet {

// Chen et al. 2016, algorithm 3: in the order in which the forward part makes them, tensors are dropped until so many
// bytes have come together; the next one is kept. `bytes`: by tensor, in that order. Gives which are kept.
std::vector<bool> chen_kept(std::span<const std::int64_t> bytes, std::int64_t limit);

// Kirisame et al. 2021 (DTR): runs the nodes in order. Where the next output finds no room, what is there and not
// needed by the run is dropped, the smallest cost / (bytes × staleness) first; the cost is that of running it and what
// is dropped around it again (full neighbourhood). What is dropped runs again when it is read. Nothing: even so there
// is no room.
std::optional<remat::Sequence> dtr_sequence(const remat::Problem& problem, std::int64_t budget);

// Peng et al. 2020 (Capuchin): of tensors that are made in the forward part and read in the backward part, those with
// the longest free time between, less the transfers, are taken first, until so many bytes are saved. One that storage
// can take and give back in its free time is paged; else what delays the step less: the exposed part of its transfers,
// or running it again with what it needs that is dropped too.
struct CapuchinTensor {
  std::int64_t bytes = 0;
  double made = 0, last_read = 0, next_read = 0;  // seconds
  std::optional<double> out_s, in_s;              // of its transfers; nothing: it cannot be paged
  std::optional<double> again_s;                  // of running it again; nothing: it cannot
  std::vector<std::size_t> operands;              // of the run: tensors of this list
};
enum class CapuchinChoice : std::uint8_t { keep, recompute, page };
std::vector<CapuchinChoice> capuchin_choices(std::span<const CapuchinTensor> tensors, std::int64_t save_bytes);

// What `method` ("chen", "dtr", "capuchin") would do within a budget; several where it tries several.
std::vector<Genome> baseline_genomes(const std::string& method, const Priced& as_it_is, const MemoryPricesInput& input,
                                     std::int64_t budget_bytes, std::int64_t all_kept_bytes);

}  // namespace monet

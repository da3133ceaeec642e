// From the breakdowns of a step (evaluate/account) to the public result.
#pragma once

#include "evaluate/account/bound.h"
#include "evaluate/account/critical_path.h"
#include "evaluate/account/step.h"
#include "evaluate/addresses/addresses.h"

#include <monet/evaluate.h>

#include <cstdint>
#include <span>
#include <vector>

namespace monet {

struct FillOptions {
  std::size_t curve_points = 1000;  // of each memory
  bool trace = false;
  bool lifetimes = false;
  const PackedStays* packed = nullptr;
};

// Sets everything that follows from the schedule: latency, energy, what explains them, MACs, utilization, counts,
// footprint, bounds, phases, operators (without views), resources, memories, critical path, facts of the machine, and
// where wanted trace and lifetimes. The rest (names, options, what fits, comparisons, graph, times of the program) it
// leaves alone. `bounds` by node.
void fill(Evaluation& evaluation, const ScheduledStep& step, std::span<const OperatorBound> bounds,
          const FillOptions& options = {});

// The parts that `fill` is made of.
void fill_memories(Evaluation& evaluation, const ScheduledStep& step, const FillOptions& options);
void fill_trace(Evaluation& evaluation, const ScheduledStep& step, const CriticalPath& path);
void fill_lifetimes(Evaluation& evaluation, const ScheduledStep& step, const PackedStays* packed);

// By node: its row in Evaluation::operators; -1: it has no tiles.
std::vector<std::int64_t> operator_rows(const ScheduledStep& step);

// `part`, so many times one after the other, and then `last`: latency, energy, work and traffic add up, peaks are the
// higher ones. Rows are put together by name. Trace, lifetimes and critical path show the first repetition and the
// last; bounds hold for parts that run one after the other. What does not follow from schedules is that of `last`.
Evaluation repeat(const Evaluation& part, std::int64_t times, Evaluation last);

}  // namespace monet

// Which task each chip of a pipeline does after which: the published schedules as lists.
//
// A step is cut into stages, one after the other; chip_of says which chip holds which. A chip holds several (chunks)
// where schedules are interleaved. Each micro-batch goes forward through all stages and backward again. A backward task
// makes the gradients of inputs, and of weights too unless the schedule has tasks of their own for these.
#pragma once

#include <monet/expected.h>

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace monet {

enum class PipelinePart : std::uint8_t { forward, backward, weights };

struct PipelineTask {
  std::uint32_t stage = 0, micro_batch = 0;
  PipelinePart part = PipelinePart::forward;
  bool operator==(const PipelineTask&) const = default;
};
std::string text_of(const PipelineTask& task);  // "forward of micro-batch 3 in stage 1", counted from 0

struct PipelineOrder {
  std::uint32_t micro_batches = 0;
  std::vector<std::uint32_t> chip_of;            // by stage
  bool splits_backward = false;                  // gradients of weights have tasks of their own
  std::vector<std::vector<PipelineTask>> tasks;  // by chip, in its order
};

enum class PipelineSchedule { gpipe, one_f_one_b, interleaved, zb_h1, zb_h2, zb_v };
std::string_view name_of(PipelineSchedule schedule);  // "gpipe", "1f1b", "interleaved", "zb-h1", "zb-h2", "zbv"
Expected<PipelineSchedule> pipeline_schedule(std::string_view name);

struct PipelineShape {
  std::uint32_t chips = 1, chunks = 1, micro_batches = 1;
};

// Chunks are 1 but for interleaved (the shape's) and zbv (2). An error where the schedule has no such shape.
Expected<PipelineOrder> pipeline_order(PipelineSchedule schedule, const PipelineShape& shape);

// A listed order: every task of every stage once, on the chip of its stage; else an error that names it.
Status check_order(const PipelineOrder& order);

}  // namespace monet

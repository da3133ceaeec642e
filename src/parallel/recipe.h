// Recipes: one chip's step of a finished step, from a few words.
#pragma once

#include "graph/mesh.h"
#include "parallel/split.h"

#include <string>
#include <string_view>
#include <vector>

namespace monet::parallel {

// Axes of the mesh that recipes know, outermost first.
//   dp  data parallel: the batch
//   ep  expert parallel: experts, and between them the batch
//   cp  context parallel: tokens; attention gathers keys and values
//   tp  tensor parallel: pairs of products with weights; attention by heads
// zero: 0 nothing of the optimizer is split over dp, ep and cp; 1 its states; 2 gradients too, at each micro-batch; 3
// weights too.
// overlap: off runs nothing beside a collective.
// sequence: tokens are split over tp outside those pairs.
struct ParallelOptions {
  Mesh mesh;
  int zero = 0;
  bool sequence = false;
  bool overlap = true;                                 // launches run beside collectives
  bool dp_said = false;                                // else it is as many as there are chips for
  std::string fills_unit;                              // the axis that has as many as are next to each other
  std::int64_t bucket_bytes = std::int64_t{25} << 20;  // torch.nn.parallel.DistributedDataParallel, bucket_cap_mb

  std::int64_t size(std::string_view axis) const;
  // Chips among which the batch is divided.
  std::int64_t batch_parts() const { return size("dp") * size("ep"); }
};

// Sets the chips along an axis, which takes its place among those of the mesh: ep, cp are there where they are more
// than one. False: recipes know no such axis.
bool set_size(ParallelOptions& options, std::string_view axis, std::int64_t chips);

// "tp=4,dp=2,zero=1,sequence=on", or the name of a recipe and what differs from it, "megatron,tp=4":
//   megatron  zero=1, sequence=on, tp as many as are next to each other
//   fsdp      zero=3
//   expert    zero=1, ep as many as are next to each other
// Fails with the words that there are.
Expected<ParallelOptions> parse_parallel(std::string_view text);
// With as many chips as `unit`, those that are next to each other, and as divide `chips` (0: not known), along the axis
// that a recipe leaves open.
ParallelOptions filled(ParallelOptions options, std::int64_t unit, std::int64_t chips);
// With as many chips along dp as make `chips`, if it was not said. Fails where there are not so many.
Expected<ParallelOptions> with_all_chips(ParallelOptions options, std::int64_t chips);
// As it was parsed, axes in the order of the mesh: "dp=2,tp=4,zero=1,sequence=on".
std::string to_text(const ParallelOptions& options);

struct AxisLayout {
  std::string axis;
  std::int64_t chips = 1;
  Places places;  // of the tensors of the step that was split over it
};

struct ParallelStep {
  Graph graph;  // of every chip
  Mesh mesh;
  std::vector<AxisLayout> layouts;  // in the order in which the step was split
  std::vector<std::string> notes;
};

// Ensures: verify() holds for the graph. Tensors keep their names.
Expected<ParallelStep> parallel_step(Graph step, const ParallelOptions& options);

}  // namespace monet::parallel

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
//   tp  tensor parallel: pairs of products with weights; attention by heads
// zero: 0 nothing of the optimizer is split over dp; 1 its states; 2 gradients too, at each micro-batch; 3 weights too.
// sequence: tokens are split over tp outside those pairs.
struct ParallelOptions {
  Mesh mesh;
  int zero = 0;
  bool sequence = false;
  std::int64_t bucket_bytes = std::int64_t{25} << 20;  // torch.nn.parallel.DistributedDataParallel, bucket_cap_mb

  std::int64_t size(std::string_view axis) const;
};

// "tp=4,dp=2,zero=1,sequence=on". Fails with the words that there are.
Expected<ParallelOptions> parse_parallel(std::string_view text);
// As it was parsed, axes in the order of the mesh: "dp=2,tp=4,zero=1,sequence=on".
std::string to_text(const ParallelOptions& options);

struct AxisLayout {
  std::string axis;
  std::int64_t chips = 1;
  Places places;  // of the tensors of the step that was split over it
};

struct ParallelStep {
  Graph graph;                      // of every chip
  Mesh mesh;
  std::vector<AxisLayout> layouts;  // in the order in which the step was split
  std::vector<std::string> notes;
};

// Ensures: verify() holds for the graph. Tensors keep their names.
Expected<ParallelStep> parallel_step(Graph step, const ParallelOptions& options);

}  // namespace monet::parallel

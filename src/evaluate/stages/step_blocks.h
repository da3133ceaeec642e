// Which block of a network everything in a step belongs to, so that it can be cut into stages of a pipeline. Blocks are
// found in the step of one chip by their structure; what follows from them holds for any rewrite that keeps the names
// of tensors (recomputation, chips of a mesh).
#pragma once

#include "graph/graph.h"

#include <cstdint>
#include <string>
#include <unordered_map>
#include <vector>

namespace monet {

// Blocks are numbered from 0; -1 is what comes before the first (embeddings), their number what comes after the last
// (head, loss).
using BlockPlace = std::int32_t;
inline constexpr BlockPlace before_blocks = -1;

struct StepBlocks {
  std::size_t count = 0;
  std::unordered_map<std::string, BlockPlace> tensors;  // that the forward part makes from data, by name
  std::unordered_map<std::string, BlockPlace> sources;  // weights and data: where they are read first
  std::vector<std::string> shared;   // weights that are read before the first block and after the last
  std::vector<std::string> entries;  // by block: what it begins with
};

// Cost: linear in the graph.
StepBlocks blocks_of(const Graph& step);

// What a backward node is for: gradients that go on to earlier blocks, or of weights alone. Recomputation is for the
// former.
enum class StepPart : std::uint8_t { forward, input_gradients, weight_gradients, update };
constexpr std::size_t step_parts = 4;

struct NodePart {
  BlockPlace place = before_blocks;
  StepPart part = StepPart::forward;
};

// By node of a step whose tensors have the names that they had in `blocks`.
std::vector<NodePart> parts_of(const Graph& step, const StepBlocks& blocks);

}  // namespace monet

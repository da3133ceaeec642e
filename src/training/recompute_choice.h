// What is recomputed of every block of a network, by a word in place of a list of tensors.
#pragma once

#include "graph/graph.h"

#include <monet/expected.h>

#include <string_view>
#include <vector>

namespace monet::training {

enum class RecomputeChoice : std::uint8_t {
  none,
  selective,  // between the two products of attention: scores, probabilities and what drops of them (Korthikanti et al.
              // 2022, arXiv 2205.05198, section 5): much memory, few operations. Nothing where attention is one
              // operator
  blocks,     // all that a block keeps, from its entry on
};
std::string_view name_of(RecomputeChoice choice);  // "none", "selective", "blocks"
Expected<RecomputeChoice> recompute_choice(std::string_view name);

// Saved tensors that can be recomputed, in the order of the graph.
std::vector<TensorId> recomputed_by(const Graph& step, RecomputeChoice choice);

}  // namespace monet::training

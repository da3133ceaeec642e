// Steps in 8 bits everywhere, as machines that know nothing else run them by their own recipe.
#pragma once

#include "evaluate/open/numbers.h"
#include "training/quantized.h"

#include <utility>

namespace monet::test {

inline Graph in_bytes(Graph graph) { return training::all_in(ElementType::int8, std::move(graph)); }

// In its own numbers where the machine has units for them.
inline Graph in_numbers_of(const Hardware& hardware, Graph graph) {
  return lacking_numbers(graph, hardware, {}) ? in_bytes(std::move(graph)) : std::move(graph);
}

}  // namespace monet::test

// What a training step of fully connected layers keeps in a number format, by different ways of counting.
#pragma once

#include "graph/format.h"
#include "graph/graph.h"

#include <string>
#include <vector>

namespace monet {

// Groups of 16 along an axis with a shared exponent and microexponents, 9 bits an element (DaCapo's MX9); 8 x 8 groups
// of 8-bit elements, 8.125 bits; groups of 32 along an axis, 8.25 bits (OCP).
Format mx9_format();
Format square_format();
Format ocp_format();

// What is counted, and how often it is kept; 0: it is not counted.
struct Accounting {
  int weights = 1, activations = 1, gradients = 0;
  bool state = false;   // fp32 weights and Adam's two moments
  bool padded = false;  // to whole groups

  bool operator==(const Accounting&) const = default;
};
// "weights twice, inputs once, unpadded"
std::string text_of(const Accounting& accounting);

// Bits that the layers of a forward graph take: their weights, inputs, and gradients of their results. A second copy
// has its groups along the other axis.
double footprint_bits(const Graph& forward, const Accounting& accounting, const Format& format);

// Percent that everything once in square groups takes less than in groups along an axis.
double footprint_reduction(const Graph& forward, const Accounting& accounting, const Format& along_axis);

}  // namespace monet

// How a loop bears on an operand.
#pragma once

#include "compat/zigzag/layer.h"

#include <array>
#include <cstdint>
#include <numeric>

namespace monet::zigzag {

constexpr std::size_t max_loops = 16;

// none: the loop has one iteration, and ZigZag lists it nowhere.
enum class Relevance : std::uint8_t { none, relevant, irrelevant, window };

using Relevances = std::array<std::array<Relevance, max_loops>, zigzag_operands>;

inline Relevances relevances(const ZigzagLayer& layer) {
  Relevances found{};
  for (std::size_t o = 0; o < zigzag_operands; ++o) {
    const ZigzagOperand& operand = layer.operands[o];
    for (std::size_t i = 0; i < layer.loops.size(); ++i) {
      found[o][i] = layer.loops[i].size == 1 ? Relevance::none : Relevance::irrelevant;
    }
    for (std::uint8_t i : operand.loops) {
      if (operand.windows || layer.loops[i].size != 1) found[o][i] = Relevance::relevant;
    }
    if (!operand.windows) continue;
    for (const ZigzagWindow& window : layer.windows) {
      found[o][window.outer] = Relevance::window;
      found[o][window.inner] = Relevance::window;
    }
  }
  return found;
}

// Distinct positions of a window under so many iterations of its two loops: ZigZag's formula, which is exact without
// dilation.
struct WindowSize {
  double reach = 1;    // stride / gcd
  double spacing = 1;  // dilation / gcd
  double limit = 1;
  std::uint8_t outer = 0;
  std::uint8_t inner = 0;

  // a without what it has in common with b.
  static double reduced(std::int64_t a, std::int64_t b) {
    const std::int64_t left = a / std::gcd(a, b);
    return static_cast<double>(left);
  }

  explicit WindowSize(const ZigzagWindow& window)
      : reach(reduced(window.stride, window.dilation)),
        spacing(reduced(window.dilation, window.stride)),
        limit(static_cast<double>(window.limit)),
        outer(window.outer),
        inner(window.inner) {}
  WindowSize() = default;

  double operator()(double outer_size, double inner_size) const {
    const auto a = static_cast<double>(static_cast<std::int64_t>(outer_size));
    const auto b = static_cast<double>(static_cast<std::int64_t>(inner_size));
    const double hidden = b > reach ? b - reach : 0;
    const double size = a * b - hidden * (a - spacing);
    return size < limit ? size : limit;
  }
};

}  // namespace monet::zigzag

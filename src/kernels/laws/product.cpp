#include "kernels/laws/tiles.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace monet {

namespace {

constexpr std::array<double, 5> tile_sides = {16, 32, 64, 128, 256};
constexpr std::array<double, 11> splits = {1, 2, 3, 4, 6, 8, 12, 16, 32, 64, 128};

constexpr std::array<Coefficient, tile_coefficients> product_coefficients = {{
    {"rate", 1.2, 0.05, 4, Scale::ceiling, "TFLOP/s in an endless tile"},
    {"edge", 50, 0.5, 300, Scale::none, "a tile of a x b takes edge * (1/a + 1/b) longer"},
    {"start", 2.5, 0.05, 20, Scale::none, "us"},
    {"wave", 1, 0.02, 20, Scale::none, "us, times the root of the waves"},
    {"split", 4, 0.5, 30, Scale::none, "us of adding parts of a split sum"},
    {"sums", 1, 0.05, 10, Scale::none, "times the memory's time of those parts"},
    {"recovered", 0.6, 0.01, 1, Scale::none, "of what the last wave leaves idle"},
}};

double plain_product_us(const KernelLaws& laws, const Kernel& k, const Coefficients& c) {
  const ProductShape shape{static_cast<double>(k.batch), static_cast<double>(k.m), static_cast<double>(k.n),
                           static_cast<double>(k.k)};
  return c[tile_start] + std::max(tiles_us(laws, shape, c), memory_us(laws.memory, k.bytes));
}

}  // namespace

TileChoice choose_tiles(const KernelLaws& laws, const ProductShape& shape, const Coefficients& c) {
  const double rate = c[tile_rate] / laws.multiprocessors;
  TileChoice best{.us = std::numeric_limits<double>::infinity()};
  for (const double split : splits) {
    const double depth = std::ceil(shape.k / split);
    if (split > 1 && (depth < 16 || !shape.split)) break;
    const double parts =
        split > 1 ? c[tile_split] + c[tile_sums] * memory_us(laws.memory, 4 * shape.m * shape.n * shape.batch * split)
                  : 0;
    if (parts >= best.us) continue;
    for (const double rows : tile_sides) {
      for (const double columns : tile_sides) {
        const double blocks = std::ceil(shape.m / rows) * std::ceil(shape.n / columns) * shape.batch * split;
        const double exact = blocks / laws.multiprocessors;
        double waves = std::ceil(exact);
        if (waves > 1) waves -= c[tile_recovered] * (waves - exact);
        const double tile = 2 * depth * rows * columns * (1 + c[tile_edge] * (1 / rows + 1 / columns)) / rate;
        const double us = waves * tile + c[tile_wave] * std::sqrt(waves) + parts;
        if (us < best.us) best = {us, rows, columns, split, std::ceil(exact)};
      }
    }
  }
  return best;
}

const LawForm product_form = {"product", product_coefficients, plain_product_us};

}  // namespace monet

// A product in tiles, in waves over the multiprocessors.
#pragma once

#include "kernels/laws/forms.h"

namespace monet {

struct ProductShape {
  double batch = 1, m = 0, n = 0, k = 0;
  bool split = true;  // whether blocks may share a sum
};

// The first coefficients of every law over tiles.
enum TileCoefficient : std::uint8_t {
  tile_rate,       // flops/µs of all multiprocessors in an endless tile
  tile_edge,       // a tile of a × b loses edge·(1/a + 1/b) of its time
  tile_start,      // µs
  tile_wave,       // µs times the root of the number of waves
  tile_split,      // µs of adding up, where the sum is split
  tile_sums,       // times the memory's time of the parts of the sum
  tile_recovered,  // of what the last wave leaves idle, where there are more than one
  tile_coefficients
};

// The fastest tiles by the law: their sides, into how many parts the sum is split, and how often all multiprocessors
// have one. Without start and operands.
struct TileChoice {
  double us = 0;
  double rows = 0, columns = 0, split = 0, waves = 0;
};
TileChoice choose_tiles(const KernelLaws& laws, const ProductShape& shape, const Coefficients& c);
inline double tiles_us(const KernelLaws& laws, const ProductShape& shape, const Coefficients& c) {
  return choose_tiles(laws, shape, c).us;
}
// A convolution as its law has it.
ProductShape product_of_convolution(const Kernel& kernel);

// Whether the gradient of the weights goes through Winograd's transforms, and what they take of memory.
bool is_winograd(const Kernel& kernel, double from_flops);
double winograd_bytes(const Kernel& kernel);
// Flops from which it does.
double winograd_threshold(const Coefficients& c);
double default_winograd_threshold();

}  // namespace monet

#include "kernels/laws/tiles.h"

#include <algorithm>
#include <cmath>

namespace monet {

namespace {

enum WindowCoefficient : std::uint8_t {
  layout_start = tile_coefficients,
  layout_rate,
  layout_weight_rate,
  layout_coefficients,
};
constexpr std::size_t pointwise_misaligned = tile_coefficients;

constexpr std::array<Coefficient, layout_coefficients> windows_coefficients = {{
    {"rate", 1.2, 0.05, 4, Scale::ceiling, "TFLOP/s in an endless tile"},
    {"edge", 50, 0.5, 300, Scale::none, "a tile of a x b takes edge * (1/a + 1/b) longer"},
    {"start", 3, 0.05, 20, Scale::none, "us"},
    {"wave", 1, 0.02, 20, Scale::none, "us, times the root of the waves"},
    {"split", 6, 0.5, 30, Scale::none, "us of adding parts of a split sum"},
    {"sums", 1, 0.05, 10, Scale::none, "times the memory's time of those parts"},
    {"recovered", 0.6, 0.01, 1, Scale::none, "of what the last wave leaves idle"},
    {"layout_start", 1.3, 0.02, 4, Scale::none, "us of each copy into another layout"},
    {"layout_rate", 0.3, 0.03, 30, Scale::memory, "TB/s of copies of input and output"},
    {"layout_weight_rate", 0.1, 0.01, 30, Scale::memory, "TB/s of copies of weights"},
}};

constexpr std::array<Coefficient, tile_coefficients + 1> pointwise_coefficients = {{
    {"rate", 1.0, 0.05, 4, Scale::ceiling, "TFLOP/s in an endless tile"},
    {"edge", 50, 0.5, 300, Scale::none, "a tile of a x b takes edge * (1/a + 1/b) longer"},
    {"start", 3, 0.05, 20, Scale::none, "us"},
    {"wave", 1, 0.02, 20, Scale::none, "us, times the root of the waves"},
    {"split", 6, 0.5, 30, Scale::none, "us of adding parts of a split sum"},
    {"sums", 1, 0.05, 10, Scale::none, "times the memory's time of those parts"},
    {"recovered", 0.6, 0.01, 1, Scale::none, "of what the last wave leaves idle"},
    {"misaligned", 1.5, 0.7, 5, Scale::none, "times, where a row of pixels is no multiple of 16 bytes"},
}};

enum WinogradCoefficient : std::uint8_t {
  winograd_rate = tile_coefficients,
  winograd_start,
  winograd_from,
  grouped_rate,
  winograd_size
};

constexpr std::array<Coefficient, winograd_size> winograd_coefficients = {{
    {"rate", 0.7, 0.05, 4, Scale::ceiling, "TFLOP/s in an endless tile"},
    {"edge", 20, 0.5, 300, Scale::none, "a tile of a x b takes edge * (1/a + 1/b) longer"},
    {"start", 6, 0.05, 30, Scale::none, "us"},
    {"wave", 1, 0.02, 20, Scale::none, "us, times the root of the waves"},
    {"split", 6, 0.5, 30, Scale::none, "us of adding parts of a split sum"},
    {"sums", 1, 0.05, 10, Scale::none, "times the memory's time of those parts"},
    {"recovered", 0.6, 0.01, 1, Scale::none, "of what the last wave leaves idle"},
    {"winograd_rate", 1.0, 0.2, 4, Scale::ceiling, "TFLOP/s of the products after Winograd's transforms"},
    {"winograd_start", 8, 0.5, 60, Scale::none, "us of the transforms"},
    {"winograd_from", 0.5e9, 0.5e9, 0.5e9, Scale::none, "flops from which the library takes them"},
    {"grouped_rate", 0.02, 0.001, 1, Scale::ceiling, "TFLOP/s of the kernel for many groups and few images"},
}};

double real_of(std::int64_t value) { return static_cast<double>(value); }

double pixels(const Kernel& k) { return real_of(k.batch) * real_of(k.h) * real_of(k.w); }
double out_pixels(const Kernel& k) { return real_of(k.batch) * real_of(k.oh) * real_of(k.ow); }
double taps(const Kernel& k) { return real_of(k.kernel_h) * real_of(k.kernel_w); }

// Channels of a group; kernels for fp32 numbers, one for each group, compute whole tiles of 32 of them.
double group_channels(const Kernel& k, std::int64_t channels) {
  const double each = real_of(channels) / real_of(k.groups);
  const bool whole_tiles = k.groups > 1 && k.precision == KernelPrecision::fp32 && !k.channels_last;
  return whole_tiles ? 32 * std::ceil(each / 32) : each;
}

// Tensor cores read 16 bytes of channels at a time: fewer are filled up.
double filled_channels(const Kernel& k) {
  const double vector = 16 / bytes_of(k.precision);
  const bool fills = k.groups == 1 && k.precision != KernelPrecision::fp32;
  return fills ? vector * std::ceil(real_of(k.c) / vector) : real_of(k.c);
}

// Kernels for fp32 numbers with channels first add up a result in one block.
bool shares_sums(const Kernel& k) { return k.precision != KernelPrecision::fp32 || k.channels_last; }

// As a product of the channels-last tensors, windows gathered on the way.
ProductShape implicit_product(const Kernel& k) {
  const double groups = real_of(k.groups);
  double c = filled_channels(k) / groups, o = real_of(k.o) / groups;
  (k.part == KernelPart::input_gradient ? c : o) = group_channels(k, k.part == KernelPart::input_gradient ? k.c : k.o);
  switch (k.part) {
    case KernelPart::input_gradient:
      return {groups, pixels(k), c, std::max(1.0, o * taps(k) / real_of(k.stride * k.stride)), shares_sums(k)};
    case KernelPart::weight_gradient: return {groups, o, c * taps(k), out_pixels(k)};
    default: return {groups, out_pixels(k), o, c * taps(k), shares_sums(k)};
  }
}

double input_bytes(const Kernel& k) { return pixels(k) * real_of(k.c) * bytes_of(k.precision); }
double output_bytes(const Kernel& k) { return out_pixels(k) * real_of(k.o) * bytes_of(k.precision); }
double weight_bytes(const Kernel& k) {
  return real_of(k.o) * real_of(k.c) / real_of(k.groups) * taps(k) * bytes_of(k.precision);
}

double product_on_layout_us(const KernelLaws& laws, const Kernel& k, const Coefficients& c) {
  return c[tile_start] + std::max(tiles_us(laws, implicit_product(k), c), memory_us(laws.memory, k.bytes));
}

double windows_us(const KernelLaws& laws, const Kernel& k, const Coefficients& c) {
  const double filled = input_bytes(k) * filled_channels(k) / real_of(k.c);
  double copies = 2 * c[layout_start] + (filled + output_bytes(k)) / c[layout_rate];
  if (taps(k) > 1) copies += c[layout_start] + weight_bytes(k) / c[layout_weight_rate];
  return product_on_layout_us(laws, k, c) + copies;
}

// A product for each image, on the tensors as they lie.
ProductShape pointwise_product(const Kernel& k) {
  const double area = real_of(k.h) * real_of(k.w), b = real_of(k.batch), in = real_of(k.c), out = real_of(k.o);
  return k.part == KernelPart::input_gradient    ? ProductShape{b, in, area, out}
         : k.part == KernelPart::weight_gradient ? ProductShape{1, out, in, b * area}
                                                 : ProductShape{b, out, area, in};
}

double pointwise_us(const KernelLaws& laws, const Kernel& k, const Coefficients& c) {
  const ProductShape shape = pointwise_product(k);
  const auto vector = static_cast<std::int64_t>(16 / bytes_of(k.precision));
  const double slower = (k.h * k.w) % vector == 0 ? 1 : c[pointwise_misaligned];
  return c[tile_start] + std::max(slower * tiles_us(laws, shape, c), memory_us(laws.memory, k.bytes));
}

// A kernel for all groups at once, which the library takes where there are many of them and few images: seen for 13
// groups and more of 8 images, and neither for 8 groups nor for 64 images.
bool is_direct_grouped(const Kernel& k) { return k.groups > 8 && k.batch < 32 && k.kernel_h == 3 && k.kernel_w == 3; }

// F(4×4, 3×3): 36 products of a quarter of the pixels each way, between transforms that go through memory.
double winograd_us(const KernelLaws& laws, const Kernel& k, const Coefficients& c) {
  if (is_direct_grouped(k)) return c[tile_start] + k.flops / c[grouped_rate];
  if (!is_winograd(k, c[winograd_from])) return product_on_layout_us(laws, k, c);
  const double tiles = real_of(k.batch) * std::ceil(real_of(k.oh) / 4) * std::ceil(real_of(k.ow) / 4);
  Coefficients inner = c;
  inner[tile_rate] = c[winograd_rate];
  return c[winograd_start] + tiles_us(laws, {36, real_of(k.o), real_of(k.c), tiles}, inner) +
         cold_memory_us(laws.memory, 2 * winograd_bytes(k) + input_bytes(k) + output_bytes(k));
}

}  // namespace

ProductShape product_of_convolution(const Kernel& k) {
  return class_of(k).variant == KernelVariant::pointwise ? pointwise_product(k) : implicit_product(k);
}

bool is_winograd(const Kernel& k, double from_flops) {
  return k.part == KernelPart::weight_gradient && k.precision == KernelPrecision::fp32 && k.kernel_h == 3 &&
         k.kernel_w == 3 && k.stride == 1 && k.groups == 1 && !k.channels_last && k.flops > from_flops && k.h < 200;
}

double winograd_bytes(const Kernel& k) {
  const auto rounded = [](std::int64_t size) { return 4 * std::ceil(real_of(size) / 4); };
  return 2.25 * 4 * real_of(k.batch) *
             (real_of(k.c) * rounded(k.h) * rounded(k.w) + real_of(k.o) * rounded(k.oh) * rounded(k.ow)) +
         4 * weight_bytes(k);
}

double winograd_threshold(const Coefficients& c) { return c[winograd_from]; }
double default_winograd_threshold() { return winograd_coefficients[winograd_from].start; }

const LawForm windows_form = {"windows", windows_coefficients, windows_us};
const LawForm pointwise_form = {"pointwise", pointwise_coefficients, pointwise_us};
const LawForm last_form = {"channels_last", windows_coefficients, windows_us};
const LawForm winograd_form = {"winograd", winograd_coefficients, winograd_us};

}  // namespace monet

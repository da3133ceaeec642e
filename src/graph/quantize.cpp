#include "graph/quantize.h"

#include "base/require.h"
#include "graph/rounder.h"

#include <limits>

namespace monet {

namespace {

// Bits of the magnitude of a double, which have the order of magnitudes: what is not a number is the largest.
using Magnitude = std::uint64_t;

Magnitude magnitude_of(double value) { return std::bit_cast<Magnitude>(value) & ~(Magnitude{1} << 63); }
// Of zero and below the normal doubles: -1023.
int exponent_of(Magnitude magnitude) { return static_cast<int>(magnitude >> 52) - 1023; }

// Numbers in [0, 1), even ones, one for each element (Steele, Lea and Flood's SplitMix64 on a counter).
class Chances {
 public:
  explicit Chances(std::uint64_t seed) : start_(mixed(seed)) {}
  double operator()(std::uint64_t element) const {
    return static_cast<double>(mixed(start_ + (element + 1) * 0x9e3779b97f4a7c15) >> 11) * 0x1p-53;
  }

 private:
  static std::uint64_t mixed(std::uint64_t x) {
    x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9;
    x = (x ^ x >> 27) * 0x94d049bb133111eb;
    return x ^ x >> 31;
  }
  std::uint64_t start_;
};

// Largest magnitudes of `columns` rows of `inner` neighbours, one for each of the neighbours.
void track_largest(const double* at, std::int64_t columns, std::int64_t inner, Magnitude* largest) {
  if (inner == 1) {
    Magnitude found = *largest;
    for (std::int64_t k = 0; k < columns; ++k) found = std::max(found, magnitude_of(at[k]));
    *largest = found;
    return;
  }
  for (std::int64_t k = 0; k < columns; ++k, at += inner) {
    for (std::int64_t i = 0; i < inner; ++i) largest[i] = std::max(largest[i], magnitude_of(at[i]));
  }
}

// From the largest magnitude of a group to its scale, and from there to what elements are multiplied by.
class Scales {
 public:
  Scales(const Format& format, Magnitude largest_of_tensor)
      : type_(format.scale),
        is_power_(format.scale == ElementType::float8e8m0),
        largest_element_(largest_number(format.element)) {
    const int exponent = largest_exponent(format.element);
    if (is_power_ && is_floating(format.element)) emax_ = exponent;
    if (is_power_ && is_integer(format.element)) unit_ = power_of_two(-exponent);
    if (format.tensor_scale_bits == 0) return;
    const double most = largest_element_ * largest_number(type_);
    tensor_scale_ = rounded(std::bit_cast<double>(largest_of_tensor) / most, ElementType::float32);
  }

  double scale(Magnitude largest) const {
    const auto value = std::bit_cast<double>(largest);
    if (std::isnan(value) || std::isnan(tensor_scale_)) return std::numeric_limits<double>::quiet_NaN();
    if (tensor_scale_ == 0) return 0;
    if (is_power_) return tensor_scale_ * power_of_two(power_for(magnitude_of(value / tensor_scale_)));
    const double wanted = std::min(largest_number(type_), value / largest_element_ / tensor_scale_);
    return tensor_scale_ * rounded(wanted, type_);
  }

  // The exponent of the largest number that a group with this scale holds.
  int reach(double scale) const { return exponent_of(magnitude_of(scale * unit_ * largest_element_)); }
  double step(double scale) const { return scale * unit_; }

 private:
  int power_for(Magnitude largest) const { return std::clamp(exponent_of(largest) - emax_, -127, 127); }

  ElementType type_;
  bool is_power_;
  double largest_element_;
  int emax_ = 0;
  double unit_ = 1;  // of integers as fixed point
  double tensor_scale_ = 1;
};

// The tensor around its grouped axis: [outer][rows][columns][inner].
struct Around {
  std::int64_t outer = 1, rows = 1, columns = 1, inner = 1;
};

Around around(const Shape& shape, const Format& format) {
  const auto column = normalized_axis(format.group_axis, shape.size());
  MONET_REQUIRE(column.has_value());
  Around sizes;
  for (std::int64_t i = 0; i < static_cast<std::int64_t>(shape.size()); ++i) {
    const std::int64_t size = shape[static_cast<std::size_t>(i)];
    if (i + 1 < *column) sizes.outer *= size;
    if (i + 1 == *column) sizes.rows = size;
    if (i == *column) sizes.columns = size;
    if (i > *column) sizes.inner *= size;
  }
  return sizes;
}

template <class Rounder>
class Quantizer {
 public:
  Quantizer(std::span<double> values, const Format& format, const QuantizeOptions& options, const Rounder& rounder)
      : values_(values), format_(format), options_(options), rounder_(rounder), chances_(options.seed) {}

  void plain() {
    round_run(values_.data(), std::ssize(values_), [](std::int64_t) { return 1.0; });
  }

  void scaled(const Shape& shape, std::vector<double>* scales) {
    Magnitude largest = 0;
    const bool whole = format_.grouping == Grouping::tensor || shape.empty();
    if (whole || format_.tensor_scale_bits > 0) track_largest(values_.data(), std::ssize(values_), 1, &largest);
    const Scales rule(format_, largest);
    if (whole) return tensor(rule, largest, scales);
    const Around sizes = around(shape, format_);
    if (format_.grouping == Grouping::channel) return channels(rule, sizes, scales);
    blocks(rule, sizes, scales);
  }

 private:
  // As track_largest goes: each of the neighbours has its own step.
  void round(double* at, std::int64_t columns, std::int64_t inner, const double* steps) {
    if (inner == 1) return round_run(at, columns, [step = *steps](std::int64_t) { return step; });
    for (std::int64_t k = 0; k < columns; ++k, at += inner)
      round_run(at, inner, [steps](std::int64_t i) { return steps[i]; });
  }

  template <class StepOf>
  void round_run(double* at, std::int64_t count, const StepOf& step_of) {
    // A scale that is zero in its type makes zeros.
    const Rounder rounder = rounder_;
    if (options_.rounding == Rounding::nearest) {
      for (std::int64_t i = 0; i < count; ++i) {
        const double step = step_of(i);
        at[i] = rounder.nearest(at[i] / (step == 0 ? std::numeric_limits<double>::infinity() : step)) * step;
      }
      return;
    }
    const auto first = static_cast<std::uint64_t>(at - values_.data());
    for (std::int64_t i = 0; i < count; ++i) {
      const double step = step_of(i);
      const double chance = chances_(first + static_cast<std::uint64_t>(i));
      at[i] = rounder.stochastic(at[i] / (step == 0 ? std::numeric_limits<double>::infinity() : step), chance) * step;
    }
  }

  void tensor(const Scales& rule, Magnitude largest, std::vector<double>* scales) {
    const double scale = rule.scale(largest);
    const double step = rule.step(scale);
    if (scales != nullptr) *scales = {scale};
    round(values_.data(), std::ssize(values_), 1, &step);
  }

  void channels(const Scales& rule, const Around& sizes, std::vector<double>* scales) {
    std::vector<Magnitude> largest(static_cast<std::size_t>(sizes.columns));
    std::vector<double> steps(largest.size());
    const std::int64_t lines = sizes.outer * sizes.rows;
    const auto each_run = [&](const auto& use) {
      double* at = values_.data();
      for (std::int64_t line = 0; line < lines; ++line) {
        for (std::size_t c = 0; c < largest.size(); ++c, at += sizes.inner) use(at, c);
      }
    };
    each_run([&](const double* at, std::size_t c) { track_largest(at, sizes.inner, 1, &largest[c]); });
    if (scales != nullptr) scales->clear();
    for (std::size_t c = 0; c < largest.size(); ++c) {
      const double scale = rule.scale(largest[c]);
      if (scales != nullptr) scales->push_back(scale);
      steps[c] = rule.step(scale);
    }
    each_run([&](double* at, std::size_t c) { round(at, sizes.inner, 1, &steps[c]); });
  }

  void blocks(const Scales& rule, const Around& sizes, std::vector<double>* scales) {
    if (scales != nullptr) scales->clear();
    Block block;
    block.inner = sizes.inner;
    block.stride = sizes.columns * sizes.inner;
    for (std::int64_t o = 0; o < sizes.outer; ++o) {
      for (std::int64_t row = 0; row < sizes.rows; row += format_.group_rows) {
        for (std::int64_t column = 0; column < sizes.columns; column += format_.group_size) {
          block.at = values_.data() + ((o * sizes.rows + row) * sizes.columns + column) * sizes.inner;
          block.rows = std::min<std::int64_t>(format_.group_rows, sizes.rows - row);
          block.columns = std::min<std::int64_t>(format_.group_size, sizes.columns - column);
          round_block(rule, block, scales);
        }
      }
    }
  }

  // `inner` groups beside each other.
  struct Block {
    double* at = nullptr;
    std::int64_t rows = 0, columns = 0, inner = 0;
    std::int64_t stride = 0;  // from row to row
  };

  void round_block(const Scales& rule, const Block& block, std::vector<double>* scales) {
    const auto groups = static_cast<std::size_t>(block.inner);
    largest_.assign(groups, 0);
    group_scales_.resize(groups);
    steps_.resize(groups);
    for (std::int64_t row = 0; row < block.rows; ++row)
      track_largest(block.at + row * block.stride, block.columns, block.inner, largest_.data());
    for (std::size_t i = 0; i < groups; ++i) {
      group_scales_[i] = rule.scale(largest_[i]);
      steps_[i] = rule.step(group_scales_[i]);
    }
    if (scales != nullptr) scales->insert(scales->end(), group_scales_.begin(), group_scales_.end());
    for (std::int64_t row = 0; row < block.rows; ++row) {
      double* at = block.at + row * block.stride;
      if (format_.subscale_bits > 0) {
        round_subgroups(rule, at, block);
      } else {
        round(at, block.columns, block.inner, steps_.data());
      }
    }
  }

  void round_subgroups(const Scales& rule, double* at, const Block& block) {
    const auto groups = static_cast<std::size_t>(block.inner);
    const int most = (1 << format_.subscale_bits) - 1;
    shifted_.resize(groups);
    for (std::int64_t column = 0; column < block.columns; column += format_.subgroup_size) {
      const std::int64_t columns = std::min<std::int64_t>(format_.subgroup_size, block.columns - column);
      double* first = at + column * block.inner;
      largest_.assign(groups, 0);
      track_largest(first, columns, block.inner, largest_.data());
      for (std::size_t i = 0; i < groups; ++i) {
        const int shift = std::clamp(rule.reach(group_scales_[i]) - exponent_of(largest_[i]), 0, most);
        shifted_[i] = steps_[i] * power_of_two(-shift);
      }
      round(first, columns, block.inner, shifted_.data());
    }
  }

  std::span<double> values_;
  const Format& format_;
  const QuantizeOptions& options_;
  Rounder rounder_;
  Chances chances_;
  std::vector<Magnitude> largest_;  // of the groups at hand, and so on
  std::vector<double> group_scales_, steps_, shifted_;
};

}  // namespace

void quantize(std::span<double> values, const Shape& shape, const Format& format, const QuantizeOptions& options,
              std::vector<double>* scales) {
  MONET_REQUIRE(std::ssize(values) == element_count(shape));
  if (scales != nullptr) scales->clear();
  const bool scaled = format.is_scaled();
  // Arithmetic of 16 bits and more overflows to infinity; conversions to less do not.
  const bool saturate = scaled || bits_of(format.element) < 16;
  with_rounder(format.element, saturate, scaled, [&](const auto& rounder) {
    Quantizer quantizer(values, format, options, rounder);
    if (scaled && !values.empty()) return quantizer.scaled(shape, scales);
    quantizer.plain();
  });
}

}  // namespace monet

// Dettmers et al. 2022, "8-bit optimizers via block-wise quantization": between steps a moment is a code of 8 bits for
// each element and the largest magnitude of each block of neighbours.
#include "graph/expand/optimizer.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace monet::optimizer {

namespace {

using Reals = std::vector<double>;

constexpr int code_bits = 8;

// The values of the 256 codes, ascending: the dynamic map of the paper. Decade i of seven is cut into 2^i equal cells
// for each sign, or 2^(i+1) without signs, and a code stands for the middle of a cell; two more stand for 0 and 1.
Reals dynamic_map(bool with_sign) {
  constexpr int decades = code_bits - 1;
  Reals values = {0, 1};
  for (int decade = 0; decade < decades; ++decade) {
    const int cells = 1 << (with_sign ? decade : decade + 1);
    const double top = std::pow(10.0, decade - (decades - 1));
    for (int cell = 0; cell < cells; ++cell) {
      const double value = top * (0.1 + 0.9 * (cell + 0.5) / cells);
      values.push_back(value);
      if (with_sign) values.push_back(-value);
    }
  }
  std::ranges::sort(values);
  return values;
}

// Element i lies between codes i − 1 and i; the first is not used.
Reals boundaries(const Reals& values) {
  Reals result = values;
  for (std::size_t i = 1; i < values.size(); ++i) result[i] = (values[i - 1] + values[i]) / 2;
  return result;
}

// A map as constants of the expansion.
struct Map {
  Reals bounds;
  TensorId values;
  TensorId bounds_table;
};

Map make_map(Expansion& e, std::string_view name, const Reals& values) {
  const auto constant = [&](std::string_view what, const Reals& table) {
    const auto size = static_cast<std::int64_t>(table.size());
    return e.builder().constant(fmt::format("{}.{}.{}", e.node().name, name, what),
                                Constant::reals(e.type(e.input(0)), {size}, table));
  };
  Reals bounds = boundaries(values);
  const TensorId bounds_table = constant("bounds", bounds);
  return {std::move(bounds), constant("map", values), bounds_table};
}

class Blocks {
 public:
  explicit Blocks(Expansion& e)
      : e_(e), shape_(e.input_shape(0)), blocked_{e.input_shape(4).front(), e.attributes().integer(Attr::size)} {}

  // The numbers that codes and scales stand for, in the parameter's shape and type.
  TensorId decode(TensorId codes, TensorId scales, const Map& map) {
    const TensorId levels = look_up(map.values, cut(e_.cast(codes, ElementType::int32)));
    const TensorId scale = e_.reshape(e_.cast(scales, e_.type(e_.input(0))), {blocked_[0], 1});
    return join(e_.times(levels, scale));
  }

  // Gives the nearest codes as output `index` and the scales as output `index` + 2.
  void encode(TensorId value, const Map& map, std::size_t index) {
    const TensorId blocks = cut(value);
    const TensorId largest = e_.add(Op::ReduceMax, {e_.add(Op::Abs, {blocks})},
                                    {{Attr::axes, std::vector<std::int64_t>{1}}, {Attr::keepdims, std::int64_t{1}}});
    const TensorId positive = e_.add(Op::Greater, {largest, e_.scalar(0, largest)});
    const TensorId level = e_.over(blocks, e_.where(positive, largest, e_.scalar(1, largest)));
    e_.output(index, e_.cast(join(nearest(level, map)), ElementType::uint8));
    e_.output(index + 2, e_.cast(e_.reshape(largest, {blocked_[0]}), ElementType::float32));
  }

 private:
  // The parameter's shape as blocks, the last one filled up with zeros; and back.
  TensorId cut(TensorId a) {
    const std::int64_t missing = element_count(blocked_) - element_count(shape_);
    TensorId flat = e_.reshape(a, {element_count(shape_)});
    if (missing > 0) {
      flat = e_.add(Op::Pad, {flat},
                    {{Attr::pads, std::vector<std::int64_t>{0, missing}}, {Attr::mode, std::string("constant")}});
    }
    return e_.reshape(flat, blocked_);
  }
  TensorId join(TensorId blocks) {
    const std::int64_t count = element_count(shape_);
    const TensorId flat = e_.reshape(blocks, {element_count(blocked_)});
    return e_.reshape(element_count(blocked_) > count ? e_.slice(flat, 0, 0, count) : flat, shape_);
  }

  TensorId look_up(TensorId table, TensorId indices) {
    return e_.add(Op::Gather, {table, indices}, {{Attr::axis, std::int64_t{0}}});
  }

  // How many boundaries lie below, by bisection: one bit of the code at a time, the highest first.
  TensorId nearest(TensorId level, const Map& map) {
    const auto whole = [&](int value) { return e_.builder().scalar(ElementType::int32, value); };
    constexpr int half = 1 << (code_bits - 1);
    const TensorId upper = e_.add(Op::Greater, {level, e_.scalar(map.bounds[half], level)});
    TensorId code = e_.where(upper, whole(half), whole(0));
    for (int bit = half / 2; bit > 0; bit /= 2) {
      const TensorId candidate = e_.plus(code, whole(bit));
      const TensorId above = e_.add(Op::Greater, {level, look_up(map.bounds_table, candidate)});
      code = e_.where(above, candidate, code);
    }
    return code;
  }

  Expansion& e_;
  Shape shape_;
  Shape blocked_;  // blocks, elements of a block
};

}  // namespace

// The parameter moves by the new moments as they are before they are rounded to codes.
void adam8bit(Expansion& e) {
  const Map m_map = make_map(e, "m", dynamic_map(true));
  const Map v_map = make_map(e, "v", dynamic_map(false));
  Blocks blocks(e);
  const TensorId m = blocks.decode(e.input(2), e.input(4), m_map);
  const TensorId v = blocks.decode(e.input(3), e.input(5), v_map);
  const Moments moments = adam_step(e, {m, v});
  blocks.encode(moments.m, m_map, 1);
  blocks.encode(moments.v, v_map, 2);
}

}  // namespace monet::optimizer

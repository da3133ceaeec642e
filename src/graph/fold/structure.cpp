#include "graph/fold.h"

#include <algorithm>
#include <cmath>

namespace monet {

namespace {

using Pattern = Constant::Pattern;

struct Position {
  std::size_t input;
  std::int64_t element;
};

std::int64_t flat(const Shape& shape, const Shape& index) {
  std::int64_t position = 0;
  for (std::size_t axis = 0; axis < shape.size(); ++axis) position = position * shape[axis] + index[axis];
  return position;
}

Constant empty_like(const Constant& source, const TensorType& output, Pattern pattern) {
  Constant result{.type = output.format.element,
                  .shape = output.shape,
                  .pattern = pattern,
                  .diagonal = source.diagonal,
                  .values = {}};
  if (std::holds_alternative<std::vector<double>>(source.values)) result.values = std::vector<double>{};
  return result;
}

void append(Constant& result, const Constant& source, std::int64_t element) {
  if (auto* reals = std::get_if<std::vector<double>>(&result.values)) {
    reals->push_back(source.real_at(element));
  } else {
    std::get<std::vector<std::int64_t>>(result.values).push_back(source.integer_at(element));
  }
}

// Every output element is some input's element: `where` says which, or nothing when it lies outside.
template <class Where>
std::optional<Constant> gathered(std::span<const Constant* const> inputs, const TensorType& output, Where where) {
  const std::int64_t count = element_count(output.shape);
  if (count > most_folded_elements) return std::nullopt;
  Constant result = empty_like(*inputs[0], output, Pattern::dense);
  Shape index(output.shape.size(), 0);
  for (std::int64_t n = 0; n < count; ++n) {
    const std::optional<Position> position = where(index, n);
    if (!position) return std::nullopt;
    append(result, *inputs[position->input], position->element);
    for (std::size_t axis = index.size(); axis-- > 0 && ++index[axis] == output.shape[axis];) index[axis] = 0;
  }
  return result;
}

Constant same_pattern(const Constant& source, const TensorType& output) {
  Constant result = empty_like(source, output, source.pattern);
  result.values = source.values;
  return result;
}

// Every element of the result is an element of the only input.
bool rearranges(Op op) {
  return op == Op::Tile || (family_of(op) == OpFamily::view && op != Op::Concat && op != Op::Split);
}

// For operators that rearrange: of a fill they give a fill; a band survives where the last two axes do.
std::optional<Constant> fold_pattern(Op op, const Attributes& attributes, const Constant& source,
                                     const TensorType& output) {
  if (source.pattern == Pattern::uniform || (source.pattern == Pattern::dense && element_count(source.shape) == 1)) {
    Constant result = same_pattern(source, output);
    result.pattern = Pattern::uniform;
    return result;
  }
  // Backwards, an axis keeps its size and loses its order.
  if (op == Op::Slice && std::ranges::any_of(attributes.integers(Attr::steps), [](auto step) { return step < 0; }))
    return std::nullopt;
  if (source.pattern != Pattern::banded ||
      (op != Op::Reshape && op != Op::Expand && op != Op::Identity && op != Op::Slice))
    return std::nullopt;
  const bool keeps =
      output.shape.size() >= 2 && std::equal(source.shape.end() - 2, source.shape.end(), output.shape.end() - 2);
  if (!keeps) return std::nullopt;
  return same_pattern(source, output);
}

// A triangle of a fill: zero on one side of the diagonal.
std::optional<Constant> fold_triangle(const Attributes& attributes, const Constant& source, const TensorType& output) {
  const std::int64_t k = attributes.integer(Attr::k);
  const bool upper = attributes.integer(Attr::upper) != 0;
  if (k < -most_folded_elements || k > most_folded_elements) return std::nullopt;
  if (source.pattern == Pattern::uniform) {
    // Upper keeps column - row >= k: the band of zeros ends at k - 1. Lower keeps column - row <= k.
    Constant result = empty_like(source, output, Pattern::banded);
    result.diagonal = upper ? k - 1 : k;
    std::visit(
        [upper](auto& kept, const auto& values) {
          using Vector = std::decay_t<decltype(kept)>;
          if constexpr (std::is_same_v<Vector, std::decay_t<decltype(values)>>) {
            const auto value = values.front();
            kept = upper ? Vector{0, value} : Vector{value, 0};
          }
        },
        result.values, source.values);
    return result;
  }
  const std::int64_t count = element_count(output.shape);
  if (source.pattern != Pattern::dense || count > most_folded_elements) return std::nullopt;
  Constant result = source;
  const std::int64_t columns = output.shape[output.shape.size() - 1];
  const std::int64_t rows = output.shape[output.shape.size() - 2];
  for (std::int64_t n = 0; n < count; ++n) {
    const std::int64_t offset = n % columns - n / columns % rows;
    if (upper ? offset >= k : offset <= k) continue;
    std::visit([n](auto& values) { values[static_cast<std::size_t>(n)] = 0; }, result.values);
  }
  return result;
}

std::optional<Constant> fold_gather(const Attributes& attributes, std::span<const Constant* const> inputs,
                                    const TensorType& output) {
  const auto axis = static_cast<std::size_t>(attributes.integer(Attr::axis));
  const Shape& data = inputs[0]->shape;
  const std::size_t index_rank = inputs[1]->shape.size();
  return gathered(inputs, output, [&](const Shape& index, std::int64_t) -> std::optional<Position> {
    const Shape chosen(index.begin() + static_cast<std::ptrdiff_t>(axis),
                       index.begin() + static_cast<std::ptrdiff_t>(axis + index_rank));
    std::int64_t at = inputs[1]->integer_at(flat(inputs[1]->shape, chosen));
    if (at < 0) at += data[axis];
    if (at < 0 || at >= data[axis]) return std::nullopt;
    Shape source(index.begin(), index.begin() + static_cast<std::ptrdiff_t>(axis));
    source.push_back(at);
    source.insert(source.end(), index.begin() + static_cast<std::ptrdiff_t>(axis + index_rank), index.end());
    return Position{0, flat(data, source)};
  });
}

std::optional<Constant> fold_concat(const Attributes& attributes, std::span<const Constant* const> inputs,
                                    const TensorType& output) {
  const auto axis = static_cast<std::size_t>(attributes.integer(Attr::axis));
  return gathered(inputs, output, [&](Shape index, std::int64_t) -> std::optional<Position> {
    std::size_t input = 0;
    while (index[axis] >= inputs[input]->shape[axis]) index[axis] -= inputs[input++]->shape[axis];
    return Position{input, flat(inputs[input]->shape, index)};
  });
}

std::optional<Constant> fold_slice(const Attributes& attributes, std::span<const Constant* const> inputs,
                                   const TensorType& output) {
  const auto& axes = attributes.integers(Attr::axes);
  const auto& starts = attributes.integers(Attr::starts);
  const auto& steps = attributes.integers(Attr::steps);
  return gathered(inputs, output, [&](Shape index, std::int64_t) -> std::optional<Position> {
    for (std::size_t i = 0; i < axes.size(); ++i) {
      std::int64_t& at = index[static_cast<std::size_t>(axes[i])];
      at = starts[i] + at * steps[i];
    }
    return Position{0, flat(inputs[0]->shape, index)};
  });
}

std::optional<Constant> fold_transpose(const Attributes& attributes, std::span<const Constant* const> inputs,
                                       const TensorType& output) {
  const auto& perm = attributes.integers(Attr::perm);
  return gathered(inputs, output, [&](const Shape& index, std::int64_t) -> std::optional<Position> {
    Shape source(index.size());
    for (std::size_t i = 0; i < perm.size(); ++i) source[static_cast<std::size_t>(perm[i])] = index[i];
    return Position{0, flat(inputs[0]->shape, source)};
  });
}

// Expand and Tile: the input repeats along each axis.
std::optional<Constant> fold_repeat(std::span<const Constant* const> inputs, const TensorType& output) {
  const Shape& shape = inputs[0]->shape;
  return gathered(inputs, output, [&](const Shape& index, std::int64_t) -> std::optional<Position> {
    Shape source(shape.size());
    const std::size_t lead = index.size() - shape.size();
    for (std::size_t i = 0; i < shape.size(); ++i) source[i] = index[lead + i] % shape[i];
    return Position{0, flat(shape, source)};
  });
}

std::optional<std::vector<Constant>> fold_split(const Attributes& attributes, std::span<const Constant* const> inputs,
                                                std::span<const TensorType> outputs) {
  const auto axis = static_cast<std::size_t>(attributes.integer(Attr::axis));
  std::vector<Constant> parts;
  std::int64_t start = 0;
  for (const TensorType& output : outputs) {
    auto part = gathered(inputs, output, [&](Shape index, std::int64_t) -> std::optional<Position> {
      index[axis] += start;
      return Position{0, flat(inputs[0]->shape, index)};
    });
    if (!part) return std::nullopt;
    start += output.shape[axis];
    parts.push_back(std::move(*part));
  }
  return parts;
}

std::optional<Constant> fold_range(const Attributes& attributes, const TensorType& output) {
  const std::int64_t count = element_count(output.shape);
  if (count > most_folded_elements) return std::nullopt;
  const double start = attributes.real(Attr::start);
  const double delta = attributes.real(Attr::delta);
  std::vector<double> reals;
  for (std::int64_t i = 0; i < count; ++i) reals.push_back(start + static_cast<double>(i) * delta);
  if (is_floating(output.format.element)) return Constant::reals(output.format.element, output.shape, std::move(reals));
  // Beyond 2^53 a double is not the integer any more.
  if (std::ranges::any_of(reals, [](double value) { return !(std::abs(value) <= 9.0e15); })) return std::nullopt;
  return Constant::integers(output.format.element, output.shape, {reals.begin(), reals.end()});
}

// One value from many: the reduction of an elementwise operator along axes.
std::optional<Constant> fold_reduction(Op op, const Attributes& attributes, const Constant& source,
                                       const TensorType& output) {
  const Op step = op == Op::ReduceSum    ? Op::Add
                  : op == Op::ReduceProd ? Op::Mul
                  : op == Op::ReduceMax  ? Op::Max
                                         : Op::Min;
  const auto& axes = attributes.integers(Attr::axes);
  const std::int64_t count = element_count(source.shape);
  if (count > most_folded_elements || count == 0) return std::nullopt;
  std::vector<std::optional<Constant>> partial(static_cast<std::size_t>(element_count(output.shape)));
  const TensorType scalar{{}, output.format};
  Shape index(source.shape.size(), 0);
  for (std::int64_t n = 0; n < count; ++n) {
    std::int64_t position = 0;
    for (std::size_t axis = 0; axis < index.size(); ++axis) {
      if (std::ranges::find(axes, static_cast<std::int64_t>(axis)) == axes.end())
        position = position * source.shape[axis] + index[axis];
    }
    Constant value = empty_like(source, scalar, Pattern::dense);
    append(value, source, n);
    auto& slot = partial[static_cast<std::size_t>(position)];
    if (slot) {
      const Constant* both[] = {&*slot, &value};
      slot = fold_elementwise(step, {}, both, scalar);
      if (!slot) return std::nullopt;
    } else {
      slot = std::move(value);
    }
    for (std::size_t axis = index.size(); axis-- > 0 && ++index[axis] == source.shape[axis];) index[axis] = 0;
  }
  Constant result = empty_like(source, output, Pattern::dense);
  for (const auto& slot : partial) append(result, *slot, 0);
  return result;
}

}  // namespace

std::optional<std::vector<Constant>> fold_structure(Op op, const Attributes& attributes,
                                                    std::span<const Constant* const> inputs,
                                                    std::span<const TensorType> outputs) {
  const TensorType& output = outputs[0];
  std::optional<Constant> result;
  if (rearranges(op)) result = fold_pattern(op, attributes, *inputs[0], output);
  if (!result) {
    switch (op) {
      case Op::Identity:
      case Op::Reshape:
        result = gathered(inputs, output,
                          [](const Shape&, std::int64_t n) -> std::optional<Position> { return Position{0, n}; });
        break;
      case Op::Transpose: result = fold_transpose(attributes, inputs, output); break;
      case Op::Slice: result = fold_slice(attributes, inputs, output); break;
      case Op::Split: return fold_split(attributes, inputs, outputs);
      case Op::Concat: result = fold_concat(attributes, inputs, output); break;
      case Op::Expand:
      case Op::Tile: result = fold_repeat(inputs, output); break;
      case Op::Gather: result = fold_gather(attributes, inputs, output); break;
      case Op::Trilu: result = fold_triangle(attributes, *inputs[0], output); break;
      case Op::Range: result = fold_range(attributes, output); break;
      case Op::ReduceSum:
      case Op::ReduceProd:
      case Op::ReduceMax:
      case Op::ReduceMin: result = fold_reduction(op, attributes, *inputs[0], output); break;
      default: break;
    }
  }
  if (!result) return std::nullopt;
  return std::vector<Constant>{std::move(*result)};
}

std::optional<std::vector<Constant>> fold(Op op, const Attributes& attributes, std::span<const Constant* const> inputs,
                                          std::span<const TensorType> outputs) {
  if (is_random(op) || (inputs.empty() && op != Op::Range)) return std::nullopt;
  if (family_of(op) != OpFamily::elementwise) return fold_structure(op, attributes, inputs, outputs);
  auto result = fold_elementwise(op, attributes, inputs, outputs[0]);
  if (!result) return std::nullopt;
  return std::vector<Constant>{std::move(*result)};
}

}  // namespace monet

#include "graph/expand.h"
#include "graph/expand/resize.h"

#include <algorithm>
#include <numeric>

namespace monet {

namespace {

using Integers = std::vector<std::int64_t>;

// Every gradient is added where its maximum was; indices count through the whole tensor.
void max_pool_grad(Expansion& e) {
  const Shape& shape = e.attributes().integers(Attr::shape);
  const Shape values = {element_count(e.input_shape(0))};
  const TensorId zeros = e.fill(0, {element_count(shape)}, e.type(e.input(0)));
  const TensorId sums =
      e.add(Op::ScatterElements, {zeros, e.reshape(e.input(1), values), e.reshape(e.input(0), values)},
            {{Attr::axis, std::int64_t{0}}, {Attr::reduction, std::string("add")}});
  e.output(0, e.reshape(sums, shape));
}

// Rows of dY are added to the rows of a table of zeros that the indices name. Rows are those of the first axis, so
// others change places with it before and after.
void gather_grad(Expansion& e) {
  const Shape& table = e.attributes().integers(Attr::shape);
  const std::int64_t axis = e.attributes().integer(Attr::axis);
  Shape index_shape = e.input_shape(1);
  const auto index_rank = static_cast<std::int64_t>(index_shape.size());
  index_shape.push_back(1);
  const TensorId indices = e.reshape(e.cast(e.input(1), ElementType::int64), std::move(index_shape));

  Integers rows_first(e.input_shape(0).size());
  std::iota(rows_first.begin(), rows_first.end(), 0);
  std::rotate(rows_first.begin(), rows_first.begin() + axis, rows_first.begin() + axis + index_rank);
  Shape turned = table;
  std::rotate(turned.begin(), turned.begin() + axis, turned.begin() + axis + 1);
  Integers back(table.size());
  std::iota(back.begin(), back.end(), 0);
  std::rotate(back.begin(), back.begin() + 1, back.begin() + axis + 1);

  const TensorId rows = axis == 0 ? e.input(0) : e.transpose(e.input(0), std::move(rows_first));
  const TensorId zeros = e.fill(0, std::move(turned), e.type(rows));
  const TensorId sum = e.add(Op::ScatterND, {zeros, indices, rows}, {{Attr::reduction, std::string("add")}});
  e.output(0, axis == 0 ? sum : e.transpose(sum, std::move(back)));
}

}  // namespace

ExpansionRule movement_expansion(Op op) {
  switch (op) {
    case Op::MaxPoolGrad: return max_pool_grad;
    case Op::GatherGrad: return gather_grad;
    case Op::ResizeGrad: return resize_grad;
    default: return nullptr;
  }
}

}  // namespace monet

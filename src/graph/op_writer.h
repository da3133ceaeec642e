// A vocabulary for writing formulas as operators: what gradient rules and expansions speak.
#pragma once

#include "graph/builder.h"

#include <string>

namespace monet {

class OpWriter {
 public:
  // New nodes are named "PREFIX.OPERATOR".
  OpWriter(GraphBuilder& builder, std::string prefix) : builder_(builder), prefix_(std::move(prefix)) {}

  TensorId add(Op op, std::vector<TensorId> inputs, Attributes attributes = {});
  std::vector<TensorId> add_some(Op op, std::vector<TensorId> inputs, Attributes attributes,
                                 const std::vector<bool>& wanted);

  // By value: a reference would not survive the next operator.
  Shape shape(TensorId id) const { return builder_.shape(id); }
  ElementType type(TensorId id) const { return builder_.type(id); }
  GraphBuilder& builder() { return builder_; }

  // A scalar constant of the type of `like`.
  TensorId scalar(double value, TensorId like) { return builder_.scalar(type(like), value); }
  TensorId integers(std::vector<std::int64_t> values);  // one axis, 64 bit
  TensorId fill(double value, Shape shape, ElementType type);

  TensorId plus(TensorId a, TensorId b) { return add(Op::Add, {a, b}); }
  TensorId plus(TensorId a, double b) { return plus(a, scalar(b, a)); }
  TensorId minus(TensorId a, TensorId b) { return add(Op::Sub, {a, b}); }
  TensorId minus(double a, TensorId b) { return minus(scalar(a, b), b); }
  TensorId times(TensorId a, TensorId b) { return add(Op::Mul, {a, b}); }
  TensorId times(TensorId a, double b) { return times(a, scalar(b, a)); }
  TensorId over(TensorId a, TensorId b) { return add(Op::Div, {a, b}); }
  TensorId over(TensorId a, double b) { return over(a, scalar(b, a)); }
  TensorId negative(TensorId a) { return add(Op::Neg, {a}); }
  TensorId square(TensorId a) { return times(a, a); }
  TensorId where(TensorId condition, TensorId a, TensorId b) { return add(Op::Where, {condition, a, b}); }

  TensorId cast(TensorId a, ElementType to);
  // A·B over the last two axes, each transposed on demand.
  TensorId matmul(TensorId a, TensorId b, bool trans_a = false, bool trans_b = false, double alpha = 1);
  TensorId transpose(TensorId a, std::vector<std::int64_t> perm);
  TensorId reshape(TensorId a, Shape shape);  // `a` itself if it has that shape
  TensorId expand(TensorId a, Shape shape);   // the same
  // Elements start, start + step, … of one axis; `size` of them.
  TensorId slice(TensorId a, std::int64_t axis, std::int64_t start, std::int64_t size, std::int64_t step = 1);
  TensorId concat(std::vector<TensorId> parts, std::int64_t axis);
  // Ascending axes; `a` itself when there are none.
  TensorId reduce_sum(TensorId a, std::vector<std::int64_t> axes, bool keepdims);
  TensorId reduce_mean(TensorId a, std::vector<std::int64_t> axes, bool keepdims);
  // Undoes broadcasting: sums `a` to `target`, which broadcasts to a's shape.
  TensorId sum_to(TensorId a, const Shape& target);

 private:
  GraphBuilder& builder_;
  std::string prefix_;
};

}  // namespace monet

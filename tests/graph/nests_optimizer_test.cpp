// Optimizers: counts by formula and by their expansions, accesses, and what is refused.
#include "graph/expand.h"
#include "graph/optimizer_layout.h"
#include "support/nest_check.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace monet::test {
namespace {

using enum Count;
using testing::HasSubstr;

const std::vector<Op> operators = {Op::SgdUpdate,       Op::MomentumUpdate,        Op::AdamUpdate,    Op::LionUpdate,
                                   Op::AdafactorUpdate, Op::AdafactorVectorUpdate, Op::Adam8bitUpdate};

Attributes optimizer_attributes(double decay = 0, std::int64_t nesterov = 0, std::int64_t decoupled = 0) {
  return {{Attr::weight_decay, decay}, {Attr::momentum, 0.9},        {Attr::nesterov, nesterov},
          {Attr::beta1, 0.9},          {Attr::beta2, 0.99},          {Attr::epsilon, 1e-8},
          {Attr::min, 1e-3},           {Attr::decoupled, decoupled}, {Attr::size, std::int64_t{8}}};
}

std::vector<TensorType> inputs(Op op, const Shape& shape, bool factor = false) {
  const TensorType parameter{shape, {}};
  std::vector<TensorType> types = {parameter, parameter};
  for (const TensorType& state : optimizer_states(op, parameter, 8)) types.push_back(state);
  for (std::size_t i = 0; i < optimizer_layout(op).scalars + (factor ? 1 : 0); ++i) types.push_back({{}, {}});
  return types;
}

Shape shape_for(Op op) { return op == Op::AdafactorVectorUpdate ? Shape{21} : Shape{2, 3, 5}; }

void expect_update_counts(Op op, const Attributes& given, Counts expected, bool factor = false) {
  const auto [complaint, counts] =
      checked(op, inputs(op, shape_for(op), factor), given, 1 + optimizer_layout(op).states);
  EXPECT_EQ(complaint, "") << name_of(op);
  EXPECT_EQ(counts, expected) << name_of(op);
}

TEST(OptimizerNests, OnlyTheFactorCanBeLeftOut) {
  for (const Op op : operators) EXPECT_EQ(required_inputs(op), optimizer_layout(op).factor()) << name_of(op);
}

TEST(OptimizerNests, CountsOfOnePass) {
  constexpr std::int64_t n = 30;
  expect_update_counts(Op::SgdUpdate, optimizer_attributes(), counts_of({{multiply, n}, {add, n}}));
  expect_update_counts(Op::SgdUpdate, optimizer_attributes(0.1), counts_of({{multiply, 2 * n}, {add, 2 * n}}));
  expect_update_counts(Op::SgdUpdate, optimizer_attributes(0.1), counts_of({{multiply, 3 * n}, {add, 2 * n}}), true);
  expect_update_counts(Op::MomentumUpdate, optimizer_attributes(), counts_of({{multiply, 2 * n}, {add, 2 * n}}));
  expect_update_counts(Op::MomentumUpdate, optimizer_attributes(0, 1), counts_of({{multiply, 3 * n}, {add, 3 * n}}));
  expect_update_counts(Op::MomentumUpdate, optimizer_attributes(0.1, 1), counts_of({{multiply, 5 * n}, {add, 4 * n}}),
                       true);
  const auto adam = [&](std::int64_t multiplications, std::int64_t additions) {
    return counts_of({{multiply, multiplications * n}, {add, additions * n}, {divide, 3 * n}, {sqrt, n}});
  };
  expect_update_counts(Op::AdamUpdate, optimizer_attributes(), adam(6, 4));
  expect_update_counts(Op::AdamUpdate, optimizer_attributes(0, 0, 1), adam(6, 4), false);
  expect_update_counts(Op::AdamUpdate, optimizer_attributes(0.1), adam(7, 5));
  expect_update_counts(Op::AdamUpdate, optimizer_attributes(0.1, 0, 1), adam(7, 4));
  expect_update_counts(Op::AdamUpdate, optimizer_attributes(0.1, 0, 1), adam(8, 4), true);
  expect_update_counts(Op::LionUpdate, optimizer_attributes(),
                       counts_of({{multiply, 5 * n}, {add, 3 * n}, {compare, n}}));
  expect_update_counts(Op::LionUpdate, optimizer_attributes(0.1),
                       counts_of({{multiply, 7 * n}, {add, 3 * n}, {compare, n}}), true);
}

// A stack of 2 matrices of 3 x 5. With n elements, r rows, c columns and m matrices: squares n (1 multiplication, 2
// additions); running means r + c (2, 2); their mean r additions and m (1 and a comparison); the update n (1, 1
// division; comparison, root, division; and its square: 1, 1); the parameter's norm n (1, 1); the step n (1, 1); the
// step's length 3 multiplications, 2 roots, 2 comparisons, a division.
TEST(OptimizerNests, CountsOfAdafactor) {
  constexpr std::int64_t n = 30;
  constexpr std::int64_t r = 6;
  constexpr std::int64_t c = 10;
  constexpr std::int64_t m = 2;
  const Counts plain = counts_of({{multiply, 5 * n + 2 * (r + c) + m + 3},
                                  {add, 5 * n + 2 * (r + c) + r},
                                  {divide, 2 * n + 1},
                                  {sqrt, n + 2},
                                  {compare, n + m + 2}});
  expect_update_counts(Op::AdafactorUpdate, optimizer_attributes(), plain);
  Counts more = plain;
  more[multiply] += 3 * n;  // decay; the factor on the gradient in two passes
  expect_update_counts(Op::AdafactorUpdate, optimizer_attributes(0.1), more, true);
  constexpr std::int64_t v = 21;
  expect_update_counts(
      Op::AdafactorVectorUpdate, optimizer_attributes(),
      counts_of({{multiply, 5 * v + 3}, {add, 5 * v}, {divide, v + 1}, {sqrt, v + 2}, {compare, v + 2}}));
}

TEST(OptimizerNests, CountsOfAdamWith8Bits) {
  constexpr std::int64_t n = 30;
  // Adam; two codes decoded; for each moment magnitude, maximum, division and the eight bits of the nearest code.
  expect_update_counts(Op::Adam8bitUpdate, optimizer_attributes(),
                       counts_of({{multiply, 8 * n}, {add, 4 * n}, {divide, 5 * n}, {sqrt, n}, {compare, 20 * n}}));
}

// Another way to the same numbers: the expansion's nodes that work on whole tensors.
TEST(OptimizerNests, OnePassDoesWhatTheExpansionDoes) {
  for (Op op : {Op::SgdUpdate, Op::MomentumUpdate, Op::AdamUpdate, Op::LionUpdate}) {
    for (double decay : {0.0, 0.1}) {
      for (std::int64_t choice : {0, 1}) {
        for (bool factor : {false, true}) {
          const auto graph = single(op, inputs(op, {4, 5}, factor), optimizer_attributes(decay, choice, choice),
                                    1 + optimizer_layout(op).states);
          const auto fused = operation_counts(nests_of(site_of(*graph, graph->nodes().back())));
          const auto expanded = expand(*graph, [](const Graph&, const Node&) { return true; });
          Counts sum;
          for (const Node& node : expanded->nodes()) {
            if ((*expanded)[node.outputs[0]].type.shape.empty()) continue;
            const auto counts = operation_counts(nests_of(site_of(*expanded, node)));
            for (std::size_t i = 0; i < count_kinds; ++i) sum.of[i] += counts->of[i];
          }
          EXPECT_EQ(*fused, sum) << name_of(op) << " " << decay << " " << choice << " " << factor;
        }
      }
    }
  }
}

TEST(OptimizerNests, SoundAlsoWhereNobodyWantsTheState) {
  for (Op op : operators) {
    for (std::size_t wanted = 1; wanted <= 1 + optimizer_layout(op).states; ++wanted)
      EXPECT_EQ(checked(op, inputs(op, shape_for(op)), optimizer_attributes(0.1), wanted).complaint, "") << name_of(op);
  }
  for (Op op : {Op::SgdUpdate, Op::AdamUpdate, Op::AdafactorVectorUpdate, Op::Adam8bitUpdate})
    EXPECT_EQ(checked(op, inputs(op, {}), optimizer_attributes(), 1 + optimizer_layout(op).states).complaint, "")
        << name_of(op);
}

std::string update_complaint(Op op, const std::vector<TensorType>& types, Attributes given = optimizer_attributes()) {
  return complaint(op, types, std::move(given));
}

TEST(OptimizerTypes, Refused) {
  for (Op op : operators) {
    const std::vector<TensorType> good = inputs(op, shape_for(op), true);
    EXPECT_EQ(update_complaint(op, good), "") << name_of(op);
    std::vector<TensorType> types = good;
    types[1].shape = {7};
    EXPECT_THAT(update_complaint(op, types), HasSubstr("a gradient of")) << name_of(op);
    types = good;
    types.back().shape = {1};
    EXPECT_THAT(update_complaint(op, types), HasSubstr("where a scalar is due")) << name_of(op);
    types = good;
    types.resize(optimizer_layout(op).factor() - 1);
    EXPECT_THAT(update_complaint(op, types), HasSubstr("is missing")) << name_of(op);
    for (std::size_t state = 0; state < optimizer_layout(op).states; ++state) {
      types = good;
      types[2 + state].shape.push_back(2);
      EXPECT_THAT(update_complaint(op, types), HasSubstr("a state of")) << name_of(op);
    }
  }
  EXPECT_THAT(update_complaint(Op::AdafactorUpdate, inputs(Op::AdafactorVectorUpdate, {4})),
              HasSubstr("needs 7 inputs"));
  EXPECT_THAT(update_complaint(Op::AdafactorUpdate, floats({{4}, {4}, {1}, {4}, {}, {}, {}})),
              HasSubstr("needs two axes"));
  Attributes empty_block = optimizer_attributes();
  empty_block.set(Attr::size, std::int64_t{0});
  EXPECT_THAT(update_complaint(Op::Adam8bitUpdate, inputs(Op::Adam8bitUpdate, {9}), empty_block),
              HasSubstr("blocks of 0"));
  std::vector<TensorType> wide = inputs(Op::Adam8bitUpdate, {9});
  wide[2].format.element = ElementType::int32;
  EXPECT_THAT(update_complaint(Op::Adam8bitUpdate, wide), HasSubstr("needs uint8"));
}

}  // namespace
}  // namespace monet::test

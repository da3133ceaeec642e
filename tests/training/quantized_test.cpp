// Which copies do products get, where, and of how many bytes? Expected values are closed forms.
#include "training/quantized_case.h"

#include "graph/nests.h"
#include "networks/builtin.h"
#include "networks/layers.h"
#include "training/blocks.h"
#include "training/recompute.h"
#include "training/recompute_step.h"

#include <gmock/gmock.h>

namespace monet::training {
namespace {

using namespace quantized_case;
using testing::HasSubstr;

// The table of microxcaling's linear layer: X, W and dY each along two axes.
TEST(Quantized, ALinearLayerHasSixQuantizations) {
  const TrainingStep step = step_in(two_linear_layers(64, 96, 128), recipe_with(vector_fp32));
  const auto axes = copied_axes(step.graph);
  EXPECT_EQ(axes.at("X.out"), (std::multiset<std::int64_t>{0, 1}));
  EXPECT_EQ(axes.at("W"), (std::multiset<std::int64_t>{0, 1}));
  EXPECT_EQ(axes.at("act.grad.TanhGrad.out"), (std::multiset<std::int64_t>{0, 1}));
  // The first layer has no gradient of its input: of its weight one copy, of its gradient one, of the data both.
  EXPECT_EQ(axes.at("W0"), (std::multiset<std::int64_t>{1}));
  EXPECT_EQ(axes.at("data"), (std::multiset<std::int64_t>{0, 1}));
  EXPECT_EQ(count(step.graph, Op::Quantize), 6 + 4);
}

// Each product sums over the axis along which both of its operands are grouped.
TEST(Quantized, GroupsLieAlongTheSummedAxis) {
  for (const char* name : {"mxfp8", "dacapo-mx9"}) {
    const TrainingStep step = step_in(two_linear_layers(64, 96, 128), recipe_of(name));
    int products = 0;
    for (const Node& node : step.graph.nodes()) {
      if (node.op != Op::MatMul) continue;
      ++products;
      for (const std::size_t input : {std::size_t{0}, std::size_t{1}}) {
        const bool transposed = node.attributes.integer(input == 0 ? Attr::trans_a : Attr::trans_b) != 0;
        const Format& format = step.graph[node.inputs[input]].type.format;
        EXPECT_EQ(format.grouping, Grouping::block);
        EXPECT_EQ(format.group_axis, (input == 0) != transposed ? -1 : -2) << node.name << " " << input;
      }
    }
    EXPECT_EQ(products, 5);
  }
}

TEST(Quantized, SquaresAreSharedByAllProducts) {
  const TrainingStep step = step_in(two_linear_layers(64, 96, 128), recipe_with(square_fp32));
  for (const auto& [name, axes] : copied_axes(step.graph)) EXPECT_EQ(axes.size(), 1U) << name;
  EXPECT_EQ(count(step.graph, Op::Quantize), 6);  // data, W0, X, W, and the gradients of both products
}

// copies · N · (d + w/k) / 8, of shapes that groups divide.
TEST(Quantized, BytesOfCopies) {
  constexpr std::int64_t batch = 64, in = 96, out = 128;
  const TrainingStep vectors = step_in(two_linear_layers(batch, in, out), recipe_with(vector_fp32));
  const QuantizedClass& weights = class_named(vectors.formats, "weights");
  EXPECT_EQ(weights.format, "mxfp8_e4m3");
  EXPECT_EQ(weights.tensors, 2);
  EXPECT_EQ(weights.copies, 3);
  EXPECT_EQ(weights.elements, 2 * out * in + in * in);
  EXPECT_EQ(static_cast<double>(weights.bytes), static_cast<double>(weights.elements) * (8 + 8 / 32.0) / 8);
  EXPECT_EQ(weights.padding_bytes, 0);
  const QuantizedClass& activations = class_named(vectors.formats, "activations");
  EXPECT_EQ(activations.copies, 4);
  EXPECT_EQ(activations.elements, 4 * batch * in);
  const TrainingStep squares = step_in(two_linear_layers(batch, in, out), recipe_with(square_fp32));
  const QuantizedClass& shared = class_named(squares.formats, "activations");
  EXPECT_EQ(shared.copies, 2);
  EXPECT_EQ(static_cast<double>(shared.bytes), 2.0 * batch * in * (8 + 8 / 64.0) / 8);
}

// Groups are filled up along the grouped axis only: 6 inputs to 32, a batch of 20 to 32; squares both to 8.
TEST(Quantized, PaddingOfGroups) {
  const TrainingStep vectors = step_in(two_linear_layers(20, 6, 40), recipe_with(vector_fp32));
  const auto bytes_of = [](const TrainingStep& step, const std::string& name) {
    return bytes(step.graph[tensor_named(step.graph, name)]);
  };
  EXPECT_EQ(bytes_of(vectors, "X.out.mxfp8_e4m3@1"), 20 * 33);
  EXPECT_EQ(bytes_of(vectors, "X.out.mxfp8_e4m3@0"), 6 * 33);
  EXPECT_EQ(bytes_of(vectors, "W.mxfp8_e4m3@1"), 40 * 33);
  EXPECT_EQ(bytes_of(vectors, "W.mxfp8_e4m3@0"), 2 * 6 * 33);
  const TrainingStep squares = step_in(two_linear_layers(20, 6, 40), recipe_with(square_fp32));
  EXPECT_EQ(bytes_of(squares, "X.out.mxfp8_e4m3_8x8"), 24 * 8 + 3);
  const QuantizedClass& activations = class_named(squares.formats, "activations");
  EXPECT_EQ(activations.bytes, 2 * (24 * 8 + 3));
  // 20 · 6 · 8.125 bits are 121.875 bytes.
  EXPECT_EQ(activations.padding_bytes, 2 * (24 * 8 + 3 - 122));
}

// What is kept for the backward part: with fp32 X, W0's output for Relu's gradient … in bytes of copies instead.
TEST(Quantized, StoredCopiesAreWhatIsSaved) {
  constexpr std::int64_t batch = 64, in = 96, out = 128;
  const auto saved = [](const TrainingStep& step) {
    std::map<std::string, std::int64_t> result;
    for (const SavedTensor& each : step.saved) result[step.graph[each.tensor].name] = each.storage_bytes;
    return result;
  };
  const auto plain = saved(step_in(two_linear_layers(batch, in, out), recipe_of("fp32")));
  EXPECT_EQ(plain.at("X.out"), 4 * batch * in);
  const auto stored = saved(step_in(two_linear_layers(batch, in, out), recipe_with(vector_fp32)));
  EXPECT_EQ(stored.at("X.out.mxfp8_e4m3@0"), batch * in * 33 / 32);
  EXPECT_EQ(stored.at("W.mxfp8_e4m3@0"), out * in * 33 / 32);
  EXPECT_FALSE(stored.contains("X.out.mxfp8_e4m3@1"));  // read in the forward part alone
  const auto anew = saved(
      step_in(two_linear_layers(batch, in, out), recipe_with(std::string(vector_fp32) + "copies: requantized\n")));
  EXPECT_EQ(anew.at("X.out"), 4 * batch * in);  // the tensor itself, from which the copy is made
  EXPECT_FALSE(anew.contains("X.out.mxfp8_e4m3@0"));
}

TEST(Quantized, CopiesAreMadeInTheForwardPartOrWhereTheyAreRead) {
  const auto phases = [](const TrainingStep& step) {
    std::map<std::string, Phase> result;
    for (const Node& node : step.graph.nodes()) {
      if (node.op == Op::Quantize) result[step.graph[node.outputs[0]].name] = node.phase;
    }
    return result;
  };
  const auto stored = phases(step_in(two_linear_layers(64, 96, 128), recipe_with(vector_fp32)));
  EXPECT_EQ(stored.at("X.out.mxfp8_e4m3@0"), Phase::forward);
  EXPECT_EQ(stored.at("W.mxfp8_e4m3@0"), Phase::forward);
  EXPECT_EQ(stored.at("act.grad.TanhGrad.out.mxfp8_e4m3@0"), Phase::backward);
  const auto anew =
      phases(step_in(two_linear_layers(64, 96, 128), recipe_with(std::string(vector_fp32) + "copies: requantized\n")));
  EXPECT_EQ(anew.at("X.out.mxfp8_e4m3@1"), Phase::forward);
  EXPECT_EQ(anew.at("X.out.mxfp8_e4m3@0"), Phase::backward);
  EXPECT_EQ(anew.at("W.mxfp8_e4m3@0"), Phase::backward);
}

TEST(Quantized, WeightsOfWhichProductsReadCopiesAreMasters) {
  const TrainingStep step = step_in(two_linear_layers(64, 96, 128), recipe_of("mxfp8"));
  EXPECT_EQ(step.graph[tensor_named(step.graph, "W")].role, Role::master_weight);
  EXPECT_EQ(step.graph[tensor_named(step.graph, "W.new")].role, Role::master_weight);
  EXPECT_EQ(step.graph[tensor_named(step.graph, "W")].type.format.element, ElementType::float32);
  EXPECT_EQ(step.graph[tensor_named(step.graph, "W.mxfp8_e4m3@1")].role, Role::weight);
  EXPECT_EQ(count(step.graph, Op::Cast),
            count(step_in(two_linear_layers(64, 96, 128), recipe_of("mixed")).graph, Op::Cast) - 3)
      << "casts of two weights and of the data are not needed";
}

// Channels are summed over in the forward product and the gradient of the input, the batch in that of the weight.
TEST(Quantized, Convolutions) {
  const TrainingStep step = step_in(convolutions(32, 1), recipe_with(vector_fp32));
  const auto axes = copied_axes(step.graph);
  EXPECT_EQ(axes.at("X.out"), (std::multiset<std::int64_t>{0, 1}));
  EXPECT_EQ(axes.at("c2.weight"), (std::multiset<std::int64_t>{0, 1}));
  EXPECT_EQ(axes.at("act.grad.TanhGrad.out"), (std::multiset<std::int64_t>{0, 1}));
  const TrainingStep squares = step_in(convolutions(32, 1), recipe_with(square_fp32));
  for (const auto& [name, copies] : copied_axes(squares.graph)) EXPECT_EQ(copies.size(), 1U) << name;
  EXPECT_EQ(bytes(squares.graph[tensor_named(squares.graph, "X.out.mxfp8_e4m3_8x8")]), 32 * 64 * 64 * 65 / 64);
}

TEST(Quantized, ConvolutionsThatSumOverOneChannelStay) {
  const TrainingStep step = step_in(convolutions(32, 64), recipe_of("mxfp8"));
  for (const Node& node : step.graph.nodes()) {
    if (node.name != "c2") continue;
    EXPECT_FALSE(step.graph[node.inputs[1]].type.format.is_scaled());
  }
  ASSERT_EQ(step.notes.size(), 1U);
  EXPECT_THAT(step.notes[0], HasSubstr("3 products are not quantized, with no more than one element"));
  EXPECT_THAT(step.notes[0], HasSubstr("'c2'"));
}

// One scale for the tensor has no axis.
TEST(Quantized, ConvolutionsThatSumOverOneChannelHaveNoNeedOfGroups) {
  const TrainingStep step = step_in(convolutions(32, 64), recipe_of("fp8-hybrid"));
  EXPECT_EQ(count(step.graph, Op::Quantize), 6);
  EXPECT_TRUE(step.notes.empty());
}

// A batch of one: the gradient of the weight stays, and squares lie along channels and rows of the image.
TEST(Quantized, ConvolutionsOfABatchOfOne) {
  const TrainingStep step = step_in(convolutions(1, 1), recipe_with(square_fp32));
  EXPECT_EQ(bytes(step.graph[tensor_named(step.graph, "X.out.mxfp8_e4m3_8x8")]), 64 * 64 * 65 / 64);
  ASSERT_EQ(step.notes.size(), 1U);
  EXPECT_THAT(step.notes[0], HasSubstr("2 products are not quantized"));
}

Graph transformer_block(std::int64_t batch, std::int64_t tokens, std::int64_t width) {
  GraphBuilder builder("block");
  const TensorId x = builder.input("data", {batch, tokens, width});
  const auto linear = [&](const std::string& name, TensorId from, std::int64_t outputs) {
    const TensorId w = builder.parameter(name + ".weight", {builder.shape(from).back(), outputs});
    return builder.add(Op::MatMul, name, {from, w},
                       {{Attr::trans_a, std::int64_t{0}}, {Attr::trans_b, std::int64_t{0}}, {Attr::alpha, 1.0}});
  };
  const auto heads = [&](const std::string& name, TensorId from) {
    const TensorId split =
        builder.add(Op::Reshape, name + ".split", {from}, {{Attr::shape, Shape{batch, tokens, width / 64, 64}}});
    return builder.add(Op::Transpose, name + ".heads", {split}, {{Attr::perm, std::vector<std::int64_t>{0, 2, 1, 3}}});
  };
  const TensorId q = heads("q", linear("q", x, width));
  const TensorId k = heads("k", linear("k", x, width));
  const TensorId scores =
      builder.add(Op::MatMul, "scores", {q, k},
                  {{Attr::trans_a, std::int64_t{0}}, {Attr::trans_b, std::int64_t{1}}, {Attr::alpha, 1.0}});
  builder.output(builder.add(Op::Softmax, "softmax", {scores}, {{Attr::axes, std::vector<std::int64_t>{3}}}));
  return *builder.finish();
}

// Heads are views of what the projection leaves: groups of 32 fit heads of 64, so copies are of the projection itself.
TEST(Quantized, LooksThroughViewsOfBatchedProducts) {
  const TrainingStep step = step_in(transformer_block(2, 64, 128), recipe_with(vector_fp32));
  const auto axes = copied_axes(step.graph);
  EXPECT_EQ(axes.at("q.out"), (std::multiset<std::int64_t>{1, 2}));
  EXPECT_EQ(axes.at("k.out"), (std::multiset<std::int64_t>{1, 2}));
  EXPECT_EQ(axes.at("data"),
            (std::multiset<std::int64_t>{1, 2}));  // one copy for both projections, one for both gradients
  const TrainingStep squares = step_in(transformer_block(2, 64, 128), recipe_with(square_fp32));
  for (const auto& [name, copies] : copied_axes(squares.graph)) EXPECT_EQ(copies.size(), 1U) << name;
}

// 197 tokens of two samples are no whole groups: vectors are made of all rows, squares padded sample by sample.
TEST(Quantized, RowsThatGroupsDoNotDivide) {
  const TrainingStep step = step_in(transformer_block(2, 197, 128), recipe_with(vector_fp32));
  const auto rows = tensor_named(step.graph, "data.mxfp8_e4m3@2");
  EXPECT_EQ(bytes(step.graph[rows]), 2 * 197 * 128 * 33 / 32);
  std::int64_t of_all_rows = 0;
  for (const Tensor& tensor : step.graph.tensors()) {
    if (tensor.type.shape == Shape{2 * 197, 128} && tensor.type.format.group_axis == -2 &&
        tensor.type.format.is_scaled())
      ++of_all_rows;
  }
  EXPECT_GE(of_all_rows, 1);
  const TrainingStep squares = step_in(transformer_block(2, 197, 128), recipe_with(square_fp32));
  EXPECT_EQ(bytes(squares.graph[tensor_named(squares.graph, "data.mxfp8_e4m3_8x8")]), 2 * 200 * 128 * 65 / 64);
}

TEST(Quantized, AttentionStaysUnlessTheRecipeWritesItOut) {
  auto forward = build_builtin("gpt2:layers=1,flash=1,vocabulary=64,tokens=32");
  ASSERT_TRUE(forward.has_value()) << forward.error().text();
  StepOptions options{.recipe = recipe_of("mxfp8")};
  const auto fused = make_training_step({*forward, false, {}, {}}, options);
  ASSERT_TRUE(fused.has_value()) << fused.error().text();
  EXPECT_EQ(count(fused->graph, Op::Attention), 1);
  EXPECT_THAT(fused->notes, testing::Contains(HasSubstr("attention is one operator")));
  options.recipe->attention = true;
  const auto products = make_training_step({*forward, false, {}, {}}, options);
  ASSERT_TRUE(products.has_value()) << products.error().text();
  EXPECT_TRUE(verify(products->graph).has_value());
  EXPECT_EQ(count(products->graph, Op::Attention) + count(products->graph, Op::AttentionGrad), 0);
  EXPECT_EQ(count(products->graph, Op::MatMul), count(fused->graph, Op::MatMul) + 6);
}

TEST(Quantized, KeepsWhatTheRecipeNames) {
  const TrainingStep step =
      step_in(two_linear_layers(64, 96, 128), recipe_with("base: mxfp8\nkeep: ['Y*', nothing]\n"));
  for (const Node& node : step.graph.nodes()) {
    if (node.op != Op::MatMul || !node.name.starts_with("Y")) continue;
    EXPECT_FALSE(step.graph[node.inputs[0]].type.format.is_scaled()) << node.name;
  }
  EXPECT_THAT(step.notes, testing::Contains(HasSubstr("3 products are not quantized, kept by the recipe: 'Y'")));
  EXPECT_THAT(step.notes, testing::Contains(HasSubstr("the recipe keeps 'nothing', and no product has that name")));
}

// Straight-through training: gradients are real numbers, so the gradient products read the copies of the forward part.
TEST(Quantized, ProductsWithRealGradientsShareTheForwardCopies) {
  const TrainingStep step = step_in(two_linear_layers(64, 96, 128), recipe_of("int8-channel"));
  EXPECT_EQ(count(step.graph, Op::Quantize), 4);  // data, W0, X, W
  EXPECT_EQ(to_string(step.graph[tensor_named(step.graph, "W.int8_channel@0")].type.format), "int8:fp32/channel@-2");
  EXPECT_EQ(bytes(step.graph[tensor_named(step.graph, "W.int8_channel@0")]), 128 * 96 + 4 * 128);
}

TEST(Quantized, OneScaleForATensorServesAllProducts) {
  const TrainingStep step = step_in(two_linear_layers(64, 96, 128), recipe_of("fp8-hybrid"));
  EXPECT_EQ(count(step.graph, Op::Quantize), 6);
  EXPECT_EQ(bytes(step.graph[tensor_named(step.graph, "W.fp8_e4m3_tensor")]), 128 * 96 + 4);
}

// Accumulators that are narrower than what operators leave are what products leave.
TEST(Quantized, NarrowAccumulators) {
  const TrainingStep step =
      step_in(two_linear_layers(64, 96, 128), recipe_with("base: mxfp8\nvalues: fp32\naccumulators: fp25\n"));
  EXPECT_EQ(bits_of(step.graph[tensor_named(step.graph, "Y.out")].type.format.element), 25);
  const TrainingStep wide = step_in(two_linear_layers(64, 96, 128), recipe_of("mxfp8"));
  EXPECT_EQ(wide.graph[tensor_named(wide.graph, "Y.out")].type.format.element, ElementType::bfloat16);
}

}  // namespace
}  // namespace monet::training

// Is a graph written as the file that says the same, and is what cannot be written refused in words that help?
#include "onnx/writer.h"

#include "graph/builder.h"
#include "graph/verify.h"
#include "interpret/interpret.h"
#include "onnx/encode.h"
#include "onnx/model.h"
#include "onnx/reader.h"
#include "support/expect_error.h"
#include "support/onnx_builder.h"

#include <gtest/gtest.h>

#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <limits>

namespace monet::onnx {
namespace {

namespace fs = std::filesystem;
using test::tensor_named;

Graph finished(GraphBuilder& builder) {
  auto graph = builder.finish();
  EXPECT_TRUE(graph.has_value()) << graph.error().text();
  return graph ? *std::move(graph) : Graph{};
}

std::string written(const Graph& graph) {
  auto bytes = write_bytes(graph);
  EXPECT_TRUE(bytes.has_value()) << bytes.error().text();
  return bytes ? *std::move(bytes) : std::string();
}

NetworkGraph read_again(const std::string& bytes) {
  auto network = read_bytes(bytes, "", {.recognize_idioms = false});
  EXPECT_TRUE(network.has_value()) << network.error().text();
  return network ? *std::move(network) : NetworkGraph{};
}

RawModel decoded(const std::string& bytes) {
  auto model = decode_model(bytes);
  EXPECT_TRUE(model.has_value());
  return model ? *std::move(model) : RawModel{};
}

std::vector<std::string> names_of(const std::vector<RawValue>& values) {
  std::vector<std::string> names;
  for (const RawValue& value : values) names.emplace_back(value.name);
  return names;
}

// y = relu(x·w); a gradient of a kind; w and its state are replaced.
Graph training_step_graph() {
  GraphBuilder b("step");
  const TensorId x = b.input("x", {2, 3});
  const TensorId rate = b.input("learning_rate", {});
  const TensorId w = b.parameter("w", {3, 4});
  const TensorId mean = b.statistic("mean", {4});
  const TensorId m = b.optimizer_state("w.momentum", {3, 4});
  const Attributes plain = {{Attr::trans_a, std::int64_t{0}}, {Attr::trans_b, std::int64_t{0}}, {Attr::alpha, 1.0}};
  const TensorId y = b.add(Op::Relu, "relu", {b.add(Op::MatMul, "product", {x, w}, plain)});
  const TensorId shifted = b.add(Op::Sub, "shift", {y, mean});
  b.set_phase(Phase::backward);
  b.set_role(Role::weight_gradient);
  const TensorId x_t = b.add(Op::Transpose, "x_t", {x}, {{Attr::perm, Shape{1, 0}}});
  const TensorId gradient = b.add(Op::MatMul, "gradient", {x_t, shifted}, plain);
  b.rename(gradient, "w.grad");
  b.set_phase(Phase::optimizer);
  const auto news =
      b.add_many(Op::MomentumUpdate, "update", {w, gradient, m, rate},
                 {{Attr::momentum, 0.9}, {Attr::nesterov, std::int64_t{0}}, {Attr::weight_decay, 0.01}}, 2);
  b.rename(news[0], "w.new");
  b.rename(news[1], "w.momentum.new");
  b.update(w, news[0]);
  b.update(m, news[1]);
  b.output(y);
  b.output(gradient);
  return finished(b);
}

// A folder that is empty at first and gone afterwards.
class Files : public testing::Test {
 protected:
  void SetUp() override {
    folder_ = fs::temp_directory_path() / ("monet_writer_test." + std::to_string(::getpid()));
    fs::create_directories(folder_);
  }
  void TearDown() override { fs::remove_all(folder_); }
  std::string file(const std::string& name) const { return (folder_ / name).string(); }
  std::size_t count() const {
    return static_cast<std::size_t>(std::distance(fs::directory_iterator(folder_), fs::directory_iterator()));
  }

 private:
  fs::path folder_;
};

using WriterFiles = Files;

TEST_F(WriterFiles, HoldTheBytes) {
  const Graph graph = training_step_graph();
  ASSERT_TRUE(write(graph, file("step.onnx")).has_value());
  std::ifstream stream(file("step.onnx"), std::ios::binary);
  const std::string bytes((std::istreambuf_iterator<char>(stream)), {});
  EXPECT_EQ(bytes, written(graph));
  EXPECT_EQ(count(), 1);
}

TEST_F(WriterFiles, InAFolderThatDoesNotExistAreRefused) {
  const auto status = write(training_step_graph(), file("nowhere/step.onnx"));
  ASSERT_FALSE(status.has_value());
  test::expect_error(status.error(), {"cannot be written", "No such file"}, file("nowhere/step.onnx"));
}

TEST_F(WriterFiles, InPlaceOfAFolderAreRefused) {
  fs::create_directory(file("taken"));
  const auto status = write(training_step_graph(), file("taken"));
  ASSERT_FALSE(status.has_value());
  test::expect_error(status.error(), {"cannot be written", "Is a directory"}, file("taken"));
  EXPECT_EQ(count(), 1);
}

TEST_F(WriterFiles, ReachedByALinkAreReplacedAndTheLinkStays) {
  std::ofstream(file("real.onnx")) << "old";
  fs::create_symlink(file("real.onnx"), file("link.onnx"));
  ASSERT_TRUE(write(training_step_graph(), file("link.onnx")).has_value());
  EXPECT_TRUE(fs::is_symlink(file("link.onnx")));
  EXPECT_EQ(fs::file_size(file("real.onnx")), written(training_step_graph()).size());
}

TEST_F(WriterFiles, ThatAreDevicesAreWrittenTo) {
  ASSERT_TRUE(write(training_step_graph(), "/dev/null").has_value());
  EXPECT_FALSE(fs::is_regular_file("/dev/null"));
}

// Three windows over four elements, the last of them in the padding: ONNX rounds to two.
Graph impossible_pool() {
  GraphBuilder b("pool");
  const TensorId x = b.input("x", {1, 1, 4});
  b.output(b.add(Op::MaxPool, "the pool", {x},
                 {{Attr::kernel_shape, Shape{1}},
                  {Attr::strides, Shape{3}},
                  {Attr::dilations, Shape{1}},
                  {Attr::pads, Shape{0, 1}},
                  {Attr::storage_order, std::int64_t{0}},
                  {Attr::shape, Shape{1, 1, 3}}}));
  return finished(b);
}

TEST_F(WriterFiles, StayAsTheyAreWhenTheGraphCannotBeWritten) {
  std::ofstream(file("step.onnx")) << "old";
  const auto status = write(impossible_pool(), file("step.onnx"));
  ASSERT_FALSE(status.has_value());
  test::expect_error(status.error(), {"MaxPool", "no form in standard ONNX operators"}, "node 'the pool'", false);
  EXPECT_EQ(fs::file_size(file("step.onnx")), 3);
  EXPECT_EQ(count(), 1);
}

TEST(Writer, RefusesFormatsWithScales) {
  Graph graph = training_step_graph();
  graph[tensor_named(graph, "w")].type.format = {.element = ElementType::int8, .scale_bits = 8, .group_size = 32};
  const auto bytes = write_bytes(graph);
  ASSERT_FALSE(bytes.has_value());
  test::expect_error(bytes.error(), {"scale", "no ONNX type"}, "tensor 'w'");
}

TEST(Writer, RefusesToCalculateInTypesThatOnnxOnlyStores) {
  GraphBuilder b("types");
  b.output(b.add(Op::Relu, "the activation", {b.input("x", {3}, ElementType::float8e5m2)}));
  const auto bytes = write_bytes(finished(b));
  ASSERT_FALSE(bytes.has_value());
  test::expect_error(bytes.error(), {"Relu", "fp8e5m2", "no form in standard"}, "node 'the activation'", false);
}

TEST(Writer, GivesEqualBytesForEqualGraphs) {
  EXPECT_EQ(written(training_step_graph()), written(training_step_graph()));
}

TEST(Writer, WeightsAreInputsAndUpdatesAreOutputsUnderTheirNames) {
  const std::string bytes = written(training_step_graph());
  const RawModel model = decoded(bytes);
  EXPECT_EQ(names_of(model.graph.inputs), (std::vector<std::string>{"x", "learning_rate", "w", "mean", "w.momentum"}));
  EXPECT_EQ(names_of(model.graph.outputs), (std::vector<std::string>{"relu.out", "w.grad", "w.new", "w.momentum.new"}));
  EXPECT_EQ(model.ir_version, 9);
  ASSERT_EQ(model.opsets.size(), 1);
  EXPECT_EQ(model.opsets[0].version, 20);
  for (const RawTensor& tensor : model.graph.initializers) EXPECT_LE(element_count(tensor.dims), 2) << tensor.name;
}

TEST(Writer, ReadingGivesBackPhasesRolesParametersAndUpdates) {
  Graph before = training_step_graph();
  before[before[tensor_named(before, "w.grad")].producer].recomputed = true;
  const NetworkGraph network = read_again(written(before));
  const Graph& after = network.graph;
  EXPECT_TRUE(network.is_training_step);
  EXPECT_EQ(test::parameters_of(after), 12);
  EXPECT_EQ(test::macs_of(after), test::macs_of(before));
  ASSERT_EQ(after.inputs.size(), 2);
  for (const Tensor& tensor : before.tensors()) {
    const Tensor& same = after[tensor_named(after, tensor.name)];
    EXPECT_EQ(same.role, tensor.role) << tensor.name;
    EXPECT_EQ(same.parameter, tensor.parameter) << tensor.name;
    EXPECT_EQ(same.type, tensor.type) << tensor.name;
    ASSERT_EQ(same.updates.valid(), tensor.updates.valid()) << tensor.name;
    if (tensor.updates.valid()) {
      EXPECT_EQ(after[same.updates].name, before[tensor.updates].name);
    }
    if (tensor.producer.valid()) {
      EXPECT_EQ(after[same.producer].phase, before[tensor.producer].phase) << tensor.name;
      EXPECT_EQ(after[same.producer].recomputed, before[tensor.producer].recomputed) << tensor.name;
    }
  }
  const auto optimizer = std::ranges::count(after.nodes(), Phase::optimizer, &Node::phase);
  EXPECT_EQ(optimizer, 6);  // decay: 2; momentum: 2; the step: 2
}

TEST(Writer, NotesThatCannotBeTrueAreIgnored) {
  Graph graph = training_step_graph();
  std::swap(graph[tensor_named(graph, "w.new")].updates, graph[tensor_named(graph, "w.grad")].updates);
  const NetworkGraph network = read_again(written(graph));  // the gradient is made before w is read for the last time
  EXPECT_FALSE(network.graph[tensor_named(network.graph, "w.grad")].updates.valid());
}

TEST(Writer, AFileWithItsBatchWrittenInIsNotRebatched) {
  const auto network = read_bytes(written(training_step_graph()), "", {.batch = 7});
  ASSERT_FALSE(network.has_value());
  test::expect_error(network.error(), {"written for a batch of 2"});
}

TEST(Writer, OutputsThatAreInputsOrConstantsOrListedTwiceAreCopies) {
  GraphBuilder b("copies");
  const TensorId x = b.input("x", {2});
  const TensorId c = b.constant("c", Constant::reals(ElementType::float32, {2}, {3, 4}));
  const TensorId y = b.add(Op::Add, "sum", {x, c});
  for (TensorId id : {x, c, y, y, c, x}) b.output(id);
  const std::string bytes = written(finished(b));
  EXPECT_EQ(names_of(decoded(bytes).graph.outputs),
            (std::vector<std::string>{"x.out", "c", "sum.out", "sum.out.out", "c.out", "x.out#2"}));
  const Graph graph = read_again(bytes).graph;
  Values values = {{graph.inputs[0], Array{{2}, {10, 20}}}};
  ASSERT_TRUE(run(graph, values).has_value());
  const auto value = [&](std::size_t i) {
    const TensorId id = graph.outputs[i];
    return values.contains(id) ? values[id].values : to_array(graph.constants.at(id)).values;
  };
  const std::vector<std::vector<double>> expected = {{10, 20}, {3, 4}, {13, 24}, {13, 24}, {3, 4}, {10, 20}};
  for (std::size_t i = 0; i < expected.size(); ++i) EXPECT_EQ(value(i), expected[i]) << i;
}

TEST(Writer, MadeUpNamesDifferFromThoseOfTheGraph) {
  GraphBuilder b("names");
  const TensorId x = b.input("int64:[2,3]", {6});
  const TensorId y = b.input("flat/Transpose.out", {2, 3});
  b.output(b.add(Op::Reshape, "fold", {x}, {{Attr::shape, Shape{2, 3}}}));
  b.output(b.add(Op::Softmax, "flat", {y}, {{Attr::axes, Shape{0, 1}}}));
  const Graph graph = read_again(written(finished(b))).graph;
  EXPECT_TRUE(verify(graph).has_value());
  EXPECT_EQ(graph.inputs.size(), 2);
}

// Patterned constants that are large as data: each by a few nodes, with the same values when they are read.
TEST(Writer, PatternsAreSpeltOut) {
  constexpr double infinity = std::numeric_limits<double>::infinity();
  const auto patterned = [](Constant::Pattern pattern, ElementType type, Shape shape, std::vector<double> values) {
    Constant constant = Constant::reals(type, std::move(shape), std::move(values));
    constant.pattern = pattern;
    constant.diagonal = 2;
    return constant;
  };
  using enum Constant::Pattern;
  const std::vector<Constant> constants = {
      patterned(uniform, ElementType::float32, {100, 1000}, {0.5}),
      patterned(uniform, ElementType::float16, {5000}, {-3}),
      patterned(banded, ElementType::float32, {2, 64, 80}, {0, -infinity}),
      patterned(banded, ElementType::float64, {64, 80}, {7, 8}),
      patterned(banded, ElementType::bfloat16, {64, 80}, {1, 0}),
      {.type = ElementType::boolean,
       .shape = {3, 1, 64, 80},
       .pattern = banded,
       .diagonal = -4,
       .values = std::vector<std::int64_t>{0, 1}},
      {.type = ElementType::int32,
       .shape = {64, 80},
       .pattern = banded,
       .diagonal = 0,
       .values = std::vector<std::int64_t>{5, -6}},
      {.type = ElementType::int64,
       .shape = {4096},
       .pattern = uniform,
       .values = std::vector<std::int64_t>{std::numeric_limits<std::int64_t>::max()}},  // no double: data
  };
  for (const Constant& constant : constants) {
    GraphBuilder b("pattern");
    b.output(b.add(Op::Identity, "copy", {b.constant("c", constant)}));
    const std::string bytes = written(finished(b));
    const bool exact = constant.type != ElementType::int64;
    EXPECT_LT(bytes.size(), exact ? 2000 : 40'000);
    const Graph graph = read_again(bytes).graph;
    Values values;
    ASSERT_TRUE(run(graph, values).has_value());
    const TensorId id = graph.outputs[0];
    const Array result = values.contains(id) ? values[id] : to_array(graph.constants.at(id));
    EXPECT_EQ(result.shape, constant.shape);
    EXPECT_EQ(result.values, to_array(constant).values) << name_of(constant.type);
    EXPECT_EQ(graph[id].type.format.element, constant.type);
  }
}

TEST(Writer, TakesTheOperatorSetThatAnElementTypeNeeds) {
  struct Need {
    ElementType type;
    std::int64_t opset;
    std::int64_t ir_version;
  };
  for (const Need& need : {Need{ElementType::int8, 20, 9}, Need{ElementType::float8e4m3fn, 21, 10},
                           Need{ElementType::int4, 21, 10}, Need{ElementType::bfloat16, 22, 10},
                           Need{ElementType::float4e2m1, 23, 11}, Need{ElementType::float8e8m0, 24, 12}}) {
    GraphBuilder b("types");
    const TensorId x = b.input("x", {3}, need.type);
    b.output(b.add(Op::Cast, "cast", {x}, {{Attr::to, static_cast<std::int64_t>(ElementType::float32)}}));
    const std::string bytes = written(finished(b));
    EXPECT_EQ(decoded(bytes).opsets[0].version, need.opset) << name_of(need.type);
    EXPECT_EQ(decoded(bytes).ir_version, need.ir_version) << name_of(need.type);
    EXPECT_EQ(read_again(bytes).graph.tensors()[0].type.format.element, need.type);
  }
}

Graph quantizing(const std::string& format, bool by_chance = false) {
  GraphBuilder b("quantizing");
  Attributes attributes = {{Attr::format, format}};
  if (by_chance) attributes.set(Attr::mode, std::string("stochastic"));
  b.output(b.add(Op::Quantize, "quantize", {b.input("x", {4})}, std::move(attributes)));
  return finished(b);
}

TEST(Writer, QuantizationToAPlainTypeIsACast) {
  for (const char* type : {"bf16", "fp16", "fp8e4m3", "fp8e5m2"}) {
    const Graph graph = read_again(written(quantizing(type))).graph;
    ASSERT_EQ(graph.nodes().size(), 1) << type;
    EXPECT_EQ(graph.nodes()[0].op, Op::Cast);
    EXPECT_EQ(name_of(graph[graph.outputs[0]].type.format.element), type);
  }
}

TEST(Writer, OtherQuantizationHasNoFormInOnnx) {
  const auto complaint = [](const Graph& graph) {
    const auto bytes = write_bytes(graph);
    return bytes ? Error{} : bytes.error();
  };
  test::expect_error(complaint(quantizing("int8:e8m0/32@-1")), {"a scale for each group"}, "quantize");
  test::expect_error(complaint(quantizing("tf32")), {"it is tf32, which no ONNX type is"}, "quantize");
  test::expect_error(complaint(quantizing("fp7e3m3")), {"it is fp7e3m3"}, "quantize");
  test::expect_error(complaint(quantizing("int8")), {"Quantize", "no form in standard ONNX"}, "quantize", false);
  test::expect_error(complaint(quantizing("bf16", true)), {"Quantize", "no form in standard ONNX"}, "quantize", false);
}

TEST(Writer, PacksFourBitNumbersTwoToAByte) {
  EXPECT_EQ(raw_data(Constant::integers(ElementType::int4, {3}, {1, -2, 7})), std::string("\xe1\x07", 2));
}

TEST(Writer, WritesAHundredThousandNodes) {
  GraphBuilder b("chain");
  const TensorId x = b.input("x", {4, 2});
  TensorId last = x;
  for (int i = 0; i < 25'000; ++i) {
    last = b.add(Op::Reshape, "layer", {last}, {{Attr::shape, i % 2 == 0 ? Shape{2, 4} : Shape{4, 2}}});
    last = b.add(Op::Softmax, "layer", {last}, {{Attr::axes, Shape{0, 1}}});  // three nodes
  }
  b.output(last);
  const std::string bytes = written(finished(b));
  EXPECT_EQ(decoded(bytes).graph.nodes.size(), 100'000);
  EXPECT_EQ(decoded(bytes).graph.initializers.size(), 3);
}

}  // namespace
}  // namespace monet::onnx

// What is the user told about a file whose graph does not hang together? One test for each message.
#include "support/expect_error.h"
#include "support/onnx_builder.h"

#include <gtest/gtest.h>

namespace monet::onnx {
namespace {

using test::attr;
using test::expect_error;
using test::make_node;
using test::OnnxFunction;
using test::OnnxModel;

OnnxModel relu() {
  OnnxModel model;
  model.input("x", {2, 3});
  model.node("Relu", {"x"}, {"y"});
  model.output("y");
  return model;
}

TEST(StructureErrors, OldOperatorSet) {
  OnnxModel model = relu();
  model.opsets = {{"", 6}};
  const Error error = model.error();
  expect_error(error, {"operator set 6", "7 is the oldest"});
  EXPECT_NE(error.advice.find("17"), std::string::npos);
}

TEST(StructureErrors, ANewOperatorSetIsReadWithANote) {
  OnnxModel model;
  model.opsets = {{"", 99}};
  model.input("x", {2, 3}).node("Relu", {"x"}, {"y"});
  model.output("y");
  const NetworkGraph network = model.network();
  ASSERT_EQ(network.notes.size(), 1U);
  EXPECT_NE(network.notes[0].find("operator set 99"), std::string::npos);
}

TEST(StructureErrors, OldOperatorSetOfAFunction) {
  OnnxModel model = relu();
  model.nodes[0] = make_node("F", {"x"}, {"y"});
  model.nodes[0].domain = "local";
  model.functions.push_back({.name = "F",
                             .inputs = {"a"},
                             .outputs = {"b"},
                             .nodes = {make_node("Relu", {"a"}, {"b"})},
                             .opsets = {{"", 1}}});
  expect_error(model.error(), {"operator set 1", "oldest"});
}

TEST(StructureErrors, MissingOperatorSet) {
  OnnxModel model = relu();
  model.opsets = {};
  expect_error(model.error(), {"does not say which ONNX operator set"}, "node 'y' (Relu)");
}

TEST(StructureErrors, UnknownOperator) {
  OnnxModel model = relu();
  model.nodes[0].op_type = "Rellu";
  model.nodes[0].name = "act";
  expect_error(model.error(), {"'Rellu'", "'ai.onnx'", "operator set 17", "not known"}, "node 'act' (Rellu)");
}

TEST(StructureErrors, UnknownDomain) {
  OnnxModel model = relu();
  model.opsets.emplace_back("my.ops", 3);
  model.nodes[0].domain = "my.ops";
  expect_error(model.error(), {"'Relu'", "'my.ops'", "operator set 3"}, "node 'y' (Relu)");
}

TEST(StructureErrors, ANodeWithoutANameIsNamedByItsOutput) {
  OnnxModel model = relu();
  model.nodes[0].op_type = "Rellu";
  model.nodes[0].name = "";
  expect_error(model.error(), {"not known"}, "the node that makes 'y' (Rellu)");
  model.nodes[0].outputs = {};
  model.outputs.clear();
  expect_error(model.error(), {"not known"}, "a node without a name (Rellu)");
}

TEST(StructureErrors, Scan) {
  OnnxModel model = relu();
  model.nodes[0] = make_node("Scan", {"x"}, {"y"}, {test::subgraph("body", {}, {})});
  expect_error(model.error(), {"Scan", "control flow"}, "node 'y'");
}

TEST(StructureErrors, RecurrentOperators) {
  for (const char* op : {"LSTM", "GRU", "RNN"}) {
    OnnxModel model = relu();
    model.nodes[0].op_type = op;
    expect_error(model.error(), {op, "recurrent"}, "node 'y'");
  }
}

TEST(StructureErrors, UndefinedNameWithASuggestion) {
  OnnxModel model = relu();
  model.input("hidden_state", {1});
  model.nodes[0].inputs = {"hiden_state"};
  const Error error = model.error();
  expect_error(error, {"'hiden_state'", "defined nowhere"}, "node 'y' (Relu)");
  EXPECT_EQ(error.advice, "did you mean 'hidden_state'?");
}

TEST(StructureErrors, UndefinedNameLikeNoOther) {
  OnnxModel model = relu();
  model.nodes[0].inputs = {"something else entirely"};
  const Error error = model.error();
  expect_error(error, {"defined nowhere"}, "node 'y'");
  EXPECT_NE(error.advice.find("incomplete"), std::string::npos);
}

TEST(StructureErrors, OutputDefinedTwice) {
  OnnxModel model = relu();
  model.node("Abs", {"x"}, {"y"}).name = "second";
  expect_error(model.error(), {"'y'", "defined already"}, "node 'second' (Abs)");
}

TEST(StructureErrors, OutputThatIsAnInput) {
  OnnxModel model = relu();
  model.nodes[0].outputs = {"x"};
  expect_error(model.error(), {"'x'", "defined already"});
}

TEST(StructureErrors, InitializerDefinedTwice) {
  OnnxModel model = relu();
  model.initializer(test::float_scalar("s", 1)).initializer(test::float_scalar("s", 2));
  expect_error(model.error(), {"initializer 's'", "twice"});
}

TEST(StructureErrors, Cycle) {
  OnnxModel model = relu();
  model.nodes[0].inputs = {"c"};
  model.node("Abs", {"y"}, {"b"});
  model.node("Add", {"b", "x"}, {"c"});
  expect_error(model.error(), {"cycle"}, "node 'y'");
}

TEST(StructureErrors, NodeThatReadsItself) {
  OnnxModel model = relu();
  model.nodes[0] = make_node("Add", {"x", "y"}, {"y"});
  expect_error(model.error(), {"cycle"}, "node 'y'");
}

TEST(StructureErrors, OutputThatNoNodeMakes) {
  OnnxModel model = relu();
  model.output("z");
  expect_error(model.error(), {"output 'z'", "no node"});
}

TEST(StructureErrors, OutputThatIsASequence) {
  OnnxModel model = relu();
  model.node("SequenceConstruct", {"x", "y"}, {"s"});
  model.output("s");
  expect_error(model.error(), {"output 's'", "sequence"});
}

TEST(StructureErrors, SequenceWhereATensorIsRead) {
  OnnxModel model = relu();
  model.node("SequenceConstruct", {"x", "y"}, {"s"});
  model.node("Relu", {"s"}, {"z"});
  expect_error(model.error(), {"'s'", "sequence, not a tensor"}, "node 'z'", false);
}

TEST(StructureErrors, MoreOutputsThanTheOperatorHas) {
  OnnxModel model = relu();
  model.nodes[0].outputs = {"y", "z"};
  expect_error(model.error(), {"2 outputs"}, "node 'y'", false);
}

TEST(StructureErrors, NodesWithoutAResultAreLeftOut) {
  OnnxModel model = relu();
  for (const char* op : {"Relu", "Softmax", "ReduceSum", "Transpose", "Shape", "Identity", "Dropout", "ArgMax"}) {
    model.nodes.push_back(make_node(op, {"x"}, {""}));
    model.nodes.push_back(make_node(op, {"x"}, {}));
  }
  EXPECT_EQ(model.network().graph.nodes().size(), 1);
}

TEST(StructureErrors, TheFirstOfSeveralOutputsMayBeUnwanted) {
  OnnxModel model;
  model.input("x", {2, 4, 6, 6});
  model.initializer(test::external("s", {6}));
  model.initializer(test::external("c", {4}));
  model.initializer(test::int64_vector("k", {2}));
  model.node("TopK", {"x", "k"}, {"", "top"});
  model.node("MaxPool", {"x"}, {"", "at"}, {attr("kernel_shape", {2, 2})});
  model.node("LayerNormalization", {"x", "s"}, {"", "mean"});
  model.node("Split", {"x"}, {"", "half"}, {attr("axis", 0)});
  model.node("Dropout", {"x"}, {"", "mask"});
  model.node("BatchNormalization", {"x", "c", "c", "c", "c"}, {"", "statistic", ""}, {attr("training_mode", 1)});
  for (const char* name : {"top", "at", "mean", "half", "mask", "statistic"}) model.output(name);
  const auto network = model.read();
  EXPECT_TRUE(network.has_value() || network.error().kind == ErrorKind::user) << network.error().text();
}

TEST(StructureErrors, SparseInitializers) {
  OnnxModel model = relu();
  model.sparse_initializer = true;
  expect_error(model.error(), {"sparse"});
}

OnnxModel calling(std::vector<OnnxFunction> functions) {
  OnnxModel model = relu();
  model.nodes[0] = make_node("F", {"x"}, {"y"});
  model.nodes[0].domain = "local";
  model.functions = std::move(functions);
  return model;
}

std::vector<test::OnnxNode> chain_of_calls(std::string name, std::size_t times = 1) {
  std::vector<test::OnnxNode> nodes;
  std::string value = "a";
  for (std::size_t i = 0; i < times; ++i) {
    const std::string next = i + 1 == times ? "b" : "v" + std::to_string(i);
    nodes.push_back(make_node(name, {value}, {next}));
    nodes.back().domain = name == "Relu" ? "" : "local";
    value = next;
  }
  return nodes;
}

TEST(StructureErrors, RecursiveFunction) {
  const OnnxModel model = calling({{.name = "F", .inputs = {"a"}, .outputs = {"b"}, .nodes = chain_of_calls("F")}});
  const Error error = model.error();
  expect_error(error, {"more than 64 deep"});
  EXPECT_NE(error.advice.find("recursive"), std::string::npos);
}

TEST(StructureErrors, FunctionsTooDeep) {
  const auto nested = [](int depth) {
    std::vector<OnnxFunction> functions;
    for (int i = 0; i < depth; ++i) {
      const std::string next = i + 1 == depth ? "Relu" : "F" + std::to_string(i + 1);
      functions.push_back({.name = i == 0 ? "F" : "F" + std::to_string(i),
                           .inputs = {"a"},
                           .outputs = {"b"},
                           .nodes = chain_of_calls(next)});
    }
    return calling(std::move(functions));
  };
  EXPECT_EQ(test::count_of(nested(64).network().graph, Op::Relu), 1);
  expect_error(nested(65).error(), {"more than 64 deep"});
}

TEST(StructureErrors, FunctionsThatGrowWithoutBound) {
  OnnxModel model =
      calling({{.name = "F", .inputs = {"a"}, .outputs = {"b"}, .nodes = chain_of_calls("Relu", 10'000)}});
  model.nodes = chain_of_calls("F", 101);
  model.inputs[0].name = "a";
  expect_error(model.error(), {"more than 1000000 nodes"}, {}, false);
}

TEST(StructureErrors, FunctionsThatTakeTooMuchMemory) {
  // Few nodes with very long names.
  const OnnxModel model =
      calling({{.name = "F", .inputs = {"a"}, .outputs = {"b"}, .nodes = chain_of_calls("G", 1000)},
               {.name = "G", .inputs = {"a"}, .outputs = {"b"}, .nodes = {make_node("Relu", {"a"}, {"b"})}}});
  OnnxModel wordy = model;
  wordy.functions[1].nodes[0].name = std::string(1'000'000, 'n');
  model.network();
  expect_error(wordy.error(), {"becomes too large"});
}

TEST(StructureErrors, FunctionWithTooManyInputs) {
  OnnxModel model = calling({{.name = "F", .inputs = {"a"}, .outputs = {"b"}, .nodes = chain_of_calls("Relu")}});
  model.nodes[0].inputs = {"x", "x"};
  expect_error(model.error(), {"function 'F'", "more inputs or outputs"}, "node 'y' (F)", false);
}

TEST(StructureErrors, FunctionWithoutAnOperatorSet) {
  const OnnxModel model =
      calling({{.name = "F", .inputs = {"a"}, .outputs = {"b"}, .nodes = chain_of_calls("Relu"), .opsets = {}}});
  expect_error(model.error(), {"does not say which ONNX operator set"}, "node 'b' (Relu)");
}

}  // namespace
}  // namespace monet::onnx

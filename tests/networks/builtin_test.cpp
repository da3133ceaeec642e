// Do the built-in networks have the parameters and MACs of the networks that were measured, and does every wrong
// request get an answer that helps?
#include "networks/builtin.h"

#include "graph/nests.h"
#include "graph/verify.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <set>

namespace monet {
namespace {

Graph built(const std::string& spec, std::optional<std::int64_t> batch = std::nullopt) {
  auto graph = build_builtin(spec, batch);
  EXPECT_TRUE(graph.has_value()) << graph.error().text();
  return graph ? *std::move(graph) : Graph{};
}

std::int64_t parameters(const Graph& graph) {
  std::int64_t sum = 0;
  for (const Tensor& tensor : graph.tensors()) {
    if (tensor.parameter) sum += element_count(tensor.type.shape);
  }
  return sum;
}

std::int64_t macs(const Graph& graph) {
  std::int64_t sum = 0;
  for (const Node& node : graph.nodes()) {
    const auto counts = operation_counts(nests_of(site_of(graph, node)));
    EXPECT_TRUE(counts.has_value()) << node.name;
    if (counts) sum += (*counts)[Count::mac];
  }
  return sum;
}

std::string operators(const Graph& graph) {
  std::string names;
  for (const Node& node : graph.nodes()) names += fmt::format("{} ", name_of(node.op));
  return names;
}

std::int64_t count_of(const Graph& graph, Op op) { return std::ranges::count(graph.nodes(), op, &Node::op); }

std::string error_of(const std::string& spec, std::optional<std::int64_t> batch = std::nullopt) {
  auto graph = build_builtin(spec, batch);
  EXPECT_FALSE(graph.has_value()) << spec;
  return graph ? std::string() : graph.error().text();
}

struct Measured {
  std::string spec;
  std::int64_t parameters;
  std::int64_t macs;
};

class BuiltinSizes : public testing::TestWithParam<Measured> {};

TEST_P(BuiltinSizes, EqualTheMeasuredNetwork) {
  const Graph graph = built(GetParam().spec);
  EXPECT_EQ(parameters(graph), GetParam().parameters);
  EXPECT_EQ(macs(graph), GetParam().macs);
}

// groundtruth/h200_training.csv: parameters, and half of the forward floating-point operations.
INSTANTIATE_TEST_SUITE_P(
    Measured, BuiltinSizes,
    testing::Values(Measured{"resnet18", 11689512, 1814073344}, Measured{"resnet50", 25557032, 4089184256},
                    Measured{"resnet18-cifar", 11173962, 555422720}, Measured{"mobilenet-v2", 3504872, 300774272},
                    Measured{"gpt2-small", 124439808, 145824153600}, Measured{"gpt2", 124439808, 145824153600},
                    Measured{"gpt2-tiny", 16090880, 4233166848}, Measured{"bert-base", 108891650, 11173627392},
                    Measured{"unet", 1928450, 9221177344}, Measured{"mlp-robotics:batch=16", 142088, 2260992}));

// The published training graphs: reference/monet/*_training.onnx. Of resnet18 11,164,352 weights are trained there; the
// rest are its biases, which that graph shares between convolutions of equal width and we do not. Of gpt2like 4,636,672
// are, among them 256 x 512 of the fixed position table, and neither biases nor the token table.
INSTANTIATE_TEST_SUITE_P(Published, BuiltinSizes,
                         testing::Values(Measured{"resnet18-cifar-folded", 11164352 + 4736 + 10, 2221690880},
                                         Measured{"resnet18-cifar:folded=1,batch=4", 11164352 + 4736 + 10, 2221690880},
                                         Measured{"gpt2like", 4636672 - 256 * 512 + 2048000 + 7936, 3309305856}));

// Parameters as torchvision states them, of vit-tiny timm's deit_tiny_patch16_224; MACs by hand, layer by layer: of a
// vision transformer with t tokens patches · 3 p² w + layers · (4 t w² + 2 t² w + 2 t w f) + w · classes.
INSTANTIATE_TEST_SUITE_P(
    Torchvision, BuiltinSizes,
    testing::Values(Measured{"resnet34", 21797672, 3663761408}, Measured{"wide-resnet50-2", 68883240, 11398021120},
                    Measured{"wide-resnet101-2", 126886696, 22753050624}, Measured{"vit-b-32", 88224232, 4409186304},
                    Measured{"vit-b-16", 86567656, 17563828224}, Measured{"vit-tiny", 5717416, 1253683200}));

// Weights and biases of robots' models, a MAC for each weight and sample (batch 32); LeNet-5's 61,706 parameters.
INSTANTIATE_TEST_SUITE_P(
    Perceptrons, BuiltinSizes,
    testing::Values(
        Measured{"pets-cartpole", 507000 + 1508, 32 * 507000},
        Measured{"pets-reacher", 24 * 200 + 3 * 40000 + 200 * 34 + 834, 32 * (24 * 200 + 3 * 40000 + 200 * 34)},
        Measured{"pets-pusher", 27 * 200 + 2 * 40000 + 200 * 40 + 640, 32 * (27 * 200 + 2 * 40000 + 200 * 40)},
        Measured{"pets-halfcheetah", 24 * 200 + 3 * 40000 + 200 * 36 + 836, 32 * (24 * 200 + 3 * 40000 + 200 * 36)},
        Measured{"lenet5", 61706, 28 * 28 * 6 * 25 + 100 * 16 * 150 + 400 * 120 + 120 * 84 + 84 * 10}));

// Arithmetic by hand, layer by layer.
INSTANTIATE_TEST_SUITE_P(
    ByHand, BuiltinSizes,
    testing::Values(
        // 17 tokens of width 64: 16 patches of 8 x 8 x 3 and a class token
        Measured{"vit-cifar",
                 192 * 64 + 64 + 64 + 17 * 64 + 2 * (4 * 64 * 64 + 2 * 64 * 128 + 128 + 9 * 64) + 128 + 650,
                 16 * 192 * 64 + 2 * (4 * 17 * 64 * 64 + 2 * 17 * 17 * 64 + 2 * 17 * 64 * 128) + 640},
        // 540 x 960 x (56·25 + 12·56 + 4·12·12·9 + 56·12 + 16·56·9), the layers of main_validation_depfin.csv
        Measured{"fsrcnn:prelu=0", 15992 + 56 + 12 + 4 * 12 + 56 + 16, 518400LL * 15992},
        Measured{"fsrcnn", 15992 + 2 * (56 + 12 + 4 * 12 + 56) + 16, 518400LL * 15992},
        // two blocks of 12 w² + 13 w, tables and the last norm; tokens · (2 · 12 w² + vocabulary · w) + attention
        Measured{"gpt2-mini", 2 * (12 * 384 * 384 + 13 * 384) + (20000 + 256) * 384 + 2 * 384,
                 256LL * (24 * 384 * 384 + 20000 * 384) + 2LL * 2 * 256 * 256 * 384}));

TEST(Builtin, MacsGrowLinearlyWithTheBatch) {
  for (const BuiltinInfo& info : builtin_networks()) {
    EXPECT_EQ(macs(built(info.name, 3)), 3 * macs(built(info.name, 1))) << info.name;
    EXPECT_EQ(parameters(built(info.name, 3)), parameters(built(info.name, 1))) << info.name;
  }
}

TEST(Builtin, BatchArgumentWinsOverTheOption) {
  const Graph graph = built("mlp-robotics:batch=4", 7);
  EXPECT_EQ(graph[graph.inputs[0]].type.shape, (Shape{7, 32}));
}

TEST(Builtin, EveryNetworkIsSoundWithOneInputAndOneNamedOutput) {
  for (const BuiltinInfo& info : builtin_networks()) {
    const Graph graph = built(info.name);
    const Status sound = verify(graph);
    EXPECT_TRUE(sound.has_value()) << sound.error().text();
    EXPECT_EQ(graph.name, info.name);
    ASSERT_EQ(graph.inputs.size(), 1U);
    ASSERT_EQ(graph.outputs.size(), 1U);
    EXPECT_EQ(graph[graph.inputs[0]].name, "input");
    EXPECT_EQ(graph[graph.outputs[0]].name, info.name == "fsrcnn" ? "image" : "logits");
  }
}

TEST(Builtin, OptionsDescribeThemselves) {
  for (const BuiltinInfo& info : builtin_networks()) {
    EXPECT_FALSE(info.description.empty());
    ASSERT_EQ(info.options.front().name, "batch");
    for (const OptionInfo& option : info.options) {
      EXPECT_FALSE(option.meaning.empty()) << info.name << ' ' << option.name;
      EXPECT_LE(option.smallest, option.default_value) << info.name << ' ' << option.name;
      EXPECT_GE(option.largest, option.default_value) << info.name << ' ' << option.name;
    }
  }
}

TEST(Builtin, SmallestAndLargestValuesGiveAGraphOrAnError) {
  std::set<std::vector<std::string>> families;  // networks with the same options are built alike
  for (const BuiltinInfo& info : builtin_networks()) {
    std::vector<std::string> names;
    for (const OptionInfo& option : info.options) names.push_back(option.name);
    if (!families.insert(std::move(names)).second) continue;
    for (const OptionInfo& option : info.options) {
      for (std::int64_t value : {option.smallest, option.largest}) {
        const auto graph = build_builtin(fmt::format("{}:{}={}", info.name, option.name, value));
        if (!graph) {
          EXPECT_FALSE(graph.error().advice.empty()) << graph.error().text();
        }
      }
    }
  }
}

TEST(Builtin, FoldedCifarHasThePublishedOperators) {
  const std::string block = "Conv Relu Conv Add Relu ";
  const std::string first = "Conv Relu Conv Conv Add Relu ";
  const std::string stage = first + block;
  EXPECT_EQ(operators(built("resnet18-cifar-folded")),
            "Conv Relu " + block + block + stage + stage + stage + "AveragePool Reshape Gemm ");
}

TEST(Builtin, Gpt2LikeHasThePublishedOperators) {
  // gpt2like_training_nodes.csv, nodes 0 to 137, with Squeeze and Unsqueeze written as Reshape.
  const std::string packed = "Reshape MatMul Add Reshape Reshape Transpose Reshape Split ";
  const std::string heads = "Reshape Reshape Transpose Reshape Reshape Transpose Mul Reshape Reshape Transpose ";
  const std::string attention = "MatMul Add Softmax MatMul Transpose Reshape Gemm Reshape Add ";
  const std::string layer = packed + heads + attention + "MatMul Add Relu MatMul Add Add ";
  EXPECT_EQ(operators(built("gpt2like")), "Gather Mul Add " + layer + layer + layer + layer + "MatMul Add LogSoftmax ");
}

// reference/monet.md: the study's 18 saved activations have 6,824,448 elements.
TEST(Builtin, CheckpointingStudySavesThePublishedElements) {
  const Graph graph = built("resnet18-224");
  std::int64_t saved = 0;
  std::int64_t elements = 0;
  for (const Node& node : graph.nodes()) {
    if (node.op != Op::Relu && node.op != Op::Gemm) continue;
    const TensorId kept = node.op == Op::Relu ? node.outputs[0] : node.inputs[0];
    elements += element_count(graph[kept].type.shape);
    ++saved;
  }
  EXPECT_EQ(saved, 18);
  EXPECT_EQ(elements, 6824448);
  EXPECT_EQ(graph[graph.outputs[0]].type.shape, (Shape{1, 100}));
}

TEST(Builtin, NormsUpdateTheirRunningStatistics) {
  EXPECT_EQ(count_of(built("resnet18-224"), Op::BatchNormalization), 0);
  const Graph graph = built("resnet18-224:folded=0");
  EXPECT_EQ(count_of(graph, Op::BatchNormalization), 20);
  for (const Node& node : graph.nodes()) {
    if (node.op != Op::BatchNormalization) continue;
    ASSERT_EQ(node.outputs.size(), 3U);
    EXPECT_EQ(graph[node.outputs[1]].updates, node.inputs[3]);
    EXPECT_EQ(graph[node.outputs[2]].updates, node.inputs[4]);
  }
}

TEST(Builtin, NamesAreTorchvisions) {
  const Graph graph = built("resnet50");
  const auto has = [&](std::string_view name) { return std::ranges::count(graph.tensors(), name, &Tensor::name) == 1; };
  EXPECT_TRUE(has("layer1.0.conv1.weight"));
  EXPECT_TRUE(has("layer1.0.downsample.1.running_var"));
  EXPECT_TRUE(has("layer4.2.bn3.bias"));
  EXPECT_EQ(std::ranges::count(graph.nodes(), std::string("layer1.0.conv1"), &Node::name), 1);
}

TEST(Builtin, VisionTransformersHaveATokenForEachPatchAndOneMore) {
  const Graph graph = built("vit-cifar:image=48,patch=16,batch=2");
  const auto tokens = std::ranges::find(graph.tensors(), std::string("tokens.out"), &Tensor::name);
  ASSERT_NE(tokens, graph.tensors().end());
  EXPECT_EQ(tokens->type.shape, (Shape{2, 10, 64}));
  EXPECT_EQ(count_of(graph, Op::LayerNormalization), 5);
  EXPECT_EQ(count_of(graph, Op::Softmax), 2);
  EXPECT_EQ(graph[graph.outputs[0]].type.shape, (Shape{2, 10}));
}

TEST(Builtin, ModelsOfRobotsAreSmooth) {
  const Graph graph = built("pets-reacher");
  EXPECT_EQ(operators(graph), "Gemm Silu Gemm Silu Gemm Silu Gemm Silu Gemm ");
  EXPECT_EQ(graph[graph.inputs[0]].type.shape, (Shape{32, 24}));
  EXPECT_EQ(graph[graph.outputs[0]].type.shape, (Shape{32, 34}));
}

TEST(Builtin, LeNetHalvesItsImageTwice) {
  EXPECT_EQ(operators(built("lenet5")), "Conv Relu MaxPool Conv Relu MaxPool Reshape Gemm Relu Gemm Relu Gemm ");
}

TEST(Builtin, Gpt2Switches) {
  EXPECT_EQ(parameters(built("gpt2-mini:tied=0")) - parameters(built("gpt2-mini")), 20000 * 384);
  const Graph fused = built("gpt2-mini:flash=1");
  EXPECT_TRUE(verify(fused).has_value());
  EXPECT_EQ(count_of(fused, Op::Attention), 2);
  EXPECT_EQ(count_of(fused, Op::Softmax), 0);
  EXPECT_EQ(parameters(fused), parameters(built("gpt2-mini")));
}

TEST(Builtin, CausalMaskHidesTheFuture) {
  const Graph graph = built("gpt2-mini:tokens=8");
  const auto mask = std::ranges::find(graph.tensors(), std::string("mask"), &Tensor::name);
  ASSERT_NE(mask, graph.tensors().end());
  const Constant* value = graph.constant(TensorId(static_cast<std::size_t>(mask - graph.tensors().begin())));
  ASSERT_NE(value, nullptr);
  EXPECT_EQ(value->real_at(8 * 3 + 3), 0);
  EXPECT_EQ(value->real_at(8 * 3 + 4), -10000);
}

TEST(BuiltinNames, ThePartBeforeTheColonDecides) {
  EXPECT_TRUE(is_builtin("gpt2"));
  EXPECT_TRUE(is_builtin("gpt2:nonsense"));
  EXPECT_FALSE(is_builtin("gpt2.onnx"));
  EXPECT_FALSE(is_builtin(""));
  EXPECT_FALSE(is_builtin(":layers=2"));
}

TEST(BuiltinErrors, UnknownNetwork) {
  EXPECT_TRUE(error_of("resnet19")
                  .starts_with("resnet19: there is no built-in network 'resnet19' (did you mean 'resnet18'? the "
                               "built-in networks are resnet18,"));
  EXPECT_TRUE(error_of("completely-different").find("(the built-in networks are") != std::string::npos);
}

TEST(BuiltinErrors, UnknownOption) {
  EXPECT_EQ(error_of("resnet18:imge=64"),
            "resnet18:imge=64: 'resnet18' has no option 'imge' "
            "(did you mean 'image'? its options are batch, image, classes)");
  EXPECT_EQ(error_of("resnet18:=64"),
            "resnet18:=64: 'resnet18' has no option '' (its options are batch, image, classes)");
}

TEST(BuiltinErrors, NotAWholeNumber) {
  const std::string advice = " (write layers=N, a whole number from 1 to 1024)";
  EXPECT_EQ(error_of("gpt2:layers=two"), "gpt2:layers=two: layers=two is not a whole number" + advice);
  EXPECT_EQ(error_of("gpt2:layers=2.5"), "gpt2:layers=2.5: layers=2.5 is not a whole number" + advice);
  EXPECT_EQ(error_of("gpt2:layers="), "gpt2:layers=: layers= is not a whole number" + advice);
  EXPECT_EQ(error_of("gpt2:layers"), "gpt2:layers: option 'layers' has no value" + advice);
}

TEST(BuiltinErrors, OutOfRange) {
  const std::string advice = " is out of range (layers (transformer blocks) is a whole number from 1 to 1024)";
  for (const char* value : {"0", "-3", "1025", "99999999999999999999"}) {
    EXPECT_EQ(error_of(fmt::format("gpt2:layers={}", value)),
              fmt::format("gpt2:layers={0}: layers={0}{1}", value, advice));
  }
  EXPECT_EQ(error_of("resnet18:image=31"),
            "resnet18:image=31: image=31 is out of range "
            "(image (height and width of the image in pixels) is a whole number from 32 to 16384)");
}

TEST(BuiltinErrors, BatchArgumentOutOfRange) {
  EXPECT_EQ(error_of("resnet18", 0),
            "resnet18: batch=0 is out of range (batch (samples in a step) is a whole number from 1 to 1048576)");
}

TEST(BuiltinErrors, RepeatedAndEmptyOptions) {
  EXPECT_EQ(error_of("gpt2:layers=2,layers=2"),
            "gpt2:layers=2,layers=2: option 'layers' is given twice (keep one of the two)");
  for (const char* spec : {"gpt2:", "gpt2:layers=2,", "gpt2:,layers=2"}) {
    EXPECT_EQ(error_of(spec),
              fmt::format("{}: an option is empty (write gpt2:NAME=NUMBER,NAME=NUMBER or gpt2 alone)", spec));
  }
}

TEST(BuiltinErrors, SizesThatDoNotFitEachOther) {
  for (const char* network : {"gpt2", "gpt2like", "bert-base", "vit-b-32"}) {
    EXPECT_EQ(error_of(fmt::format("{}:width=100,heads=6", network)),
              fmt::format("{}:width=100,heads=6: width=100 is not a multiple of heads=6 "
                          "(choose width=102 or another multiple of heads)",
                          network));
  }
  EXPECT_EQ(error_of("bert-base:tokens=513"),
            "bert-base:tokens=513: tokens=513 is more than positions=512 "
            "(each token needs a row of the position table: choose fewer tokens or more positions)");
  EXPECT_EQ(error_of("vit-b-32:image=100"),
            "vit-b-32:image=100: image=100 is not a multiple of patch=32 "
            "(choose image=128 or another multiple of patch)");
  EXPECT_EQ(error_of("unet:image=100"),
            "unet:image=100: image=100 is not a multiple of 8 (it is halved 3 times: choose image=104)");
}

TEST(BuiltinErrors, TensorsBeyondCounting) {
  const std::string text = error_of("gpt2:layers=1,batch=1048576,tokens=1048576,vocabulary=16777216");
  EXPECT_TRUE(text.starts_with("gpt2:layers=1,")) << text;
  EXPECT_TRUE(text.ends_with("(choose smaller sizes)")) << text;
}

TEST(BuiltinErrors, OperationsBeyondCounting) {
  const std::string text = error_of("gpt2:layers=1,batch=256,tokens=1048576,width=65536,heads=1");
  EXPECT_NE(text.find("more operations than 64 bits can count"), std::string::npos) << text;
}

}  // namespace
}  // namespace monet

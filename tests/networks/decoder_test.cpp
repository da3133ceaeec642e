// Do the large decoders have the parameters and the products of their published formulas, and are their gradients
// right?
#include "base/csv_records.h"
#include "graph/nests.h"
#include "networks/builtin.h"
#include "support/gradient_check.h"
#include "support/shared.h"
#include "training/step.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cctype>
#include <cmath>
#include <set>

namespace monet {
namespace {

Graph network_of(const std::string& spec) {
  auto graph = build_builtin(spec);
  EXPECT_TRUE(graph.has_value()) << (graph ? "" : graph.error().text());
  return graph ? *std::move(graph) : Graph{};
}

std::int64_t parameters_of(const Graph& graph) {
  std::int64_t sum = 0;
  for (const Tensor& tensor : graph.tensors()) {
    if (tensor.parameter) sum += element_count(tensor.type.shape);
  }
  return sum;
}

std::int64_t products_of(const Graph& graph) {
  std::int64_t sum = 0;
  for (const Node& node : graph.nodes()) sum += (*operation_counts(nests_of(site_of(graph, node))))[Count::mac];
  return sum;
}

std::string message_of(const std::string& spec) {
  auto graph = build_builtin(spec);
  EXPECT_FALSE(graph.has_value()) << spec;
  return graph ? std::string() : graph.error().text();
}

struct Decoder {
  std::string name;
  double billions;  // as published
  std::int64_t layers, width, heads, key_value_heads, ffn, vocabulary, tokens;
};

// A billionth of the parameters, rounded to the digits that are published.
void expect_rounded(std::int64_t parameters, double billions, double digit, const std::string& name) {
  EXPECT_NEAR(static_cast<double>(parameters) / 1e9, billions, digit / 2) << name;
}

// Touvron et al. 2023, table 1 and the released files; Dubey et al. 2024, table 3.
const std::vector<Decoder> llamas = {{"llama2-7b", 6.74, 32, 4096, 32, 32, 11008, 32000, 4096},
                                     {"llama2-13b", 13.02, 40, 5120, 40, 40, 13824, 32000, 4096},
                                     {"llama2-70b", 68.98, 80, 8192, 64, 8, 28672, 32000, 4096},
                                     {"llama3-8b", 8.03, 32, 4096, 32, 8, 14336, 128256, 8192},
                                     {"llama", 8.03, 32, 4096, 32, 8, 14336, 128256, 8192},
                                     {"llama3-70b", 70.55, 80, 8192, 64, 8, 28672, 128256, 8192},
                                     {"llama3-405b", 405.85, 126, 16384, 128, 8, 53248, 128256, 8192}};

TEST(Llama, HasThePublishedParametersAndProducts) {
  for (const auto& [name, billions, l, h, a, g, f, v, s] : llamas) {
    const Graph graph = network_of(name);
    const std::int64_t shared = h / a * g;  // features of all keys
    EXPECT_EQ(parameters_of(graph), l * (2 * h * h + 2 * h * shared + 3 * h * f + 2 * h) + 2 * v * h + h) << name;
    expect_rounded(parameters_of(graph), billions, 0.01, name);
    // A sixth of NVIDIA/dgxc-benchmarking's count of a step, llama3.1/README.md: two operations a product, and the
    // backward part twice the forward part.
    EXPECT_EQ(products_of(graph), s * (2 * l * h * (h + shared + s) + 3 * l * f * h + v * h)) << name;
  }
}

// The kernel of attention's gradient computes the scores anew: a fifth product, which the formula does not count.
TEST(Llama, StepHasThreeTimesTheProductsAndScoresAnew) {
  const std::int64_t l = 3, h = 64, s = 32;
  Graph forward = network_of("llama:layers=3,width=64,heads=8,kv_heads=2,ffn=96,vocabulary=100,tokens=32,batch=2");
  const std::int64_t products = products_of(forward);
  const auto step = training::make_training_step({std::move(forward), false, {}, {}}, {});
  ASSERT_TRUE(step.has_value());
  EXPECT_EQ(products_of(step->graph), 3 * products + 2 * l * s * s * h);
}

// Narayanan et al. 2021, table 1; Korthikanti et al. 2022, table 3; without a vocabulary 51,200 tokens.
const std::vector<Decoder> gpts = {{"gpt-1.7b", 1.7, 24, 2304, 24, 0, 0, 51200, 2048},
                                   {"gpt-3.6b", 3.6, 30, 3072, 32, 0, 0, 51200, 2048},
                                   {"gpt-7.5b", 7.5, 36, 4096, 32, 0, 0, 51200, 2048},
                                   {"gpt-18.4b", 18.4, 40, 6144, 48, 0, 0, 51200, 2048},
                                   {"gpt-39.1b", 39.1, 48, 8192, 64, 0, 0, 51200, 2048},
                                   {"gpt-76.1b", 76.1, 60, 10240, 80, 0, 0, 51200, 2048},
                                   {"gpt-145.6b", 145.6, 80, 12288, 96, 0, 0, 51200, 2048},
                                   {"gpt-310.1b", 310.1, 96, 16384, 128, 0, 0, 51200, 2048},
                                   {"gpt-529.6b", 529.6, 105, 20480, 128, 0, 0, 51200, 2048},
                                   {"gpt-1008b", 1008.0, 128, 25600, 160, 0, 0, 51200, 2048},
                                   {"gpt-22b", 22, 48, 6144, 64, 0, 0, 51200, 2048},
                                   {"gpt3-175b", 175, 96, 12288, 96, 0, 0, 51200, 2048},
                                   {"gpt-530b", 530, 105, 20480, 128, 0, 0, 51200, 2048},
                                   {"gpt-1t", 1008, 128, 25600, 160, 0, 0, 51200, 2048}};

TEST(Gpt, HasThePublishedParametersAndProducts) {
  for (const auto& [name, billions, l, h, a, g, f, v, s] : gpts) {
    const Graph graph = network_of(name);
    // Narayanan et al., equation 2, and the last norm, which it leaves out.
    EXPECT_EQ(parameters_of(graph), 12 * l * h * h + 13 * l * h + (v + s) * h + 2 * h) << name;
    expect_rounded(parameters_of(graph), billions, std::round(billions) == billions && billions < 1000 ? 1 : 0.1, name);
    // A sixth of 72 B s l h² (1 + s/6h + V/12lh), Korthikanti et al., appendix A without recomputation.
    EXPECT_EQ(products_of(graph), s * (12 * l * h * h + 2 * l * s * h + v * h)) << name;
  }
}

TEST(Gpt, StepHasThreeTimesTheProducts) {
  for (const std::string more : {"", ",dropout=10", ",tied=0"}) {
    Graph forward = network_of("gpt:layers=2,width=32,heads=4,vocabulary=50,tokens=16,batch=3" + more);
    const std::int64_t products = products_of(forward);
    const auto step = training::make_training_step({std::move(forward), false, {}, {}}, {});
    ASSERT_TRUE(step.has_value());
    EXPECT_EQ(products_of(step->graph), 3 * products);
  }
}

TEST(Gpt, FeedForwardPartIsFourTimesAsWideUnlessStated) {
  const std::string sizes = "gpt:layers=1,width=16,heads=4,vocabulary=50,tokens=8";
  EXPECT_EQ(parameters_of(network_of(sizes)), parameters_of(network_of(sizes + ",ffn=64")));
  EXPECT_EQ(parameters_of(network_of(sizes + ",ffn=65")) - parameters_of(network_of(sizes)), 2 * 16 + 1);
}

TEST(Gpt, DropsWhereMegatronDoes) {
  const auto dropped = [](const Graph& graph) {
    std::vector<std::string> names;
    for (const Node& node : graph.nodes()) {
      if (node.op == Op::Dropout) names.push_back(node.name);
    }
    return names;
  };
  const std::string sizes = "gpt:layers=1,width=16,heads=4,vocabulary=50,tokens=8";
  EXPECT_TRUE(dropped(network_of(sizes)).empty());
  EXPECT_EQ(dropped(network_of(sizes + ",dropout=10")),
            (std::vector<std::string>{"embedding.dropout", "blocks.0.attn.softmax.dropout", "blocks.0.attn.dropout",
                                      "blocks.0.down.dropout"}));
  EXPECT_EQ(message_of("gpt:flash=1,dropout=10"),
            "gpt:flash=1,dropout=10: flash=1 and dropout=10 exclude each other: the fused operator drops nothing "
            "(choose dropout=0 or flash=0)");
}

// Saved bytes of one more layer of a step whose numbers all have 16 bits.
std::int64_t saved_bytes_of_a_layer(const std::string& sizes) {
  std::int64_t sums[2] = {0, 0};
  for (const std::int64_t layers : {2, 3}) {
    training::StepOptions options;
    options.recipe = training::Recipe{.values = {.compute = ElementType::bfloat16}};
    const auto step =
        training::make_training_step({network_of(fmt::format("{},layers={}", sizes, layers)), false, {}, {}}, options);
    EXPECT_TRUE(step.has_value());
    for (const training::SavedTensor& saved : step->saved) sums[layers - 2] += saved.storage_bytes;
  }
  return sums[1] - sums[0];
}

// Korthikanti et al. 2022, equation 1: s b h (34 + 5 a s / h). We count besides what that leaves out as small: mean and
// deviation of each row of the two norms, in 32 bits. Masks of one byte are dropout's: three where it is on.
TEST(Gpt, LayerSavesThePublishedBytes) {
  const std::int64_t s = 32, b = 3, h = 64, a = 4;
  const std::string sizes = "gpt:width=64,heads=4,vocabulary=100,tokens=32,batch=3";
  const std::int64_t statistics = 2 * 2 * 4 * s * b;
  EXPECT_EQ(saved_bytes_of_a_layer(sizes + ",dropout=10"), s * b * h * 34 + 5 * a * s * s * b + statistics);
  EXPECT_EQ(saved_bytes_of_a_layer(sizes), s * b * h * 32 + 2 * a * s * s * b + statistics);
  // Fused attention keeps the logarithm of each row's sum in place of the scores.
  EXPECT_EQ(saved_bytes_of_a_layer(sizes + ",flash=1"), s * b * h * 32 + 2 * a * s * b + statistics);
}

// By the same rules: the inputs of the norms and of what follows them 8, query, output of attention 4, keys and values
// 4 g/a; gate, what the activation makes of it, up and their product 8 f/h; logarithms of sums, one statistic a norm.
TEST(Llama, LayerSavesByTheSameRules) {
  const std::int64_t s = 32, b = 3, h = 64, a = 8, g = 2, f = 96;
  EXPECT_EQ(saved_bytes_of_a_layer("llama:width=64,heads=8,kv_heads=2,ffn=96,vocabulary=100,tokens=32,batch=3"),
            s * b * (12 * h + 4 * h * g / a + 8 * f) + 2 * a * s * b + 2 * 4 * s * b);
}

// Every parameter of a small network, in float64.
void expect_gradients(const std::string& spec) {
  const Graph graph = network_of(spec);
  Values values;
  std::vector<TensorId> wanted;
  for (std::size_t i = 0; i < graph.tensors().size(); ++i) {
    const Tensor& tensor = graph.tensors()[i];
    const TensorId id(i);
    if (tensor.producer.valid() || graph.constant(id) != nullptr) continue;
    Array array = test::random_array(tensor.type.shape, static_cast<unsigned>(i));
    if (is_floating(tensor.type.format.element)) {
      wanted.push_back(id);
    } else {
      for (std::size_t j = 0; j < array.values.size(); ++j) array.values[j] = static_cast<double>((5 * j + i) % 7);
    }
    values.emplace(id, std::move(array));
  }
  const auto checked = test::check_gradients(graph, values, wanted);
  ASSERT_TRUE(checked.has_value()) << spec << ": " << checked.error().text();
  EXPECT_LE(checked->worst(), 1e-6) << spec;
}

TEST(Gpt, GradientsAgreeWithDifferences) {
  for (const std::string flash : {"0", "1"}) {
    expect_gradients("gpt:layers=2,width=8,heads=2,vocabulary=7,tokens=4,batch=2,flash=" + flash);
  }
}

TEST(Llama, GradientsAgreeWithDifferences) {
  const std::string sizes = "llama:layers=2,width=8,heads=4,kv_heads=2,ffn=6,vocabulary=7,tokens=4,batch=2";
  expect_gradients(sizes);
  expect_gradients("llama:layers=1,width=8,heads=4,kv_heads=1,head_width=6,ffn=6,vocabulary=7,tokens=4,tied=1");
}

TEST(Nemotron, HasThePublishedParametersAndProducts) {
  // Arxiv 2402.16819, section 2, whose 3.2 billion of embeddings are 3.15 by its sizes; 2406.11704, section 2.1.
  struct Published {
    std::string name;
    double embeddings, others;
    std::int64_t l, h, shared;
  };
  for (const auto& [name, embeddings, others, l, h, shared] :
       {Published{"nemotron-4-15b", 3.15, 12.5, 32, 6144, 1024}, {"nemotron-4-340b", 9.4, 331.6, 96, 18432, 1536}}) {
    const Graph graph = network_of(name);
    const std::int64_t f = 4 * h, v = 256000, s = 4096;
    EXPECT_EQ(parameters_of(graph), l * (2 * h * h + 2 * h * shared + 2 * h * f + 4 * h) + 2 * v * h + 2 * h);
    expect_rounded(2 * v * h, embeddings, 0.1, name);
    expect_rounded(parameters_of(graph) - 2 * v * h, others, 0.1, name);
    EXPECT_EQ(products_of(graph), s * (2 * l * h * (h + shared + s) + 2 * l * f * h + v * h)) << name;
  }
  EXPECT_EQ(message_of("nemotron-4-15b:head_width=6"),
            "nemotron-4-15b:head_width=6: a head has 6 features, no multiple of 4 "
            "(half of them turn, in pairs: choose another width, heads or head_width)");
}

TEST(Nemotron, GradientsAgreeWithDifferences) {
  expect_gradients("nemotron-4-15b:layers=1,width=8,heads=2,kv_heads=1,ffn=6,vocabulary=7,tokens=4,batch=2");
}

// Queries of one head at positions 0 and 3: pair i turns by position / base^(2i/features).
TEST(Llama, PositionsTurnPairsOfFeatures) {
  const Graph graph =
      network_of("llama:layers=1,width=8,heads=2,kv_heads=1,ffn=6,vocabulary=7,tokens=4,rotary_base=100");
  Values values;
  const Tensor* rotated = nullptr;
  const Tensor* plain = nullptr;
  for (std::size_t i = 0; i < graph.tensors().size(); ++i) {
    const Tensor& tensor = graph.tensors()[i];
    if (tensor.name == "blocks.0.attn.q.rotated.out") rotated = &tensor;
    if (tensor.name == "blocks.0.attn.q.by_head.out") plain = &tensor;
    if (tensor.producer.valid() || graph.constant(TensorId(i)) != nullptr) continue;
    Array array = test::random_array(tensor.type.shape, static_cast<unsigned>(i));
    if (!is_floating(tensor.type.format.element)) array.values = {1, 5, 0, 5};
    values.emplace(TensorId(i), std::move(array));
  }
  ASSERT_TRUE(rotated != nullptr && plain != nullptr);
  ASSERT_TRUE(run(graph, values).has_value());
  const auto value = [&](const Tensor* of) -> const std::vector<double>& {
    return values.at(TensorId(static_cast<std::size_t>(of - graph.tensors().data()))).values;
  };
  for (std::size_t row = 0; row < 8; ++row) {  // 2 heads, 4 positions
    for (std::size_t i = 0; i < 2; ++i) {
      const double angle = static_cast<double>(row % 4) / std::pow(100.0, static_cast<double>(i) / 2);
      const double x = value(plain)[row * 4 + i], y = value(plain)[row * 4 + i + 2];
      EXPECT_NEAR(value(rotated)[row * 4 + i], x * std::cos(angle) - y * std::sin(angle), 1e-6);
      EXPECT_NEAR(value(rotated)[row * 4 + i + 2], y * std::cos(angle) + x * std::sin(angle), 1e-6);
    }
  }
}

// The network of a measured step by its sizes; empty where they are not all published.
std::string measured_network(const CsvRecord& row) {
  for (const char* column : {"layers", "hidden", "heads", "kv_heads", "ffn", "seq", "vocab", "params_b"}) {
    if (!row.has(column)) return {};
  }
  const auto number = [&](const char* column) { return *row.integer(column); };
  const std::string sizes =
      fmt::format("layers={},width={},heads={},ffn={},tokens={},vocabulary={}", number("layers"), number("hidden"),
                  number("heads"), number("ffn"), number("seq"), number("vocab"));
  std::string model = *row.text("model");
  std::ranges::transform(model, model.begin(), [](unsigned char letter) { return std::tolower(letter); });
  const std::string shared = fmt::format(",kv_heads={}", number("kv_heads"));
  if (model.find("llama") != std::string::npos) return "llama:" + sizes + shared;
  if (model.find("nemotron") != std::string::npos) return "nemotron-4-15b:" + sizes + shared;
  // The parameters that Megatron-Core's table of 2024 states are those of a head of its own.
  return "gpt:" + sizes + (number("vocab") == 131072 ? ",tied=0" : "");
}

// Sizes of the steps that others have measured give the parameters that they state, to the digits that they state (one
// 1.754 is called 1.7); of
// Llama and Nemotron they leave the fraction out.
TEST(MeasuredNetworks, HaveTheParametersThatAreStated) {
  MONET_SHARED_OR_SKIP(path, "reference/parallel/measured_points.csv");
  const auto rows = read_csv(path.string(), "");
  ASSERT_TRUE(rows.has_value());
  std::set<std::string> seen;
  for (const CsvRecord& row : *rows) {
    const std::string network = measured_network(row);
    if (network.empty() || !seen.insert(network).second) continue;
    const double billions = static_cast<double>(parameters_of(network_of(network))) / 1e9;
    const std::string stated = *row.text("params_b");
    const std::size_t point = stated.find('.');
    const double digit =
        point == std::string::npos ? 1 : std::pow(10.0, -static_cast<double>(stated.size() - point - 1));
    const bool cut = !network.starts_with("gpt");
    EXPECT_NEAR(cut ? std::floor(billions / digit) * digit : billions, *row.number("params_b"),
                cut ? 1.01 : digit * 0.55)
        << row.place() << ": " << network;
  }
  EXPECT_GT(seen.size(), 80U);
}

TEST(LlamaErrors, HeadsThatDoNotFit) {
  EXPECT_EQ(message_of("llama3-8b:kv_heads=5"),
            "llama3-8b:kv_heads=5: heads=32 is not a multiple of kv_heads=5 "
            "(each head of keys and values serves equally many heads: choose a divisor of heads)");
  EXPECT_EQ(message_of("llama:width=100,heads=6,kv_heads=2"),
            "llama:width=100,heads=6,kv_heads=2: width=100 is not a multiple of heads=6 "
            "(choose width=102 or another multiple of heads)");
  EXPECT_EQ(message_of("llama:width=96"),
            "llama:width=96: a head has 3 features, an odd number "
            "(rotary positions turn features in pairs: choose another width, heads or head_width)");
}

}  // namespace
}  // namespace monet

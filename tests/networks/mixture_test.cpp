// Does a mixture of experts compute what its definition says, with the published sizes?
#include "networks/mixture.h"
#include "graph/nests.h"
#include "interpret/interpret.h"
#include "networks/builtin.h"
#include "support/gradient_check.h"
#include "training/step.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numeric>

namespace monet::networks {
namespace {

Graph experts_of(const std::string& spec) {
  auto graph = build_builtin(spec);
  EXPECT_TRUE(graph.has_value()) << (graph ? "" : graph.error().text());
  return graph ? *std::move(graph) : Graph{};
}

std::int64_t all_parameters(const Graph& graph) {
  std::int64_t sum = 0;
  for (const Tensor& tensor : graph.tensors()) {
    if (tensor.parameter) sum += element_count(tensor.type.shape);
  }
  return sum;
}

// Those of the routed experts, [experts, in, out].
std::int64_t routed_parameters(const Graph& graph) {
  std::int64_t sum = 0;
  for (const Tensor& tensor : graph.tensors()) {
    if (tensor.parameter && tensor.type.shape.size() == 3) sum += element_count(tensor.type.shape);
  }
  return sum;
}

std::int64_t all_products(const Graph& graph) {
  std::int64_t sum = 0;
  for (const Node& node : graph.nodes()) sum += (*operation_counts(nests_of(site_of(graph, node))))[Count::mac];
  return sum;
}

struct Published {
  std::string name;
  std::int64_t experts, chosen;
  double billions, active;
};

// mistral.ai; DeepSeek-AI 2024: 671 and 37; the released files have 671.03 and, without the table of tokens, 36.6.
TEST(Mixtures, HaveThePublishedParameters) {
  const std::vector<Published> published = {{"moe", 8, 2, 46.7, 12.9},
                                            {"mixtral-8x7b", 8, 2, 46.7, 12.9},
                                            {"mixtral-8x22b", 8, 2, 140.6, 39.2},
                                            {"deepseek-v3", 256, 8, 671.0, 37.6}};
  for (const auto& [name, experts, chosen, billions, active] : published) {
    const Graph graph = experts_of(name);
    const std::int64_t parameters = all_parameters(graph);
    const std::int64_t idle = routed_parameters(graph) / experts * (experts - chosen);
    EXPECT_NEAR(static_cast<double>(parameters) / 1e9, billions, 0.05) << name;
    EXPECT_NEAR(static_cast<double>(parameters - idle) / 1e9, active, 0.05) << name;
  }
  EXPECT_NEAR(37.6 - 129280 * 7168 / 1e9, 36.6, 0.1);
}

TEST(Mixtures, HaveTheParametersOfTheirFormulas) {
  const std::int64_t l = 32, h = 4096, f = 14336, v = 32000;
  EXPECT_EQ(all_parameters(experts_of("mixtral-8x7b")),
            l * (2 * h * h + 2 * h * 1024 + 8 * 3 * h * f + 8 * h + 2 * h) + 2 * v * h + h);
  // DeepSeek-AI 2024, section 4.2, less the 58 · 256 biases that choose experts.
  const std::int64_t w = 7168;
  const std::int64_t attention =
      w * 1536 + 1536 + 1536 * 128 * 192 + w * (512 + 64) + 512 + 512 * 128 * 256 + 128 * 128 * w;
  const std::int64_t dense = 3 * w * 18432, experts = 257 * 3 * w * 2048 + 256 * w;
  EXPECT_EQ(all_parameters(experts_of("deepseek-v3")),
            61 * (attention + 2 * w) + 3 * dense + 58 * experts + 2 * 129280 * w + w);
}

// What each part multiplies, by hand; an expert has its rows whether tokens fill them or not.
TEST(Mixtures, HaveTheProductsOfTheirCapacity) {
  const std::int64_t l = 2, h = 32, s = 24, e = 6, k = 2, f = 20, b = 3;
  for (const std::int64_t capacity : {50, 100, 125, 65536}) {
    const std::int64_t rows = std::min<std::int64_t>((s * k * capacity + 100 * e - 1) / (100 * e), s);
    const Graph graph = experts_of(
        fmt::format("moe:layers={},width={},heads=4,kv_heads=2,experts={},top_k={},capacity={},shared=1,expert_ffn={},"
                    "vocabulary=40,tokens={},batch={}",
                    l, h, e, k, capacity, f, s, b));
    const std::int64_t attention = b * s * (3 * h * h + 2 * s * h);
    const std::int64_t experts = b * s * e * h + b * e * rows * 3 * h * f + b * s * 3 * h * f;
    EXPECT_EQ(all_products(graph), l * (attention + experts) + b * s * 40 * h) << capacity;
  }
}

TEST(Mixtures, AreOneProductOverTheExperts) {
  const Graph graph = experts_of("deepseek-v3:layers=4,batch=2");
  const auto down = std::ranges::find(graph.nodes(), std::string("blocks.3.moe.experts.down"), &Node::name);
  ASSERT_NE(down, graph.nodes().end());
  EXPECT_EQ(graph[down->inputs[0]].type.shape, (Shape{256, 2 * 128, 2048}));
  EXPECT_EQ(graph[down->inputs[1]].type.shape, (Shape{256, 2048, 7168}));
  EXPECT_LT(graph.nodes().size(), 4 * 61U);
}

TEST(Mixtures, CapacityIsRoundedUpAndAtMostAllTokens) {
  EXPECT_EQ(expert_rows({.experts = 8, .chosen = 2, .capacity = 100, .shared = 0, .inner = 1}, 4096), 1024);
  EXPECT_EQ(expert_rows({.experts = 7, .chosen = 2, .capacity = 100, .shared = 0, .inner = 1}, 10), 3);
  EXPECT_EQ(expert_rows({.experts = 8, .chosen = 2, .capacity = 125, .shared = 0, .inner = 1}, 16), 5);
  EXPECT_EQ(expert_rows({.experts = 8, .chosen = 8, .capacity = 100, .shared = 0, .inner = 1}, 16), 16);
  EXPECT_EQ(expert_rows({.experts = 8, .chosen = 2, .capacity = 65536, .shared = 0, .inner = 1}, 16), 16);
}

using Matrix = std::vector<std::vector<double>>;

// One sample through a mixture, as it is defined: token by token.
struct Reference {
  const Mixture& mixture;
  const Array& router;  // [experts, width]
  const Array& gate;    // [experts, width, inner]
  const Array& up;
  const Array& down;  // [experts, inner, width]

  double score(const std::vector<double>& x, std::int64_t expert) const {
    double sum = 0;
    for (std::size_t c = 0; c < x.size(); ++c)
      sum += x[c] * router.values[static_cast<std::size_t>(expert) * x.size() + c];
    return mixture.sigmoid_factor == 0 ? sum : 1 / (1 + std::exp(-sum));
  }

  std::vector<double> expert_output(const std::vector<double>& x, std::int64_t expert) const {
    const std::size_t width = x.size(), inner = static_cast<std::size_t>(mixture.inner);
    const std::size_t first = static_cast<std::size_t>(expert) * width * inner;
    std::vector<double> result(width, 0);
    for (std::size_t i = 0; i < inner; ++i) {
      double a = 0, b = 0;
      for (std::size_t c = 0; c < width; ++c) {
        a += x[c] * gate.values[first + c * inner + i];
        b += x[c] * up.values[first + c * inner + i];
      }
      const double active = a / (1 + std::exp(-a)) * b;
      for (std::size_t c = 0; c < width; ++c) result[c] += active * down.values[first + i * width + c];
    }
    return result;
  }

  // [tokens][experts]
  Matrix weights(const Matrix& x) const {
    Matrix all;
    for (const std::vector<double>& token : x) {
      std::vector<std::pair<double, std::size_t>> scores;
      for (std::int64_t e = 0; e < mixture.experts; ++e) scores.emplace_back(score(token, e), e);
      std::ranges::sort(scores, std::greater<>());
      scores.resize(static_cast<std::size_t>(mixture.chosen));
      double sum = 0;
      for (auto& [value, expert] : scores) sum += value = mixture.sigmoid_factor == 0 ? std::exp(value) : value;
      std::vector<double> of_token(static_cast<std::size_t>(mixture.experts), 0);
      for (const auto& [value, expert] : scores) {
        of_token[expert] = value / sum * (mixture.sigmoid_factor == 0 ? 1 : mixture.sigmoid_factor);
      }
      all.push_back(of_token);
    }
    return all;
  }

  Matrix output(const Matrix& x) const {
    const Matrix all = weights(x);
    Matrix result(x.size(), std::vector<double>(x[0].size(), 0));
    for (std::int64_t e = 0; e < mixture.experts; ++e) {
      const auto expert = static_cast<std::size_t>(e);
      std::vector<std::size_t> order(x.size());
      std::iota(order.begin(), order.end(), std::size_t{0});
      std::ranges::stable_sort(order, [&](std::size_t a, std::size_t b) { return all[a][expert] > all[b][expert]; });
      order.resize(static_cast<std::size_t>(expert_rows(mixture, static_cast<std::int64_t>(x.size()))));
      for (const std::size_t token : order) {
        const std::vector<double> of_expert = expert_output(x[token], e);
        for (std::size_t c = 0; c < of_expert.size(); ++c) result[token][c] += all[token][expert] * of_expert[c];
      }
    }
    return result;
  }
};

struct Layer {
  Graph graph;
  TensorId x, router, gate, up, down;
};

Layer layer_of(const Mixture& mixture, const Shape& shape) {
  GraphBuilder builder("layer");
  const TensorId x = builder.input("x", shape);
  builder.output(mixture_of_experts(builder, "moe", x, mixture));
  auto graph = builder.finish();
  EXPECT_TRUE(graph.has_value()) << (graph ? "" : graph.error().text());
  Layer layer{.graph = graph ? *std::move(graph) : Graph{}, .x = x, .router = {}, .gate = {}, .up = {}, .down = {}};
  const auto named = [&](const std::string& name) {
    const auto found = std::ranges::find(layer.graph.tensors(), name, &Tensor::name);
    return TensorId(static_cast<std::size_t>(found - layer.graph.tensors().begin()));
  };
  layer.router = named("moe.router.weight");
  layer.gate = named("moe.experts.gate.weight");
  layer.up = named("moe.experts.up.weight");
  layer.down = named("moe.experts.down.weight");
  return layer;
}

Values random_values(const Layer& layer, unsigned seed) {
  Values values;
  for (const TensorId id : {layer.x, layer.router, layer.gate, layer.up, layer.down}) {
    values.emplace(id, test::random_array(layer.graph[id].type.shape, seed++));
  }
  return values;
}

const std::vector<Mixture> small_mixtures = {
    {.experts = 4, .chosen = 2, .capacity = 100, .shared = 0, .inner = 3},
    {.experts = 4, .chosen = 2, .capacity = 40, .shared = 0, .inner = 3},
    {.experts = 4, .chosen = 2, .capacity = 1000, .shared = 0, .inner = 3},
    {.experts = 5, .chosen = 1, .capacity = 125, .shared = 0, .inner = 2},
    {.experts = 3, .chosen = 3, .capacity = 100, .shared = 0, .inner = 2},
    {.experts = 1, .chosen = 1, .capacity = 100, .shared = 0, .inner = 2},
    {.experts = 6, .chosen = 3, .capacity = 100, .shared = 0, .inner = 2, .sigmoid_factor = 2.5}};

TEST(Mixtures, ComputeWhatTheDefinitionSays) {
  const Shape shape = {2, 7, 5};
  for (std::size_t i = 0; i < small_mixtures.size(); ++i) {
    const Mixture& mixture = small_mixtures[i];
    const Layer layer = layer_of(mixture, shape);
    Values values = random_values(layer, static_cast<unsigned>(100 * i + 1));
    ASSERT_TRUE(run(layer.graph, values).has_value());
    const Reference reference{mixture, values.at(layer.router), values.at(layer.gate), values.at(layer.up),
                              values.at(layer.down)};
    for (std::size_t sample = 0; sample < 2; ++sample) {
      Matrix x;
      for (std::size_t token = 0; token < 7; ++token) {
        const auto first = values.at(layer.x).values.begin() + static_cast<std::ptrdiff_t>((sample * 7 + token) * 5);
        x.emplace_back(first, first + 5);
      }
      const Matrix expected = reference.output(x);
      for (std::size_t token = 0; token < 7; ++token) {
        for (std::size_t c = 0; c < 5; ++c) {
          EXPECT_NEAR(values.at(layer.graph.outputs[0]).values[(sample * 7 + token) * 5 + c], expected[token][c], 1e-12)
              << "mixture " << i << ", sample " << sample << ", token " << token;
        }
      }
    }
  }
}

TEST(Mixtures, GradientsAgreeWithDifferences) {
  for (std::size_t i = 0; i < small_mixtures.size(); ++i) {
    Mixture mixture = small_mixtures[i];
    mixture.shared = static_cast<std::int64_t>(i % 2);
    const Layer layer = layer_of(mixture, {2, 7, 5});
    Values values = random_values(layer, static_cast<unsigned>(100 * i + 7));
    std::vector<TensorId> wanted = {layer.x, layer.router, layer.gate, layer.up, layer.down};
    for (std::size_t t = 0; t < layer.graph.tensors().size(); ++t) {
      if (!layer.graph.tensors()[t].name.starts_with("moe.shared.") || !layer.graph.tensors()[t].parameter) continue;
      values.emplace(TensorId(t), test::random_array(layer.graph.tensors()[t].type.shape, static_cast<unsigned>(t)));
      wanted.emplace_back(t);
    }
    const auto checked = test::check_gradients(layer.graph, values, wanted);
    ASSERT_TRUE(checked.has_value()) << checked.error().text();
    // One expert alone weighs 1 whatever the router says: its gradient is 0 and is compared absolutely.
    EXPECT_LE(checked->worst(), 1e-6) << "mixture " << i;
  }
}

TEST(Mixtures, WholeNetworksAgreeWithDifferences) {
  for (const std::string spec :
       {"moe:layers=1,width=4,heads=2,kv_heads=1,experts=3,top_k=2,expert_ffn=3,vocabulary=7,tokens=4,batch=2",
        "deepseek-v3:layers=2,width=4,heads=2,head_width=3,rotary_width=2,query_rank=3,kv_rank=3,experts=3,top_k=2,"
        "expert_ffn=3,dense=1,ffn=5,vocabulary=7,tokens=4"}) {
    const Graph graph = experts_of(spec);
    Values values;
    std::vector<TensorId> wanted;
    for (std::size_t i = 0; i < graph.tensors().size(); ++i) {
      const Tensor& tensor = graph.tensors()[i];
      if (tensor.producer.valid() || graph.constant(TensorId(i)) != nullptr) continue;
      Array array = test::random_array(tensor.type.shape, static_cast<unsigned>(i));
      if (tensor.parameter) {
        wanted.emplace_back(i);
      } else {
        for (std::size_t j = 0; j < array.values.size(); ++j) array.values[j] = static_cast<double>(3 * j % 7);
      }
      values.emplace(TensorId(i), std::move(array));
    }
    const auto checked = test::check_gradients(graph, values, wanted);
    ASSERT_TRUE(checked.has_value()) << checked.error().text();
    EXPECT_LE(checked->worst(), 1e-6) << spec;
  }
}

// q, k, v, out and the router of each layer, and a pair of thin matrices for each expert's three.
TEST(Mixtures, TakeLowRankAdditionsExpertByExpert) {
  const std::int64_t l = 2, h = 16, e = 4, f = 12, r = 3;
  training::StepOptions options;
  options.lora = training::LoraOptions{.rank = r, .alpha = r};
  const auto step = training::make_training_step(
      {experts_of("moe:layers=2,width=16,heads=4,kv_heads=2,experts=4,top_k=2,expert_ffn=12,vocabulary=40,tokens=8"),
       false,
       {},
       {}},
      options);
  ASSERT_TRUE(step.has_value()) << step.error().text();
  std::int64_t trained = 0;
  for (const training::Trained& each : step->trained) trained += element_count(step->graph[each.parameter].type.shape);
  EXPECT_EQ(trained, l * r * (2 * 2 * h + 2 * (h + h / 2) + (h + e) + 3 * e * (h + f)));
}

TEST(MixtureErrors, SizesThatDoNotFit) {
  const auto message = [](const std::string& spec) {
    auto graph = build_builtin(spec);
    EXPECT_FALSE(graph.has_value()) << spec;
    return graph ? std::string() : graph.error().text();
  };
  EXPECT_EQ(message("moe:experts=4,top_k=5"),
            "moe:experts=4,top_k=5: top_k=5 is more than experts=4 "
            "(a token goes through each expert once at most: choose fewer, or more experts)");
  EXPECT_EQ(message("deepseek-v3:rotary_width=7"),
            "deepseek-v3:rotary_width=7: rotary_width=7 is an odd number "
            "(rotary positions turn features in pairs: choose an even number)");
}

}  // namespace
}  // namespace monet::networks

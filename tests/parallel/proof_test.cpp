// Does a step that is split over many chips compute what the whole step computes?
#include "graph/verify.h"
#include "mapping/random_cases.h"
#include "networks/builtin.h"
#include "parallel/check.h"
#include "parallel/recipe.h"
#include "support/parallel_proof.h"
#include "support/random_network.h"

#include <gtest/gtest.h>

#include <cstdlib>

namespace monet {
namespace {

constexpr double allowed = 1e-12;  // of the norm: sums are taken in another order

Graph step_of(const std::string& network, std::int64_t batch, training::StepOptions options = {}) {
  auto forward = build_builtin(network, batch);
  EXPECT_TRUE(forward.has_value()) << forward.error().text();
  auto step = training::make_training_step({*std::move(forward), false, {}, {}}, options);
  EXPECT_TRUE(step.has_value()) << step.error().text();
  return std::move(step->graph);
}

void expect_proven(const Graph& step, const std::string& words, double most = allowed) {
  SCOPED_TRACE(words);
  const auto options = parallel::parse_parallel(words);
  ASSERT_TRUE(options.has_value()) << options.error().text();
  const auto split = parallel::parallel_step(step, *options);
  ASSERT_TRUE(split.has_value()) << split.error().text();
  const auto sound = verify(split->graph);
  ASSERT_TRUE(sound.has_value()) << sound.error().text();
  for (const std::string& wrong : parallel::check(*split)) ADD_FAILURE() << wrong;
  const auto proof = test::prove(step, *split);
  ASSERT_TRUE(proof.has_value()) << proof.error().text();
  EXPECT_LE(proof->worst, most) << proof->tensor;
  EXPECT_GT(proof->compared, 20U);
}

struct Case {
  std::string network;
  std::int64_t batch;
  std::string words;
};

void PrintTo(const Case& value, std::ostream* out) {
  *out << value.network << ", batch " << value.batch << ", " << value.words;
}

class Recipes : public testing::TestWithParam<Case> {};

TEST_P(Recipes, GiveWhatOneChipGives) {
  const auto& [network, batch, words] = GetParam();
  expect_proven(step_of(network, batch), words);
}

const std::string mlp = "mlp-robotics:inputs=12,hidden=16,layers=3,outputs=8";
const std::string gpt = "gpt2-mini:layers=2,width=16,heads=4,ffn=24,vocabulary=20,tokens=8";
const std::string bert = "bert-base:layers=1,width=16,heads=4,ffn=24,vocabulary=20,tokens=8";
const std::string vit = "vit-tiny:image=8,patch=4,width=16,layers=1,heads=4,ffn=24,classes=8";
const std::string unet = "unet:image=16,features=2";
const std::string llama = "llama:layers=2,width=16,heads=4,kv_heads=2,head_width=0,ffn=24,vocabulary=20,tokens=8";
const std::string mixture =
    "mixtral-8x7b:layers=1,width=16,heads=4,kv_heads=2,head_width=0,experts=4,expert_ffn=24,vocabulary=20,tokens=8";
const std::string deepseek =
    "moe:layers=1,width=16,heads=2,kv_heads=2,head_width=0,experts=4,top_k=2,shared=1,expert_ffn=8,vocabulary=20,"
    "tokens="
    "4";
const std::string lenet = "lenet5:classes=8";

INSTANTIATE_TEST_SUITE_P(Mlp, Recipes,
                         testing::Values(Case{mlp, 4, "dp=2"}, Case{mlp, 4, "dp=4,zero=1"}, Case{mlp, 4, "dp=2,zero=3"},
                                         Case{mlp, 4, "tp=2"}, Case{mlp, 4, "tp=4,dp=2,zero=1"}));
INSTANTIATE_TEST_SUITE_P(Llama, Recipes,
                         testing::Values(Case{llama, 2, "dp=2,zero=3"}, Case{llama, 2, "tp=2"},
                                         Case{llama, 4, "tp=2,dp=2,zero=1,sequence=on"},
                                         Case{mixture, 2, "dp=2,zero=1"}));
INSTANTIATE_TEST_SUITE_P(Gpt, Recipes,
                         testing::Values(Case{gpt, 2, "dp=2"}, Case{gpt, 2, "dp=2,zero=1"}, Case{gpt, 2, "dp=2,zero=3"},
                                         Case{gpt, 2, "tp=2"}, Case{gpt, 2, "tp=2,sequence=on"},
                                         Case{gpt, 4, "tp=2,dp=2,zero=1,sequence=on"},
                                         Case{gpt, 2, "tp=4,dp=2,zero=3"}));
// Tokens in pieces: attention gathers keys and values, and a causal mask is that of a chip's own rows.
INSTANTIATE_TEST_SUITE_P(Context, Recipes,
                         testing::Values(Case{gpt, 2, "cp=2"}, Case{gpt, 2, "cp=4,dp=2,zero=1"},
                                         Case{gpt, 2, "cp=2,tp=2,sequence=on,zero=2"},
                                         Case{bert, 2, "cp=2,dp=2,zero=3"}, Case{llama, 2, "cp=2,tp=2,dp=2,zero=1"},
                                         Case{llama, 1, "cp=4,zero=3"}, Case{llama, 2, "megatron,tp=2,cp=2,dp=2"}));
// Experts in pieces, and tokens sent to them.
INSTANTIATE_TEST_SUITE_P(Experts, Recipes,
                         testing::Values(Case{mixture, 2, "ep=2"}, Case{mixture, 4, "ep=4"},
                                         Case{mixture, 4, "expert,ep=2,dp=2"},
                                         Case{mixture, 4, "ep=2,tp=2,dp=2,zero=2"},
                                         Case{mixture, 4, "ep=2,dp=2,zero=3"}, Case{mixture, 2, "cp=2"},
                                         Case{mixture, 2, "ep=2,cp=2,tp=2,zero=1"}, Case{deepseek, 2, "ep=2,tp=2"}));
INSTANTIATE_TEST_SUITE_P(Others, Recipes,
                         testing::Values(Case{bert, 2, "tp=2,dp=2"}, Case{bert, 2, "tp=4,sequence=on"},
                                         Case{vit, 2, "dp=2,zero=2"}, Case{vit, 2, "tp=2,dp=2"}, Case{unet, 2, "dp=2"},
                                         Case{unet, 2, "tp=2"}, Case{lenet, 4, "dp=2,zero=1"}, Case{lenet, 2, "tp=2"}));

// Accumulation, clipping, other optimizers and recipes of numbers, on the same networks.
struct Variant {
  std::string network;
  std::int64_t batch;
  std::string words;
  training::OptimizerKind optimizer;
  std::int64_t micro_batches = 1;
  bool clips = false;
  bool elementwise = false;
};

void PrintTo(const Variant& value, std::ostream* out) {
  *out << value.network << ", " << value.words << ", optimizer " << static_cast<int>(value.optimizer) << ", "
       << value.micro_batches << " micro-batches" << (value.clips ? ", clipped" : "");
}

class Optimizers : public testing::TestWithParam<Variant> {};

TEST_P(Optimizers, GiveWhatOneChipGives) {
  const Variant& variant = GetParam();
  training::StepOptions options;
  options.optimizer.kind = variant.optimizer;
  options.optimizer.micro_batches = variant.micro_batches;
  options.optimizer.elementwise = variant.elementwise;
  if (variant.clips) options.optimizer.clip_norm = 0.5;
  expect_proven(step_of(variant.network, variant.batch, options), variant.words);
}

using enum training::OptimizerKind;
INSTANTIATE_TEST_SUITE_P(Parallel, Optimizers,
                         testing::Values(Variant{gpt, 2, "dp=2,zero=1", sgd}, Variant{gpt, 2, "dp=2,zero=2", adamw, 2},
                                         Variant{gpt, 2, "dp=2,zero=1", adamw, 3}, Variant{gpt, 2, "dp=2", adam, 2},
                                         Variant{gpt, 2, "dp=2,zero=3", adam, 2, true},
                                         Variant{gpt, 2, "tp=2,dp=2,zero=1", momentum, 2, true},
                                         Variant{gpt, 2, "tp=2,sequence=on", lion, 1, true},
                                         Variant{mlp, 2, "dp=2,zero=1", adafactor},
                                         Variant{mlp, 2, "tp=2,dp=2", adafactor},
                                         Variant{mlp, 2, "dp=2,zero=1", adam, 1, false, true}));

// Rounding to few bits makes large differences of small ones: not compared.
bool is_quantized(const Graph& step) {
  return std::ranges::any_of(step.nodes(), [](const Node& node) {
    return node.op == Op::Quantize || node.op == Op::QuantizeLinear || node.op == Op::Adam8bitUpdate;
  });
}

int number_from(const char* variable, int otherwise) {
  const char* text = std::getenv(variable);
  return text != nullptr ? std::atoi(text) : otherwise;
}

// The step split over axis after axis of the mesh, with some of what comes from outside in pieces, anyhow.
Expected<parallel::ParallelStep> split_anyhow(Graph step, test::Random& random) {
  parallel::ParallelStep result{.graph = std::move(step), .mesh = {}, .layouts = {}, .notes = {}};
  const std::int64_t axes = random.between(1, 2);
  for (std::int64_t i = 0; i < axes; ++i) {
    parallel::AxisPlan plan;
    plan.axis = i == 0 ? "a" : "b";
    plan.chips = random.one_of<std::int64_t>({2, 2, 3, 4});
    plan.gathers_parameters = true;
    plan.gathers_again = random.chance(0.5);
    for (const Tensor& tensor : result.graph.tensors()) {
      if (tensor.producer.valid() || tensor.type.shape.empty() || !random.chance(0.5)) continue;
      const auto axis =
          static_cast<std::size_t>(random.between(0, static_cast<std::int64_t>(tensor.type.shape.size()) - 1));
      const auto place = parallel::Place::sharded(axis, axes == 2 ? 1 : random.one_of<std::int64_t>({1, 1, 2, 3}));
      if (tensor.role != Role::constant && fits(tensor.type.shape, place, plan.chips))
        plan.stored.emplace(tensor.name, place);
    }
    MONET_TRY(parallel::AxisResult split, parallel::split(std::move(result.graph), plan));
    result.graph = std::move(split.graph);
    result.mesh.axes.push_back({plan.axis, plan.chips});
    result.layouts.push_back({plan.axis, plan.chips, std::move(split.places)});
  }
  return result;
}

// What an operator's own rule says must be enough for any pieces: MONET_PARALLEL_CASES of them, for a campaign.
TEST(ParallelRandom, AnyPiecesGiveWhatOneChipGives) {
  const int cases = number_from("MONET_PARALLEL_CASES", 150);
  int proven = 0;
  for (int i = 0; i < cases; ++i) {
    const auto seed = static_cast<unsigned>(number_from("MONET_PARALLEL_SEED", 0) + i);
    test::Random random(seed);
    const auto step = test::random_step(random);
    if (!step || is_quantized(*step)) continue;
    SCOPED_TRACE(seed);
    const auto split = split_anyhow(*step, random);
    if (!split) {
      EXPECT_EQ(split.error().kind, ErrorKind::user) << split.error().text();
      continue;
    }
    const auto sound = verify(split->graph);
    ASSERT_TRUE(sound.has_value()) << sound.error().text();
    const std::vector<std::string> wrong = parallel::check(*split);
    EXPECT_TRUE(wrong.empty()) << wrong.size() << ": " << wrong.front();
    const auto proof = test::prove(*step, *split, seed);
    ASSERT_TRUE(proof.has_value()) << proof.error().text();
    if (proof->is_rounding) continue;
    EXPECT_LE(proof->worst, allowed) << proof->tensor;
    ++proven;
  }
  std::cout << proven << " steps proven\n";
  EXPECT_GT(proven, cases / 2);
}

// One thing of a split step made wrong: a collective that is left out, or takes other pieces, or a slice that every
// chip starts at the same place, or an operator that numbers a chip's places from the first. None: there is nothing of
// that kind to damage.
struct Damaged {
  parallel::ParallelStep step;
  bool shows = true;  // in the results: what is taken off before an exponential may be any number
};

std::optional<Damaged> damaged(parallel::ParallelStep step, std::size_t which) {
  std::vector<Node> nodes = step.graph.nodes();
  std::size_t at = 0;
  for (Node& node : nodes) {
    const bool slice = node.op == Op::Slice && node.attributes.has(Attr::mesh);
    const bool sum = node.op == Op::AllReduce;
    const bool numbers = !is_collective(node.op) && !slice && node.attributes.has(Attr::mesh);
    if (!slice && !sum && !numbers) continue;
    if (at++ != which) continue;
    const bool shows = slice || numbers || node.attributes.text(Attr::reduction) == "sum";
    if (numbers) {
      Attributes plain;
      for (const auto& [key, value] : node.attributes) {
        if (key != Attr::mesh && key != Attr::group && key != Attr::blocks) plain.set(key, value);
      }
      node.attributes = plain;
    } else if (slice) {
      Attributes plain;
      for (const Attr key : {Attr::axes, Attr::starts, Attr::steps, Attr::shape})
        plain.set(key, node.attributes.integers(key));
      node.attributes = plain;
    } else {
      node.op = Op::Broadcast;  // of one chip's term
      node.attributes = {{Attr::mesh, node.attributes.text(Attr::mesh)},
                         {Attr::group, node.attributes.integer(Attr::group)},
                         {Attr::start, std::int64_t{0}}};
    }
    step.graph.set_nodes(std::move(nodes));
    return Damaged{std::move(step), shows};
  }
  return std::nullopt;
}

TEST(ParallelDamage, IsFoundByTheProofAndByTheChecker) {
  std::size_t tried = 0;
  for (const auto& [network, words] :
       {std::pair(gpt, "dp=2,zero=1"), {gpt, "tp=2"}, {gpt, "tp=2,sequence=on"}, {gpt, "cp=2"}, {llama, "cp=2,tp=2"}}) {
    const Graph step = step_of(network, 2);
    const auto split = parallel::parallel_step(step, *parallel::parse_parallel(words));
    ASSERT_TRUE(split.has_value()) << split.error().text();
    for (std::size_t which = 0;; ++which) {
      const auto wrong = damaged(*split, which);
      if (!wrong) break;
      ++tried;
      EXPECT_FALSE(parallel::check(wrong->step).empty()) << words << ", " << which;
      const auto proof = test::prove(step, wrong->step);
      EXPECT_TRUE(!wrong->shows || !proof || proof->worst > allowed) << words << ", " << which;
    }
  }
  EXPECT_GT(tried, 10U);
}

// The rule itself made wrong: a plan that calls a batch of pieces whole where it enters.
TEST(ParallelDamage, PiecesThatAreCalledWholeAreFound) {
  const Graph step = step_of(mlp, 4);
  auto split = parallel::parallel_step(step, *parallel::parse_parallel("dp=2"));
  ASSERT_TRUE(split.has_value());
  EXPECT_TRUE(parallel::check(*split).empty());
  for (const Node& node : split->graph.nodes()) {
    if (node.op != Op::AllReduce) continue;
    // Sums of what is whole are twice as large.
    for (TensorId id : split->graph.inputs) split->layouts[0].places[split->graph[id].name] = {};
    EXPECT_FALSE(parallel::check(*split).empty());
    return;
  }
}

// Random networks, meshes and recipes.
TEST(ParallelRandom, EveryStepThatCanBeSplitGivesWhatOneChipGives) {
  const char* wanted = std::getenv("MONET_PARALLEL_CASES");
  const int cases = number_from("MONET_PARALLEL_CASES", 300);
  int proven = 0, refused = 0;
  for (int i = 0; i < cases; ++i) {
    const unsigned seed = static_cast<unsigned>(number_from("MONET_PARALLEL_SEED", 0) + i);
    test::Random random(seed);
    const auto step = test::random_step(random);
    if (!step || is_quantized(*step)) continue;
    parallel::ParallelOptions options;
    const std::int64_t batch = step->inputs.empty() || (*step)[step->inputs[0]].type.shape.empty()
                                   ? 1
                                   : (*step)[step->inputs[0]].type.shape[0];
    std::vector<std::int64_t> divisors = {1};
    for (std::int64_t chips = 2; chips <= 4; ++chips) {
      if (batch % chips == 0) divisors.push_back(chips);
    }
    options.mesh.axes = {{"dp", random.one_of(divisors)}, {"tp", random.one_of<std::int64_t>({1, 1, 2, 3})}};
    if (random.chance(0.15)) parallel::set_size(options, "cp", 2);
    options.zero = static_cast<int>(random.between(0, 3));
    options.sequence = random.chance(0.3);
    options.bucket_bytes = random.one_of<std::int64_t>({0, 100, 1 << 20});
    SCOPED_TRACE(std::to_string(seed) + ": " + parallel::to_text(options));
    const auto split = parallel::parallel_step(*step, options);
    if (!split) {
      if (wanted != nullptr) std::cout << seed << ": " << split.error().text() << "\n";
      EXPECT_EQ(split.error().kind, ErrorKind::user) << split.error().text();
      ++refused;
      continue;
    }
    const auto sound = verify(split->graph);
    ASSERT_TRUE(sound.has_value()) << sound.error().text();
    const std::vector<std::string> wrong = parallel::check(*split);
    EXPECT_TRUE(wrong.empty()) << wrong.size() << ": " << wrong.front();
    const auto proof = test::prove(*step, *split, seed);
    if (!proof && proof.error().text().find("outside") != std::string::npos) continue;  // an index that data give
    ASSERT_TRUE(proof.has_value()) << proof.error().text();
    if (proof->is_rounding) continue;
    EXPECT_LE(proof->worst, allowed) << proof->tensor;
    if (split->mesh.chips() > 1) ++proven;
  }
  std::cout << proven << " steps proven, " << refused << " cannot be split so\n";
  EXPECT_GT(proven, cases / 10);
}

}  // namespace
}  // namespace monet

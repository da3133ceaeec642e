// Three steps of every optimizer in the float64 executor, against torch: expected/optimizers.txt, which
// optimizer_reference.py makes.
#include "training/optimizer.h"

#include "graph/verify.h"
#include "interpret/interpret.h"
#include "support/source_folder.h"

#include <gtest/gtest.h>

#include <cmath>
#include <fstream>
#include <map>
#include <sstream>

namespace monet::test {
namespace {

using namespace monet::training;

struct Case {
  std::string kind;
  double learning_rate = 0;
  std::map<std::string, double> options;
  std::int64_t micro_batches = 1;
  std::vector<double> norms;  // of the gradients of each step, where they are clipped
  std::vector<std::pair<std::string, Shape>> parameters;
  std::map<std::string, std::vector<double>> expected;  // by name, after the last step
};

std::vector<Case> read_cases() {
  std::ifstream file(source_folder() / "tests/training/expected/optimizers.txt");
  std::vector<Case> cases;
  for (std::string line; std::getline(file, line);) {
    std::istringstream words(line);
    std::string word;
    std::string name;
    std::size_t count = 0;
    words >> word;
    if (word == "case") words >> cases.emplace_back().kind;
    if (word == "learning_rate") words >> cases.back().learning_rate;
    if (word == "micro_batches") words >> cases.back().micro_batches;
    if (word == "option") {
      words >> name;
      words >> cases.back().options[name];
    }
    if (word == "norm") words >> cases.back().norms.emplace_back();
    if (word == "parameter") {
      words >> name >> count;
      Shape shape(count);
      for (std::int64_t& size : shape) words >> size;
      cases.back().parameters.emplace_back(name, shape);
    }
    if (word == "tensor") {
      words >> name >> count;
      std::vector<double>& values = cases.back().expected[name];
      values.resize(count);
      for (double& value : values) file >> value;
      file.ignore(1);
    }
  }
  return cases;
}

OptimizerOptions options_of(const Case& test) {
  OptimizerOptions options;
  options.kind = *optimizer_named(test.kind);
  options.micro_batches = test.micro_batches;
  options.min_8bit_size = 32;
  const std::map<std::string, std::optional<double> OptimizerOptions::*> members = {
      {"momentum", &OptimizerOptions::momentum},
      {"beta1", &OptimizerOptions::beta1},
      {"beta2", &OptimizerOptions::beta2},
      {"beta2_decay", &OptimizerOptions::beta2_decay},
      {"epsilon", &OptimizerOptions::epsilon},
      {"least_scale", &OptimizerOptions::least_scale},
      {"weight_decay", &OptimizerOptions::weight_decay},
      {"clip_norm", &OptimizerOptions::clip_norm}};
  for (const auto& [name, value] : test.options) options.*members.at(name) = value;
  return options;
}

// The formula of the reference.
Array wave(double seed, const Shape& shape, double scale) {
  Array array = Array::zeros(shape);
  for (std::size_t i = 0; i < array.values.size(); ++i)
    array.values[i] = scale * std::sin(12.9898 * static_cast<double>(i) + 78.233 * seed);
  return array;
}

// ||a − b|| / ||b||
double relative_error(const std::vector<double>& a, const std::vector<double>& b) {
  double difference = 0;
  double size = 0;
  for (std::size_t i = 0; i < b.size(); ++i) {
    difference += (a[i] - b[i]) * (a[i] - b[i]);
    size += b[i] * b[i];
  }
  return std::sqrt(difference / size);
}

class Training {
 public:
  Training(const Case& test, const OptimizerOptions& options) : test_(test), options_(options) {
    GraphBuilder builder("step");
    std::vector<Trained> trained;
    for (const auto& [name, shape] : test.parameters) {
      const TensorId parameter = builder.parameter(name, shape, ElementType::float64);
      trained.push_back({parameter, builder.input(name + ".grad", shape, ElementType::float64)});
    }
    const auto result = add_optimizer(builder, trained, options);
    if (!result) throw std::runtime_error(result.error().text());
    auto graph = builder.finish();
    if (graph && options.elementwise) graph = elementwise_optimizer(*std::move(graph));
    if (!graph) throw std::runtime_error(graph.error().text());
    if (const auto status = verify(*graph); !status) throw std::runtime_error(status.error().text());
    graph_ = *std::move(graph);
    for (std::size_t i = 0; i < graph_.tensors().size(); ++i) {
      const Tensor& tensor = graph_.tensors()[i];
      ids_.emplace(tensor.name, TensorId(i));
      if (tensor.updates.valid()) kept_.emplace(tensor.updates, Array::zeros(graph_[tensor.updates].type.shape));
    }
    for (std::size_t p = 0; p < test.parameters.size(); ++p) {
      const auto& [name, shape] = test.parameters[p];
      kept_.insert_or_assign(ids_.at(name), wave(static_cast<double>(p), shape, 1));
    }
  }

  void run_steps() {
    for (int step = 0; step < 3; ++step) {
      for (const auto& [name, shape] : test_.parameters) {
        if (options_.micro_batches > 1) kept_.insert_or_assign(ids_.at(name + ".accumulated"), Array::zeros(shape));
      }
      for (std::int64_t micro = 0; micro < options_.micro_batches; ++micro) run_once(step, static_cast<int>(micro));
    }
  }

  const std::vector<double>& value(const std::string& name) const { return values_.at(ids_.at(name)).values; }
  const std::vector<double>& norms() const { return norms_; }

 private:
  void run_once(int step, int micro) {
    constexpr double scales[] = {1.0, 0.02, 0.6};
    values_ = kept_;
    for (std::size_t p = 0; p < test_.parameters.size(); ++p) {
      const auto& [name, shape] = test_.parameters[p];
      const double seed = 100 + 10 * step + 3 * micro + 0.1 * static_cast<double>(p);
      values_.insert_or_assign(ids_.at(name + ".grad"), wave(seed, shape, scales[step] * options_.loss_scale));
    }
    values_.insert_or_assign(ids_.at("learning_rate"), Array{{}, {test_.learning_rate}});
    if (ids_.contains("step")) values_.insert_or_assign(ids_.at("step"), Array{{}, {step + 1.0}});
    const auto status = run(graph_, values_);
    if (!status) throw std::runtime_error(status.error().text());
    const bool last = micro + 1 == options_.micro_batches;
    if (last && options_.clip_norm) norms_.push_back(value("gradient_norm").front());
    for (auto& [old, array] : kept_) {
      const Tensor& tensor = graph_[old];
      if (last || tensor.role == Role::weight_gradient) array = values_.at(ids_.at(tensor.name + ".new"));
    }
  }

  const Case& test_;
  OptimizerOptions options_;
  Graph graph_;
  std::unordered_map<std::string, TensorId> ids_;
  Values kept_;    // from step to step, by the tensor that is replaced
  Values values_;  // of the last run
  std::vector<double> norms_;
};

void expect_as_expected(const Case& test, const OptimizerOptions& options) {
  Training training(test, options);
  training.run_steps();
  ASSERT_GE(test.expected.size(), test.parameters.size());
  for (const auto& [name, expected] : test.expected) {
    ASSERT_EQ(training.value(name).size(), expected.size()) << name;
    EXPECT_LE(relative_error(training.value(name), expected), 1e-6) << name;
  }
  ASSERT_EQ(training.norms().size(), test.norms.size());
  for (std::size_t i = 0; i < test.norms.size(); ++i) EXPECT_NEAR(training.norms()[i] / test.norms[i], 1, 1e-6);
}

TEST(Optimizer, ThreeStepsAreTorchs) {
  const std::vector<Case> cases = read_cases();
  ASSERT_EQ(cases.size(), 38U);
  for (const Case& test : cases) {
    std::string trace = test.kind + " with " + std::to_string(test.micro_batches) + " micro-batches";
    for (const auto& [name, value] : test.options) trace += ", " + name + " " + std::to_string(value);
    OptimizerOptions options = options_of(test);
    {
      SCOPED_TRACE(trace);
      expect_as_expected(test, options);
    }
    {
      SCOPED_TRACE(trace + ", element-wise");
      options.elementwise = true;
      expect_as_expected(test, options);
    }
    {
      SCOPED_TRACE(trace + ", with a scaled loss");
      options.elementwise = false;
      options.loss_scale = 1024;
      expect_as_expected(test, options);
    }
  }
}

TEST(Optimizer, CodesAreTheNearestOnes) {
  for (const Case& test : read_cases()) {
    if (test.kind != "adam8bit") continue;
    Training training(test, options_of(test));
    training.run_steps();
    for (const char* name : {"c.m.new", "c.v.new", "d.m.new", "d.v.new"})
      EXPECT_EQ(training.value(name), test.expected.at(name)) << name;
  }
}

}  // namespace
}  // namespace monet::test

#include "training/simulate/trainer.h"

#include "base/try.h"
#include "training/simulate/random.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>

namespace monet::training {

namespace {

// Where the value of a tensor is found: under its name; of a further copy of a weight that nothing changes
// ("W.mxfp4@0", see quantized.h) under the weight's.
template <class Map>
auto found_for(const Tensor& tensor, const Map& by_name) {
  const auto found = by_name.find(tensor.name);
  const std::size_t dot = tensor.name.rfind('.');
  const bool may_be_copy = tensor.role == Role::weight && !tensor.parameter && tensor.type.format.is_scaled();
  return found != by_name.end() || !may_be_copy || dot == std::string::npos ? found
                                                                            : by_name.find(tensor.name.substr(0, dot));
}

class Trainer {
 public:
  Trainer(Exercise exercise, const Lesson& lesson, const SimulateOptions& options, const TrainerCalls& calls)
      : exercise_(std::move(exercise)),
        lesson_(lesson),
        options_(options),
        calls_(calls),
        values_(step().tensors().size()),
        held_out_values_(held_out().tensors().size()) {}

  Expected<Simulation> run() {
    const auto start = std::chrono::steady_clock::now();
    fill_in();
    MONET_RETURN_IF_ERROR(measure(0));
    for (std::int64_t count = 1; count <= options_.steps && !result_.diverged; ++count) {
      if (calls_.stop && calls_.stop()) {
        result_.stopped = true;
        break;
      }
      MONET_RETURN_IF_ERROR(one_step(count));
      if (result_.diverged || result_.stopped) break;
      if (count % options_.measure_every == 0) MONET_RETURN_IF_ERROR(measure(count));
      if (calls_.step_done) calls_.step_done();
    }
    const std::int64_t last = std::ssize(result_.losses) + (result_.diverged ? 1 : 0);
    if (result_.measured.back().step != last) MONET_RETURN_IF_ERROR(measure(last));
    result_.wall_s = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    return std::move(result_);
  }

 private:
  const Graph& step() const { return exercise_.step.graph(); }
  const Graph& held_out() const { return exercise_.held_out.graph(); }

  // What is there before the first step: weights and statistics as the network begins, states zero.
  void fill_in() {
    for (std::size_t i = 0; i < values_.size(); ++i) {
      const TensorId id(i);
      const Tensor& tensor = step()[id];
      if (tensor.producer.valid() || step().constant(id) != nullptr) continue;
      const auto found = found_for(tensor, lesson_.weights);
      values_[i] = found != lesson_.weights.end() ? found->second : Array::zeros(tensor.type.shape);
      round_to(tensor.type.format, values_[i]);
      if (found != lesson_.weights.end()) sources_.emplace(tensor.name, id);
    }
  }

  void set(const Graph& graph, TensorId id, Array value, std::vector<Array>& values) {
    round_to(graph[id].type.format, value);
    values[id.index()] = std::move(value);
  }
  void set_number(TensorId id, double number) { set(step(), id, {.shape = {}, .values = {number}}, values_); }

  void set_batch(const Graph& graph, const std::vector<TensorId>& inputs, std::span<const std::size_t> batch,
                 std::vector<Array>& values) {
    for (std::size_t i = 0; i < inputs.size(); ++i) {
      set(graph, inputs[i], batch_of(lesson_.samples.columns[i], batch), values);
    }
  }

  // Batches in an order that is new in each round through the samples; what does not fill a batch waits for the next.
  std::span<const std::size_t> next_batch() {
    const auto batch = static_cast<std::size_t>(lesson_.task.batch);
    const std::vector<std::size_t>& samples = lesson_.split.train;
    if (order_.empty() || at_ + batch > order_.size()) {
      order_ = samples;
      const auto places = shuffled(samples.size(), stream_seed(options_.seed, fmt::format("round {}", round_++)));
      for (std::size_t i = 0; i < places.size(); ++i) order_[i] = samples[places[i]];
      at_ = 0;
    }
    at_ += batch;
    return std::span(order_).subspan(at_ - batch, batch);
  }

  Status one_step(std::int64_t count) {
    set_number(exercise_.learning_rate, *options_.learning_rate);
    if (exercise_.count.valid()) set_number(exercise_.count, static_cast<double>(count - skipped_));
    const std::int64_t micro_batches = options_.train.accumulate;
    double loss = 0;
    for (std::int64_t i = 0; i < micro_batches; ++i) {
      if (i > 0 && calls_.stop && calls_.stop()) {
        result_.stopped = true;
        return Done{};
      }
      set_batch(step(), exercise_.inputs, next_batch(), values_);
      const std::uint64_t seed = stream_seed(options_.seed, fmt::format("step {}.{}", count, i));
      MONET_RETURN_IF_ERROR(exercise_.step.run(values_, {.rounds = true, .seed = seed}));
      loss += values_[exercise_.loss.index()].values[0] / static_cast<double>(micro_batches);
      const bool overflows = exercise_.loss_scale > 1 && std::isfinite(loss) && !results_are_finite();
      if (overflows) {
        result_.losses.push_back(loss * static_cast<double>(micro_batches) / static_cast<double>(i + 1));
        return lower_the_scale();
      }
      replace(i + 1 == micro_batches);
    }
    result_.diverged = !std::isfinite(loss);
    if (!result_.diverged) result_.losses.push_back(loss);
    return Done{};
  }

  bool results_are_finite() const {
    for (std::size_t i = 0; i < values_.size(); ++i) {
      if (!step().tensors()[i].updates.valid()) continue;
      if (!std::ranges::all_of(values_[i].values, [](double value) { return std::isfinite(value); })) return false;
    }
    return true;
  }

  // What is kept from step to step moves, by name, to the graph with half the scale.
  Status lower_the_scale() {
    std::map<std::string, Array> kept;
    for (std::size_t i = 0; i < values_.size(); ++i) {
      const Tensor& tensor = step().tensors()[i];
      if (tensor.producer.valid()) continue;
      const bool gathered = tensor.role == Role::weight_gradient;
      kept.emplace(tensor.name, gathered ? Array::zeros(tensor.type.shape) : std::move(values_[i]));
    }
    MONET_TRY(exercise_, calls_.rescaled(exercise_.loss_scale / 2));
    ++skipped_;
    result_.notes = {fmt::format("gradients overflowed in {} steps, which changed nothing; the loss scale is {} now",
                                 skipped_, exercise_.loss_scale)};
    values_.assign(step().tensors().size(), Array{});
    sources_.clear();
    for (std::size_t i = 0; i < values_.size(); ++i) {
      const Tensor& tensor = step().tensors()[i];
      const auto found = tensor.producer.valid() ? kept.end() : kept.find(tensor.name);
      if (found == kept.end()) continue;
      values_[i] = std::move(found->second);
      if (found_for(tensor, lesson_.weights) != lesson_.weights.end()) sources_.emplace(tensor.name, TensorId(i));
    }
    return Done{};
  }

  // New values in place of the old. Before the last micro-batch only what is gathered over micro-batches (and running
  // statistics), not what the optimizer makes; after it the gathered gradients begin at zero again.
  void replace(bool last) {
    for (std::size_t i = 0; i < values_.size(); ++i) {
      const Tensor& tensor = step().tensors()[i];
      if (!tensor.updates.valid()) continue;
      const Phase phase = step()[tensor.producer].phase;
      const bool gathered = step()[tensor.updates].role == Role::weight_gradient;
      if (phase == Phase::optimizer && !last) continue;
      Array& old = values_[tensor.updates.index()];
      old = gathered && last ? Array::zeros(tensor.type.shape) : std::move(values_[i]);
    }
  }

  Status measure(std::int64_t count) {
    for (std::size_t i = 0; i < held_out_values_.size(); ++i) {
      const Tensor& tensor = held_out().tensors()[i];
      const auto found = tensor.producer.valid() ? sources_.end() : found_for(tensor, sources_);
      if (found != sources_.end()) set(held_out(), TensorId(i), values_[found->second.index()], held_out_values_);
    }
    const auto batch = static_cast<std::size_t>(lesson_.task.batch);
    const std::vector<std::size_t>& samples = lesson_.split.held_out;
    Measured measured{.step = count, .loss = 0, .accuracy = {}};
    std::size_t right = 0, all = 0;
    for (std::size_t first = 0; first < samples.size(); first += batch) {
      set_batch(held_out(), exercise_.held_out_inputs, std::span(samples).subspan(first, batch), held_out_values_);
      const std::uint64_t seed = stream_seed(options_.seed, fmt::format("held out {}", first));
      MONET_RETURN_IF_ERROR(exercise_.held_out.run(held_out_values_, {.rounds = true, .seed = seed}));
      const double loss = held_out_values_[exercise_.held_out_loss.index()].values[0];
      measured.loss += loss * static_cast<double>(batch) / static_cast<double>(samples.size());
      if (lesson_.task.classifies()) count_right(right, all);
    }
    const bool known = !result_.diverged && std::isfinite(measured.loss);
    if (known && all > 0) measured.accuracy = static_cast<double>(right) / static_cast<double>(all);
    result_.measured.push_back(measured);
    return Done{};
  }

  void count_right(std::size_t& right, std::size_t& all) const {
    const Array& scores = held_out_values_[exercise_.scores.index()];
    const Array& target = held_out_values_[exercise_.held_out_inputs.back().index()];
    const std::vector<std::size_t> best = best_classes(scores, lesson_.task.class_axis);
    for (std::size_t i = 0; i < best.size(); ++i) {
      if (target.values[i] == static_cast<double>(lesson_.task.ignore_index)) continue;
      ++all;
      if (target.values[i] == static_cast<double>(best[i])) ++right;
    }
  }

  Exercise exercise_;
  const Lesson& lesson_;
  const SimulateOptions& options_;
  const TrainerCalls& calls_;
  std::vector<Array> values_, held_out_values_;  // by tensor
  std::map<std::string, TensorId> sources_;      // of what is kept from step to step, by name
  std::vector<std::size_t> order_;
  std::size_t at_ = 0;
  std::int64_t round_ = 0;
  std::int64_t skipped_ = 0;  // steps
  Simulation result_;
};

}  // namespace

Expected<Simulation> train_for_real(Exercise exercise, const Lesson& lesson, const SimulateOptions& options,
                                    const TrainerCalls& calls) {
  return Trainer(std::move(exercise), lesson, options, calls).run();
}

}  // namespace monet::training

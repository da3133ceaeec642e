#include "training/simulate/task.h"

#include "base/try.h"
#include "training/simulate/random.h"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>

namespace monet::training {

namespace {

constexpr std::int64_t default_batches = 64;
constexpr std::int64_t most_elements = std::int64_t{1} << 28;  // 2 GiB in float64

Column column_of(const Graph& graph, TensorId id, std::int64_t batch) {
  const Shape& shape = graph[id].type.shape;
  const std::int64_t elements = element_count(shape);
  const bool by_sample = !shape.empty() && shape[0] > 0 && shape[0] % batch == 0;
  return {.name = graph[id].name, .shape = shape, .a_sample = by_sample ? elements / batch : 0, .values = {}};
}

std::int64_t elements_of_a_sample(const std::vector<Column>& columns) {
  return std::accumulate(columns.begin(), columns.end(), std::int64_t{0},
                         [](std::int64_t sum, const Column& column) { return sum + column.a_sample; });
}

}  // namespace

Expected<TaskGraph> task_graph(Graph forward, const LossOptions& options) {
  if (options.kind == LossKind::output) {
    return Error{.message =
                     "a loss that the network computes itself cannot be simulated: what its inputs mean is not "
                     "known",
                 .place = "--loss",
                 .advice = "use cross-entropy, mse or bce"};
  }
  TaskGraph task{.graph = {}, .inputs = {}, .target = {}, .scores = {}, .loss = {}};
  for (TensorId id : forward.inputs) {
    if (forward[id].role == Role::input) task.inputs.push_back(id);
  }
  if (task.inputs.empty() || forward[task.inputs[0]].type.shape.empty()) {
    return Error{.message = "the network has no input with an axis for the samples of a batch",
                 .place = forward.name,
                 .advice = "simulating needs data that goes in"};
  }
  GraphBuilder builder(std::move(forward));
  MONET_TRY(task.loss, add_loss(builder, options));
  builder.output(task.loss);
  MONET_TRY(task.graph, builder.finish());
  task.scores = task.graph.outputs.front();
  task.target = task.graph.inputs.back();
  task.kind = options.kind;
  task.ignore_index = options.ignore_index;
  const Shape& scores = task.graph[task.scores].type.shape;
  const std::int64_t axis = options.class_axis.value_or(-1);
  task.class_axis = axis < 0 ? axis + static_cast<std::int64_t>(scores.size()) : axis;
  task.batch = std::max<std::int64_t>(task.graph[task.inputs[0]].type.shape[0], 1);
  const Shape& target = task.graph[task.target].type.shape;
  if (target.empty() || target[0] % task.batch != 0) {
    return Error{.message = fmt::format("the targets {} do not belong to {} samples", to_string(target), task.batch),
                 .place = task.graph[task.scores].name,
                 .advice = "the first axis of the network's output must be that of the batch"};
  }
  return task;
}

std::vector<Column> empty_columns(const TaskGraph& task) {
  std::vector<Column> columns;
  for (TensorId id : task.inputs) columns.push_back(column_of(task.graph, id, task.batch));
  columns.push_back(column_of(task.graph, task.target, task.batch));
  return columns;
}

Split split(std::int64_t samples, std::int64_t batch, std::uint64_t seed) {
  const std::vector<std::size_t> order = shuffled(static_cast<std::size_t>(samples), stream_seed(seed, "split"));
  const std::int64_t held_out = std::max<std::int64_t>(samples / 5 / batch, 1) * batch;
  const auto middle = order.begin() + (samples - held_out);
  return {.train = {order.begin(), middle}, .held_out = {middle, order.end()}};
}

Array batch_of(const Column& column, std::span<const std::size_t> samples) {
  if (column.a_sample == 0) return {.shape = column.shape, .values = column.values};
  Array array{.shape = column.shape, .values = {}};
  for (std::size_t sample : samples) {
    const auto first = column.values.begin() + static_cast<std::ptrdiff_t>(sample) * column.a_sample;
    array.values.insert(array.values.end(), first, first + column.a_sample);
  }
  return array;
}

Expected<Samples> make_samples(const TaskGraph& task, const TaskOptions& options) {
  Samples samples;
  if (!options.file.empty()) {
    MONET_TRY(samples, read_samples(task, options.file));
  } else {
    const std::int64_t each = std::max<std::int64_t>(elements_of_a_sample(empty_columns(task)), 1);
    const std::int64_t enough = std::clamp(most_elements / each, 2 * task.batch, default_batches * task.batch);
    const std::int64_t count = options.samples > 0 ? options.samples : enough;
    if (count > most_elements / each) {
      return Error{.message = fmt::format("{} samples of {} numbers do not fit into memory", count, each),
                   .place = "--samples",
                   .advice = fmt::format("take {} at most, and batches of at most half of that", most_elements / each)};
    }
    if (count >= 2 * task.batch) {
      MONET_TRY(samples, made_up_samples(task, count, options.seed));
    } else {
      samples.count = count;
    }
  }
  if (samples.count < 2 * task.batch) {
    return Error{.message = fmt::format("{} samples are too few for batches of {}", samples.count, task.batch),
                 .place = options.file.empty() ? "--samples" : options.file,
                 .advice = fmt::format("{} are needed, one batch to learn from and one to hold out: take more samples, "
                                       "or a smaller --batch",
                                       2 * task.batch)};
  }
  return samples;
}

}  // namespace monet::training

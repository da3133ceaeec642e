// Tasks for networks that come without data. Each can be learned, none is trivial, and all follow from the seed.
#include "base/try.h"
#include "training/simulate/initial.h"
#include "training/simulate/random.h"
#include "training/simulate/task.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace monet::training {

namespace {

constexpr std::size_t centres_of_a_class = 4;  // so that no plane parts the classes
constexpr double distance_of_centres = 6;      // in deviations of the noise: some samples lie nearer to a wrong class
// Of an image, in deviations of the noise at each of its places: a convolution sees only some of them at a time, and
// 200 steps are few. lenet5 comes to 74 % with 0.5, to 97 % with 1, and to 18 % with centres 6 deviations apart in all.
constexpr double signal_of_images = 0.5;
constexpr std::int64_t grid = 4;            // of an image's centre: a value at each of 4 x 4 places, smooth between
constexpr double rule_is_kept = 0.9;        // how often the next token follows from the one before
constexpr double token_of_the_class = 0.5;  // how often a token is one that its class prefers

bool holds_integers(const TaskGraph& task, std::size_t input) {
  return !is_floating(task.graph[task.inputs[input]].type.format.element);
}

// One random image between grid points, or plain random numbers; of length 1 on average over an element.
std::vector<double> centre(const Shape& shape, std::int64_t elements, SeededRandom& random) {
  std::vector<double> values(static_cast<std::size_t>(elements));
  if (shape.size() != 4) {
    for (double& value : values) value = nearly_normal(random);
    return values;
  }
  const std::int64_t height = shape[2], width = shape[3];
  for (std::int64_t channel = 0; channel < shape[1]; ++channel) {
    double points[grid][grid];
    for (auto& row : points) {
      for (double& value : row) value = nearly_normal(random);
    }
    for (std::int64_t y = 0; y < height; ++y) {
      for (std::int64_t x = 0; x < width; ++x) {
        const double at_y =
            static_cast<double>(y * (grid - 1)) / static_cast<double>(std::max<std::int64_t>(height - 1, 1));
        const double at_x =
            static_cast<double>(x * (grid - 1)) / static_cast<double>(std::max<std::int64_t>(width - 1, 1));
        const auto up = std::min(static_cast<std::int64_t>(at_y), grid - 2);
        const auto left = std::min(static_cast<std::int64_t>(at_x), grid - 2);
        const double down_part = at_y - static_cast<double>(up), right_part = at_x - static_cast<double>(left);
        values[static_cast<std::size_t>((channel * height + y) * width + x)] =
            (points[up][left] * (1 - right_part) + points[up][left + 1] * right_part) * (1 - down_part) +
            (points[up + 1][left] * (1 - right_part) + points[up + 1][left + 1] * right_part) * down_part;
      }
    }
  }
  return values;
}

class Maker {
 public:
  Maker(const TaskGraph& task, std::int64_t count, std::uint64_t seed) : task_(task), seed_(seed) {
    samples_.count = count;
    samples_.columns = empty_columns(task);
  }

  Expected<Samples> make() {
    const bool one_class_a_sample = task_.classifies() && target().a_sample == 1;
    const auto tokens = static_cast<std::size_t>(token_input());
    if (one_class_a_sample) {
      draw_classes();
      for (std::size_t i = 0; i < task_.inputs.size(); ++i) {
        if (i == tokens) {
          draw_tokens_of_classes(i);
        } else {
          draw_input(i);
          if (!holds_integers(task_, i) && column(i).a_sample > 0) move_to_centres(i);
        }
      }
      samples_.description = fmt::format("made-up classes: {}, {}", task_.classes(),
                                         tokens < task_.inputs.size()
                                             ? "each with tokens that it prefers"
                                             : fmt::format("{} random centres each, and noise", centres_of_a_class));
    } else {
      for (std::size_t i = 0; i < task_.inputs.size(); ++i) draw_input(i);
      if (task_.classifies() && tokens < task_.inputs.size() && target().a_sample == column(tokens).a_sample) {
        draw_sequences(tokens);
        samples_.description = "made-up sequences: which token comes next follows from the one before, mostly";
      } else {
        MONET_RETURN_IF_ERROR(ask_a_teacher());
        samples_.description = "a made-up teacher: what the same network with other random weights answers to noise";
      }
    }
    samples_.description += fmt::format("; {} samples", samples_.count);
    return std::move(samples_);
  }

 private:
  Column& column(std::size_t input) { return samples_.columns[input]; }
  Column& target() { return samples_.columns.back(); }
  SeededRandom stream(std::string_view name) const { return SeededRandom(stream_seed(seed_, name)); }

  // The first input that is looked up in a table, or as many as there are inputs.
  std::size_t token_input() {
    for (std::size_t i = 0; i < task_.inputs.size(); ++i) {
      if (column(i).a_sample > 0 && vocabulary_of(task_.graph, task_.inputs[i]) > 1) return i;
    }
    return task_.inputs.size();
  }

  void draw_classes() {
    SeededRandom random = stream("classes");
    for (std::int64_t i = 0; i < samples_.count; ++i) {
      target().values.push_back(static_cast<double>(random.below(static_cast<std::size_t>(task_.classes()))));
    }
  }

  // Noise; of integers: tokens, or ones where they are no tokens (masks).
  void draw_input(std::size_t input) {
    Column& to = column(input);
    const std::int64_t size = to.a_sample == 0 ? element_count(to.shape) : to.a_sample * samples_.count;
    to.values.resize(static_cast<std::size_t>(size));
    SeededRandom random = stream(to.name);
    const auto vocabulary = static_cast<std::size_t>(vocabulary_of(task_.graph, task_.inputs[input]));
    for (double& value : to.values) {
      value = !holds_integers(task_, input) ? nearly_normal(random)
              : vocabulary > 1              ? static_cast<double>(random.below(vocabulary))
                                            : 1;
    }
  }

  void move_to_centres(std::size_t input) {
    Column& to = column(input);
    SeededRandom random = stream("centres of " + to.name);
    // Two random centres of n elements with deviation s are s · sqrt(2 n) apart.
    const double scale =
        to.shape.size() == 4 ? signal_of_images : distance_of_centres / std::sqrt(2 * static_cast<double>(to.a_sample));
    std::vector<std::vector<double>> centres;
    for (std::size_t i = 0; i < static_cast<std::size_t>(task_.classes()) * centres_of_a_class; ++i) {
      centres.push_back(centre(to.shape, to.a_sample, random));
    }
    for (std::size_t sample = 0; sample < static_cast<std::size_t>(samples_.count); ++sample) {
      const auto of_class = static_cast<std::size_t>(target().values[sample]);
      const auto& from = centres[of_class * centres_of_a_class + random.below(centres_of_a_class)];
      for (std::size_t i = 0; i < from.size(); ++i) to.values[sample * from.size() + i] += scale * from[i];
    }
  }

  void draw_tokens_of_classes(std::size_t input) {
    draw_input(input);
    Column& to = column(input);
    SeededRandom random = stream("tokens of classes");
    const auto vocabulary = static_cast<std::size_t>(vocabulary_of(task_.graph, task_.inputs[input]));
    const auto classes = static_cast<std::size_t>(task_.classes());
    const auto length = static_cast<std::size_t>(to.a_sample);
    for (std::size_t i = 0; i < to.values.size(); ++i) {
      if (!random.with(token_of_the_class)) continue;
      const auto of_class = static_cast<std::size_t>(target().values[i / length]);
      // Token t belongs to class t modulo the number of classes.
      const std::size_t token = random.below(vocabulary) / classes * classes + of_class;
      if (token < vocabulary) to.values[i] = static_cast<double>(token);
    }
  }

  void draw_sequences(std::size_t input) {
    Column& to = column(input);
    SeededRandom random = stream("rule");
    const auto vocabulary = static_cast<std::size_t>(vocabulary_of(task_.graph, task_.inputs[input]));
    const std::vector<std::size_t> next = shuffled(vocabulary, stream_seed(seed_, "next token"));
    const auto length = static_cast<std::size_t>(to.a_sample);
    for (std::size_t i = 0; i < to.values.size(); ++i) {
      const auto following = next[static_cast<std::size_t>(to.values[i])];
      const std::size_t chosen = random.with(rule_is_kept) ? following : random.below(vocabulary);
      target().values.push_back(static_cast<double>(chosen % static_cast<std::size_t>(task_.classes())));
      if ((i + 1) % length != 0) to.values[i + 1] = static_cast<double>(chosen);
    }
  }

  Status ask_a_teacher() {
    MONET_TRY(const PreparedGraph program, PreparedGraph::prepare(task_.graph, {task_.scores}));
    std::vector<Array> values(task_.graph.tensors().size());
    const auto weights = initial_values(task_.graph, stream_seed(seed_, "teacher"));
    for (std::size_t i = 0; i < values.size(); ++i) {
      if (const auto found = weights.find(task_.graph.tensors()[i].name); found != weights.end()) {
        values[i] = found->second;
      }
    }
    values[task_.target.index()] = Array::zeros(target().shape);
    for (std::int64_t first = 0; first < samples_.count; first += task_.batch) {
      std::vector<std::size_t> batch;
      for (std::int64_t i = 0; i < task_.batch; ++i) {
        batch.push_back(static_cast<std::size_t>(std::min(first + i, samples_.count - 1)));
      }
      for (std::size_t i = 0; i < task_.inputs.size(); ++i) {
        values[task_.inputs[i].index()] = batch_of(column(i), batch);
      }
      MONET_RETURN_IF_ERROR(program.run(values, {}));
      add_answers(values[task_.scores.index()]);
    }
    target().values.resize(static_cast<std::size_t>(samples_.count * target().a_sample));
    return Done{};
  }

  void add_answers(const Array& scores) {
    std::vector<double>& to = target().values;
    if (task_.classifies()) {
      const auto last = static_cast<std::size_t>(task_.classes()) - 1;
      for (std::size_t best : best_classes(scores, task_.class_axis)) {
        to.push_back(static_cast<double>(std::min(best, last)));
      }
    } else if (task_.kind == LossKind::binary_cross_entropy) {
      for (double score : scores.values) to.push_back(score > 0 ? 1 : 0);
    } else {
      to.insert(to.end(), scores.values.begin(), scores.values.end());
    }
  }

  const TaskGraph& task_;
  std::uint64_t seed_;
  Samples samples_;
};

}  // namespace

std::vector<std::size_t> best_classes(const Array& scores, std::int64_t axis) {
  const auto at = static_cast<std::size_t>(axis);
  const auto classes = static_cast<std::size_t>(scores.shape[at]);
  std::size_t step = 1;
  for (std::size_t i = at + 1; i < scores.shape.size(); ++i) step *= static_cast<std::size_t>(scores.shape[i]);
  std::vector<std::size_t> best;
  for (std::size_t first = 0; first < scores.values.size(); first += classes * step) {
    for (std::size_t position = first; position < first + step; ++position) {
      std::size_t winner = 0;
      for (std::size_t c = 1; c < classes; ++c) {
        if (scores.values[position + c * step] > scores.values[position + winner * step]) winner = c;
      }
      for (std::size_t c = 0; c < classes; ++c) {
        if (std::isnan(scores.values[position + c * step])) winner = classes;
      }
      best.push_back(winner);
    }
  }
  return best;
}

std::int64_t vocabulary_of(const Graph& graph, TensorId input) {
  if (is_floating(graph[input].type.format.element)) return 0;
  for (const Node& node : graph.nodes()) {
    if (node.op != Op::Gather || node.inputs.size() < 2 || node.inputs[1] != input) continue;
    return graph[node.inputs[0]].type.shape[static_cast<std::size_t>(node.attributes.integer(Attr::axis))];
  }
  return 0;
}

Expected<Samples> made_up_samples(const TaskGraph& task, std::int64_t count, std::uint64_t seed) {
  return Maker(task, count, seed).make();
}

}  // namespace monet::training

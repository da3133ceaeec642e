#include "pipeline/order.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

namespace monet {

namespace {

using enum PipelinePart;

constexpr std::array<std::string_view, 6> schedule_names = {"gpipe", "1f1b", "interleaved", "zb-h1", "zb-h2", "zbv"};
constexpr std::uint64_t most_tasks = 1 << 24;

PipelineOrder empty_order(const PipelineShape& shape, bool splits_backward) {
  PipelineOrder order{.micro_batches = shape.micro_batches, .splits_backward = splits_backward};
  order.tasks.resize(shape.chips);
  for (std::uint32_t chunk = 0; chunk < shape.chunks; ++chunk)
    for (std::uint32_t chip = 0; chip < shape.chips; ++chip) order.chip_of.push_back(chip);
  return order;
}

// All forward, then all backward, the last first: what is kept last goes first.
PipelineOrder gpipe(const PipelineShape& shape) {
  PipelineOrder order = empty_order(shape, false);
  for (std::uint32_t chip = 0; chip < shape.chips; ++chip) {
    for (std::uint32_t m = 0; m < shape.micro_batches; ++m) order.tasks[chip].push_back({chip, m, forward});
    for (std::uint32_t m = shape.micro_batches; m-- > 0;) order.tasks[chip].push_back({chip, m, backward});
  }
  return order;
}

// Chunks in turns, `chips` micro-batches each, forward from the first chunk, backward from the last: chip i begins with
// 2 (chips − i − 1) + (chunks − 1) chips forward tasks, then goes one forward, one backward.
PipelineOrder interleaved(const PipelineShape& shape) {
  PipelineOrder order = empty_order(shape, false);
  const std::uint32_t turn = shape.chips * shape.chunks;
  const std::uint64_t all = std::uint64_t{shape.micro_batches} * shape.chunks;
  for (std::uint32_t chip = 0; chip < shape.chips; ++chip) {
    const auto task = [&](std::uint64_t k, PipelinePart part) {
      const auto chunk = static_cast<std::uint32_t>(k % turn) / shape.chips;
      const auto micro = static_cast<std::uint32_t>(k / turn * shape.chips + k % shape.chips);
      const std::uint32_t held = part == forward ? chunk : shape.chunks - 1 - chunk;
      return PipelineTask{held * shape.chips + chip, micro, part};
    };
    const std::uint64_t warm_up =
        shape.chunks == 1
            ? std::min<std::uint64_t>(shape.chips - chip - 1, all)
            : std::min<std::uint64_t>(2 * (shape.chips - chip - 1) + (shape.chunks - 1) * shape.chips, all);
    std::vector<PipelineTask>& tasks = order.tasks[chip];
    for (std::uint64_t k = 0; k < warm_up; ++k) tasks.push_back(task(k, forward));
    for (std::uint64_t k = warm_up; k < all; ++k) {
      tasks.push_back(task(k, forward));
      tasks.push_back(task(k - warm_up, backward));
    }
    for (std::uint64_t k = all - warm_up; k < all; ++k) tasks.push_back(task(k, backward));
  }
  return order;
}

// All parts taking one unit of time, chip i does what it can at once: backward first, forward while fewer than
// `most(i)` micro-batches are between forward and backward, gradients of weights in between. With chips − i that is
// ZB-H1, with 2 (chips − i) − 1 ZB-H2.
template <class Most>
PipelineOrder zero_bubble(const PipelineShape& shape, Most most) {
  PipelineOrder order = empty_order(shape, true);
  const std::uint32_t chips = shape.chips, all = shape.micro_batches;
  struct Count {
    std::uint32_t forward = 0, backward = 0, weights = 0;
  };
  std::vector<Count> count(chips);
  while (std::ranges::any_of(count, [&](const Count& c) { return c.weights < all; })) {
    const std::vector<Count> before = count;
    for (std::uint32_t i = 0; i < chips; ++i) {
      const Count& c = before[i];
      const bool backward_is_ready = c.backward < c.forward && (i + 1 == chips || before[i + 1].backward > c.backward);
      const bool forward_is_ready = c.forward < all && (i == 0 || before[i - 1].forward > c.forward);
      if (backward_is_ready) {
        order.tasks[i].push_back({i, count[i].backward++, backward});
      } else if (forward_is_ready && c.forward - c.backward < most(i)) {
        order.tasks[i].push_back({i, count[i].forward++, forward});
      } else if (c.weights < c.backward) {
        order.tasks[i].push_back({i, count[i].weights++, weights});
      }
    }
  }
  return order;
}

// The first half of the stages goes down the chips, the second half up again.
class VShape {
 public:
  explicit VShape(const PipelineShape& shape) : shape_(shape), order_(empty_order(shape, true)) {
    for (std::uint32_t chip = 0; chip < shape.chips; ++chip) order_.chip_of[2 * shape.chips - 1 - chip] = chip;
  }

  PipelineOrder order() && {
    for (std::uint32_t chip = 0; chip < shape_.chips; ++chip) fill(chip);
    return std::move(order_);
  }

 private:
  void fill(std::uint32_t chip) {
    const std::uint32_t chips = shape_.chips, all = shape_.micro_batches;
    count_ = {};
    for (std::uint32_t k = 0; k < 2 * (chips - chip) - 1; ++k) add(chip, 0, forward);
    for (std::uint32_t k = 0; k < chip; ++k) {
      add(chip, 1, forward);
      add(chip, 0, forward);
    }
    for (std::uint32_t k = 0; k < chips - chip; ++k) {
      add(chip, 1, forward);
      backward_of(chip, 1);
    }
    while (count_[1][0] < count_[0][0] || count_[0][0] < all) {
      if (count_[0][0] < all) add(chip, 0, forward);
      backward_of(chip, 0);
      add(chip, 1, forward);
      backward_of(chip, 1);
    }
    for (std::uint32_t k = 0; k < chip; ++k) {
      add(chip, 0, backward);
      add(chip, 1, backward);
    }
    for (std::uint32_t k = 0; k < chips - chip; ++k) backward_of(chip, 0);
    for (std::uint32_t half : {1U, 0U})
      while (count_[half][2] < count_[half][1]) add(chip, half, weights);
  }
  void backward_of(std::uint32_t chip, std::uint32_t half) {
    add(chip, half, backward);
    add(chip, half, weights);
  }
  void add(std::uint32_t chip, std::uint32_t half, PipelinePart part) {
    const std::uint32_t stage = half == 0 ? chip : 2 * shape_.chips - 1 - chip;
    order_.tasks[chip].push_back({stage, count_[half][static_cast<std::size_t>(part)]++, part});
  }

  PipelineShape shape_;
  PipelineOrder order_;
  std::array<std::array<std::uint32_t, 3>, 2> count_{};
};

Error bad_shape(PipelineSchedule schedule, const std::string& message, const std::string& advice) {
  return Error{.message = fmt::format("{}: {}", name_of(schedule), message), .place = "pipeline", .advice = advice};
}

}  // namespace

std::string text_of(const PipelineTask& task) {
  constexpr std::array<const char*, 3> words = {"forward", "backward", "gradients of weights"};
  return fmt::format("{} of micro-batch {} in stage {}", words[static_cast<std::size_t>(task.part)], task.micro_batch,
                     task.stage);
}

std::string_view name_of(PipelineSchedule schedule) { return schedule_names[static_cast<std::size_t>(schedule)]; }

Expected<PipelineSchedule> pipeline_schedule(std::string_view name) {
  const auto found = std::ranges::find(schedule_names, name);
  if (found != schedule_names.end()) return static_cast<PipelineSchedule>(found - schedule_names.begin());
  return Error{.message = fmt::format("there is no schedule '{}'", name),
               .place = "pipeline",
               .advice = fmt::format("give one of {}", fmt::join(schedule_names, ", "))};
}

Expected<PipelineOrder> pipeline_order(PipelineSchedule schedule, const PipelineShape& shape) {
  using enum PipelineSchedule;
  const auto [chips, chunks, all] = shape;
  if (chips == 0 || chunks == 0 || all == 0)
    return bad_shape(schedule, "no chips, chunks or micro-batches", "give at least one of each");
  if (3 * std::uint64_t{all} * chips > most_tasks / chunks)
    return bad_shape(schedule, fmt::format("{} micro-batches on {} chips are too many tasks", all, chips),
                     "take larger micro-batches");
  if (chunks > 1 && schedule != interleaved && !(schedule == zb_v && chunks == 2))
    return bad_shape(schedule, fmt::format("a chip holds {}, not {} chunks", schedule == zb_v ? 2 : 1, chunks),
                     "interleaved takes any number of chunks");
  switch (schedule) {
    case gpipe: return monet::gpipe(shape);
    case one_f_one_b: return monet::interleaved(shape);
    case interleaved:
      if (all % chips != 0)
        return bad_shape(schedule, fmt::format("{} micro-batches are no multiple of {} chips", all, chips),
                         fmt::format("take {} micro-batches, or 1f1b", (all / chips + 1) * chips));
      return monet::interleaved(shape);
    case zb_h1: return zero_bubble(shape, [&](std::uint32_t i) { return shape.chips - i; });
    case zb_h2: return zero_bubble(shape, [&](std::uint32_t i) { return 2 * (shape.chips - i) - 1; });
    case zb_v:
      if (all < 2 * chips)
        return bad_shape(schedule, fmt::format("{} micro-batches are fewer than twice the {} chips", all, chips),
                         fmt::format("take at least {} micro-batches, or zb-h1", 2 * chips));
      return VShape({.chips = chips, .chunks = 2, .micro_batches = all}).order();
  }
  return bad_shape(schedule, "is not known", "");
}

Status check_order(const PipelineOrder& order) {
  const std::size_t stages = order.chip_of.size(), parts = order.splits_backward ? 3 : 2;
  const auto error = [](std::string message) {
    return Error{.message = std::move(message),
                 .place = "pipeline",
                 .advice = "list every part of every micro-batch once, on the chip of its stage"};
  };
  std::vector<bool> listed(stages * order.micro_batches * parts);
  for (std::size_t chip = 0; chip < order.tasks.size(); ++chip) {
    for (const PipelineTask& task : order.tasks[chip]) {
      const auto part = static_cast<std::size_t>(task.part);
      if (task.stage >= stages || task.micro_batch >= order.micro_batches || part >= parts)
        return error(fmt::format("there is no {}", text_of(task)));
      if (order.chip_of[task.stage] != chip)
        return error(fmt::format("{} is listed for chip {}, but lies on chip {}", text_of(task), chip,
                                 order.chip_of[task.stage]));
      const std::size_t at = (task.stage * std::size_t{order.micro_batches} + task.micro_batch) * parts + part;
      if (listed[at]) return error(fmt::format("{} is listed twice", text_of(task)));
      listed[at] = true;
    }
  }
  const auto missing = std::ranges::find(listed, false);
  if (missing == listed.end()) return Done{};
  const auto at = static_cast<std::size_t>(missing - listed.begin());
  return error(fmt::format("{} is not listed", text_of({static_cast<std::uint32_t>(at / parts / order.micro_batches),
                                                        static_cast<std::uint32_t>(at / parts % order.micro_batches),
                                                        static_cast<PipelinePart>(at % parts)})));
}

}  // namespace monet

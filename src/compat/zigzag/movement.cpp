#include "compat/zigzag/movement.h"

#include "compat/zigzag/python.h"

namespace monet::zigzag {

namespace {

// Product of the relevant parts of loops, as they come; the part of a window's loop is by how much its positions grow.
class RelevantProduct {
 public:
  RelevantProduct(const Plan& plan, const OperandPlan& operand) : plan_(plan), operand_(operand) {}

  void multiply(std::uint8_t loop, double size) {
    const Relevance relevance = operand_.relevance[loop];
    if (relevance == Relevance::relevant) {
      level_ *= size;
    } else if (relevance == Relevance::window) {
      const std::size_t w = static_cast<std::uint8_t>(plan_.window_of[loop]);
      const WindowSize& window = plan_.windows[w];
      (loop == window.outer ? outer_ : inner_)[w] *= size;
      const double reached = window(outer_[w], inner_[w]);
      level_ *= reached / reached_[w];
      reached_[w] = reached;
    }
  }
  // ZigZag multiplies within a level first.
  double close_level() {
    product_ *= level_;
    level_ = 1;
    return round_even(product_);
  }

 private:
  const Plan& plan_;
  const OperandPlan& operand_;
  double level_ = 1;
  double product_ = 1;
  std::array<double, 2> outer_{1, 1};
  std::array<double, 2> inner_{1, 1};
  std::array<double, 2> reached_{1, 1};
};

void fill_data(const Plan& plan, State& state, std::size_t o, std::size_t v) {
  const OperandPlan& operand = plan.operands[o];
  RelevantProduct product(plan, operand);
  std::size_t i = 0;
  state.data[v][o][0] = 1;
  for (std::size_t level = 0; level < operand.levels; ++level) {
    for (; i < state.cut[o][level]; ++i) product.multiply(state.loop[i], state.size[i]);
    for (std::size_t k = operand.first[level]; k < operand.first[level + 1]; ++k) {
      product.multiply(operand.unrolled[v][k].loop, operand.unrolled[v][k].size);
    }
    state.data[v][o][level + 1] = product.close_level();
  }
}

std::size_t start_of(const State& state, std::size_t o, std::size_t level) {
  return level == 0 ? 0 : state.cut[o][level - 1];
}

void fill_tops(const Plan& plan, State& state, std::size_t o) {
  const OperandPlan& operand = plan.operands[o];
  state.top_relevant[o][0] = 1;
  state.top_irrelevant[o][0] = 1;
  for (std::size_t level = 0; level < operand.levels; ++level) {
    const std::size_t start = start_of(state, o, level);
    const std::size_t end = state.cut[o][level];
    const auto top = [&](Relevance relevance) {
      std::size_t i = end;
      while (i > start && operand.relevance[state.loop[i - 1]] == relevance) --i;
      return state.cycles[end] / state.cycles[i];
    };
    state.top_relevant[o][level + 1] = top(Relevance::relevant);
    state.top_irrelevant[o][level + 1] = top(Relevance::irrelevant);
  }
}

// How often sums come back to level i of the output from what is above it, and whether any loop there makes them.
struct ComingBack {
  std::array<double, max_levels + 1> times;
  std::array<bool, max_levels + 1> any;
};

ComingBack coming_back(const Plan& plan, const State& state, std::size_t v) {
  const OperandPlan& operand = plan.operands[0];
  std::array<double, max_factors + 1> above{};  // product of irrelevant loops from the i-th up
  above[state.count] = 1;
  for (std::size_t i = state.count; i-- > 0;) {
    above[i] = operand.relevance[state.loop[i]] == Relevance::irrelevant ? above[i + 1] * state.size[i] : above[i + 1];
  }
  ComingBack found{};
  for (std::size_t level = 0; level < operand.levels; ++level) {
    const double loops = above[start_of(state, 0, level)];
    found.times[level] = loops * operand.irrelevant_lanes[v][level + 1];
    found.any[level] = loops > 1 || operand.has_irrelevant_lanes[v][level + 1];
  }
  found.times[operand.levels] = 1;
  return found;
}

// The same where windows index the output: the part of a window's loop that reaches no new positions makes sums, too.
ComingBack coming_back_in_windows(const Plan& plan, const State& state, std::size_t v) {
  const OperandPlan& operand = plan.operands[0];
  std::array<double, max_levels + 1> times;
  std::array<bool, max_levels + 1> any{};
  times.fill(1);
  std::array<double, 2> outer{1, 1};
  std::array<double, 2> inner{1, 1};
  std::array<double, 2> reused{1, 1};
  const auto multiply = [&](std::size_t entry, std::uint8_t loop, double size) {
    double part = 1;
    if (operand.relevance[loop] == Relevance::irrelevant) {
      part = size;
    } else if (operand.relevance[loop] == Relevance::window) {
      const std::size_t w = static_cast<std::uint8_t>(plan.window_of[loop]);
      const WindowSize& window = plan.windows[w];
      (loop == window.outer ? outer : inner)[w] *= size;
      const double reuse = outer[w] * inner[w] / window(outer[w], inner[w]);
      part = reuse / reused[w];
      reused[w] = reuse;
    }
    times[entry] *= part;
    any[entry] |= part > 1;
  };
  // Entry i: the loops of level i - 1, then the lanes that level i serves.
  for (std::size_t entry = 0; entry <= operand.levels; ++entry) {
    if (entry > 0) {
      for (std::size_t i = start_of(state, 0, entry - 1); i < state.cut[0][entry - 1]; ++i) {
        multiply(entry, state.loop[i], state.size[i]);
      }
    }
    for (std::size_t k = operand.first[entry]; k < operand.first[entry + 1]; ++k) {
      multiply(entry, operand.unrolled[v][k].loop, operand.unrolled[v][k].size);
    }
  }
  ComingBack found{};
  found.times[operand.levels] = 1;
  for (std::size_t level = operand.levels; level-- > 0;) {
    found.times[level] = found.times[level + 1] * times[level + 1];
    found.any[level] = found.any[level + 1] || any[level + 1];
  }
  return found;
}

// Where partial sums of the output are on the way: `partial` for traffic, and the precision for each link.
void fill_output_precision(const Plan& plan, State& state, std::size_t v) {
  const OperandPlan& operand = plan.operands[0];
  const ComingBack back = operand.windows ? coming_back_in_windows(plan, state, v) : coming_back(plan, state, v);
  const auto comes_back = [&](std::size_t level) { return plan.output_elements * (back.times[level] - 1) >= 1; };
  for (std::size_t level = 0; level < operand.levels; ++level) {
    state.partial[v][level] = back.any[level];
    state.bits[v][0][level] = state.partial[v][level] ? operand.bits : plan.final_bits;
    auto& precision = state.precision[v][0][level];
    const bool low = comes_back(level);
    const bool high = comes_back(level + 1);
    precision[from_low] = low ? operand.bits : plan.final_bits;
    precision[to_low] = low ? operand.bits : 0;
    precision[to_high] = high ? operand.bits : plan.final_bits;
    precision[from_high] = high ? operand.bits : 0;
  }
  state.partial[v][operand.levels] = false;
  state.bits[v][0][operand.levels] = plan.final_bits;
}

void fill_amounts(const Plan& plan, State& state, std::size_t o, std::size_t v) {
  const OperandPlan& operand = plan.operands[o];
  for (std::size_t level = 0; level < operand.levels; ++level) {
    const bool top = level + 1U == operand.levels;
    auto& amount = state.amount[v][o][level];
    const double low = state.data[v][o][level] * operand.boosts[v][level];
    const double high = top ? 0 : state.data[v][o][level + 1];
    if (operand.output) {
      amount[from_low] = low;
      amount[to_low] = state.partial[v][level] ? low : 0;
      amount[to_high] = high;
      amount[from_high] = state.partial[v][level + 1] ? high : 0;
    } else {
      amount[to_low] = low;
      amount[from_high] = high;
      state.precision[v][o][level][to_low] = operand.bits;
      state.precision[v][o][level][from_high] = operand.bits;
      state.bits[v][o][level] = operand.bits;
      state.bits[v][o][level + 1] = operand.bits;
    }
  }
}

void fill_periods(const Plan& plan, State& state, std::size_t o, std::size_t v) {
  const OperandPlan& operand = plan.operands[o];
  const double total = state.cycles[state.count];
  double low = operand.output ? 1 : state.stationary[o];
  for (std::size_t level = 0; level < operand.levels; ++level) {
    const double high = state.cycles[state.cut[o][level]];
    const bool top = level + 1U == operand.levels;
    auto& period = state.period[o][level];
    auto& times = state.times[v][o][level];
    period[to_low] = period[from_low] = low;
    period[to_high] = period[from_high] = high;
    const double low_times = total / low;
    const double high_times = top ? 0 : total / high;
    if (operand.output) {
      times[from_low] = low_times;
      times[to_low] = state.partial[v][level] ? low_times : 0;
      times[to_high] = high_times;
      times[from_high] = state.partial[v][level + 1] ? high_times : 0;
    } else {
      times[to_low] = low_times;
      times[from_high] = high_times;
    }
    low = high;
  }
}

}  // namespace

void move_data(const Plan& plan, State& state, std::size_t v) {
  fill_output_precision(plan, state, v);
  for (std::size_t o = 0; o < zigzag_operands; ++o) {
    fill_data(plan, state, o, v);
    fill_amounts(plan, state, o, v);
    fill_periods(plan, state, o, v);
    if (v == average) fill_tops(plan, state, o);
  }
}

}  // namespace monet::zigzag

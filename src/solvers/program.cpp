#include "solvers/program.h"

#include "base/stop.h"
#include "solvers/apart.h"
#include "solvers/cbc.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <cmath>
#include <memory>
#include <mutex>

namespace monet {

int Program::add_variable(double lower, double upper, double cost, bool integer) {
  lower_.push_back(lower);
  upper_.push_back(upper);
  costs_.push_back(cost);
  integer_.push_back(integer ? 1 : 0);
  return static_cast<int>(costs_.size()) - 1;
}

void Program::add_row(std::span<const Term> terms, double lower, double upper) {
  for (const Term& term : terms) {
    columns_.push_back(term.variable);
    factors_.push_back(term.factor);
  }
  row_start_.push_back(static_cast<int>(columns_.size()));
  row_lower_.push_back(lower);
  row_upper_.push_back(upper);
}

bool Program::allows(std::span<const double> values) const {
  constexpr double tolerance = 1e-6;
  const auto within = [](double value, double lower, double upper) {
    const double slack = tolerance * std::max(1.0, std::abs(value));
    return value >= lower - slack && value <= upper + slack;
  };
  for (std::size_t i = 0; i < variables(); ++i) {
    if (!within(values[i], lower_[i], upper_[i])) return false;
    if (integer_[i] != 0 && values[i] != std::round(values[i])) return false;
  }
  for (std::size_t row = 0; row < rows(); ++row) {
    double sum = 0;
    for (auto k = static_cast<std::size_t>(row_start_[row]); k < static_cast<std::size_t>(row_start_[row + 1]); ++k)
      sum += factors_[k] * values[static_cast<std::size_t>(columns_[k])];
    if (!within(sum, row_lower_[row], row_upper_[row])) return false;
  }
  return true;
}

namespace {

// What another process finds. That process may end at any moment: there are two places, and one is always whole.
class SharedSolution {
 public:
  explicit SharedSolution(std::size_t variables)
      : variables_(variables),
        memory_(shared_memory(sizeof(Head) + 2 * variables * sizeof(double))),
        head_(memory_ ? new(memory_.get()) Head : nullptr) {}

  explicit operator bool() const { return head_ != nullptr; }

  void write(const ProgramSolution& solution) {
    const int at = 1 - head_->whole;
    head_->places[at] = {solution.status, solution.cost, solution.bound, !solution.values.empty()};
    std::ranges::copy(solution.values, values(at));
    head_->whole = at;
  }
  ProgramSolution read() const {
    const int at = head_->whole;
    const Place& place = head_->places[at];
    ProgramSolution solution{.status = place.status, .cost = place.cost, .bound = place.bound, .values = {}};
    if (place.has_values) solution.values.assign(values(at), values(at) + variables_);
    return solution;
  }

 private:
  struct Place {
    ProgramStatus status = ProgramStatus::unknown;
    double cost = 0, bound = -Program::infinity;
    bool has_values = false;
  };
  struct Head {
    std::atomic<int> whole = 0;
    std::array<Place, 2> places;
  };

  double* values(int at) const {
    return reinterpret_cast<double*>(memory_.get() + sizeof(Head)) + static_cast<std::size_t>(at) * variables_;
  }

  std::size_t variables_;
  std::shared_ptr<std::byte> memory_;
  Head* head_;
};

}  // namespace

ProgramSolution solve(const Program& program, const ProgramOptions& options) {
  if (program.variables() == 0) return {.status = ProgramStatus::optimal, .cost = 0, .bound = 0, .values = {}};
  SharedSolution shared(program.variables());
  const auto found = [&](const ProgramSolution& solution) { shared.write(solution); };
  const auto work = [&] { found(solve_by_cbc(program, options, found)); };
  if (shared && run_apart(work, stop_after(options.time_limit_s, options.stop))) return shared.read();
  static std::mutex one_at_a_time;
  const std::lock_guard lock(one_at_a_time);
  return solve_by_cbc(program, options, [](const ProgramSolution&) {});
}

}  // namespace monet

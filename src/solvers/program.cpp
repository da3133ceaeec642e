#include "solvers/program.h"

#include <Cbc_C_Interface.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <memory>
#include <mutex>
#include <string>

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

class CbcSolver {
 public:
  CbcSolver(const Program& program, const ProgramOptions& options)
      : program_(program), options_(options), model_(Cbc_newModel(), Cbc_deleteModel) {}

  ProgramSolution solve() {
    load();
    Cbc_solve(model_.get());
    return outcome();
  }

 private:
  // CBC takes columns; rows are turned round.
  void load() {
    const int columns = static_cast<int>(program_.variables());
    const int rows = static_cast<int>(program_.rows());
    std::vector<CoinBigIndex> start(program_.variables() + 1, 0);
    for (int column : program_.columns_) ++start[static_cast<std::size_t>(column) + 1];
    for (std::size_t i = 1; i < start.size(); ++i) start[i] += start[i - 1];
    std::vector<CoinBigIndex> next(start.begin(), start.end() - 1);
    std::vector<int> index(program_.columns_.size());
    std::vector<double> value(program_.columns_.size());
    for (int row = 0; row < rows; ++row) {
      for (int k = program_.row_start_[static_cast<std::size_t>(row)];
           k < program_.row_start_[static_cast<std::size_t>(row) + 1]; ++k) {
        const auto at =
            static_cast<std::size_t>(next[static_cast<std::size_t>(program_.columns_[static_cast<std::size_t>(k)])]++);
        index[at] = row;
        value[at] = program_.factors_[static_cast<std::size_t>(k)];
      }
    }
    Cbc_loadProblem(model_.get(), columns, rows, start.data(), index.data(), value.data(), program_.lower_.data(),
                    program_.upper_.data(), program_.costs_.data(), program_.row_lower_.data(),
                    program_.row_upper_.data());
    for (int i = 0; i < columns && !options_.relax; ++i) {
      if (program_.integer_[static_cast<std::size_t>(i)] != 0) Cbc_setInteger(model_.get(), i);
    }
    Cbc_setLogLevel(model_.get(), 0);
    Cbc_setParameter(model_.get(), "log", "0");
    // The smallest difference that still counts; CBC's own stops at 1e-4 of the value.
    Cbc_setParameter(model_.get(), "ratioGap", "0");
    Cbc_setParameter(model_.get(), "allowableGap", "1e-9");
    if (std::isfinite(options_.time_limit_s))
      Cbc_setMaximumSeconds(model_.get(), std::max(0.01, options_.time_limit_s));
    if (!options_.start.empty() && !options_.relax) {
      std::vector<int> all(program_.variables());
      for (std::size_t i = 0; i < all.size(); ++i) all[i] = static_cast<int>(i);
      Cbc_setMIPStartI(model_.get(), columns, all.data(), options_.start.data());
    }
  }

  ProgramSolution outcome() {
    ProgramSolution solution;
    if (Cbc_isProvenInfeasible(model_.get()) != 0) {
      solution.status = ProgramStatus::infeasible;
      return solution;
    }
    const bool integers = !options_.relax && std::ranges::any_of(program_.integer_, [](std::uint8_t i) { return i; });
    const bool optimal = Cbc_isProvenOptimal(model_.get()) != 0;
    const double* values = integers  ? Cbc_bestSolution(model_.get())
                           : optimal ? Cbc_getColSolution(model_.get())
                                     : nullptr;
    if (values != nullptr) {
      solution.values.assign(values, values + program_.variables());
      for (std::size_t i = 0; i < solution.values.size(); ++i) {
        if (integers && program_.integer_[i] != 0) solution.values[i] = std::round(solution.values[i]);
        solution.cost += program_.costs_[i] * solution.values[i];
      }
      solution.status = optimal ? ProgramStatus::optimal : ProgramStatus::feasible;
    }
    if (optimal) {
      solution.bound = solution.cost;
    } else if (const double bound = Cbc_getBestPossibleObjValue(model_.get()); std::abs(bound) < 1e49) {
      solution.bound = values != nullptr ? std::min(bound, solution.cost) : bound;
    }
    return solution;
  }

  const Program& program_;
  const ProgramOptions& options_;
  std::unique_ptr<Cbc_Model, void (*)(Cbc_Model*)> model_;
};

ProgramSolution solve(const Program& program, const ProgramOptions& options) {
  if (program.variables() == 0) return {.status = ProgramStatus::optimal, .cost = 0, .bound = 0, .values = {}};
  static std::mutex one_at_a_time;
  const std::lock_guard lock(one_at_a_time);
  return CbcSolver(program, options).solve();
}

}  // namespace monet

// Linear and integer programs, solved by CBC and Clp. The oracle and the bound of the searches; for some of them, the
// engine.
#pragma once

#include <cstdint>
#include <functional>
#include <limits>
#include <span>
#include <vector>

namespace monet {

class Program {
 public:
  static constexpr double infinity = std::numeric_limits<double>::infinity();

  struct Term {
    int variable = 0;
    double factor = 1;
  };

  // Its number. `cost`: in the sum that is made as small as possible.
  int add_variable(double lower, double upper, double cost, bool integer);
  int add_binary(double cost) { return add_variable(0, 1, cost, true); }
  // lower <= sum of terms <= upper; no variable twice.
  void add_row(std::span<const Term> terms, double lower, double upper);

  // Whether these values, one for each variable, keep to all limits, up to one in a million.
  bool allows(std::span<const double> values) const;

  std::size_t variables() const { return costs_.size(); }
  std::size_t rows() const { return row_lower_.size(); }

 private:
  friend class CbcProgram;

  std::vector<double> lower_, upper_, costs_;
  std::vector<std::uint8_t> integer_;
  std::vector<double> row_lower_, row_upper_;
  std::vector<int> row_start_{0};
  std::vector<int> columns_;
  std::vector<double> factors_;
};

enum class ProgramStatus : std::uint8_t {
  optimal,
  feasible,  // stopped: a solution, perhaps not the best
  infeasible,
  unknown,  // stopped, or the solver gave up or died, without a solution
};

struct ProgramSolution {
  ProgramStatus status = ProgramStatus::unknown;
  double cost = 0;
  double bound = -Program::infinity;  // no solution costs less
  std::vector<double> values;         // by variable; integers are whole. Empty without a solution
};

struct ProgramOptions {
  double time_limit_s = Program::infinity;
  bool relax = false;                    // integers may be fractions: a bound
  std::vector<double> start;             // a solution that is known; empty: none
  std::function<bool()> stop = nullptr;  // asked every few milliseconds, by the thread that solves; empty: never
};

// In a process of its own, so that it ends the moment it must, whatever CBC is doing, with the best that CBC has told
// of. Safe with threads. Deterministic as long as it is not stopped.
ProgramSolution solve(const Program& program, const ProgramOptions& options = {});

}  // namespace monet

// Linear and integer programs, solved by CBC and Clp. The oracle and the bound of the searches; for some of them, the
// engine.
#pragma once

#include <cstdint>
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

  std::size_t variables() const { return costs_.size(); }
  std::size_t rows() const { return row_lower_.size(); }

 private:
  friend class CbcSolver;

  std::vector<double> lower_, upper_, costs_;
  std::vector<std::uint8_t> integer_;
  std::vector<double> row_lower_, row_upper_;
  std::vector<int> row_start_{0};
  std::vector<int> columns_;
  std::vector<double> factors_;
};

enum class ProgramStatus : std::uint8_t {
  optimal,
  feasible,  // time is up: a solution, perhaps not the best
  infeasible,
  unknown,  // time is up, or the solver gave up, without a solution
};

struct ProgramSolution {
  ProgramStatus status = ProgramStatus::unknown;
  double cost = 0;
  double bound = -Program::infinity;  // no solution costs less
  std::vector<double> values;         // by variable; integers are whole. Empty without a solution
};

struct ProgramOptions {
  double time_limit_s = Program::infinity;  // CPU time
  bool relax = false;                       // integers may be fractions: a bound
  std::vector<double> start;                // a solution that is known; empty: none
};

// One at a time in a process, because CBC is not safe with threads; others wait. Deterministic as long as no time limit
// is met.
ProgramSolution solve(const Program& program, const ProgramOptions& options = {});

}  // namespace monet

#include "solvers/cbc.h"

#include <CbcEventHandler.hpp>
#include <CbcModel.hpp>
#include <CbcSolver.hpp>
#include <OsiClpSolverInterface.hpp>

#include <algorithm>
#include <cmath>
#include <string>

namespace monet {

namespace {

// What CBC tells of its search. It copies this for searches within its search, which say nothing about the whole.
class Events : public CbcEventHandler {
 public:
  using Look = std::function<void(CbcModel& model, bool solution)>;

  explicit Events(const Look& look) : look_(&look) {}
  CbcEventHandler* clone() const override { return new Events(*this); }

  CbcAction event(CbcEvent what) override {
    constexpr int within_another = 2048;
    if (model_->parentModel() == nullptr && (model_->specialOptions() & within_another) == 0)
      (*look_)(*model_, what == solution || what == heuristicSolution);
    return noAction;
  }
  CbcAction event(CbcEvent what, void*) override { return event(what); }

  // Between the stages: there are no events before the search, and these can take long.
  static int between_stages(CbcModel* model, int) {
    if (const auto* events = dynamic_cast<Events*>(model->getEventHandler())) (*events->look_)(*model, false);
    return 0;
  }

 private:
  const Look* look_;
};

}  // namespace

class CbcProgram {
 public:
  CbcProgram(const Program& program, const ProgramOptions& options, const Found& found)
      : program_(program),
        options_(options),
        found_(found),
        integers_(!options.relax && std::ranges::any_of(program.integer_, [](std::uint8_t i) { return i != 0; })) {}

  ProgramSolution solve() {
    load();
    if (!integers_) {
      linear().initialSolve();
      return outcome(linear().isProvenPrimalInfeasible() || linear().isProvenDualInfeasible(),
                     linear().isProvenOptimal(), linear().isProvenOptimal() ? linear().getColSolution() : nullptr);
    }
    branch();
    return better_of(outcome(model_.isProvenInfeasible(), model_.isProvenOptimal(), model_.bestSolution()));
  }

 private:
  OsiSolverInterface& linear() { return *model_.solver(); }

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
    CbcMain0(model_, data_);
    data_.noPrinting_ = false;  // true would print more
    linear().loadProblem(columns, rows, start.data(), index.data(), value.data(), program_.lower_.data(),
                         program_.upper_.data(), program_.costs_.data(), program_.row_lower_.data(),
                         program_.row_upper_.data());
    for (int i = 0; i < columns && integers_; ++i) {
      if (program_.integer_[static_cast<std::size_t>(i)] != 0) linear().setInteger(i);
    }
    model_.setLogLevel(0);
  }

  void branch() {
    if (std::isfinite(options_.time_limit_s)) model_.setMaximumSeconds(std::max(0.01, options_.time_limit_s));
    if (!options_.start.empty()) {
      std::vector<std::pair<std::string, double>> start;
      for (std::size_t i = 0; i < program_.variables(); ++i)
        start.emplace_back(linear().getColName(static_cast<int>(i)), options_.start[i]);
      model_.setMIPStart(start);
    }
    const Events::Look look = [this](CbcModel& model, bool solution) { note(model, solution); };
    const Events events(look);
    model_.passInEventHandler(&events);
    // The smallest difference that still counts; CBC's own stops at 1e-4 of the value.
    const char* arguments[] = {"monet", "-log", "0", "-ratioGap", "0", "-allowableGap", "1e-9", "-solve", "-quit"};
    CbcMain1(static_cast<int>(std::size(arguments)), arguments, model_, Events::between_stages, data_);
  }

  // CBC solves a smaller program than it was given, and finds the way back by itself at the end only. What it gives on
  // the way is looked at.
  void note(CbcModel& model, bool solution) {
    bool better = false;
    if (solution) {
      const OsiSolverInterface* whole = model.postProcessedSolver(1);
      if (whole == nullptr) whole = model.solver();
      better = whole->getNumCols() == static_cast<int>(program_.variables()) && take(whole->getColSolution());
    }
    const double bound = model.getBestPossibleObjValue();
    if (std::abs(bound) < no_bound && bound > best_.bound) {
      better = true;
      best_.bound = bound;
    }
    if (best_.status == ProgramStatus::feasible) best_.bound = std::min(best_.bound, best_.cost);
    if (better) found_(best_);
  }

  bool take(const double* values) {
    ProgramSolution solution = whole_solution(values);
    if (best_.status == ProgramStatus::feasible && solution.cost >= best_.cost) return false;
    if (!program_.allows(solution.values)) return false;
    solution.status = ProgramStatus::feasible;
    solution.bound = best_.bound;
    best_ = std::move(solution);
    return true;
  }

  // Integers are whole, but for the last bits.
  ProgramSolution whole_solution(const double* values) const {
    ProgramSolution solution;
    solution.values.assign(values, values + program_.variables());
    for (std::size_t i = 0; i < solution.values.size(); ++i) {
      if (integers_ && program_.integer_[i] != 0) solution.values[i] = std::round(solution.values[i]);
      solution.cost += program_.costs_[i] * solution.values[i];
    }
    return solution;
  }

  ProgramSolution outcome(bool infeasible, bool optimal, const double* values) const {
    ProgramSolution solution;
    if (infeasible) {
      solution.status = ProgramStatus::infeasible;
      return solution;
    }
    if (values != nullptr) {
      solution = whole_solution(values);
      solution.status = optimal ? ProgramStatus::optimal : ProgramStatus::feasible;
    }
    if (optimal) {
      solution.bound = solution.cost;
    } else if (const double bound = model_.getBestPossibleObjValue(); std::abs(bound) < no_bound) {
      solution.bound = values != nullptr ? std::min(bound, solution.cost) : bound;
    }
    return solution;
  }

  // CBC may lose on the way back, or to its time limit, what it had found before; that was looked at.
  ProgramSolution better_of(ProgramSolution last) {
    const bool kept = best_.status == ProgramStatus::feasible && last.status != ProgramStatus::optimal &&
                      (last.values.empty() || last.cost > best_.cost);
    if (!kept) return last;
    best_.bound = std::min(std::max(best_.bound, last.bound), best_.cost);
    return best_;
  }

  static constexpr double no_bound = 1e49;

  const Program& program_;
  const ProgramOptions& options_;
  const Found& found_;
  bool integers_;
  CbcModel model_{OsiClpSolverInterface()};
  CbcSolverUsefulData data_;
  ProgramSolution best_;  // so far
};

ProgramSolution solve_by_cbc(const Program& program, const ProgramOptions& options, const Found& found) {
  return CbcProgram(program, options, found).solve();
}

}  // namespace monet

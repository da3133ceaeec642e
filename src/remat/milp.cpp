#include "remat/milp.h"

#include "solvers/program.h"

#include <algorithm>

namespace monet::remat {

namespace {

constexpr int no_variable = -1;

class StagedProgram {
 public:
  StagedProgram(const Problem& problem, const Goal& goal, const Moves& moves)
      : problem_(problem),
        goal_(goal),
        prices_(goal.objective == Objective::time ? prices_of(problem, {.time = 1})
                                                  : prices_of(problem, {.energy = 1})),
        recompute_(moves.recompute),
        page_(moves.page && problem.channel.has_value()),
        size_(static_cast<NodeIndex>(problem.size())) {
    add_variables();
    for (NodeIndex stage = 0; stage < size_; ++stage) {
      add_dependencies(stage);
      if (stage + 1 < size_) add_retention(stage);
      add_memory(stage);
    }
    if (goal.deadline) add_deadline();
  }

  const Program& program() const { return program_; }

  // In the order of stages; page-ins after the first run of theirs.
  Sequence sequence(const std::vector<double>& values) const {
    const auto set = [&](int variable) {
      return variable != no_variable && values[static_cast<std::size_t>(variable)] > 0.5;
    };
    Sequence sequence;
    for (NodeIndex stage = 0; stage < size_; ++stage) {
      for (NodeIndex node = 0; node <= stage; ++node)
        if (node == stage || set(run_[stage][node])) sequence.emplace_back(node);
      for (NodeIndex node = 0; node < stage; ++node)
        if (page_ && stage + 1 < size_ && set(in_[stage][node]) && set(here_[stage + 1][node]) &&
            !set(here_[stage][node]) && !set(run_[stage][node]))
          sequence.emplace_back(node, true);
    }
    return sequence;
  }

 private:
  using Terms = std::vector<Program::Term>;

  // here_, stored_, in_ and out_ are of nodes before the stage; run_ also of the stage itself, which is 1.
  void add_variables() {
    const auto table = [&] { return std::vector<std::vector<int>>(size_, std::vector<int>(size_, no_variable)); };
    run_ = here_ = table();
    if (page_) stored_ = in_ = out_ = table();
    for (NodeIndex stage = 0; stage < size_; ++stage) {
      for (NodeIndex node = 0; node < stage; ++node) {
        if (recompute_ && problem_.nodes[node].recomputable)
          run_[stage][node] = program_.add_binary(prices_.compute[node]);
        here_[stage][node] = program_.add_binary(0);
        if (!page_) continue;
        stored_[stage][node] = program_.add_binary(0);
        in_[stage][node] = program_.add_binary(prices_.page_in[node]);
        out_[stage][node] = program_.add_binary(prices_.page_out[node]);
      }
    }
  }

  // Adds factor · run of a node in a stage; the first run is a constant, which is returned.
  double add_run(Terms& terms, NodeIndex stage, NodeIndex node, double factor) const {
    if (node == stage) return factor;
    if (node < stage && run_[stage][node] != no_variable) terms.push_back({run_[stage][node], factor});
    return 0;
  }

  void add_dependencies(NodeIndex stage) {
    for (NodeIndex node = 0; node <= stage; ++node) {
      if (node < stage && run_[stage][node] == no_variable) continue;
      for (const NodeIndex operand : problem_.operands.of(node)) {
        Terms terms;
        double constant = add_run(terms, stage, operand, 1) + add_run(terms, stage, node, -1);
        terms.push_back({here_[stage][operand], 1});
        program_.add_row(terms, -constant, Program::infinity);
      }
    }
  }

  void add_retention(NodeIndex stage) {
    for (NodeIndex node = 0; node <= stage; ++node) {
      Terms terms = {{here_[stage + 1][node], -1}};
      const double constant = add_run(terms, stage, node, 1);
      if (node < stage) terms.push_back({here_[stage][node], 1});
      if (node < stage && page_) terms.push_back({in_[stage][node], 1});
      program_.add_row(terms, -constant, Program::infinity);
      if (page_) add_paging(stage, node);
    }
  }

  void add_paging(NodeIndex stage, NodeIndex node) {
    Terms kept = {{stored_[stage + 1][node], -1}};
    if (node < stage) {
      kept.push_back({stored_[stage][node], 1});
      kept.push_back({out_[stage][node], 1});
      program_.add_row(Terms{{stored_[stage][node], 1}, {in_[stage][node], -1}}, 0, Program::infinity);
      program_.add_row(Terms{{here_[stage][node], 1}, {out_[stage][node], -1}}, 0, Program::infinity);
    }
    program_.add_row(kept, 0, Program::infinity);
  }

  // Memory after each node of the stage, in units of the budget.
  void add_memory(NodeIndex stage) {
    const double unit = static_cast<double>(std::max<std::int64_t>(1, goal_.budget - problem_.fixed_bytes));
    const auto share = [&](NodeIndex node) { return static_cast<double>(problem_.nodes[node].bytes) / unit; };
    const double most = goal_.budget > problem_.fixed_bytes ? 1 : 0;
    int before = no_variable;
    for (NodeIndex node = 0; node <= stage; ++node) {
      const int used = program_.add_variable(0, most, 0, false);
      Terms terms = {{used, -1}};
      const double constant = add_run(terms, stage, node, share(node));
      if (node == 0)
        for (NodeIndex other = 0; other < stage; ++other) terms.push_back({here_[stage][other], share(other)});
      if (before != no_variable) terms.push_back({before, 1});
      if (node > 0)
        for (const NodeIndex operand : problem_.operands.of(node - 1))
          terms.push_back({add_free(stage, operand, node - 1), -share(operand)});
      combine(terms);
      program_.add_row(terms, -constant, -constant);
      before = used;
    }
  }

  // The variable that says that `operand` is freed after `node` of the stage: node runs, no later node of the stage
  // reads the operand, and it is not there in the next stage.
  int add_free(NodeIndex stage, NodeIndex operand, NodeIndex node) {
    const int freed = program_.add_binary(0);
    // hindered = 1 - run(node) + here(next stage) + later runs; freed = (hindered == 0).
    Terms hindered;
    double constant = 1 + add_run(hindered, stage, node, -1);
    double most = 1;
    if (stage + 1 < size_) {
      hindered.push_back({here_[stage + 1][operand], 1});
      ++most;
    }
    for (const NodeIndex user : problem_.users.of(operand)) {
      if (user <= node || user > stage) continue;
      constant += add_run(hindered, stage, user, 1);
      ++most;
    }
    Terms at_least = hindered, at_most = hindered;
    at_least.push_back({freed, 1});
    program_.add_row(at_least, 1 - constant, Program::infinity);
    at_most.push_back({freed, most});
    program_.add_row(at_most, -Program::infinity, most - constant);
    return freed;
  }

  void add_deadline() {
    Terms terms;
    const double base = base_time(problem_);
    for (NodeIndex stage = 0; stage < size_; ++stage)
      for (NodeIndex node = 0; node < stage; ++node)
        if (base > 0) add_run(terms, stage, node, problem_.nodes[node].time / base);
    if (base > 0 && !terms.empty()) program_.add_row(terms, -Program::infinity, *goal_.deadline / base - 1);
  }

  // A row has a variable once.
  static void combine(Terms& terms) {
    std::ranges::sort(terms, {}, &Program::Term::variable);
    std::size_t kept = 0;
    for (std::size_t i = 1; i < terms.size(); ++i) {
      if (terms[i].variable == terms[kept].variable)
        terms[kept].factor += terms[i].factor;
      else
        terms[++kept] = terms[i];
    }
    terms.resize(kept + 1);
  }

  const Problem& problem_;
  const Goal& goal_;
  Prices prices_;
  bool recompute_, page_;
  NodeIndex size_;
  std::vector<std::vector<int>> run_, here_, stored_, in_, out_;  // by stage and node
  Program program_;
};

}  // namespace

std::size_t milp_variables(const Problem& problem, const Moves& moves) {
  const std::size_t size = problem.size();
  const std::size_t tables = moves.page && problem.channel ? 5 : 2;
  return size * (size + 1) / 2 * (tables + 1) + size * problem.operands.size();
}

MilpResult solve_milp(const Problem& problem, const Goal& goal, const MilpOptions& options) {
  MilpResult result;
  if (goal.budget < problem.fixed_bytes || (goal.deadline && *goal.deadline < base_time(problem) * (1 - 1e-12))) {
    result.bound = std::numeric_limits<double>::infinity();
    return result;
  }
  const StagedProgram staged(problem, goal, options.moves);
  const ProgramSolution solution = solve(
      staged.program(), {.time_limit_s = options.time_limit_s, .relax = false, .start = {}, .stop = options.stop});
  const double base = goal.objective == Objective::time ? base_time(problem) : base_energy_j(problem);
  result.bound = solution.status == ProgramStatus::infeasible ? std::numeric_limits<double>::infinity()
                                                              : base + std::max(0.0, solution.bound);
  result.proven = solution.status == ProgramStatus::optimal;
  if (!solution.values.empty()) result.sequence = staged.sequence(solution.values);
  return result;
}

}  // namespace monet::remat

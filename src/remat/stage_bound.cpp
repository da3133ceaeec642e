#include "remat/stage_bound.h"

#include "solvers/program.h"

#include <algorithm>

namespace monet::remat {

namespace {

constexpr int no_column = -1;
constexpr std::size_t most_for_one_row = 20'000;

// Rows are first runs. A stage is what happens after one of the chosen rows, up to and with the next.
class StageProgram {
 public:
  StageProgram(const Problem& problem, const Prices& prices, std::int64_t budget, const StageOptions& options)
      : problem_(problem), prices_(prices), options_(options), budget_(budget) {
    for (const double price : prices.compute) first_runs_ += price;
    pages_ = options.moves.page && problem.channel.has_value();
    stored_.assign(problem.size(), no_column);
    choose_rows();
    for (std::size_t stage = 0; stage < rows_.size(); ++stage) add_stage(stage);
  }

  StageResult run() {
    if (impossible_) return {.bound = std::numeric_limits<double>::infinity(), .sequence = {}};
    if (program_.rows() == 0) return {.bound = first_runs_, .sequence = {}};
    const ProgramSolution solution =
        solve(program_, {.time_limit_s = options_.time_limit_s, .relax = false, .start = {}, .stop = options_.stop});
    // Programs leave out what costs as much as what is known.
    if (solution.status == ProgramStatus::infeasible) return {.bound = options_.below, .sequence = {}};
    StageResult result{.bound = std::min(options_.below, first_runs_ + std::max(0.0, solution.bound)), .sequence = {}};
    if (!solution.values.empty()) result.sequence = sequence(solution.values);
    return result;
  }

 private:
  // Where more is lacking than at the rows beside come first, then the others; of each the worst first.
  void choose_rows() {
    const std::vector<std::int64_t> lacking = lacking_bytes();
    const auto peak = [&](NodeIndex row) {
      return (row == 0 || lacking[row - 1] < lacking[row]) &&
             (row + 1 == problem_.size() || lacking[row + 1] <= lacking[row]);
    };
    std::vector<NodeIndex> tight;
    for (NodeIndex row = 0; row < problem_.size(); ++row)
      if (lacking[row] > 0) tight.push_back(row);
    std::ranges::stable_sort(tight, std::greater(), [&](NodeIndex row) { return std::pair(peak(row), lacking[row]); });
    std::size_t variables = 0;
    for (const NodeIndex row : tight) {
      variables += 2 * useful_after(row).size();
      // One row says more than none, up to a point.
      if (variables > (rows_.empty() ? most_for_one_row : options_.most_variables)) break;
      rows_.push_back(row);
    }
    std::ranges::sort(rows_);
  }

  std::vector<std::int64_t> lacking_bytes() const {
    std::vector<std::int64_t> lacking(problem_.size());
    std::vector<std::int64_t> ends(problem_.size(), 0);
    std::int64_t live = problem_.fixed_bytes;
    for (NodeIndex node = 0; node < problem_.size(); ++node) {
      const auto users = problem_.users.of(node);
      ends[users.empty() ? node : users.back()] += problem_.nodes[node].bytes;
    }
    for (NodeIndex row = 0; row < problem_.size(); ++row) {
      live += problem_.nodes[row].bytes;
      lacking[row] = live - budget_;
      live -= ends[row];
    }
    return lacking;
  }

  bool recomputable(NodeIndex node) const {
    return options_.moves.recompute && problem_.nodes[node].recomputable &&
           first_runs_ + prices_.compute[node] < options_.below;
  }

  // Made by then, and read by a later first run or to have such a tensor back.
  std::vector<NodeIndex> useful_after(NodeIndex row) const {
    std::vector<std::uint8_t> useful(row + 1, 0);
    for (NodeIndex node = row + 1; node-- > 0;) {
      const auto users = problem_.users.of(node);
      if (!users.empty() && users.back() > row) useful[node] = 1;
      if (useful[node] != 0 && recomputable(node))
        for (const NodeIndex operand : problem_.operands.of(node)) useful[operand] = 1;
    }
    std::vector<NodeIndex> list;
    for (NodeIndex node = 0; node <= row; ++node)
      if (useful[node] != 0) list.push_back(node);
    return list;
  }

  struct Stage {
    std::vector<int> here, again, paged;  // by node: variables
    std::vector<std::uint8_t> always;     // by node: it is at the row for certain, being an operand or the output
  };

  void add_stage(std::size_t number) {
    const NodeIndex row = rows_[number];
    stages_.emplace_back();
    Stage& stage = stages_.back();
    for (std::vector<int>* list : {&stage.here, &stage.again, &stage.paged}) list->assign(problem_.size(), no_column);
    stage.always.assign(problem_.size(), 0);
    stage.always[row] = 1;
    for (const NodeIndex operand : problem_.operands.of(row)) stage.always[operand] = 1;
    const std::vector<NodeIndex> useful = useful_after(row);
    for (const NodeIndex node : useful) {
      if (stage.always[node] == 0) stage.here[node] = program_.add_binary(0);
      if (recomputable(node)) stage.again[node] = program_.add_binary(prices_.compute[node]);
      if (pages_) add_paging(stage, node);
    }
    add_memory(row, stage);
    if (number > 0) add_retention(number, useful);
    add_uses(number, useful);
  }

  void add_paging(Stage& stage, NodeIndex node) {
    if (stored_[node] == no_column) stored_[node] = program_.add_binary(prices_.page_out[node]);
    stage.paged[node] = program_.add_binary(prices_.page_in[node]);
    program_.add_row(std::vector<Program::Term>{{stored_[node], 1}, {stage.paged[node], -1}}, 0, Program::infinity);
  }

  void add_memory(NodeIndex row, const Stage& stage) {
    std::int64_t room = budget_ - problem_.fixed_bytes - problem_.nodes[row].bytes;
    for (const NodeIndex operand : problem_.operands.of(row)) room -= problem_.nodes[operand].bytes;
    impossible_ |= room < 0;
    if (impossible_) return;
    std::vector<Program::Term> terms;
    for (NodeIndex node = 0; node < row; ++node) {
      const std::int64_t bytes = problem_.nodes[node].bytes;
      if (stage.here[node] == no_column || bytes == 0) continue;
      // In units of the room, for the sake of the numbers.
      terms.push_back({stage.here[node], room > 0 ? static_cast<double>(bytes) / static_cast<double>(room) : 1});
    }
    if (!terms.empty()) program_.add_row(terms, -Program::infinity, room > 0 ? 1 : 0);
  }

  // Terms that say how a node can be had in a stage; false: it is there anyway.
  bool add_ways(const Stage& stage, NodeIndex row, NodeIndex node, std::vector<Program::Term>& terms) const {
    if (node > row || stage.always[node] != 0) return false;
    for (const int way : {stage.here[node], stage.again[node], stage.paged[node]})
      if (way != no_column) terms.push_back({way, 1});
    return true;
  }

  // What is at a row was at the one before, or was had in between.
  void add_retention(std::size_t number, const std::vector<NodeIndex>& useful) {
    for (const NodeIndex node : useful) {
      const int here = stages_[number].here[node];
      std::vector<Program::Term> terms;
      if (here == no_column || !add_ways(stages_[number - 1], rows_[number - 1], node, terms)) continue;
      terms.push_back({here, -1});
      program_.add_row(terms, 0, Program::infinity);
    }
  }

  void add_uses(std::size_t number, const std::vector<NodeIndex>& useful) {
    const NodeIndex row = rows_[number];
    const Stage& stage = stages_[number];
    const NodeIndex last = last_of(number);
    for (const NodeIndex node : useful) {
      const auto users = problem_.users.of(node);
      const auto next = std::ranges::upper_bound(users, row);
      std::vector<Program::Term> terms;
      if (next != users.end() && *next <= last && add_ways(stage, row, node, terms))
        program_.add_row(terms, 1, Program::infinity);
      if (stage.again[node] == no_column) continue;
      for (const NodeIndex operand : problem_.operands.of(node)) {
        terms.clear();
        if (!add_ways(stage, row, operand, terms)) continue;
        terms.push_back({stage.again[node], -1});
        program_.add_row(terms, 0, Program::infinity);
      }
    }
  }

  // First runs, and before each what is had again just for it.
  Sequence sequence(const std::vector<double>& values) const {
    std::vector<std::vector<Run>> before(problem_.size());
    for (std::size_t number = 0; number < stages_.size(); ++number) place_runs(number, values, before);
    Sequence sequence;
    for (NodeIndex row = 0; row < problem_.size(); ++row) {
      std::ranges::stable_sort(before[row], {}, [](Run run) { return run.node(); });
      sequence.insert(sequence.end(), before[row].begin(), before[row].end());
      sequence.emplace_back(row);
    }
    return sequence;
  }

  // As late as those that read it allow: first runs of the stage, and what is had again for them.
  void place_runs(std::size_t number, const std::vector<double>& values, std::vector<std::vector<Run>>& before) const {
    const Stage& stage = stages_[number];
    const auto set = [&](int variable) {
      return variable != no_column && values[static_cast<std::size_t>(variable)] > 0.5;
    };
    const NodeIndex last = last_of(number);
    std::vector<NodeIndex> place(problem_.size(), last);
    for (NodeIndex node = rows_[number] + 1; node-- > 0;) {
      const bool again = set(stage.again[node]), paged = set(stage.paged[node]);
      if ((!again && !paged) || set(stage.here[node])) continue;
      for (const NodeIndex user : problem_.users.of(node)) {
        if (user > rows_[number] && user <= last) place[node] = std::min(place[node], user);
        if (user <= rows_[number] && set(stage.again[user]) && !set(stage.here[user]))
          place[node] = std::min(place[node], place[user]);
      }
      before[place[node]].emplace_back(node, paged);
    }
  }

  NodeIndex last_of(std::size_t number) const {
    return number + 1 < rows_.size() ? rows_[number + 1] : static_cast<NodeIndex>(problem_.size()) - 1;
  }

  const Problem& problem_;
  const Prices& prices_;
  const StageOptions& options_;
  std::int64_t budget_;
  double first_runs_ = 0;
  bool pages_ = false;
  bool impossible_ = false;
  std::vector<NodeIndex> rows_;
  std::vector<Stage> stages_;
  std::vector<int> stored_;  // by node: variable
  Program program_;
};

}  // namespace

StageResult stage_bound(const Problem& problem, const Prices& prices, std::int64_t budget,
                        const StageOptions& options) {
  return StageProgram(problem, prices, budget, options).run();
}

}  // namespace monet::remat

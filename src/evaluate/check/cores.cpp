#include "base/glob.h"
#include "evaluate/check/rules.h"

#include <algorithm>
#include <numeric>

namespace monet::check {

namespace {

// By the core's list of operators; the last pattern that fits decides, and ! takes away.
bool is_listed(const Core& core, Op op) {
  bool listed = core.operators.empty() || core.operators.front().starts_with('!');
  for (const std::string& pattern : core.operators) {
    const bool minus = pattern.starts_with('!');
    const std::string_view wanted = std::string_view(pattern).substr(minus ? 1 : 0);
    if (matches(wanted, name_of(op)) || matches(wanted, name_of(family_of(op)))) listed = !minus;
  }
  return listed;
}

// Custom operators may run where they are listed. If that is nowhere, all cores take them but those that say no.
bool takes_custom(const Hardware& hardware, const Core& core) {
  for (const Core& other : hardware.cores) {
    if (is_listed(other, Op::Custom)) return is_listed(core, Op::Custom);
  }
  for (const std::string& pattern : core.operators) {
    const std::string_view name = std::string_view(pattern).substr(1);
    if (pattern.starts_with('!') && (matches(name, "Custom") || matches(name, "custom"))) return false;
  }
  return true;
}

// One of its units has all kinds of operations of the nest.
bool can_do(const Core& core, const Counts& counts) {
  const auto has_all = [&](const std::array<double, count_kinds>& rates) {
    for (std::size_t kind = 0; kind < count_kinds; ++kind) {
      if (counts.of[kind] > 0 && !(rates[kind] > 0)) return false;
    }
    return true;
  };
  if (core.rate && has_all(core.rate->operations_per_s)) return true;
  return std::ranges::any_of(core.units, [&](const Unit& unit) { return has_all(unit.cycles); });
}

class Cores {
 public:
  explicit Cores(const CheckContext& context)
      : context_(context), tiles_(context.tiles), schedule_(context.schedule), findings_(context.findings) {}

  void run() {
    for (std::size_t i = 0; i < tiles_.operators.size(); ++i) {
      if (tiles_.operators[i].count > 0) check_operator(NodeId(i));
    }
    for (std::size_t i = 0; i < tiles_.tiles(); ++i) check_time(TileId(i));
    check_overlap();
    check_makespan();
  }

 private:
  void check_operator(NodeId node) {
    const OperatorTiles& grid = tiles_.operators[node.index()];
    const OperatorAssignment& plan = context_.assignment.operators[node.index()];
    // Digits of a tile's number by axis of the grid, and of a piece's number by cut of the plan.
    std::vector<std::size_t> axis_of_cut;
    for (const LoopCut& cut : plan.cuts) {
      const auto axis = std::ranges::find(grid.axes, cut.loop, &GridAxis::loop);
      axis_of_cut.push_back(static_cast<std::size_t>(axis - grid.axes.begin()));
    }
    std::vector<std::size_t> index(grid.axes.size(), 0);
    for (std::size_t i = 0; i < grid.count; ++i) {
      std::size_t piece = 0;
      for (std::size_t c = 0; c < plan.cuts.size(); ++c) {
        const std::size_t axis = axis_of_cut[c];
        const std::size_t of_cut = axis < grid.axes.size() ? grid.axes[axis].piece[index[axis]] : 0;
        piece = piece * static_cast<std::size_t>(std::max<std::int64_t>(plan.cuts[c].pieces, 1)) + of_cut;
      }
      const TileId tile(grid.first + i);
      const CoreId core = context_.at(tile).core;
      if (core != plan.cores[piece]) {
        findings_.add("{} runs on {} and is planned elsewhere", context_.name(tile), context_.hardware[core].name);
      }
      if (core != last_core_ || node != last_node_) check_ability(node, core);
      for (std::size_t a = grid.axes.size(); a-- > 0;) {
        if (++index[a] < grid.axes[a].count()) break;
        index[a] = 0;
      }
    }
  }

  void check_ability(NodeId node, CoreId core) {
    last_core_ = core;
    last_node_ = node;
    const Core& on = context_.hardware[core];
    const Node& of = context_.graph[node];
    bool able = of.op == Op::Custom ? takes_custom(context_.hardware, on) : is_listed(on, of.op);
    for (const Nest& nest : context_.nests[node.index()].nests) able = able && can_do(on, nest.per_point);
    if (!able) findings_.add("{} runs on {}, which cannot run {}", of.name, on.name, name_of(of.op));
  }

  void check_time(TileId tile) {
    const ScheduledTile& at = context_.at(tile);
    const TileCost& cost = context_.cost(tile);
    const double took = at.end - at.start;
    if (!context_.not_after(cost.cycles, took)) {
      findings_.add("{} takes {} cycles and runs for {}", context_.name(tile), cost.cycles, took);
    } else if (cost.streamed == 0 && cost.ports.empty() && !context_.not_after(took, cost.cycles)) {
      findings_.add("{} takes {} cycles and runs for {}, though it shares nothing", context_.name(tile), cost.cycles,
                    took);
    }
    if (cost.streamed == 0 && cost.home_read_bits + cost.home_write_bits > 0) {
      findings_.add("{} moves data from or to home memory and streams nothing", context_.name(tile));
    }
    check_wait(at.wait, at.by, at.start, [&] { return context_.name(tile); });
  }

  template <class Name>
  void check_wait(Wait wait, std::uint32_t by, double start, const Name& name) {
    if (wait == Wait::nothing) return;
    const bool tile = wait == Wait::core || wait == Wait::data || wait == Wait::memory;
    const double end = tile ? schedule_.tiles[by].end : schedule_.transfers[by].end;
    if (context_.not_after(end, start)) return;
    findings_.add("{} starts at {} and is said to wait for what ends at {}", name(), start, end);
  }

  // Also the time of each core: what it is busy and what it is idle is the whole step.
  void check_overlap() {
    std::vector<std::uint32_t> order(tiles_.tiles());
    std::iota(order.begin(), order.end(), 0U);
    std::ranges::sort(order, {}, [&](std::uint32_t i) {
      const ScheduledTile& tile = schedule_.tiles[i];
      return std::tuple(tile.core, tile.start, tile.end, i);
    });
    for (std::size_t i = 0; i < order.size();) {
      const CoreId core = schedule_.tiles[order[i]].core;
      double busy = 0, idle = 0, until = 0;
      for (std::size_t first = i; i < order.size() && schedule_.tiles[order[i]].core == core; ++i) {
        const ScheduledTile& tile = schedule_.tiles[order[i]];
        if (i > first && !context_.not_after(until, tile.start)) {
          findings_.add("{} runs {} from {} on, before {} ends at {}", context_.hardware[core].name,
                        context_.name(TileId(order[i])), tile.start, context_.name(TileId(order[i - 1])), until);
        }
        idle += std::max(0.0, tile.start - until);
        busy += tile.end - tile.start;
        until = std::max(until, tile.end);
      }
      idle += std::max(0.0, schedule_.cycles - until);
      const double slack = 1e-6 * schedule_.cycles + context_.tolerance;
      if (busy + idle > schedule_.cycles + slack || busy + idle < schedule_.cycles - slack) {
        findings_.add("{} is busy for {} and idle for {} of {} cycles", context_.hardware[core].name, busy, idle,
                      schedule_.cycles);
      }
    }
  }

  void check_makespan() {
    double last = 0;
    for (const ScheduledTile& tile : schedule_.tiles) last = std::max(last, tile.end);
    for (const ScheduledTransfer& transfer : schedule_.transfers) last = std::max(last, transfer.end);
    if (!context_.not_after(last, schedule_.cycles) || !context_.not_after(schedule_.cycles, last)) {
      findings_.add("the step takes {} cycles and its last tile or transfer ends at {}", schedule_.cycles, last);
    }
    for (std::size_t i = 0; i < schedule_.transfers.size(); ++i) {
      const ScheduledTransfer& transfer = schedule_.transfers[i];
      check_wait(transfer.wait, transfer.by, transfer.start, [&] { return context_.transfer_name(i); });
    }
  }

  const CheckContext& context_;
  const TileGraph& tiles_;
  const Schedule& schedule_;
  Findings& findings_;
  NodeId last_node_;
  CoreId last_core_;
};

}  // namespace

void check_cores(const CheckContext& context) { Cores(context).run(); }

}  // namespace monet::check

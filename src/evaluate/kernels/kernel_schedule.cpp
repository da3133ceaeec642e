#include "evaluate/kernels/kernel_schedule.h"

#include "kernels/laws.h"

#include <fmt/format.h>

#include <optional>

namespace monet {

namespace {

class KernelScheduling {
 public:
  KernelScheduling(const Graph& graph, const RoutedMachine& machine, const KernelStep& step, const KernelLaws& laws)
      : graph_(graph),
        hardware_(machine.hardware()),
        step_(step),
        laws_(laws),
        roof_(hardware_, laws),
        core_(kernel_core(hardware_)),
        home_(machine[core_].home[static_cast<std::size_t>(Path::output)]) {
    for (std::size_t i = 0; i < hardware_.cores.size(); ++i)
      result_.schedule.home_of.push_back(machine[CoreId(i)].home[static_cast<std::size_t>(Path::output)]);
  }

  KernelSchedule run() {
    result_.schedule.whole_power = true;
    number_tiles();
    set_tiles();
    set_stacks();
    set_buffers();
    return std::move(result_);
  }

 private:
  double cycles(double us) const { return us * 1e-6 * hardware_.clock_hz; }
  double start(std::size_t launch) const { return cycles(step_.times.start_us[launch]); }
  double end(std::size_t launch) const { return cycles(step_.times.end_us[launch]); }
  const std::vector<Launch>& launches() const { return step_.lowered.launches; }

  // Tiles of an operator are neighbours, launches made for it need not be.
  void number_tiles() {
    TileGraph& tiles = result_.tiles;
    tiles.operators.resize(graph_.nodes().size());
    for (const Launch& launch : launches()) tiles.operators[launch.cause.index()].count += launch.collective ? 0 : 1;
    std::uint32_t first = 0;
    for (OperatorTiles& of_node : tiles.operators) {
      of_node.first = first;
      first += of_node.count;
    }
    std::vector<std::uint32_t> next(graph_.nodes().size(), 0);
    for (const Launch& launch : launches()) {
      // A collective takes up none of the chip's cores: what it stands for is the tile before it.
      const std::size_t node = launch.cause.index();
      tile_of_.push_back(launch.collective ? (tile_of_.empty() ? 0 : tile_of_.back())
                                           : tiles.operators[node].first + next[node]++);
    }
    tiles.node.resize(first);
    tiles.first_read.assign(first + 1, 0);
    tiles.first_write.assign(first + 1, 0);
    tiles.first_buffer.assign(graph_.tensors().size() + 1, 0);
  }

  TileCost cost_of(std::size_t index) const {
    const Launch& launch = launches()[index];
    Kernel kernel = launch.kernel;
    derive_sizes(kernel);
    TileCost cost;
    cost.cycles = cost.compute_cycles = cycles(step_.costs.us[index]);
    cost.bound_cycles = cost.ideal_cycles = cycles(roof_.least_us(kernel));
    cost.macs = kernel.flops / 2;
    cost.compute_pj = step_.costs.mj[index] * 1e9;
    cost.precision = name_of(kernel.precision);
    for (const Touch& touched : launch.reads) cost.home_read_bits += 8.0 * static_cast<double>(touched.bytes);
    for (const Touch& touched : launch.writes) cost.home_write_bits += 8.0 * static_cast<double>(touched.bytes);
    return cost;
  }

  void set_tiles() {
    Schedule& schedule = result_.schedule;
    schedule.tiles.resize(result_.tiles.node.size());
    schedule.costs.resize(result_.tiles.node.size());
    std::optional<std::uint32_t> before;
    for (std::size_t i = 0; i < launches().size(); ++i) {
      if (launches()[i].collective) continue;
      const std::uint32_t tile = tile_of_[i];
      result_.tiles.node[tile] = launches()[i].cause;
      schedule.costs[tile] = cost_of(i);
      schedule.tiles[tile] = {.start = start(i), .end = end(i), .cost = tile, .core = core_};
      if (before) {
        // What it waits for longer than for the launch before it is data on their way from other chips.
        const bool waits = start(i) > schedule.tiles[*before].end;
        schedule.tiles[tile].wait = waits ? Wait::data : Wait::core;
        schedule.tiles[tile].by = *before;
      }
      before = tile;
    }
    schedule.cycles = cycles(step_.times.total_us);
  }

  void set_stacks() {
    Assignment& assignment = result_.assignment;
    assignment.operators.resize(graph_.nodes().size());
    const auto add = [&](const std::vector<NodeId>& nodes) {
      for (const NodeId node : nodes) {
        assignment.operators[node.index()].cores = {core_};
        assignment.operators[node.index()].stack = static_cast<std::uint32_t>(assignment.stacks.size());
      }
      assignment.stacks.push_back(nodes);
    };
    for (const OperatorStack& stack : step_.stacks) add(stack);
    for (std::size_t n = 0; n < graph_.nodes().size(); ++n) {
      if (result_.tiles.operators[n].count > 0 && assignment.operators[n].cores.empty()) add({NodeId(n)});
    }
    assignment.filled = {fmt::format("kernels, their order and what memory they take: as {} has them",
                                     step_.stacks.empty() ? "an eager framework" : "a fusing compiler")};
  }

  // When launches have got to each place in their order, and when the last that touches each buffer is done with it.
  void set_moments() {
    double now = 0;
    last_end_.assign(step_.lowered.buffers.size(), 0);
    for (std::size_t i = 0; i < launches().size(); ++i) {
      const Launch& launch = launches()[i];
      begin_.push_back(launch.collective ? std::max(now, start(i)) : start(i));
      if (!launch.collective) now = end(i);
      for (const auto* touches : {&launch.reads, &launch.writes}) {
        for (const Touch& each : *touches) {
          double& last = last_end_[each.buffer.index()];
          last = std::max(last, end(i));
        }
      }
    }
  }

  void set_buffers() {
    Schedule& schedule = result_.schedule;
    const std::vector<BufferLife> lives = buffer_lives(step_.lowered);
    set_moments();
    for (std::size_t i = 0; i < lives.size(); ++i) {
      const Allocation& buffer = step_.lowered.buffers[i];
      const std::int64_t bytes = step_.memory.buffer_bytes[i];
      if (bytes == 0 || (!buffer.permanent && !lives[i].used)) continue;
      const double from = buffer.permanent ? 0 : begin_[lives[i].first];
      const double to = buffer.permanent || lives[i].last >= launches().size() ? schedule.cycles : last_end_[i];
      if (buffer.tensor.valid()) {
        schedule.home.push_back({from, to, bytes, buffer.tensor, home_});
      } else {
        schedule.stays.push_back({from, to, bytes, {}, TileId(tile_of_[lives[i].first]), home_});
      }
    }
    for (std::size_t i = 0; i < launches().size(); ++i) {
      const std::int64_t bytes = step_.memory.workspace_bytes[i];
      if (bytes > 0) schedule.stays.push_back({start(i), end(i), bytes, {}, TileId(tile_of_[i]), home_});
    }
  }

  const Graph& graph_;
  const Hardware& hardware_;
  const KernelStep& step_;
  const KernelLaws& laws_;
  KernelRoof roof_;
  CoreId core_;
  MemoryId home_;
  std::vector<std::uint32_t> tile_of_;  // by launch
  std::vector<double> begin_;           // by launch
  std::vector<double> last_end_;        // by buffer
  KernelSchedule result_;
};

}  // namespace

KernelSchedule schedule_of(const Graph& graph, const RoutedMachine& machine, const KernelStep& step,
                           const KernelLaws& laws) {
  return KernelScheduling(graph, machine, step, laws).run();
}

}  // namespace monet

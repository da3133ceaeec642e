#include "evaluate/kernels/kernel_schedule.h"

#include "kernels/laws.h"

#include <fmt/format.h>

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
  const std::vector<Launch>& launches() const { return step_.lowered.launches; }

  // Tiles of an operator are neighbours, launches made for it need not be.
  void number_tiles() {
    TileGraph& tiles = result_.tiles;
    tiles.operators.resize(graph_.nodes().size());
    for (const Launch& launch : launches()) ++tiles.operators[launch.cause.index()].count;
    std::uint32_t first = 0;
    for (OperatorTiles& of_node : tiles.operators) {
      of_node.first = first;
      first += of_node.count;
    }
    std::vector<std::uint32_t> next(graph_.nodes().size(), 0);
    for (const Launch& launch : launches()) {
      const std::size_t node = launch.cause.index();
      tile_of_.push_back(tiles.operators[node].first + next[node]++);
    }
    tiles.node.resize(launches().size());
    tiles.first_read.assign(launches().size() + 1, 0);
    tiles.first_write.assign(launches().size() + 1, 0);
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
    schedule.tiles.resize(launches().size());
    schedule.costs.resize(launches().size());
    double now = 0;
    for (std::size_t i = 0; i < launches().size(); ++i) {
      const std::uint32_t tile = tile_of_[i];
      result_.tiles.node[tile] = launches()[i].cause;
      schedule.costs[tile] = cost_of(i);
      starts_.push_back(now);
      schedule.tiles[tile] = {.start = now, .end = now + schedule.costs[tile].cycles, .cost = tile, .core = core_};
      if (i > 0) {
        schedule.tiles[tile].wait = Wait::core;
        schedule.tiles[tile].by = tile_of_[i - 1];
      }
      now = schedule.tiles[tile].end;
    }
    starts_.push_back(now);
    schedule.cycles = now;
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

  void set_buffers() {
    Schedule& schedule = result_.schedule;
    const std::vector<BufferLife> lives = buffer_lives(step_.lowered);
    for (std::size_t i = 0; i < lives.size(); ++i) {
      const Allocation& buffer = step_.lowered.buffers[i];
      const std::int64_t bytes = step_.memory.buffer_bytes[i];
      if (bytes == 0 || (!buffer.permanent && !lives[i].used)) continue;
      const double start = buffer.permanent ? 0 : starts_[lives[i].first];
      const double end = buffer.permanent ? schedule.cycles : starts_[std::min(lives[i].last + 1, launches().size())];
      if (buffer.tensor.valid()) {
        schedule.home.push_back({start, end, bytes, buffer.tensor, home_});
      } else {
        schedule.stays.push_back({start, end, bytes, {}, TileId(tile_of_[lives[i].first]), home_});
      }
    }
    for (std::size_t i = 0; i < launches().size(); ++i) {
      const std::int64_t bytes = step_.memory.workspace_bytes[i];
      if (bytes > 0) schedule.stays.push_back({starts_[i], starts_[i + 1], bytes, {}, TileId(tile_of_[i]), home_});
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
  std::vector<double> starts_;          // by launch, and the end
  KernelSchedule result_;
};

}  // namespace

KernelSchedule schedule_of(const Graph& graph, const RoutedMachine& machine, const KernelStep& step,
                           const KernelLaws& laws) {
  return KernelScheduling(graph, machine, step, laws).run();
}

}  // namespace monet

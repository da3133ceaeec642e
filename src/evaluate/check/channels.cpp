// No channel carries more than it can. Each transfer and each streaming tile is work that is released at its start and
// due at its end; on one channel, where work may share and wait as it likes, doing first what is due first meets every
// deadline that can be met (Liu and Layland 1973), so a missed one proves that the schedule asks for too much.
#include "evaluate/check/rules.h"

#include <algorithm>
#include <queue>

namespace monet::check {

namespace {

struct Work {
  double release = 0, deadline = 0;
  double bits = 0;
  std::uint32_t number = 0;  // transfer, or tile
  bool tile = false;
};

class Channels {
 public:
  explicit Channels(const CheckContext& context)
      : context_(context), work_(context.schedule.channels.size()), of_memory_(context.hardware.memories.size()) {
    for (std::size_t i = 0; i < work_.size(); ++i) {
      const MemoryId memory = context.schedule.channels[i].memory;
      if (memory.valid()) of_memory_[memory.index()].push_back(i);
    }
  }

  void run() {
    const Schedule& schedule = context_.schedule;
    for (std::size_t i = 0; i < schedule.transfers.size(); ++i) {
      const ScheduledTransfer& transfer = schedule.transfers[i];
      if (transfer.joined) continue;
      const double bits = static_cast<double>(transfer.bytes) * 8;
      add(transfer.route, {transfer.start, transfer.end, bits, static_cast<std::uint32_t>(i), false});
    }
    for (std::size_t i = 0; i < schedule.tiles.size(); ++i) {
      const ScheduledTile& tile = schedule.tiles[i];
      const TileCost& cost = schedule.costs[tile.cost];
      const auto number = static_cast<std::uint32_t>(i);
      add(tile.read_route, {tile.start, tile.end, cost.home_read_bits, number, true});
      add(tile.write_route, {tile.start, tile.end, cost.home_write_bits, number, true});
      for (const PortUse& use : cost.ports) add_port(tile, use, number);
    }
    for (std::size_t channel = 0; channel < work_.size(); ++channel) simulate(channel);
  }

 private:
  void add(std::uint32_t route, const Work& work) {
    if (route == no_route || work.bits <= 0) return;
    for (const ChannelUse& use : context_.schedule.routes[route].channels) {
      // The ports that a tile uses are among its own costs.
      if (work.tile && context_.schedule.channels[use.channel].memory.valid()) continue;
      work_[use.channel].push_back(work);
      work_[use.channel].back().bits *= use.share;
    }
  }

  void add_port(const ScheduledTile& tile, const PortUse& use, std::uint32_t number) {
    const std::vector<Level>& levels = context_.hardware[tile.core].levels;
    const MemoryId memory =
        use.level < levels.size() ? levels[use.level].memory : context_.schedule.home_of[tile.core.index()];
    for (const std::size_t i : of_memory_[memory.index()]) {
      const Channel& channel = context_.schedule.channels[i];
      if (!equal_ports(context_.hardware[memory], static_cast<std::size_t>(use.port),
                       static_cast<std::size_t>(channel.port))) {
        continue;
      }
      work_[i].push_back({tile.start, tile.end, use.bits, number, true});
    }
  }

  void simulate(std::size_t channel) {
    std::vector<Work>& jobs = work_[channel];
    std::ranges::stable_sort(jobs, {}, &Work::release);
    const double rate = context_.schedule.channels[channel].bits_per_cycle;
    const auto later = [&](std::uint32_t a, std::uint32_t b) { return jobs[a].deadline > jobs[b].deadline; };
    std::priority_queue<std::uint32_t, std::vector<std::uint32_t>, decltype(later)> waiting(later);
    double now = 0;
    for (std::size_t next = 0; next < jobs.size() || !waiting.empty();) {
      if (waiting.empty()) now = std::max(now, jobs[next].release);
      while (next < jobs.size() && jobs[next].release <= now) waiting.push(static_cast<std::uint32_t>(next++));
      Work& job = jobs[waiting.top()];
      const double done = now + job.bits / rate;
      if (next < jobs.size() && jobs[next].release < done) {
        job.bits -= (jobs[next].release - now) * rate;
        now = jobs[next].release;
        continue;
      }
      waiting.pop();
      now = done;
      if (now <= job.deadline + context_.tolerance + 1e-6 * (job.deadline - job.release)) continue;
      context_.findings.add("the channel {} is asked for more than it can carry: {} could end at {} at best",
                            context_.schedule.channels[channel].name,
                            job.tile ? context_.name(TileId(job.number)) : context_.transfer_name(job.number), now);
      return;
    }
  }

  const CheckContext& context_;
  std::vector<std::vector<Work>> work_;              // by channel
  std::vector<std::vector<std::size_t>> of_memory_;  // channels that are ports of it
};

}  // namespace

void check_channels(const CheckContext& context) { Channels(context).run(); }

}  // namespace monet::check

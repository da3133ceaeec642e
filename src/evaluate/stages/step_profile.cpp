#include "evaluate/stages/step_profile.h"

#include "base/require.h"
#include "kernels/laws.h"
#include "kernels/lower/lower.h"

#include <algorithm>
#include <set>

namespace monet {

void PartCost::add(const PartCost& other, double times) {
  seconds += times * other.seconds;
  exposed_s += times * other.exposed_s;
  communication_s += times * other.communication_s;
  sent_bytes += times * other.sent_bytes;
  collectives += static_cast<std::int64_t>(times * static_cast<double>(other.collectives));
  energy_pj += times * other.energy_pj;
  recomputed_s += times * other.recomputed_s;
}

namespace {

class Profiling {
 public:
  Profiling(const Graph& step, const StepBlocks& blocks)
      : step_(step), blocks_(blocks), parts_(parts_of(step, blocks)) {
    profile_.blocks.resize(blocks.count);
  }

  StepProfile run(const KernelLaws& laws, const ChipNetwork* network, const ProfileOptions& options) {
    lowered_ = lower(step_, {.tf32_products = options.tf32});
    if (options.launches) options.launches(step_, lowered_);
    set_cold_shares(lowered_, laws.memory.cold_after);
    StepCosts costs = costs_of(lowered_, laws);
    if (options.prices) options.prices(step_, lowered_, costs);
    const LaunchTimes times = times_of(step_, lowered_, costs, network);
    add_times(costs, times);
    add_memory(laws);
    add_boundary();
    return std::move(profile_);
  }

 private:
  BlockProfile& at(BlockPlace place) {
    if (place < 0) return profile_.before;
    const auto block = static_cast<std::size_t>(place);
    return block < profile_.blocks.size() ? profile_.blocks[block] : profile_.after;
  }
  PartCost& cost_of(std::size_t launch) {
    const NodePart& part = parts_[lowered_.launches[launch].cause.index()];
    return at(part.place)[part.part];
  }

  void add_times(const StepCosts& costs, const LaunchTimes& times) {
    for (std::size_t i = 0; i < lowered_.launches.size(); ++i) {
      const Launch& launch = lowered_.launches[i];
      PartCost& cost = cost_of(i);
      cost.energy_pj += costs.mj[i] * 1e9;
      if (launch.collective) continue;
      // What runs alone takes what it takes, to the last bit, wherever it stands.
      const double beside = times.end_us[i] - times.start_us[i];
      const bool slowed = beside > costs.us[i] * (1 + 1e-9);
      const double seconds = (slowed ? beside : costs.us[i]) * 1e-6;
      cost.seconds += seconds;
      if (step_[launch.cause].recomputed) cost.recomputed_s += seconds;
    }
    for (const Exchange& exchange : times.exchanges) {
      PartCost& cost = cost_of(exchange.launch);
      cost.seconds += exchange.exposed_us * 1e-6;
      cost.exposed_s += exchange.exposed_us * 1e-6;
      cost.communication_s += exchange.price.seconds;
      for (double bytes : exchange.price.bytes) cost.sent_bytes += bytes;
      ++cost.collectives;
    }
  }

  // Weights, gradients and states; what micro-batches keep; what is there while a part runs.
  void add_memory(const KernelLaws& laws) {
    const AllocatorPeak memory =
        allocator_peak(lowered_, [&](const Kernel& kernel) { return workspace_bytes(laws, kernel); });
    const std::vector<BufferLife> lives = buffer_lives(lowered_);
    std::vector<std::int64_t> change(lowered_.launches.size() + 1, 0);
    for (std::size_t i = 0; i < lives.size(); ++i) {
      const Allocation& buffer = lowered_.buffers[i];
      const std::int64_t bytes = memory.buffer_bytes[i];
      if (buffer.permanent || buffer.until_end) {
        add_static(buffer, bytes, lives[i]);
        continue;
      }
      if (!lives[i].used) continue;
      const Launch &first = lowered_.launches[lives[i].first], &last = lowered_.launches[lives[i].last];
      if (first.phase == Phase::forward && last.phase == Phase::backward) {
        at(parts_[last.cause.index()].place).kept_bytes += bytes;
      } else {
        change[lives[i].first] += bytes;
        change[lives[i].last + 1] -= bytes;
      }
    }
    std::int64_t now = 0;
    for (std::size_t i = 0; i < lowered_.launches.size(); ++i) {
      now += change[i];
      if (lowered_.launches[i].phase == Phase::optimizer) continue;
      std::int64_t& most = at(parts_[lowered_.launches[i].cause.index()].place).working_bytes;
      most = std::max(most, now + memory.workspace_bytes[i]);
    }
  }

  void add_static(const Allocation& buffer, std::int64_t bytes, const BufferLife& life) {
    if (!buffer.tensor.valid()) return;
    const Tensor& tensor = step_[buffer.tensor];
    if (tensor.role == Role::input) {
      profile_.input_bytes += bytes;
      return;
    }
    BlockPlace place = before_blocks;
    const auto found = blocks_.sources.find(tensor.name);
    if (found != blocks_.sources.end()) {
      place = found->second;
    } else if (life.used && life.first < lowered_.launches.size()) {
      place = parts_[lowered_.launches[life.first].cause.index()].place;
    }
    BlockProfile& block = at(place);
    if (tensor.role == Role::weight_gradient) {
      block.gradient_bytes += bytes;
    } else if (tensor.role == Role::optimizer_state || tensor.role == Role::master_weight) {
      block.state_bytes += bytes;
    } else {
      block.weight_bytes += bytes;
    }
    if (tensor.parameter) block.parameters += element_count(tensor.type.shape);
  }

  void add_boundary() {
    const std::set<std::string> shared(blocks_.shared.begin(), blocks_.shared.end());
    for (const Tensor& tensor : step_.tensors()) {
      if (!tensor.producer.valid() && shared.contains(tensor.name)) {
        profile_.shared_parameters += element_count(tensor.type.shape);
        profile_.shared_bytes += bytes(tensor);
      }
      const bool middle = blocks_.count > 1 && tensor.name == blocks_.entries[blocks_.count / 2];
      if (middle) profile_.boundary_bytes = bytes(tensor);
    }
  }

  const Graph& step_;
  const StepBlocks& blocks_;
  std::vector<NodePart> parts_;
  LoweredStep lowered_;
  StepProfile profile_;
};

}  // namespace

StepProfile profile_of(const Graph& step, const StepBlocks& blocks, const KernelLaws& laws, const ChipNetwork* network,
                       const ProfileOptions& options) {
  return Profiling(step, blocks).run(laws, network, options);
}

StepProfile with_blocks(StepProfile profile, std::size_t count) {
  MONET_REQUIRE(profile.blocks.size() >= 3 && count >= 2);
  const auto middle = profile.blocks.begin() + static_cast<std::ptrdiff_t>(profile.blocks.size() / 2);
  if (count > profile.blocks.size()) {
    const BlockProfile more = *middle;
    profile.blocks.insert(middle, count - profile.blocks.size(), more);
  } else {
    const auto fewer = static_cast<std::ptrdiff_t>(profile.blocks.size() - count);
    profile.blocks.erase(profile.blocks.begin() + 1, profile.blocks.begin() + 1 + fewer);
  }
  return profile;
}

}  // namespace monet

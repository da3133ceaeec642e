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
  launches += static_cast<std::int64_t>(times * static_cast<double>(other.launches));
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
    fused_.assign(lowered_.launches.size(), false);
    if (options.launches) options.launches(step_, lowered_);
    set_cold_shares(lowered_, laws.memory.cold_after);
    StepCosts costs = costs_of(lowered_, laws);
    if (options.prices) options.prices(step_, lowered_, costs);
    if (options.fused) fuse(costs, laws);
    const LaunchTimes times = times_of(step_, lowered_, costs, network);
    add_times(costs, times);
    if (network != nullptr && (options.early || options.in_pieces)) hide(costs, times, options);
    if (options.host_us > 0) wait_for_host(options.host_us * 1e-6);
    add_memory(laws);
    share_update();
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

  // Scores are scaled, masked and normalized in one kernel, and their gradients scaled in that of the normalization;
  // what is dropped of them is dropped in a kernel of its own.
  bool can_join(const Launch& before, const Launch& next) const {
    const auto is_plain = [](const Launch& launch) {
      return !launch.collective &&
             (launch.kernel.kind == KernelKind::elementwise || launch.kernel.kind == KernelKind::softmax);
    };
    const auto is_gradient = [&](const Launch& launch) { return step_[launch.cause].op == Op::SoftmaxGrad; };
    if (!is_plain(before) || !is_plain(next) || before.phase != next.phase) return false;
    if (before.kernel.kind == KernelKind::softmax) return is_gradient(before);
    return next.kernel.kind != KernelKind::softmax || !is_gradient(next);
  }

  // What passes from a launch to the next is not read there, and not written where nobody else reads it.
  void fuse(StepCosts& costs, const KernelLaws& laws) {
    std::vector<int> readers(lowered_.buffers.size(), 0);
    for (const Launch& launch : lowered_.launches) {
      for (const Touch& each : launch.reads) ++readers[each.buffer.index()];
    }
    const auto take = [&](std::size_t launch, double bytes) {
      const double saved = std::min(costs.us[launch], bytes / laws.memory.memory_rate);
      costs.us[launch] -= saved;
      costs.total_us -= saved;
    };
    for (std::size_t i = 1; i < lowered_.launches.size(); ++i) {
      const Launch &before = lowered_.launches[i - 1], &next = lowered_.launches[i];
      if (!can_join(before, next)) continue;
      for (const Touch& made : before.writes) {
        const bool meets =
            std::ranges::any_of(next.reads, [&](const Touch& each) { return each.buffer == made.buffer; });
        if (!meets) continue;
        fused_[i] = true;
        take(i, static_cast<double>(made.bytes));
        if (readers[made.buffer.index()] == 1) take(i - 1, static_cast<double>(made.bytes));
      }
    }
  }

  void wait_for_host(double seconds) {
    const auto wait = [&](BlockProfile& block) {
      // Both halves of the backward part are one stream of launches.
      PartCost &forward = block[StepPart::forward], &inputs = block[StepPart::input_gradients],
               &weights = block[StepPart::weight_gradients];
      forward.seconds = std::max(forward.seconds, seconds * static_cast<double>(forward.launches));
      const double least = seconds * static_cast<double>(inputs.launches + weights.launches);
      inputs.seconds += std::max(0.0, least - inputs.seconds - weights.seconds);
    };
    wait(profile_.before);
    wait(profile_.after);
    for (BlockProfile& block : profile_.blocks) wait(block);
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
      cost.launches += fused_[i] ? 0 : 1;
      if (step_[launch.cause].recomputed) cost.recomputed_s += seconds;
    }
    for (const Exchange& exchange : times.exchanges) {
      PartCost& cost = cost_of(exchange.launch);
      cost.seconds += exchange.exposed_us * 1e-6;
      cost.exposed_s += exchange.exposed_us * 1e-6;
      cost.communication_s += exchange.price.seconds;
      if (repeats(exchange)) cost.recomputed_s += exchange.exposed_us * 1e-6;
      for (double bytes : exchange.price.bytes) cost.sent_bytes += bytes;
      ++cost.collectives;
    }
  }

  // One launch updates many weights: each block has its share by their number.
  void share_update() {
    std::vector<BlockProfile*> all = {&profile_.before, &profile_.after};
    for (BlockProfile& block : profile_.blocks) all.push_back(&block);
    PartCost whole;
    double parameters = 0;
    for (BlockProfile* block : all) {
      whole.add((*block)[StepPart::update]);
      parameters += static_cast<double>(block->parameters);
    }
    if (parameters <= 0) return;
    for (BlockProfile* block : all) {
      PartCost& update = (*block)[StepPart::update];
      const double share = static_cast<double>(block->parameters) / parameters;
      update = {.seconds = whole.seconds * share, .energy_pj = whole.energy_pj * share};
    }
  }

  bool repeats(const Exchange& exchange) const {
    const Node& node = step_[lowered_.launches[exchange.launch].cause];
    if (node.recomputed) return true;
    const NodeId from = step_[node.inputs[0]].producer;
    return from.valid() && step_[from].recomputed;
  }

  // The longest product that reads what an exchange makes, or makes what it reads.
  double product_beside(const Exchange& exchange, const StepCosts& costs) const {
    const Launch& own = lowered_.launches[exchange.launch];
    const auto touches = [](const std::vector<Touch>& a, const std::vector<Touch>& b) {
      return std::ranges::any_of(a, [&](const Touch& one) {
        return std::ranges::any_of(b, [&](const Touch& other) { return one.buffer == other.buffer; });
      });
    };
    constexpr std::size_t near = 8;  // launches between the two: biases, views that are copied
    double longest = 0;
    const std::size_t from = exchange.launch > near ? exchange.launch - near : 0;
    const std::size_t to = std::min(lowered_.launches.size(), exchange.launch + near + 1);
    for (std::size_t i = from; i < to; ++i) {
      const Launch& other = lowered_.launches[i];
      if (other.collective || other.kernel.kind != KernelKind::product || other.kernel.batch > 1) continue;
      const bool meets = i < exchange.launch ? touches(other.writes, own.reads) : touches(other.reads, own.writes);
      if (meets) longest = std::max(longest, costs.us[i]);
    }
    return longest;
  }

  // Launches between the one that makes what is exchanged and the exchange.
  double launches_since(const Exchange& exchange, const StepCosts& costs) const {
    const Launch& own = lowered_.launches[exchange.launch];
    double us = 0;
    for (std::size_t i = exchange.launch; i-- > 0;) {
      const Launch& other = lowered_.launches[i];
      const bool makes = std::ranges::any_of(other.writes, [&](const Touch& one) {
        return std::ranges::any_of(own.reads, [&](const Touch& read) { return one.buffer == read.buffer; });
      });
      if (makes) return us;
      if (!other.collective) us += costs.us[i];
    }
    return 0;
  }

  void hide(const StepCosts& costs, const LaunchTimes& times, const ProfileOptions& options) {
    for (const Exchange& exchange : times.exchanges) {
      double left = exchange.exposed_us;
      if (left <= 0) continue;
      if (options.early) left -= std::min(left, launches_since(exchange, costs));
      const double product = options.in_pieces ? product_beside(exchange, costs) : 0;
      const auto pieces = static_cast<double>(exchange.chips);
      if (product > 0) left = std::min(left, std::max(left / pieces, left - product * (pieces - 1) / pieces));
      const double hidden = (exchange.exposed_us - left) * 1e-6;
      PartCost& cost = cost_of(exchange.launch);
      cost.seconds -= hidden;
      cost.exposed_s -= hidden;
      if (repeats(exchange)) cost.recomputed_s -= hidden;
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
        BlockProfile& block = at(parts_[last.cause.index()].place);
        block.kept_bytes += bytes;
        block.kept_data_bytes += buffer.bytes;
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
  std::vector<bool> fused_;  // by launch: part of the one before
  StepProfile profile_;
};

}  // namespace

StepProfile profile_of(const Graph& step, const StepBlocks& blocks, const KernelLaws& laws, const ChipNetwork* network,
                       const ProfileOptions& options) {
  return Profiling(step, blocks).run(laws, network, options);
}

StepProfile with_whole_blocks_again(StepProfile profile) {
  for (BlockProfile& block : profile.blocks) {
    const PartCost& forward = block[StepPart::forward];
    PartCost& backward = block[StepPart::input_gradients];
    const double more = forward.seconds - backward.recomputed_s;
    backward.seconds += more;
    backward.recomputed_s += more;
  }
  return profile;
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

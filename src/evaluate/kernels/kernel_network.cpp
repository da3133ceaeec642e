#include "evaluate/kernels/kernel_network.h"

#include "base/require.h"
#include "base/try.h"
#include "evaluate/kernels/collective_price.h"

#include <fmt/format.h>

#include <algorithm>

namespace monet {

Expected<ChipNetwork> network_of(const Hardware& hardware, const Mesh& mesh, bool overlap) {
  if (!hardware.fabric) {
    return Error{.message = fmt::format("{} does not say what joins its chips", hardware.name),
                 .place = "--parallel",
                 .advice = "choose a machine with a fabric, such as dgx_h100, or give it one: docs/parallel.md"};
  }
  ChipNetwork network{.mesh = mesh, .fabric = {}, .groups = {}, .overlap = overlap};
  MONET_TRY(network.fabric, with_chips(*hardware.fabric, mesh.chips()));
  for (std::size_t axis = 0; axis < mesh.axes.size(); ++axis) {
    MONET_TRY(network.groups.emplace_back(), group_shape(network.fabric, mesh, std::span(&axis, 1)));
  }
  // Sums may be over several of them.
  for (std::size_t set = 1; set < std::size_t{1} << mesh.axes.size(); ++set) {
    std::vector<std::size_t> axes;
    for (std::size_t axis = 0; axis < mesh.axes.size(); ++axis) {
      if ((set >> axis & 1U) != 0) axes.push_back(axis);
    }
    if (axes.size() > 1) MONET_RETURN_IF_ERROR(group_shape(network.fabric, mesh, axes));
  }
  return network;
}

namespace {

CollectiveKind kind_of(Op op) {
  switch (op) {
    case Op::ReduceScatter: return CollectiveKind::reduce_scatter;
    case Op::AllGather: return CollectiveKind::all_gather;
    case Op::AllToAll: return CollectiveKind::all_to_all;
    case Op::Broadcast: return CollectiveKind::broadcast;
    case Op::Send:
    case Op::Receive: return CollectiveKind::send;
    default: return CollectiveKind::all_reduce;
  }
}

}  // namespace

CollectivePrices::CollectivePrices(const Graph& graph, const ChipNetwork& network) : graph_(graph), network_(network) {}

PricedCollective described(const Graph& graph, const Node& node) {
  PricedCollective result{.over = node.attributes.text(Attr::mesh), .chips = node.attributes.integer(Attr::group)};
  result.kind = kind_of(node.op);
  for (TensorId id : node.op == Op::AllGather ? node.outputs : node.inputs)
    result.bytes += static_cast<double>(monet::bytes(graph[id]));
  return result;
}

Expected<CollectivePrice> price_over(const ChipNetwork& network, std::string_view over, CollectiveKind kind,
                                     double bytes) {
  const auto axes = network.mesh.find_all(over);
  if (!axes) return Error{.message = fmt::format("the mesh has no axes '{}'", over), .place = "--parallel"};
  if (axes->size() == 1)
    return price(network.fabric, {.kind = kind, .bytes = bytes, .group = network.groups[(*axes)[0]]});
  MONET_TRY(const GroupShape group, group_shape(network.fabric, network.mesh, *axes));
  return price(network.fabric, {.kind = kind, .bytes = bytes, .group = group});
}

double chip_share_of(const ChipNetwork& network, const CollectivePrice& price) {
  constexpr double most = 0.9;
  double share = 0;
  for (std::size_t level = 0; level < network.fabric.levels.size(); ++level) {
    if (price.level_seconds[level] > 0) share = std::max(share, network.fabric.levels[level].chip_share);
  }
  return std::min(share, most);
}

PricedCollective CollectivePrices::of(const Node& node) {
  PricedCollective result = described(graph_, node);
  const auto [entry, fresh] = known_.try_emplace({result.over, result.kind, result.bytes});
  if (fresh) {
    auto found = price_over(network_, result.over, result.kind, result.bytes);
    MONET_REQUIRE(found.has_value());
    entry->second = *std::move(found);
  }
  result.price = entry->second;
  return result;
}

namespace {

class Times {
 public:
  Times(const Graph& graph, const LoweredStep& step, StepCosts& costs, const ChipNetwork* network)
      : graph_(graph), step_(step), costs_(costs), network_(network) {}

  LaunchTimes run() {
    price_all();
    made_.resize(step_.buffers.size());
    read_.resize(step_.buffers.size());
    for (std::size_t i = 0; i < step_.launches.size(); ++i) {
      const Launch& launch = step_.launches[i];
      if (launch.collective) {
        exchange(i);
      } else {
        wait_for(blocker_of(launch));
        result_.start_us.push_back(now_);
        now_ = end_of(now_, costs_.us[i]);
        result_.end_us.push_back(now_);
      }
      if (network_ != nullptr && !network_->overlap && launch.collective) wait_for({&result_.exchanges[next_ - 1]});
    }
    // The step ends when its last collective does.
    while (const Exchange* last = latest()) wait_for({last});
    result_.total_us = now_;
    return std::move(result_);
  }

 private:
  // A collective for which something waits; none: for nothing.
  struct Blocker {
    const Exchange* exchange = nullptr;
  };
  using Last = std::optional<std::size_t>;  // in result_.exchanges

  void price_all() {
    if (network_ == nullptr) {
      MONET_REQUIRE(std::ranges::none_of(step_.launches, &Launch::collective));
      return;
    }
    CollectivePrices prices(graph_, *network_);
    for (std::size_t i = 0; i < step_.launches.size(); ++i) {
      const Launch& launch = step_.launches[i];
      if (!launch.collective) continue;
      Exchange exchange{prices.of(graph_[launch.cause])};
      exchange.launch = i;
      set_cost(i, exchange.price.seconds * 1e6, exchange.energy_pj() * 1e-9);
      result_.exchanges.push_back(exchange);
    }
  }

  void set_cost(std::size_t launch, double us, double mj) {
    costs_.total_us += us - costs_.us[launch];
    costs_.phase_us[static_cast<std::size_t>(step_.launches[launch].phase)] += us - costs_.us[launch];
    costs_.total_mj += mj - costs_.mj[launch];
    costs_.us[launch] = us;
    costs_.mj[launch] = mj;
  }

  void exchange(std::size_t launch) {
    const std::size_t index = next_++;
    Exchange& exchange = result_.exchanges[index];
    exchange.start_us = std::max(now_, ready(step_.launches[launch]));
    for (std::size_t level = 0; level < max_fabric_levels; ++level) {
      if (exchange.price.level_seconds[level] > 0) exchange.start_us = std::max(exchange.start_us, level_free_[level]);
    }
    exchange.end_us = exchange.start_us + costs_.us[launch];
    for (std::size_t level = 0; level < max_fabric_levels; ++level) {
      if (exchange.price.level_seconds[level] > 0) level_free_[level] = exchange.end_us;
    }
    for (const Touch& each : step_.launches[launch].reads) read_[each.buffer.index()] = index;
    for (const Touch& each : step_.launches[launch].writes) made_[each.buffer.index()] = index;
    result_.start_us.push_back(exchange.start_us);
    result_.end_us.push_back(exchange.end_us);
    running_.push_back(index);
  }

  // The last collective that must be done first: it makes what is read or written, or reads what is written.
  Blocker blocker_of(const Launch& launch) const {
    Blocker result;
    const auto offer = [&](const Last& last) {
      if (!last) return;
      const Exchange& exchange = result_.exchanges[*last];
      if (exchange.end_us > now_ && (result.exchange == nullptr || exchange.end_us > result.exchange->end_us))
        result.exchange = &exchange;
    };
    for (const Touch& each : launch.reads) offer(made_[each.buffer.index()]);
    for (const Touch& each : launch.writes) {
      offer(made_[each.buffer.index()]);
      offer(read_[each.buffer.index()]);
    }
    return result;
  }
  double ready(const Launch& launch) const {
    const Blocker blocker = blocker_of(launch);
    return blocker.exchange == nullptr ? 0 : blocker.exchange->end_us;
  }

  const Exchange* latest() const {
    const Exchange* result = nullptr;
    for (const std::size_t index : running_) {
      const Exchange& exchange = result_.exchanges[index];
      if (exchange.end_us > now_ && (result == nullptr || exchange.end_us < result->end_us)) result = &exchange;
    }
    return result;
  }

  void wait_for(const Blocker& blocker) {
    if (blocker.exchange == nullptr || blocker.exchange->end_us <= now_) return;
    Exchange& exchange = result_.exchanges[static_cast<std::size_t>(blocker.exchange - result_.exchanges.data())];
    exchange.exposed_us += exchange.end_us - now_;
    now_ = exchange.end_us;
  }

  // Collectives take a part of the chip while they run.
  double end_of(double start, double us) {
    std::erase_if(running_, [&](std::size_t index) { return result_.exchanges[index].end_us <= start; });
    double now = start, left = us;
    while (left > 0) {
      double share = 0, until = -1;
      for (const std::size_t index : running_) {
        const Exchange& exchange = result_.exchanges[index];
        if (exchange.end_us <= now) continue;
        const bool runs = exchange.start_us <= now;
        if (runs) share = std::max(share, share_of(exchange));
        const double change = runs ? exchange.end_us : exchange.start_us;
        if (until < 0 || change < until) until = change;
      }
      const double speed = 1 - share;
      if (until < 0 || now + left / speed <= until) return now + left / speed;
      left -= (until - now) * speed;
      now = until;
    }
    return now;
  }

  double share_of(const Exchange& exchange) const { return chip_share_of(*network_, exchange.price); }

  const Graph& graph_;
  const LoweredStep& step_;
  StepCosts& costs_;
  const ChipNetwork* network_;
  LaunchTimes result_;
  std::vector<Last> made_, read_;     // by buffer: the last collective that writes it, that reads it
  std::vector<std::size_t> running_;  // issued, perhaps not done
  std::array<double, max_fabric_levels> level_free_{};
  std::size_t next_ = 0;
  double now_ = 0;
};

}  // namespace

LaunchTimes times_of(const Graph& graph, const LoweredStep& step, StepCosts& costs, const ChipNetwork* network) {
  return Times(graph, step, costs, network).run();
}

}  // namespace monet

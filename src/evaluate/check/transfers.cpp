#include "evaluate/check/rules.h"

#include <algorithm>
#include <tuple>

namespace monet::check {

namespace {

class Transfers {
 public:
  Transfers(const CheckContext& context, const Holdings& holdings)
      : context_(context), holdings_(holdings), schedule_(context.schedule), findings_(context.findings) {}

  void run() {
    index_carriers();
    for (std::size_t i = 0; i < schedule_.transfers.size(); ++i) {
      check_route(i);
      check_kind(i);
      check_source(i);
      if (schedule_.transfers[i].joined) check_joined(i);
    }
  }

 private:
  void check_route(std::size_t i) {
    const ScheduledTransfer& transfer = schedule_.transfers[i];
    const Route& route = schedule_.routes[transfer.route];
    if (route.from != transfer.from || route.to != transfer.to) {
      findings_.add("{} takes a route from {} to {}", context_.transfer_name(i), context_.name(route.from),
                    context_.name(route.to));
      return;
    }
    const double took = transfer.end - transfer.start;
    const double least = static_cast<double>(transfer.bytes) * 8 / route.bits_per_cycle + route.latency_cycles;
    if (!(least <= took * (1 + 1e-9) + context_.tolerance)) {
      findings_.add("{} takes {} cycles, {} bytes over its route {}", context_.transfer_name(i), took, transfer.bytes,
                    least);
    }
    // What moves in pages is rounded up to one.
    const std::int64_t page =
        std::max(context_.hardware[transfer.from].page_bits, context_.hardware[transfer.to].page_bits) / 8;
    const std::int64_t bytes = context_.tiles.buffers[transfer.buffer.index()].bytes;
    const std::int64_t most = page > 0 ? (bytes + page - 1) / page * page : bytes;
    if (transfer.bytes <= 0 || transfer.bytes > most) {
      findings_.add("{} carries {} bytes of {}", context_.transfer_name(i), transfer.bytes, bytes);
    }
  }

  void check_kind(std::size_t i) {
    const ScheduledTransfer& transfer = schedule_.transfers[i];
    const bool from_home = context_.is_home[transfer.from.index()];
    const bool to_home = context_.is_home[transfer.to.index()];
    const MemoryId away = context_.away(context_.tiles.buffers[transfer.buffer.index()].tensor);
    bool right = true;
    switch (transfer.kind) {
      case TransferKind::fetch: right = from_home; break;
      case TransferKind::write_back: right = to_home; break;
      case TransferKind::core_to_core: right = from_home == to_home; break;
      case TransferKind::page_out: right = away.valid() && transfer.to == away; break;
      case TransferKind::page_in: right = away.valid() && transfer.from == away; break;
    }
    if (right) return;
    static constexpr std::array<std::string_view, 5> names = {"fetch", "write-back", "transfer from core to core",
                                                              "page-out", "page-in"};
    findings_.add("{} is called a {}", context_.transfer_name(i), names[static_cast<std::size_t>(transfer.kind)]);
  }

  void check_source(std::size_t i) {
    const ScheduledTransfer& transfer = schedule_.transfers[i];
    const std::int64_t bytes = context_.tiles.buffers[transfer.buffer.index()].bytes;
    const std::uint32_t version = holdings_.version_at(transfer.buffer, transfer.start);
    Found found = Found::not_there;
    if (version > 0 || holdings_.complete(transfer.buffer) == 0) {
      found = holdings_.find({.buffer = transfer.buffer,
                              .memory = transfer.from,
                              .start = transfer.start,
                              .end = transfer.end,
                              .version = version,
                              .bytes = std::min(bytes, transfer.bytes)});
    }
    if (found == Found::present) return;
    findings_.add("{}: at its source the buffer {}", context_.transfer_name(i), name_of(found));
  }

  // Transfers that carry data themselves, so that those that join one can find it.
  void index_carriers() {
    for (std::size_t i = 0; i < schedule_.transfers.size(); ++i) {
      if (!schedule_.transfers[i].joined) carriers_.push_back(static_cast<std::uint32_t>(i));
    }
    std::ranges::sort(carriers_, {}, [&](std::uint32_t i) { return key(schedule_.transfers[i]); });
  }
  static std::tuple<BufferId, MemoryId, double> key(const ScheduledTransfer& transfer) {
    return {transfer.buffer, transfer.from, transfer.start};
  }

  bool share_a_bus(const ScheduledTransfer& a, const ScheduledTransfer& b) const {
    const auto& others = schedule_.routes[b.route].channels;
    return std::ranges::any_of(schedule_.routes[a.route].channels, [&](const ChannelUse& use) {
      const LinkId link = schedule_.channels[use.channel].link;
      return link.valid() && context_.hardware[link].kind == LinkKind::bus &&
             std::ranges::find(others, use.channel, &ChannelUse::channel) != others.end();
    });
  }

  void check_joined(std::size_t i) {
    const ScheduledTransfer& transfer = schedule_.transfers[i];
    const auto same = std::ranges::equal_range(carriers_, key(transfer), {},
                                               [&](std::uint32_t c) { return key(schedule_.transfers[c]); });
    const bool carried = std::ranges::any_of(same, [&](std::uint32_t c) {
      const ScheduledTransfer& carrier = schedule_.transfers[c];
      return carrier.end == transfer.end && carrier.bytes >= transfer.bytes && share_a_bus(carrier, transfer);
    });
    if (!carried) findings_.add("{} joins another over a bus, and there is none", context_.transfer_name(i));
  }

  const CheckContext& context_;
  const Holdings& holdings_;
  const Schedule& schedule_;
  Findings& findings_;
  std::vector<std::uint32_t> carriers_;
};

}  // namespace

void check_transfers(const CheckContext& context, const Holdings& holdings) { Transfers(context, holdings).run(); }

}  // namespace monet::check

#include "evaluate/check/rules.h"

#include <cmath>

namespace monet::check {

namespace {

bool is_amount(double value) { return std::isfinite(value) && value >= 0; }

class Form {
 public:
  explicit Form(const CheckContext& context)
      : graph_(context.graph),
        hardware_(context.hardware),
        tiles_(context.tiles),
        schedule_(context.schedule),
        context_(context),
        findings_(context.findings) {}

  void run() {
    tables();
    if (findings_.count() > 0) return;
    tile_graph();
    scheduled_tiles();
    routes();
    transfers();
    stays();
  }

 private:
  void size(std::string_view what, std::size_t is, std::size_t wanted) {
    if (is != wanted) findings_.add("{}: {} entries where {} are needed", what, is, wanted);
  }
  void below(std::string_view what, std::size_t number, std::string_view refers_to, std::size_t index,
             std::size_t limit) {
    if (index >= limit) findings_.add("{} {} refers to a {} that does not exist", what, number, refers_to);
  }
  void amount(std::string_view what, std::size_t number, std::string_view quantity, double value) {
    if (!is_amount(value)) findings_.add("{} {}: {} is {}", what, number, quantity, value);
  }
  void span(std::string_view what, std::size_t number, double start, double end) {
    amount(what, number, "its start", start);
    amount(what, number, "its end", end);
    if (start > end) findings_.add("{} {} ends at {}, before it starts at {}", what, number, end, start);
  }

  void offsets(std::string_view what, const std::vector<std::uint32_t>& first, std::size_t entries, std::size_t total) {
    size(what, first.size(), entries + 1);
    for (std::size_t i = 0; i + 1 < first.size(); ++i) {
      if (first[i] > first[i + 1]) findings_.add("{}: entry {} lies after the next one", what, i);
    }
    if (!first.empty() && (first.front() != 0 || first.back() != total)) {
      findings_.add("{}: it ends at {}, the table at {}", what, first.back(), total);
    }
  }

  void tables() {
    const std::size_t nodes = graph_.nodes().size();
    const std::size_t tensors = graph_.tensors().size();
    size("operators of the plan", context_.assignment.operators.size(), nodes);
    if (!context_.assignment.paged.empty()) size("paged tensors", context_.assignment.paged.size(), tensors);
    if (!context_.options.element_bits.empty()) {
      size("bits of elements", context_.options.element_bits.size(), tensors);
    }
    size("operators in tiles", tiles_.operators.size(), nodes);
    size("scheduled tiles", schedule_.tiles.size(), tiles_.tiles());
    size("home memories", schedule_.home_of.size(), hardware_.cores.size());
    offsets("first reads", tiles_.first_read, tiles_.tiles(), tiles_.reads.size());
    offsets("first writes", tiles_.first_write, tiles_.tiles(), tiles_.writes.size());
    offsets("first buffers", tiles_.first_buffer, tensors, tiles_.buffers.size());
    amount("step", 0, "its length", schedule_.cycles);
    for (std::size_t i = 0; i < schedule_.home_of.size(); ++i) {
      below("core", i, "home memory", schedule_.home_of[i].index(), hardware_.memories.size());
    }
    for (std::size_t i = 0; i < context_.assignment.paged.size(); ++i) {
      const MemoryId memory = context_.assignment.paged[i];
      if (memory.valid()) below("paged tensor", i, "memory", memory.index(), hardware_.memories.size());
    }
  }

  void tile_graph() {
    const std::size_t buffers = tiles_.buffers.size();
    for (std::size_t i = 0; i < tiles_.tiles(); ++i) {
      below("tile", i, "node", tiles_.node[i].index(), graph_.nodes().size());
    }
    for (std::size_t i = 0; i < tiles_.reads.size(); ++i) {
      below("read", i, "buffer", tiles_.reads[i].buffer.index(), buffers);
      below("read", i, "part", tiles_.reads[i].part, tiles_.parts.size());
    }
    for (std::size_t i = 0; i < tiles_.writes.size(); ++i) {
      below("write", i, "buffer", tiles_.writes[i].buffer.index(), buffers);
    }
    for (std::size_t i = 0; i < buffers; ++i) {
      const Buffer& buffer = tiles_.buffers[i];
      below("buffer", i, "tensor", buffer.tensor.index(), graph_.tensors().size());
      if (buffer.maker.valid()) below("buffer", i, "tile", buffer.maker.index(), tiles_.tiles());
    }
  }

  void scheduled_tiles() {
    for (std::size_t i = 0; i < schedule_.costs.size(); ++i) {
      const TileCost& cost = schedule_.costs[i];
      amount("cost", i, "its cycles", cost.cycles);
      amount("cost", i, "what it reads from home", cost.home_read_bits);
      amount("cost", i, "what it writes to home", cost.home_write_bits);
    }
    for (std::size_t i = 0; i < schedule_.tiles.size(); ++i) {
      const ScheduledTile& tile = schedule_.tiles[i];
      span("tile", i, tile.start, tile.end);
      below("tile", i, "core", tile.core.index(), hardware_.cores.size());
      below("tile", i, "cost", tile.cost, schedule_.costs.size());
      for (const std::uint32_t route : {tile.read_route, tile.write_route}) {
        if (route != no_route) below("tile", i, "route", route, schedule_.routes.size());
      }
      waits("tile", i, tile.wait, tile.by);
    }
  }

  void waits(std::string_view what, std::size_t i, Wait wait, std::uint32_t by) {
    if (wait == Wait::core || wait == Wait::data || wait == Wait::memory) {
      below(what, i, "tile that it waits for", by, schedule_.tiles.size());
    } else if (wait != Wait::nothing) {
      below(what, i, "transfer that it waits for", by, schedule_.transfers.size());
    }
  }

  void routes() {
    for (std::size_t i = 0; i < schedule_.channels.size(); ++i) {
      const Channel& channel = schedule_.channels[i];
      if (channel.link.valid() == channel.memory.valid()) {
        findings_.add("channel {} is neither a link nor a port of a memory", i);
      } else if (channel.link.valid()) {
        below("channel", i, "link", channel.link.index(), hardware_.links.size());
      } else {
        const bool exists = channel.memory.index() < hardware_.memories.size();
        below("channel", i, "memory", channel.memory.index(), hardware_.memories.size());
        const auto port = static_cast<unsigned char>(channel.port);  // below 0: larger than any
        if (exists) below("channel", i, "port", port, hardware_[channel.memory].ports.size());
      }
    }
    for (std::size_t i = 0; i < schedule_.routes.size(); ++i) {
      const Route& route = schedule_.routes[i];
      below("route", i, "memory", route.from.index(), hardware_.memories.size());
      below("route", i, "memory", route.to.index(), hardware_.memories.size());
      amount("route", i, "its latency", route.latency_cycles);
      for (const ChannelUse& use : route.channels) below("route", i, "channel", use.channel, schedule_.channels.size());
    }
  }

  void transfers() {
    for (std::size_t i = 0; i < schedule_.transfers.size(); ++i) {
      const ScheduledTransfer& transfer = schedule_.transfers[i];
      span("transfer", i, transfer.start, transfer.end);
      below("transfer", i, "buffer", transfer.buffer.index(), tiles_.buffers.size());
      below("transfer", i, "memory", transfer.from.index(), hardware_.memories.size());
      below("transfer", i, "memory", transfer.to.index(), hardware_.memories.size());
      below("transfer", i, "route", transfer.route, schedule_.routes.size());
      waits("transfer", i, transfer.wait, transfer.by);
    }
  }

  void stays() {
    for (std::size_t i = 0; i < schedule_.stays.size(); ++i) {
      const Stay& stay = schedule_.stays[i];
      span("stay", i, stay.start, stay.end);
      below("stay", i, "memory", stay.memory.index(), hardware_.memories.size());
      if (stay.buffer.valid()) {
        below("stay", i, "buffer", stay.buffer.index(), tiles_.buffers.size());
      } else {
        below("stay", i, "tile", stay.tile.index(), tiles_.tiles());
      }
      amount("stay", i, "its bytes", static_cast<double>(stay.bytes));
    }
    for (std::size_t i = 0; i < schedule_.home.size(); ++i) {
      const TensorStay& stay = schedule_.home[i];
      span("stay of a tensor", i, stay.start, stay.end);
      below("stay of a tensor", i, "memory", stay.memory.index(), hardware_.memories.size());
      below("stay of a tensor", i, "tensor", stay.tensor.index(), graph_.tensors().size());
      amount("stay of a tensor", i, "its bytes", static_cast<double>(stay.bytes));
    }
  }

  const Graph& graph_;
  const Hardware& hardware_;
  const TileGraph& tiles_;
  const Schedule& schedule_;
  const CheckContext& context_;
  Findings& findings_;
};

}  // namespace

void check_form(const CheckContext& context) { Form(context).run(); }

}  // namespace monet::check

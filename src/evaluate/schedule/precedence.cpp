#include "evaluate/schedule/precedence.h"

#include <algorithm>

namespace monet::scheduling {

Precedence::Precedence(const ScheduleInput& input, const Readers& readers, std::vector<NodePair> after,
                       std::vector<ScheduledTile>& tiles, ReadyQueue* ready)
    : in_(input),
      readers_(readers),
      tiles_(tiles),
      ready_(ready),
      waits_for_(input.tiles.tiles(), 0),
      after_(std::move(after)) {
  find_replaced();
  find_sums();
  left_of_.reserve(in_.tiles.operators.size());
  for (const OperatorTiles& op : in_.tiles.operators) left_of_.emplace_back(op.count, Moment{});
  for (std::size_t t = 0; t < waits_for_.size() && ready_ != nullptr; ++t) {
    if (waits_for_[t] == 0) ready_->offer(TileId(t), tiles_[t].core, 0);
  }
}

void Precedence::find_replaced() {
  std::vector<NodeId> replacer(in_.graph.tensors().size());  // by tensor: of its value
  for (const Tensor& tensor : in_.graph.tensors()) {
    if (tensor.updates.valid()) replacer[tensor.updates.index()] = tensor.producer;
  }
  for (std::size_t b = 0; b < in_.tiles.buffers.size(); ++b) {
    const Buffer& buffer = in_.tiles.buffers[b];
    const NodeId replaced_by = replacer[buffer.tensor.index()];
    for (std::uint32_t t : readers_.of(BufferId(b))) {
      if (buffer.maker.valid()) ++waits_for_[t];
      const NodePair pair(in_.tiles.node[t], replaced_by);
      if (!replaced_by.valid() || pair.first == replaced_by) continue;
      if (after_.empty() || after_.back() != pair) after_.push_back(pair);
    }
  }
  std::ranges::sort(after_);
  after_.erase(std::ranges::unique(after_).begin(), after_.end());
  for (const auto& [first, second] : after_) {
    const OperatorTiles& op = in_.tiles.operators[second.index()];
    for (std::uint32_t i = 0; i < op.count; ++i) ++waits_for_[op.first + i];
  }
}

void Precedence::find_sums() {
  std::vector<std::uint32_t> last_writer;  // by buffer; empty: no sum has begun
  for (std::uint32_t t = 0; t < in_.tiles.tiles(); ++t) {
    for (const TileWrite& write : in_.tiles.writes_of(TileId(t))) {
      if (last_writer.empty() && !write.adds && write.final) continue;
      if (last_writer.empty()) last_writer.assign(in_.tiles.buffers.size(), none);
      if (write.adds) {
        sums_.emplace_back(last_writer[write.buffer.index()], t);
        ++waits_for_[t];
      }
      last_writer[write.buffer.index()] = t;
    }
  }
  std::ranges::sort(sums_);
}

void Precedence::complete(BufferId buffer, const Moment& made) {
  for (std::uint32_t reader : readers_.of(buffer)) arrive(TileId(reader), made);
}

void Precedence::finish(TileId tile, const Moment& made) {
  const auto index = static_cast<std::uint32_t>(tile.index());
  for (const auto& [from, to] :
       std::ranges::equal_range(sums_, index, {}, &std::pair<std::uint32_t, std::uint32_t>::first)) {
    arrive(TileId(to), made);
  }
  const NodeId node = in_.tiles.node[tile.index()];
  auto& [left, last] = left_of_[node.index()];
  last = later(last, made);
  if (--left > 0) return;
  for (const auto& [first, second] : std::ranges::equal_range(after_, node, {}, &NodePair::first)) {
    const OperatorTiles& op = in_.tiles.operators[second.index()];
    for (std::uint32_t i = 0; i < op.count; ++i) arrive(TileId(op.first + i), last);
  }
}

void Precedence::arrive(TileId tile, const Moment& moment) {
  ScheduledTile& waiting = tiles_[tile.index()];
  if (moment.at > waiting.start) {
    waiting.start = moment.at;
    waiting.by = moment.by;
  }
  if (--waits_for_[tile.index()] == 0 && ready_ != nullptr) ready_->offer(tile, waiting.core, waiting.start);
}

}  // namespace monet::scheduling

#include "evaluate/schedule/scheduling.h"

#include "base/try.h"
#include "evaluate/schedule/order.h"
#include "training/recompute.h"

#include <algorithm>

namespace monet::scheduling {

Status Scheduler::prepare() {
  const std::size_t tiles = tiles_.tiles();
  out_.tiles.resize(tiles);
  std::vector<double> cycles(tiles);
  for (std::size_t t = 0; t < tiles; ++t) {
    out_.tiles[t].core = places_.core_of(TileId(t));
    cycles[t] = places_.cost(TileId(t)).cycles;
  }
  rank_ = tile_order(graph_, in_.dependencies, in_.assignment, tiles_, cycles);
  ready_.emplace(hardware_.cores.size(), rank_);
  last_on_.assign(machine_.channels().size(), none);
  for (std::size_t m = 0; m < hardware_.memories.size(); ++m) {
    const bool bounded = !machine_.is_backing(MemoryId(m));
    rooms_.emplace_back(bounded ? std::optional(machine_.capacity_bytes(MemoryId(m))) : std::nullopt);
  }
  held_.resize(hardware_.memories.size());
  cores_.resize(hardware_.cores.size());
  for (std::size_t c = 0; c < hardware_.cores.size(); ++c) {
    out_.home_of.push_back(machine_[CoreId(c)].home[static_cast<std::size_t>(Path::output)]);
  }
  find_paged_states();
  find_dependencies();
  find_homes();
  begin_at_home();
  return check_paging();
}

void Scheduler::find_dependencies() {
  const std::size_t buffers = tiles_.buffers.size();
  buffers_.resize(buffers);
  waits_for_.assign(tiles_.tiles(), 0);
  std::vector<std::uint32_t> last_writer;
  std::vector<NodeId> updater(graph_.tensors().size());  // by tensor: what replaces its value
  for (const Tensor& tensor : graph_.tensors()) {
    if (tensor.updates.valid()) updater[tensor.updates.index()] = tensor.producer;
  }
  for (std::size_t b = 0; b < buffers; ++b) {
    const NodeId replaced_by = updater[tiles_.buffers[b].tensor.index()];
    if (replaced_by.valid()) {
      for (std::uint32_t t : readers_.of(BufferId(b))) {
        const std::pair pair(tiles_.node[t], replaced_by);
        if (pair.first != replaced_by && (replaces_.empty() || replaces_.back() != pair)) replaces_.push_back(pair);
      }
    }
    const TileId maker = tiles_.buffers[b].maker;
    if (!maker.valid()) continue;
    for (std::uint32_t t : readers_.of(BufferId(b))) ++waits_for_[t];
    buffers_[b].must_go_home = !readers_.all_in(BufferId(b), direct_ ? MemoryId() : places_.output_memory(maker));
  }
  for (std::size_t t = 0; t < tiles_.tiles(); ++t) {
    const TileId tile(t);
    for (const TileWrite& write : tiles_.writes_of(tile)) {
      if (last_writer.empty() && !write.adds && write.final) continue;
      if (last_writer.empty()) last_writer.assign(buffers, none);
      if (write.adds) {
        chain_.push_back({last_writer[write.buffer.index()], static_cast<std::uint32_t>(t)});
        ++waits_for_[t];
      }
      last_writer[write.buffer.index()] = static_cast<std::uint32_t>(t);
    }
  }
  std::ranges::sort(chain_);
  wait_for_paging();
  wait_for_paged_states();
  std::ranges::sort(replaces_);
  replaces_.erase(std::ranges::unique(replaces_).begin(), replaces_.end());
  for (const auto& [reader, replacer] : replaces_) {
    const OperatorTiles& op = tiles_.operators[replacer.index()];
    for (std::uint32_t i = 0; i < op.count; ++i) ++waits_for_[op.first + i];
  }
  left_of_.resize(tiles_.operators.size());
  for (std::size_t n = 0; n < left_of_.size(); ++n) left_of_[n] = {tiles_.operators[n].count, {}};
}

void Scheduler::wait_for_paging() {
  if (in_.assignment.paged.empty() || in_.assignment.order != PlanOrder::critical_path) return;
  std::vector<NodeId> forward, later;
  for (std::size_t i = 0; i < in_.assignment.paged.size(); ++i) {
    if (!in_.assignment.paged[i].valid() || paged_state_of(TensorId(i)) != nullptr) continue;
    forward.clear();
    later.clear();
    for (std::uint32_t b = tiles_.first_buffer[i]; b < tiles_.first_buffer[i + 1]; ++b) {
      for (std::uint32_t t : readers_.of(BufferId(b))) {
        const NodeId node = tiles_.node[t];
        auto& nodes = graph_[node].phase == Phase::forward ? forward : later;
        if (std::ranges::find(nodes, node) == nodes.end()) nodes.push_back(node);
      }
    }
    for (NodeId first : forward) {
      for (NodeId second : later) replaces_.emplace_back(first, second);
    }
  }
}

void Scheduler::find_homes() {
  tensors_.resize(graph_.tensors().size());
  for (TensorId id : graph_.outputs) mark_output(id);
  for (std::size_t i = 0; i < graph_.tensors().size(); ++i) {
    if (graph_.tensors()[i].updates.valid()) mark_output(TensorId(i));
    if (in_.assignment.paged.size() > i && in_.assignment.paged[i].valid()) mark_output(TensorId(i));
  }
  // By the first tile that reads or makes it.
  const auto set = [&](TensorId tensor, MemoryId home) {
    TensorState& state = tensors_[stored_as(tensor).index()];
    if (!state.home.valid()) state.home = home;
  };
  const auto set_by = [&](TileId tile) {
    const CorePlaces& core = machine_[places_.core_of(tile)];
    for (const TileRead& read : tiles_.reads_of(tile)) {
      set(tiles_.buffers[read.buffer.index()].tensor, core.home[places_.path_of(tile, read)]);
    }
    for (const TileWrite& write : tiles_.writes_of(tile)) {
      set(tiles_.buffers[write.buffer.index()].tensor, core.home[static_cast<std::size_t>(Path::output)]);
    }
  };
  for (const OperatorTiles& op : tiles_.operators) {
    if (op.count > 0) set_by(TileId(op.first));
  }
  // Of several tensors behind a view, the first tile may not read all.
  bool all_set = true;
  for (const Buffer& buffer : tiles_.buffers)
    all_set = all_set && tensors_[stored_as(buffer.tensor).index()].home.valid();
  for (std::size_t t = 0; t < tiles_.tiles() && !all_set; ++t) set_by(TileId(t));
}

void Scheduler::mark_output(TensorId id) {
  // An output may be a view: what it shows must be there.
  for (TensorId stored : training::stored_behind(graph_, id)) {
    for (std::uint32_t b = tiles_.first_buffer[stored.index()]; b < tiles_.first_buffer[stored.index() + 1]; ++b) {
      buffers_[b].must_go_home = true;
    }
  }
}

void Scheduler::begin_at_home() {
  for (std::size_t b = 0; b < buffers_.size(); ++b) {
    if (tiles_.buffers[b].maker.valid()) continue;
    buffers_[b].home = {};
    buffers_[b].paged_out = paged_state_of(BufferId(b)) != nullptr;
    if (!buffers_[b].paged_out) tensor_of(BufferId(b)).start = 0;
  }
}

}  // namespace monet::scheduling

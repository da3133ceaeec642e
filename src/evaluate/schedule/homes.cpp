#include "evaluate/schedule/homes.h"

#include "training/recompute.h"

namespace monet::scheduling {

Homes::Homes(const ScheduleInput& input, const TilePlaces& places, const Readers& readers)
    : in_(input),
      graph_(input.graph),
      tiles_(input.tiles),
      buffers_(input.tiles.buffers.size()),
      tensors_(input.graph.tensors().size()) {
  find_memories(places);
  find_wanted(places, readers);
  for (std::size_t b = 0; b < buffers_.size(); ++b) {
    if (tiles_.buffers[b].maker.valid()) continue;
    buffers_[b].since = {};
    tensor_of(BufferId(b)).start = 0;
  }
}

void Homes::find_memories(const TilePlaces& places) {
  // By the first tile that reads or makes it.
  const auto set = [&](BufferId buffer, MemoryId home) {
    TensorAtHome& tensor = tensor_of(buffer);
    if (!tensor.memory.valid()) tensor.memory = home;
  };
  const auto set_by = [&](TileId tile) {
    const CorePlaces& core = in_.machine[places.core_of(tile)];
    for (const TileRead& read : tiles_.reads_of(tile)) set(read.buffer, core.home[places.path_of(tile, read)]);
    for (const TileWrite& write : tiles_.writes_of(tile)) {
      set(write.buffer, core.home[static_cast<std::size_t>(Path::output)]);
    }
  };
  for (const OperatorTiles& op : tiles_.operators) {
    if (op.count > 0) set_by(TileId(op.first));
  }
  // Of several tensors behind a view, the first tile may not read all.
  bool all_set = true;
  for (std::size_t b = 0; b < buffers_.size(); ++b) all_set = all_set && memory_of(BufferId(b)).valid();
  for (std::size_t t = 0; t < tiles_.tiles() && !all_set; ++t) set_by(TileId(t));
}

void Homes::find_wanted(const TilePlaces& places, const Readers& readers) {
  const bool direct = in_.assignment.transfers == PlanTransfers::direct;
  for (std::size_t b = 0; b < buffers_.size(); ++b) {
    const TileId maker = tiles_.buffers[b].maker;
    if (!maker.valid()) continue;
    buffers_[b].must_go = !readers.all_in(BufferId(b), direct ? MemoryId() : places.output_memory(maker));
  }
  for (TensorId id : graph_.outputs) mark_output(id);
  for (std::size_t i = 0; i < tensors_.size(); ++i) {
    if (graph_.tensors()[i].updates.valid()) mark_output(TensorId(i));
    if (in_.assignment.paged.size() > i && in_.assignment.paged[i].valid()) mark_output(TensorId(i));
  }
}

void Homes::mark_output(TensorId tensor) {
  // An output may be a view: what it shows must be there.
  for (TensorId stored : training::stored_behind(graph_, tensor)) {
    const std::uint32_t end = tiles_.first_buffer[stored.index() + 1];
    for (std::uint32_t b = tiles_.first_buffer[stored.index()]; b < end; ++b) buffers_[b].must_go = true;
  }
}

std::int64_t Homes::bytes_of(TensorId tensor) const {
  std::int64_t sum = 0;
  for (std::uint32_t b = tiles_.first_buffer[tensor.index()]; b < tiles_.first_buffer[tensor.index() + 1]; ++b) {
    sum += tiles_.buffers[b].bytes;
  }
  return sum;
}

std::vector<bool> Homes::lasting() const {
  std::vector<bool> lasts(tensors_.size(), false);
  for (std::size_t i = 0; i < tensors_.size(); ++i) {
    const Tensor& tensor = graph_.tensors()[i];
    if (tensor.updates.valid()) lasts[stored_as(graph_, TensorId(i)).index()] = true;
    // What the next step begins with stays; data and constants are there as long as they are needed.
    const bool kept = tensor.role == Role::weight || tensor.role == Role::master_weight ||
                      tensor.role == Role::optimizer_state || tensor.role == Role::statistic ||
                      tensor.role == Role::constant;
    if (!tensor.producer.valid() && kept) lasts[i] = true;
  }
  for (TensorId id : graph_.outputs) {
    for (TensorId stored : training::stored_behind(graph_, id)) lasts[stored_as(graph_, stored).index()] = true;
  }
  return lasts;
}

void Homes::add_stays(double cycles, std::vector<TensorStay>& stays) const {
  const std::vector<bool> lasts = lasting();
  for (std::size_t i = 0; i < tensors_.size(); ++i) {
    const TensorAtHome& tensor = tensors_[i];
    if (tensor.start == never || !tensor.memory.valid()) continue;
    const std::int64_t bytes = bytes_of(TensorId(i));
    const double end = lasts[i] ? cycles : tensor.end;
    const auto add = [&](MemoryId memory, double from, double to) {
      stays.push_back({.start = from, .end = to, .bytes = bytes, .tensor = TensorId(i), .memory = memory});
    };
    if (tensor.page_start == never || tensor.out > tensor.back) {
      add(tensor.memory, tensor.start, end);
    } else {
      add(tensor.memory, tensor.start, tensor.out);
      if (tensor.back < never) add(tensor.memory, tensor.back, end);
    }
    if (tensor.page_start < never) {
      add(in_.assignment.paged[i], tensor.page_start, tensor.page_end > 0 ? tensor.page_end : cycles);
    }
  }
}

}  // namespace monet::scheduling

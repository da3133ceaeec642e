#include "evaluate/schedule/scheduling.h"

#include "training/recompute.h"

#include <algorithm>

namespace monet::scheduling {

void Scheduler::finish() {
  for (const ScheduledTile& tile : out_.tiles) out_.cycles = std::max(out_.cycles, tile.end);
  for (const ScheduledTransfer& transfer : out_.transfers) out_.cycles = std::max(out_.cycles, transfer.end);
  for (Stay& stay : out_.stays) stay.end = std::min(stay.end, out_.cycles);
  std::vector<bool> lasts(graph_.tensors().size(), false);
  for (std::size_t i = 0; i < graph_.tensors().size(); ++i) {
    const Tensor& tensor = graph_.tensors()[i];
    if (tensor.updates.valid()) lasts[stored_as(TensorId(i)).index()] = true;
    // What the next step begins with stays; data and constants are there as long as they are needed.
    const bool kept = tensor.role == Role::weight || tensor.role == Role::master_weight ||
                      tensor.role == Role::optimizer_state || tensor.role == Role::statistic ||
                      tensor.role == Role::constant;
    if (!tensor.producer.valid() && kept) lasts[i] = true;
  }
  for (TensorId id : graph_.outputs) {
    for (TensorId stored : training::stored_behind(graph_, id)) lasts[stored_as(stored).index()] = true;
  }
  for (const PagedState& paged_state : paged_states_) {
    const std::int64_t bytes = bytes_of(paged_state.tensor);
    if (bytes == 0) continue;
    out_.home.push_back(
        {.start = 0, .end = out_.cycles, .bytes = bytes, .tensor = paged_state.tensor, .memory = paged_state.storage});
  }
  for (std::size_t i = 0; i < tensors_.size(); ++i) {
    TensorState& state = tensors_[i];
    if (state.start == never || !state.home.valid()) continue;
    const std::int64_t bytes = bytes_of(TensorId(i));
    const double end = lasts[i] ? out_.cycles : state.end;
    const auto add = [&](MemoryId memory, double from, double to) {
      out_.home.push_back({.start = from, .end = to, .bytes = bytes, .tensor = TensorId(i), .memory = memory});
    };
    if (state.page_start == never || state.out > state.back) {
      add(state.home, state.start, end);
    } else {
      add(state.home, state.start, state.out);
      if (state.back < never) add(state.home, state.back, end);
    }
    if (state.page_start < never) {
      add(in_.assignment.paged[i], state.page_start, state.page_end > 0 ? state.page_end : out_.cycles);
    }
  }
  out_.channels = machine_.channels();
  renumber_routes();
  renumber_costs();
}

std::int64_t Scheduler::bytes_of(TensorId tensor) const {
  std::int64_t sum = 0;
  for (std::uint32_t b = tiles_.first_buffer[tensor.index()]; b < tiles_.first_buffer[tensor.index() + 1]; ++b) {
    sum += tiles_.buffers[b].bytes;
  }
  return sum;
}

void Scheduler::renumber_routes() {
  std::vector<std::uint32_t> number(machine_.routes().size(), no_route);
  const auto use = [&](std::uint32_t& route) {
    if (route == no_route) return;
    if (number[route] == no_route) {
      number[route] = static_cast<std::uint32_t>(out_.routes.size());
      out_.routes.push_back(machine_.routes()[route]);
    }
    route = number[route];
  };
  for (ScheduledTransfer& transfer : out_.transfers) use(transfer.route);
  for (ScheduledTile& tile : out_.tiles) {
    use(tile.read_route);
    use(tile.write_route);
  }
}

void Scheduler::renumber_costs() {
  std::vector<std::uint32_t> number;
  for (ScheduledTile& tile : out_.tiles) {
    if (tile.cost >= number.size()) number.resize(tile.cost + 1, none);
    if (number[tile.cost] == none) {
      number[tile.cost] = static_cast<std::uint32_t>(out_.costs.size());
      out_.costs.push_back(in_.costs[tile.cost]);
    }
    tile.cost = number[tile.cost];
  }
}

}  // namespace monet::scheduling

#include "evaluate/schedule/scheduling.h"

#include "base/try.h"

#include <fmt/format.h>

#include <algorithm>

namespace monet::scheduling {

Status Scheduler::check_paging() {
  for (std::size_t i = 0; i < in_.assignment.paged.size(); ++i) {
    const MemoryId memory = in_.assignment.paged[i];
    if (!memory.valid()) continue;
    const MemoryId home = tensors_[i].home;
    if (memory == home) {
      return Error{.message = fmt::format("paging it to {} moves nothing: it is there anyway", hardware_[memory].name),
                   .place = graph_[TensorId(i)].name,
                   .advice = "page it to another memory, or keep it"};
    }
    const auto works_in = [&](std::size_t core) {
      return std::ranges::find(machine_[CoreId(core)].local, memory) != machine_[CoreId(core)].local.end();
    };
    for (std::size_t core = 0; core < hardware_.cores.size(); ++core) {
      if (!works_in(core)) continue;
      return Error{.message = fmt::format("it cannot be paged to {}: {} works in that memory", hardware_[memory].name,
                                          hardware_[CoreId(core)].name),
                   .place = graph_[TensorId(i)].name,
                   .advice = "page it to storage or to off-chip memory"};
    }
    if (!home.valid()) continue;  // nobody uses it
    const PagedState* paged_state = paged_state_of(TensorId(i));
    const bool written = paged_state == nullptr || !paged_state->replacements.empty();
    for (const auto& [from, to] : {std::pair(memory, home), std::pair(home, memory)}) {
      if (machine_.route(from, to) != no_route || (to == memory && !written)) continue;
      return Error{.message = fmt::format("it cannot be paged to {}: nothing leads from {} to {}",
                                          hardware_[memory].name, hardware_[from].name, hardware_[to].name),
                   .place = graph_[TensorId(i)].name,
                   .advice = "page it to a memory that can be read and written"};
    }
    if (paged_state != nullptr) MONET_RETURN_IF_ERROR(check_paged_state(*paged_state));
  }
  return Done{};
}

Status Scheduler::check_paged_state(const PagedState& paged_state) const {
  for (TensorId id : paged_state.replacements) {
    if (family_of(graph_[graph_[id].producer].op) != OpFamily::view) continue;
    return Error{
        .message = fmt::format("it cannot be paged: its new value, '{}', is a view of another tensor", graph_[id].name),
        .place = graph_[paged_state.tensor].name,
        .advice = "keep it"};
  }
  return Done{};
}

void Scheduler::find_paged_states() {
  for (std::size_t i = 0; i < in_.assignment.paged.size(); ++i) {
    if (!in_.assignment.paged[i].valid() || graph_.tensors()[i].producer.valid()) continue;
    paged_states_.push_back({.tensor = TensorId(i), .storage = in_.assignment.paged[i]});
  }
  if (paged_states_.empty()) return;
  paged_state_of_.assign(graph_.tensors().size(), none);
  for (std::uint32_t i = 0; i < paged_states_.size(); ++i) paged_state_of_[paged_states_[i].tensor.index()] = i;
  for (std::size_t i = 0; i < graph_.tensors().size(); ++i) {
    paged_state_of_[i] = paged_state_of_[stored_as(TensorId(i)).index()];
    if (graph_.tensors()[i].updates.valid() && paged_state_of_[i] != none) {
      paged_states_[paged_state_of_[i]].replacements.emplace_back(i);
    }
  }
  for (std::size_t t = 0; t < tiles_.tiles(); ++t) {
    const auto phase = static_cast<std::size_t>(graph_[tiles_.node[t]].phase);
    for (const TileRead& read : tiles_.reads_of(TileId(t))) {
      if (PagedState* paged_state = paged_state_of(read.buffer)) ++paged_state->users[phase];
    }
    for (const TileWrite& write : tiles_.writes_of(TileId(t))) {
      if (PagedState* paged_state = paged_state_of(write.buffer)) ++paged_state->users[phase];
    }
  }
}

void Scheduler::wait_for_paged_states() {
  if (paged_states_.empty() || in_.assignment.order != PlanOrder::critical_path) return;
  std::vector<std::vector<NodeId>> users(paged_states_.size());  // in the order of the graph
  for (std::size_t t = 0; t < tiles_.tiles(); ++t) {
    const auto use = [&](BufferId buffer) {
      const std::uint32_t number = paged_state_of_[tiles_.buffers[buffer.index()].tensor.index()];
      if (number == none) return;
      if (users[number].empty() || users[number].back() != tiles_.node[t]) users[number].push_back(tiles_.node[t]);
    };
    for (const TileRead& read : tiles_.reads_of(TileId(t))) use(read.buffer);
    for (const TileWrite& write : tiles_.writes_of(TileId(t))) use(write.buffer);
  }
  for (const std::vector<NodeId>& nodes : users) {
    for (std::size_t second = 1; second < nodes.size(); ++second) {
      for (std::size_t first = 0; first < second; ++first) {
        if (graph_[nodes[first]].phase < graph_[nodes[second]].phase) {
          replaces_.emplace_back(nodes[first], nodes[second]);
        }
      }
    }
  }
}

void Scheduler::leave(TileId tile) {
  if (paged_states_.empty()) return;
  const auto phase = static_cast<std::size_t>(graph_[tiles_.node[tile.index()]].phase);
  const auto used = [&](BufferId buffer) {
    PagedState* paged_state = paged_state_of(buffer);
    if (paged_state == nullptr) return;
    --paged_state->users[phase];
    paged_state->phase = std::max(paged_state->phase, phase);
    for (std::size_t i = 0; i <= paged_state->phase; ++i) {
      if (paged_state->users[i] > 0) return;
    }
    leave(*paged_state);
  };
  for (const TileRead& read : tiles_.reads_of(tile)) used(read.buffer);
  for (const TileWrite& write : tiles_.writes_of(tile)) used(write.buffer);
}

void Scheduler::leave(PagedState& paged_state) {
  page_out_new(paged_state);
  TensorState& tensor = tensors_[paged_state.tensor.index()];
  if (tensor.start == never) return;
  const auto is_gone = [&](TensorId id) {
    for (std::uint32_t b = tiles_.first_buffer[id.index()]; b < tiles_.first_buffer[id.index() + 1]; ++b) {
      if (buffers_[b].home.at == never || buffers_[b].paged_out) continue;
      drop(BufferId(b));
      buffers_[b].paged_out = true;
      buffers_[b].home = {tensor.end};
    }
  };
  is_gone(paged_state.tensor);
  for (TensorId id : paged_state.replacements) is_gone(id);
  out_.home.push_back({.start = tensor.start,
                       .end = tensor.end,
                       .bytes = bytes_of(paged_state.tensor),
                       .tensor = paged_state.tensor,
                       .memory = tensor.home});
  tensor.start = never;
  tensor.end = 0;
}

void Scheduler::page_out_new(const PagedState& paged_state) {
  if (paged_state.replacements.empty()) return;
  const TensorId newest = paged_state.replacements.back();
  const MemoryId home = tensors_[paged_state.tensor.index()].home;
  const std::uint32_t route = machine_.route(home, paged_state.storage);
  for (std::uint32_t b = tiles_.first_buffer[newest.index()]; b < tiles_.first_buffer[newest.index() + 1]; ++b) {
    BufferState& state = buffers_[b];
    if (state.home.at == never || state.paged_out || state.paged_back) continue;  // not made yet, or there already
    Moment from = state.home;
    from.at = std::max(from.at, paged_state.paged_in);  // what has its place there has been read
    const auto out =
        move(BufferId(b), tiles_.buffers[b].bytes, home, paged_state.storage, route, TransferKind::page_out, from);
    if (!out) {
      failure_ = out.error();
      return;
    }
    drop(BufferId(b));
    state.paged_out = true;
    state.home = *out;
  }
}

void Scheduler::page_out_if_done(BufferId buffer) {
  const MemoryId storage = pages_to(buffer);
  BufferState& state = buffers_[buffer.index()];
  if (!storage.valid() || paged_state_of(buffer) != nullptr || state.paged_out || state.paged_back ||
      readers_.left_in_forward(buffer) > 0 || readers_.left(buffer) == 0 || state.home.at == never) {
    return;
  }
  TensorState& tensor = tensor_of(buffer);
  const std::uint32_t route = machine_.route(tensor.home, storage);
  if (route == no_route) return;
  Moment idle = state.home;
  for (std::uint32_t c = state.copies; c != none; c = copies_[c].next) idle = later(idle, copies_[c].idle);
  idle.at = std::max(idle.at, tensor.end);
  const auto out =
      move(buffer, tiles_.buffers[buffer.index()].bytes, tensor.home, storage, route, TransferKind::page_out, idle);
  if (!out) return;
  drop(buffer);
  state.home = *out;
  state.paged_out = true;
  tensor.page_start = std::min(tensor.page_start, out_.transfers.back().start);
  tensor.out = std::max(tensor.out, out->at);
}

Status Scheduler::check_paged() {
  for (std::size_t b = 0; b < buffers_.size(); ++b) {
    if (!pages_to(BufferId(b)).valid() || paged_state_of(BufferId(b)) != nullptr || buffers_[b].paged_out ||
        buffers_[b].paged_back)
      continue;
    return Error{.message =
                     "it cannot be paged out: in this order the backward part is done with it before the forward "
                     "part is",
                 .place = graph_[tiles_.buffers[b].tensor].name,
                 .advice = "keep it, or put operators of the two parts into different stacks"};
  }
  return Done{};
}

void Scheduler::page_in(BufferId buffer, double not_before) {
  BufferState& state = buffers_[buffer.index()];
  TensorState& tensor = tensor_of(buffer);
  PagedState* paged_state = paged_state_of(buffer);
  const MemoryId storage = paged_state != nullptr ? paged_state->storage : pages_to(buffer);
  const std::uint32_t route = machine_.route(storage, tensor.home);
  Moment from = state.home;
  from.at = std::max(from.at, not_before);
  if (route == no_route) return;
  const double begun = tensor.start;
  const auto in =
      move(buffer, tiles_.buffers[buffer.index()].bytes, storage, tensor.home, route, TransferKind::page_in, from);
  if (!in) return;
  state.home = *in;
  state.paged_out = false;
  state.paged_back = true;
  if (paged_state != nullptr) {
    paged_state->paged_in = std::max(paged_state->paged_in, in->at);
    return;
  }
  tensor.start = begun;
  tensor.back = std::min(tensor.back, out_.transfers.back().start);
  tensor.page_end = std::max(tensor.page_end, in->at);
}

}  // namespace monet::scheduling

#include "evaluate/schedule/paging.h"

#include "base/try.h"

#include <fmt/format.h>

#include <algorithm>

namespace monet::scheduling {

Paging::Paging(const ScheduleInput& input, const Readers& readers, Homes& homes, Transfers& transfers,
               Residency& residency, std::vector<TensorStay>& stays)
    : in_(input),
      readers_(readers),
      homes_(homes),
      transfers_(transfers),
      residency_(residency),
      stays_(stays),
      buffers_(input.assignment.paged.empty() ? 0 : input.tiles.buffers.size()) {
  find_states();
  for (std::size_t b = 0; b < buffers_.size(); ++b) {
    if (in_.tiles.buffers[b].maker.valid() || state_of(BufferId(b)) == none) continue;
    buffers_[b].out = true;
    homes_.tensor_of(BufferId(b)).start = never;
  }
}

void Paging::find_states() {
  const Graph& graph = in_.graph;
  for (std::size_t i = 0; i < in_.assignment.paged.size(); ++i) {
    if (!in_.assignment.paged[i].valid() || graph.tensors()[i].producer.valid()) continue;
    states_.push_back({.tensor = TensorId(i), .storage = in_.assignment.paged[i]});
  }
  if (states_.empty()) return;
  state_of_.assign(graph.tensors().size(), none);
  for (std::uint32_t i = 0; i < states_.size(); ++i) state_of_[states_[i].tensor.index()] = i;
  for (std::size_t i = 0; i < graph.tensors().size(); ++i) {
    state_of_[i] = state_of_[stored_as(graph, TensorId(i)).index()];
    if (graph.tensors()[i].updates.valid() && state_of_[i] != none) states_[state_of_[i]].replacements.emplace_back(i);
  }
  for (std::size_t t = 0; t < in_.tiles.tiles(); ++t) {
    const auto phase = static_cast<std::size_t>(graph[in_.tiles.node[t]].phase);
    for_each_buffer(TileId(t), [&](BufferId buffer) {
      if (const std::uint32_t state = state_of(buffer); state != none) ++states_[state].users[phase];
    });
  }
}

Status Paging::check() {
  const Hardware& hardware = in_.machine.hardware();
  for (std::size_t i = 0; i < in_.assignment.paged.size(); ++i) {
    const MemoryId memory = in_.assignment.paged[i];
    if (!memory.valid()) continue;
    const MemoryId home = homes_[TensorId(i)].memory;
    if (memory == home) {
      return Error{.message = fmt::format("paging it to {} moves nothing: it is there anyway", hardware[memory].name),
                   .place = in_.graph[TensorId(i)].name,
                   .advice = "page it to another memory, or keep it"};
    }
    for (std::size_t core = 0; core < hardware.cores.size(); ++core) {
      const auto& local = in_.machine[CoreId(core)].local;
      if (std::ranges::find(local, memory) == local.end()) continue;
      return Error{.message = fmt::format("it cannot be paged to {}: {} works in that memory", hardware[memory].name,
                                          hardware[CoreId(core)].name),
                   .place = in_.graph[TensorId(i)].name,
                   .advice = "page it to storage or to off-chip memory"};
    }
    if (!home.valid()) continue;  // nobody uses it
    const std::uint32_t state = state_of(TensorId(i));
    const bool written = state == none || !states_[state].replacements.empty();
    for (const auto& [from, to] : {std::pair(memory, home), std::pair(home, memory)}) {
      if (in_.machine.route(from, to) != no_route || (to == memory && !written)) continue;
      return Error{.message = fmt::format("it cannot be paged to {}: nothing leads from {} to {}",
                                          hardware[memory].name, hardware[from].name, hardware[to].name),
                   .place = in_.graph[TensorId(i)].name,
                   .advice = "page it to a memory that can be read and written"};
    }
    if (state != none) MONET_RETURN_IF_ERROR(check_state(states_[state]));
  }
  return Done{};
}

Status Paging::check_state(const State& state) const {
  for (TensorId id : state.replacements) {
    const Tensor& replacement = in_.graph[id];
    if (family_of(in_.graph[replacement.producer].op) != OpFamily::view) continue;
    return Error{.message = fmt::format("it cannot be paged: its new value, '{}', is a view of another tensor",
                                        replacement.name),
                 .place = in_.graph[state.tensor].name,
                 .advice = "keep it"};
  }
  return Done{};
}

std::vector<std::pair<NodeId, NodeId>> Paging::order() const {
  std::vector<std::pair<NodeId, NodeId>> result;
  if (in_.assignment.order == PlanOrder::critical_path) {
    order_saved(result);
    order_states(result);
  }
  return result;
}

void Paging::order_saved(std::vector<std::pair<NodeId, NodeId>>& order) const {
  std::vector<NodeId> forward, later;
  for (std::size_t i = 0; i < in_.assignment.paged.size(); ++i) {
    if (!in_.assignment.paged[i].valid() || state_of(TensorId(i)) != none) continue;
    forward.clear();
    later.clear();
    for (std::uint32_t b = in_.tiles.first_buffer[i]; b < in_.tiles.first_buffer[i + 1]; ++b) {
      for (std::uint32_t t : readers_.of(BufferId(b))) {
        const NodeId node = in_.tiles.node[t];
        auto& nodes = in_.graph[node].phase == Phase::forward ? forward : later;
        if (std::ranges::find(nodes, node) == nodes.end()) nodes.push_back(node);
      }
    }
    for (NodeId first : forward) {
      for (NodeId second : later) order.emplace_back(first, second);
    }
  }
}

void Paging::order_states(std::vector<std::pair<NodeId, NodeId>>& order) const {
  if (states_.empty()) return;
  std::vector<std::vector<NodeId>> users(states_.size());  // in the order of the graph
  for (std::size_t t = 0; t < in_.tiles.tiles(); ++t) {
    for_each_buffer(TileId(t), [&](BufferId buffer) {
      const std::uint32_t state = state_of(buffer);
      if (state == none) return;
      if (users[state].empty() || users[state].back() != in_.tiles.node[t]) users[state].push_back(in_.tiles.node[t]);
    });
  }
  for (const std::vector<NodeId>& nodes : users) {
    for (std::size_t second = 1; second < nodes.size(); ++second) {
      for (std::size_t first = 0; first < second; ++first) {
        if (in_.graph[nodes[first]].phase < in_.graph[nodes[second]].phase) {
          order.emplace_back(nodes[first], nodes[second]);
        }
      }
    }
  }
}

void Paging::finish(TileId tile) {
  if (states_.empty()) return;
  const auto phase = static_cast<std::size_t>(in_.graph[in_.tiles.node[tile.index()]].phase);
  for_each_buffer(tile, [&](BufferId buffer) {
    if (state_of(buffer) == none) return;
    State& state = states_[state_of(buffer)];
    --state.users[phase];
    state.phase = std::max(state.phase, phase);
    for (std::size_t i = 0; i <= state.phase; ++i) {
      if (state.users[i] > 0) return;
    }
    leave(state);
  });
}

void Paging::leave(const State& state) {
  page_out_new(state);
  TensorAtHome& tensor = homes_[state.tensor];
  if (tensor.start == never) return;
  const auto is_gone = [&](TensorId id) {
    for (std::uint32_t b = in_.tiles.first_buffer[id.index()]; b < in_.tiles.first_buffer[id.index() + 1]; ++b) {
      if (!homes_.has(BufferId(b)) || buffers_[b].out) continue;
      residency_.drop(BufferId(b));
      buffers_[b].out = true;
      homes_[BufferId(b)].since = {tensor.end};
    }
  };
  is_gone(state.tensor);
  for (TensorId id : state.replacements) is_gone(id);
  stays_.push_back({.start = tensor.start,
                    .end = tensor.end,
                    .bytes = homes_.bytes_of(state.tensor),
                    .tensor = state.tensor,
                    .memory = tensor.memory});
  tensor.start = never;
  tensor.end = 0;
}

void Paging::page_out_new(const State& state) {
  if (state.replacements.empty()) return;
  const TensorId newest = state.replacements.back();
  const MemoryId home = homes_[state.tensor].memory;
  const std::uint32_t route = in_.machine.route(home, state.storage);
  for (std::uint32_t b = in_.tiles.first_buffer[newest.index()]; b < in_.tiles.first_buffer[newest.index() + 1]; ++b) {
    const BufferId buffer(b);
    if (!homes_.has(buffer) || buffers_[b].out || buffers_[b].back) continue;  // not made yet, or there already
    Moment from = homes_[buffer].since;
    from.at = std::max(from.at, state.paged_in);  // what has its place there has been read
    homes_[buffer].since =
        transfers_.move(buffer, in_.tiles.buffers[b].bytes, home, state.storage, route, TransferKind::page_out, from);
    residency_.drop(buffer);
    buffers_[b].out = true;
  }
}

void Paging::page_out_if_done(BufferId buffer) {
  if (!is_saved(buffer)) return;
  PagedBuffer& paged = buffers_[buffer.index()];
  if (paged.out || paged.back || readers_.left_in_forward(buffer) > 0 || readers_.left(buffer) == 0 ||
      !homes_.has(buffer)) {
    return;
  }
  TensorAtHome& tensor = homes_.tensor_of(buffer);
  const MemoryId storage = storage_of(buffer);
  const std::uint32_t route = in_.machine.route(tensor.memory, storage);
  if (route == no_route) return;
  Moment idle = homes_[buffer].since;
  for (std::uint32_t c = residency_.first(buffer); c != none; c = residency_[c].next) {
    idle = later(idle, residency_[c].idle);
  }
  idle.at = std::max(idle.at, tensor.end);
  const Moment out = transfers_.move(buffer, in_.tiles.buffers[buffer.index()].bytes, tensor.memory, storage, route,
                                     TransferKind::page_out, idle);
  residency_.drop(buffer);
  homes_[buffer].since = out;
  paged.out = true;
  tensor.page_start = std::min(tensor.page_start, transfers_.last().start);
  tensor.out = std::max(tensor.out, out.at);
}

void Paging::page_in(BufferId buffer, double not_before) {
  const std::uint32_t state = state_of(buffer);
  const MemoryId storage = state != none ? states_[state].storage : storage_of(buffer);
  TensorAtHome& tensor = homes_.tensor_of(buffer);
  const std::uint32_t route = in_.machine.route(storage, tensor.memory);
  if (route == no_route) return;
  Moment from = homes_[buffer].since;
  from.at = std::max(from.at, not_before);
  const double begun = tensor.start;
  const Moment in = transfers_.move(buffer, in_.tiles.buffers[buffer.index()].bytes, storage, tensor.memory, route,
                                    TransferKind::page_in, from);
  homes_[buffer].since = in;
  buffers_[buffer.index()] = {.out = false, .back = true};
  if (state != none) {
    states_[state].paged_in = std::max(states_[state].paged_in, in.at);
    return;
  }
  tensor.start = begun;
  tensor.back = std::min(tensor.back, transfers_.last().start);
  tensor.page_end = std::max(tensor.page_end, in.at);
}

Status Paging::check_all_paged() const {
  for (std::size_t b = 0; b < buffers_.size(); ++b) {
    if (!is_saved(BufferId(b)) || buffers_[b].out || buffers_[b].back) continue;
    return Error{.message =
                     "it cannot be paged out: in this order the backward part is done with it before the forward "
                     "part is",
                 .place = in_.graph[in_.tiles.buffers[b].tensor].name,
                 .advice = "keep it, or put operators of the two parts into different stacks"};
  }
  return Done{};
}

void Paging::add_stays(double cycles) {
  for (const State& state : states_) {
    const std::int64_t bytes = homes_.bytes_of(state.tensor);
    if (bytes == 0) continue;
    stays_.push_back({.start = 0, .end = cycles, .bytes = bytes, .tensor = state.tensor, .memory = state.storage});
  }
}

}  // namespace monet::scheduling

#include "evaluate/schedule/scheduler.h"

#include "base/try.h"
#include "evaluate/schedule/bookings.h"
#include "evaluate/schedule/order.h"
#include "evaluate/schedule/room.h"
#include "training/recompute.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <queue>

namespace monet {

namespace {

constexpr double never = std::numeric_limits<double>::infinity();
constexpr std::uint32_t none = 0xffffffffU;

using Moment = Room::Moment;

Moment later(const Moment& a, const Moment& b) { return b.at > a.at ? b : a; }

// A buffer, or the part of it that the tiles of one piece of an operator read, in the memory of a core.
struct Copy {
  MemoryId memory;
  std::uint32_t group = none;  // whose part it is; none: all of the buffer
  std::uint8_t input = 0;      // for which of its inputs
  std::uint32_t next = none;   // of the same buffer
  std::uint32_t place = 0;     // in the list of what the memory holds
  BufferId buffer;
  std::uint32_t readers = 0;    // tiles that will read it here
  std::uint32_t pinned = none;  // by the tile that is being placed
  std::uint32_t stay = 0;
  std::int64_t bytes = 0;
  Moment ready;              // its data are there
  Moment idle;               // no tile and no transfer uses it any more, as far as is known
  bool responsible = false;  // it was made here and home does not have it
};

struct BufferState {
  std::uint32_t copies = none;
  std::uint32_t readers = 0;          // tiles that have not been placed yet
  std::uint32_t forward_readers = 0;  // of those, in the forward part
  Moment home{never};                 // it is there at home from then on
  std::uint32_t bus_transfer = none;  // that carried it over a bus
  bool must_go_home = false;
  bool paged_out = false;   // it is in storage
  bool paged_back = false;  // it was, and is wanted now
};

struct TensorState {
  MemoryId home;
  double start = never, end = 0;            // at home
  double page_start = never, page_end = 0;  // in storage
  double back = never;                      // paged in
  double out = 0;                           // paged out
};

struct Ready {
  double at;
  std::uint32_t rank;
  std::uint32_t tile;
};
struct LaterReady {
  bool operator()(const Ready& a, const Ready& b) const { return a.at != b.at ? a.at > b.at : a.rank > b.rank; }
};
struct LaterRank {
  bool operator()(const Ready& a, const Ready& b) const { return a.rank > b.rank; }
};

struct CoreState {
  Moment free;
  double previous_start = 0;
  std::priority_queue<Ready, std::vector<Ready>, LaterReady> coming;
  std::priority_queue<Ready, std::vector<Ready>, LaterRank> waiting;
};

class Scheduler {
 public:
  explicit Scheduler(const ScheduleInput& input)
      : in_(input),
        graph_(input.graph),
        machine_(input.machine),
        hardware_(input.machine.hardware()),
        tiles_(input.tiles),
        direct_(input.assignment.transfers == PlanTransfers::direct) {}

  Expected<Schedule> run() {
    MONET_CHECK(prepare());
    if (in_.assignment.order == PlanOrder::critical_path) {
      MONET_CHECK(run_by_readiness());
    } else {
      MONET_CHECK(run_in_order());
    }
    MONET_CHECK(check_paged());
    finish();
    return std::move(out_);
  }

 private:
  // ---- before the first tile

  Status prepare() {
    const std::size_t tiles = tiles_.tiles();
    out_.tiles.resize(tiles);
    group_.resize(tiles);
    std::vector<double> cycles(tiles);
    for (std::size_t n = 0; n < tiles_.operators.size(); ++n) {
      const OperatorTiles& op = tiles_.operators[n];
      for (std::uint32_t i = 0; i < op.count; ++i) {
        const TileId tile(op.first + i);
        const std::size_t piece = tiles_.piece_of(tile);
        out_.tiles[tile.index()].core = in_.assignment.operators[n].cores[piece];
        group_[tile.index()] = op.first + static_cast<std::uint32_t>(piece);
        cycles[tile.index()] = cost(tile).cycles;
      }
    }
    rank_ = tile_order(graph_, in_.dependencies, in_.assignment, tiles_, cycles);
    make_routes();
    bookings_.emplace(machine_.channels());
    last_on_.assign(machine_.channels().size(), none);
    for (std::size_t m = 0; m < hardware_.memories.size(); ++m) {
      const bool bounded = !machine_.is_home(MemoryId(m)) && hardware_.memories[m].kind != MemoryKind::storage;
      rooms_.emplace_back(bounded ? machine_.capacity_bytes(MemoryId(m))
                                  : std::numeric_limits<std::int64_t>::max() / 2);
    }
    held_.resize(hardware_.memories.size());
    cores_.resize(hardware_.cores.size());
    for (std::size_t c = 0; c < hardware_.cores.size(); ++c) {
      out_.home_of.push_back(machine_[CoreId(c)].home[static_cast<std::size_t>(Path::output)]);
    }
    placed_.assign(tiles, false);
    find_dependencies();
    find_homes();
    begin_at_home();
    return check_paging();
  }

  Status check_paging() const {
    for (std::size_t i = 0; i < in_.assignment.paged.size(); ++i) {
      const MemoryId memory = in_.assignment.paged[i];
      if (!memory.valid() || memory != tensors_[i].home) continue;
      return Error{.message = fmt::format("paging it to {} moves nothing: it is there anyway", hardware_[memory].name),
                   .place = graph_[TensorId(i)].name,
                   .advice = "page it to another memory, or keep it"};
    }
    return Done{};
  }

  // All routes that may be needed, so that their channels are known before anything is booked.
  void make_routes() {
    std::vector<MemoryId> locals, homes, stores;
    for (std::size_t m = 0; m < hardware_.memories.size(); ++m) {
      if (machine_.is_home(MemoryId(m))) homes.push_back(MemoryId(m));
      if (hardware_.memories[m].kind == MemoryKind::storage) stores.push_back(MemoryId(m));
    }
    for (std::size_t c = 0; c < hardware_.cores.size(); ++c) {
      for (MemoryId local : machine_[CoreId(c)].local) {
        if (local.valid() && std::ranges::find(locals, local) == locals.end()) locals.push_back(local);
      }
    }
    const auto join = [&](const std::vector<MemoryId>& from, const std::vector<MemoryId>& to) {
      for (MemoryId a : from) {
        for (MemoryId b : to) {
          if (a != b) machine_.route(a, b);
        }
      }
    };
    join(homes, locals);
    join(locals, homes);
    join(homes, homes);
    join(homes, stores);
    join(stores, homes);
    if (direct_) join(locals, locals);
    stream_routes_.assign(hardware_.cores.size() * 2 * path_count, no_route);
    find_ports();
  }

  void find_dependencies() {
    const std::size_t buffers = tiles_.buffers.size();
    buffers_.resize(buffers);
    first_reader_.assign(buffers + 1, 0);
    for (const TileRead& read : tiles_.reads) ++first_reader_[read.buffer.index() + 1];
    for (std::size_t b = 0; b < buffers; ++b) first_reader_[b + 1] += first_reader_[b];
    readers_.resize(tiles_.reads.size());
    next_reader_.assign(first_reader_.begin(), first_reader_.end() - 1);
    waits_for_.assign(tiles_.tiles(), 0);
    std::vector<std::uint32_t> last_writer;
    std::vector<NodeId> updater(graph_.tensors().size());  // by tensor: what replaces its value
    for (const Tensor& tensor : graph_.tensors()) {
      if (tensor.updates.valid()) updater[tensor.updates.index()] = tensor.producer;
    }
    for (std::size_t t = 0; t < tiles_.tiles(); ++t) {
      const TileId tile(t);
      const Node& node = graph_[tiles_.node[t]];
      for (const TileRead& read : tiles_.reads_of(tile)) {
        const std::size_t b = read.buffer.index();
        readers_[next_reader_[b]++] = static_cast<std::uint32_t>(t);
        BufferState& state = buffers_[b];
        ++state.readers;
        if (node.phase == Phase::forward) ++state.forward_readers;
        const NodeId replaced_by = updater[tiles_.buffers[b].tensor.index()];
        if (replaced_by.valid() && replaced_by != tiles_.node[t]) {
          const std::pair pair(tiles_.node[t], replaced_by);
          if (replaces_.empty() || replaces_.back() != pair) replaces_.push_back(pair);
        }
        const TileId maker = tiles_.buffers[b].maker;
        if (maker.valid()) {
          ++waits_for_[t];
          if (streams(tile, read) || (!direct_ && memory_for(tile, read) != output_memory(maker))) {
            state.must_go_home = true;
          }
        }
      }
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
    std::ranges::sort(replaces_);
    replaces_.erase(std::ranges::unique(replaces_).begin(), replaces_.end());
    for (const auto& [reader, replacer] : replaces_) {
      const OperatorTiles& op = tiles_.operators[replacer.index()];
      for (std::uint32_t i = 0; i < op.count; ++i) ++waits_for_[op.first + i];
    }
    left_of_.resize(tiles_.operators.size());
    for (std::size_t n = 0; n < left_of_.size(); ++n) left_of_[n] = {tiles_.operators[n].count, {}};
    next_reader_.assign(first_reader_.begin(), first_reader_.end() - 1);
  }

  // What is paged out is away before the backward part needs it: all of the forward part has read it then.
  void wait_for_paging() {
    if (in_.assignment.paged.empty() || in_.assignment.order != PlanOrder::critical_path) return;
    std::vector<NodeId> forward, later;
    for (std::size_t i = 0; i < in_.assignment.paged.size(); ++i) {
      if (!in_.assignment.paged[i].valid()) continue;
      forward.clear();
      later.clear();
      for (std::uint32_t r = first_reader_[tiles_.first_buffer[i]]; r < first_reader_[tiles_.first_buffer[i + 1]];
           ++r) {
        const NodeId node = tiles_.node[readers_[r]];
        auto& nodes = graph_[node].phase == Phase::forward ? forward : later;
        if (std::ranges::find(nodes, node) == nodes.end()) nodes.push_back(node);
      }
      for (NodeId first : forward) {
        for (NodeId second : later) replaces_.emplace_back(first, second);
      }
    }
  }

  // The tensor whose storage a tensor has at home.
  TensorId stored_as(TensorId tensor) const {
    while (graph_[tensor].updates.valid()) tensor = graph_[tensor].updates;
    return tensor;
  }

  void find_homes() {
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
      const CorePlaces& core = machine_[core_of(tile)];
      for (const TileRead& read : tiles_.reads_of(tile)) {
        set(tiles_.buffers[read.buffer.index()].tensor, core.home[path_of(tile, read)]);
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

  void mark_output(TensorId id) {
    // An output may be a view: what it shows must be there.
    for (TensorId stored : training::stored_behind(graph_, id)) {
      for (std::uint32_t b = tiles_.first_buffer[stored.index()]; b < tiles_.first_buffer[stored.index() + 1]; ++b) {
        buffers_[b].must_go_home = true;
      }
    }
  }

  void begin_at_home() {
    for (std::size_t b = 0; b < buffers_.size(); ++b) {
      if (tiles_.buffers[b].maker.valid()) continue;
      buffers_[b].home = {};
      tensor_of(BufferId(b)).start = 0;
    }
  }

  TensorState& tensor_of(BufferId buffer) { return tensors_[stored_as(tiles_.buffers[buffer.index()].tensor).index()]; }

  // ---- questions about a tile

  const TileCost& cost(TileId tile) const { return in_.costs[in_.cost_of[tile.index()]]; }
  CoreId core_of(TileId tile) const { return out_.tiles[tile.index()].core; }
  std::size_t path_of(TileId tile, const TileRead& read) const {
    return static_cast<std::size_t>(in_.costs.path_of(tiles_.node[tile.index()], tiles_.part(read).input));
  }
  bool streams(TileId tile, std::size_t path) const { return (in_.streamed[tile.index()] >> path & 1U) != 0; }
  bool streams(TileId tile, const TileRead& read) const { return streams(tile, path_of(tile, read)); }
  MemoryId memory_for(TileId tile, const TileRead& read) const {
    const std::size_t path = path_of(tile, read);
    return streams(tile, path) ? machine_[core_of(tile)].home[path] : machine_[core_of(tile)].local[path];
  }
  MemoryId output_memory(TileId tile) const {
    const auto path = static_cast<std::size_t>(Path::output);
    return streams(tile, path) ? machine_[core_of(tile)].home[path] : machine_[core_of(tile)].local[path];
  }
  std::uint32_t group_of(TileId tile) const { return group_[tile.index()]; }

  // ---- choosing

  Status run_in_order() {
    std::vector<std::uint32_t> by_rank(rank_.size());
    for (std::size_t t = 0; t < rank_.size(); ++t) by_rank[rank_[t]] = static_cast<std::uint32_t>(t);
    for (std::uint32_t t : by_rank) MONET_CHECK(place(TileId(t)));
    return Done{};
  }

  Status run_by_readiness() {
    for (std::size_t t = 0; t < tiles_.tiles(); ++t) {
      if (waits_for_[t] == 0) offer(TileId(t), 0);
    }
    announced_.assign(cores_.size(), never);
    for (std::size_t c = 0; c < cores_.size(); ++c) announce(c);
    std::size_t left = tiles_.tiles();
    while (!turns_.empty()) {
      const Turn turn = turns_.top();
      turns_.pop();
      if (turn.at != announced_[turn.core]) continue;
      announced_[turn.core] = never;
      CoreState& core = cores_[turn.core];
      while (!core.coming.empty() && core.coming.top().at <= turn.at) {
        core.waiting.push(core.coming.top());
        core.coming.pop();
      }
      const std::uint32_t tile = core.waiting.top().tile;
      core.waiting.pop();
      MONET_CHECK(place(TileId(tile)));
      --left;
      announce(turn.core);
    }
    if (left > 0) {
      return Error{.kind = ErrorKind::defect, .message = fmt::format("{} tiles wait for each other", left)};
    }
    return Done{};
  }

  void offer(TileId tile, double at) {
    CoreState& core = cores_[core_of(tile).index()];
    core.coming.push({at, rank_[tile.index()], static_cast<std::uint32_t>(tile.index())});
    if (!announced_.empty()) announce(core_of(tile).index());
  }

  // When a core can take its next tile.
  void announce(std::size_t c) {
    const CoreState& core = cores_[c];
    double at = never;
    if (!core.waiting.empty()) {
      at = core.free.at;
    } else if (!core.coming.empty()) {
      at = std::max(core.free.at, core.coming.top().at);
    }
    if (at == announced_[c]) return;
    announced_[c] = at;
    if (at < never) turns_.push({at, static_cast<std::uint32_t>(c)});
  }

  // ---- one tile

  Status place(TileId tile) {
    ScheduledTile& to = out_.tiles[tile.index()];
    CoreState& core = cores_[to.core.index()];
    const TileCost& tile_cost = cost(tile);
    pin_ = static_cast<std::uint32_t>(tile.index());
    used_.clear();
    Moment start = later(core.free, {to.start, Wait::data, to.by});
    // What is there already is held fast before anything else is fetched.
    only_parts_ = false;
    only_parts_ = has_more_than_it_needs(tile) && !has_room_for_all(tile, tile_cost);
    for (const TileRead& read : tiles_.reads_of(tile)) {
      if (streams(tile, read)) continue;
      if (const std::uint32_t copy = find(tile, read); copy != none) {
        copies_[copy].pinned = pin_;
      }
    }
    for (const TileWrite& write : tiles_.writes_of(tile)) {
      if (!write.adds || streams(tile, static_cast<std::size_t>(Path::output))) continue;
      if (const std::uint32_t copy = find(write.buffer, output_memory(tile)); copy != none) {
        copies_[copy].pinned = pin_;
      }
    }
    for (const TileRead& read : tiles_.reads_of(tile)) {
      MONET_TRY(const Moment ready, streams(tile, read) ? at_home(tile, read) : in_core(tile, read));
      start = later(start, ready);
    }
    MONET_TRY(const Moment room, room_for_results(tile, tile_cost));
    start = later(start, room);

    to.start = start.at;
    to.wait = start.wait;
    to.by = start.by;
    to.cost = in_.cost_of[tile.index()];
    to.end = start.at + tile_cost.cycles;
    occupy(tile, tile_cost);
    placed_[tile.index()] = true;
    core.previous_start = to.start;
    core.free = {to.end, Wait::core, static_cast<std::uint32_t>(tile.index())};
    settle(tile);
    if (failure_) return *std::move(failure_);
    return Done{};
  }

  // A buffer is there as a whole, and the tile and those beside it read a part.
  bool has_more_than_it_needs(TileId tile) const {
    return std::ranges::any_of(tiles_.reads_of(tile), [&](const TileRead& read) {
      if (streams(tile, read)) return false;
      const std::uint32_t copy = find(tile, read);
      return copy != none && copies_[copy].bytes > tiles_.part(read).group_bytes;
    });
  }

  // Beside what it has as a whole.
  bool has_room_for_all(TileId tile, const TileCost& tile_cost) {
    needs_.clear();
    const auto need = [&](MemoryId memory, std::int64_t bytes) {
      const auto known = std::ranges::find(needs_, memory, &std::pair<MemoryId, std::int64_t>::first);
      if (known == needs_.end()) {
        needs_.emplace_back(memory, bytes);
      } else {
        known->second += bytes;
      }
    };
    for (const TileRead& read : tiles_.reads_of(tile)) {
      if (streams(tile, read)) continue;
      const std::uint32_t copy = find(tile, read);
      need(memory_for(tile, read), copy != none ? copies_[copy].bytes : tiles_.part(read).group_bytes);
    }
    for (const TileWrite& write : tiles_.writes_of(tile)) {
      if (streams(tile, static_cast<std::size_t>(Path::output))) break;
      need(output_memory(tile), tiles_.buffers[write.buffer.index()].bytes);
    }
    for (const HeldBytes& held : tile_cost.held) need(hardware_[core_of(tile)].levels[held.level].memory, held.bytes);
    return std::ranges::all_of(needs_,
                               [&](const auto& each) { return each.second <= rooms_[each.first.index()].capacity(); });
  }

  // A path that streams: its data must be at home.
  Expected<Moment> at_home(TileId tile, const TileRead& read) {
    BufferState& state = buffers_[read.buffer.index()];
    if (state.paged_out) page_in(read.buffer, cores_[core_of(tile).index()].previous_start);
    if (state.home.at == never) MONET_CHECK(write_back(read.buffer));
    const MemoryId wanted = memory_for(tile, read);
    const MemoryId home = tensor_of(read.buffer).home;
    if (wanted == home) return state.home;
    return visit(read.buffer, tiles_.part(read).bytes, wanted);
  }

  // What is at home elsewhere comes over for one tile.
  Expected<Moment> visit(BufferId buffer, std::int64_t bytes, MemoryId memory) {
    const MemoryId home = tensor_of(buffer).home;
    const std::uint16_t route = machine_.route(home, memory);
    if (route == no_route) return unreachable(home, memory);
    MONET_TRY(const Moment there,
              move(buffer, bytes, home, memory, route, TransferKind::fetch, buffers_[buffer.index()].home));
    visits_.push_back({.start = out_.transfers.back().start,
                       .end = never,
                       .bytes = bytes,
                       .buffer = buffer,
                       .tile = {},
                       .memory = memory});
    return there;
  }

  Expected<Moment> in_core(TileId tile, const TileRead& read) {
    const MemoryId memory = memory_for(tile, read);
    const ReadPart& part = tiles_.part(read);
    const std::uint32_t group = part.group_bytes >= tiles_.buffers[read.buffer.index()].bytes ? none : group_of(tile);
    std::uint32_t copy = find(tile, read);
    if (copy == none) {
      MONET_TRY(copy, fetch(tile, read.buffer, memory,
                            group == none ? tiles_.buffers[read.buffer.index()].bytes : part.group_bytes, group,
                            TransferKind::fetch, part.input));
    }
    copies_[copy].pinned = pin_;
    used_.push_back(copy);
    return copies_[copy].ready;
  }

  // The whole buffer in that memory.
  std::uint32_t find(BufferId buffer, MemoryId memory) const {
    for (std::uint32_t c = buffers_[buffer.index()].copies; c != none; c = copies_[c].next) {
      if (copies_[c].memory == memory && copies_[c].group == none) return c;
    }
    return none;
  }
  // The same, or the part of it that the tile reads.
  std::uint32_t find(TileId tile, const TileRead& read) const {
    const MemoryId memory = memory_for(tile, read);
    for (std::uint32_t c = buffers_[read.buffer.index()].copies; c != none; c = copies_[c].next) {
      const Copy& copy = copies_[c];
      if (copy.memory != memory) continue;
      if (only_parts_ && copy.bytes > tiles_.part(read).group_bytes) continue;
      if (copy.group == none || (copy.group == group_of(tile) && copy.input == tiles_.part(read).input)) return c;
    }
    return none;
  }

  Expected<std::uint32_t> fetch(TileId tile, BufferId buffer, MemoryId memory, std::int64_t bytes, std::uint32_t group,
                                TransferKind kind, std::uint8_t input = 0) {
    BufferState& state = buffers_[buffer.index()];
    if (state.paged_out) page_in(buffer, cores_[core_of(tile).index()].previous_start);
    // Where it can come from: the core that could send all of it first, or home.
    std::uint32_t best = none;
    std::uint16_t best_route = no_route;
    double best_end = never;
    const double bits = 8.0 * static_cast<double>(bytes);
    const TensorState& tensor = tensor_of(buffer);
    if (direct_ || state.home.at == never) {
      for (std::uint32_t c = state.copies; c != none; c = copies_[c].next) {
        if (copies_[c].group != none || copies_[c].memory == memory) continue;
        const std::uint16_t route = machine_.route(copies_[c].memory, memory);
        if (route == no_route || !direct_) continue;
        const double end = copies_[c].ready.at + bits / machine_.routes()[route].bits_per_cycle;
        if (end < best_end) {
          best = c;
          best_route = route;
          best_end = end;
        }
      }
    }
    if (best == none && state.home.at == never) MONET_CHECK(write_back(buffer));
    if (state.home.at < never) {
      const std::uint16_t route = machine_.route(tensor.home, memory);
      if (route == no_route && best == none) return unreachable(tensor.home, memory);
      if (route != no_route) {
        // The one that is free first.
        const auto end = [&](std::uint16_t along, double from) {
          const Route& way = machine_.routes()[along];
          return bookings_->probe(way.channels, from, bits, way.bits_per_cycle);
        };
        if (best == none || end(route, state.home.at) <= end(best_route, copies_[best].ready.at)) {
          best = none;
          best_route = route;
        }
      }
    }
    // Copies may be evicted now, but not the source.
    const std::uint32_t source_pin = best != none ? std::exchange(copies_[best].pinned, pin_) : none;
    MONET_TRY(const Moment room, make_room(tile, memory, bytes));
    if (best != none) copies_[best].pinned = source_pin;
    const MemoryId from = best != none ? copies_[best].memory : tensor.home;
    const Moment source = best != none ? copies_[best].ready : state.home;
    const std::uint32_t copy = add_copy(buffer, memory, bytes, group, input);
    if (const std::uint32_t joined = joinable(buffer, memory, from, best_route, bytes, room); joined != none) {
      const ScheduledTransfer other = out_.transfers[joined];
      copies_[copy].ready = {other.end, Wait::transfer, static_cast<std::uint32_t>(out_.transfers.size())};
      out_.stays[copies_[copy].stay].start = other.start;
      out_.transfers.push_back({.start = other.start,
                                .end = other.end,
                                .bytes = bytes,
                                .buffer = buffer,
                                .from = from,
                                .to = memory,
                                .route = best_route,
                                .kind = best != none ? TransferKind::core_to_core : kind,
                                .joined = true,
                                .wait = other.wait,
                                .by = other.by});
      copies_[copy].idle = copies_[copy].ready;
      return copy;
    }
    if (best != none) kind = TransferKind::core_to_core;
    Moment earliest = later(source, room);
    listeners_.clear();
    if (group == none) find_listeners(tile, buffer, memory, from, best_route, earliest);
    MONET_TRY(const Moment ready, move(buffer, bytes, from, memory, best_route, kind, earliest));
    copies_[copy].ready = copies_[copy].idle = ready;
    const ScheduledTransfer carrier = out_.transfers.back();
    out_.stays[copies_[copy].stay].start = carrier.start;
    for (const auto& [listener, route] : listeners_) {
      Copy& heard = copies_[listener];
      heard.ready = heard.idle = {ready.at, Wait::transfer, static_cast<std::uint32_t>(out_.transfers.size())};
      out_.stays[heard.stay].start = carrier.start;
      out_.transfers.push_back(carrier);
      out_.transfers.back().to = heard.memory;
      out_.transfers.back().route = route;
      out_.transfers.back().joined = true;
    }
    if (best != none) keep_until(copies_[best], ready);
    return copy;
  }

  // Memories of other cores that the same operator will want it in, and that can listen to a bus on the way: they take
  // it along, if there is room for it there before another transfer would have brought it.
  void find_listeners(TileId tile, BufferId buffer, MemoryId memory, MemoryId from, std::uint16_t route,
                      Moment& earliest) {
    if (!machine_.has_bus(route)) return;
    const std::int64_t bytes = tiles_.buffers[buffer.index()].bytes;
    const double latest = earliest.at + 8.0 * static_cast<double>(bytes) / machine_.routes()[route].bits_per_cycle;
    const NodeId node = tiles_.node[tile.index()];
    for (std::uint32_t i = first_unplaced(buffer); i < first_reader_[buffer.index() + 1]; ++i) {
      const TileId other(readers_[i]);
      if (tiles_.node[other.index()] != node) break;
      if (placed_[other.index()] || other == tile) continue;
      for (const TileRead& read : tiles_.reads_of(other)) {
        if (read.buffer != buffer || streams(other, read)) continue;
        const MemoryId to = memory_for(other, read);
        if (to == memory || tiles_.part(read).group_bytes < bytes || find(buffer, to) != none) continue;
        const std::uint16_t way = machine_.route(from, to);
        if (way == no_route || !machine_.has_bus(way) || !same_way(route, way, to)) continue;
        Room& room = rooms_[to.index()];
        if (!room.make(bytes) || room.free_from().at > latest) continue;
        room.take(bytes);
        earliest = later(earliest, room.free_from());
        const std::uint32_t copy = add_copy(buffer, to, bytes);
        copies_[copy].pinned = none;
        listeners_.emplace_back(copy, way);
      }
    }
  }

  // Whether `to` hears what goes along `route`: over the same channels, up to its own port, and as fast.
  bool same_way(std::uint16_t route, std::uint16_t way, MemoryId to) const {
    const Route& heard = machine_.routes()[route];
    const Route& own = machine_.routes()[way];
    if (own.bits_per_cycle < heard.bits_per_cycle || own.latency_cycles > heard.latency_cycles) return false;
    const auto& along = heard.channels;
    return std::ranges::all_of(machine_.routes()[way].channels, [&](const ChannelUse& use) {
      return machine_.channels()[use.channel].memory == to ||
             std::ranges::find(along, use.channel, &ChannelUse::channel) != along.end();
    });
  }

  // A transfer of the same data over a bus that this memory can listen to.
  std::uint32_t joinable(BufferId buffer, MemoryId memory, MemoryId from, std::uint16_t route, std::int64_t bytes,
                         const Moment& room) const {
    const std::uint32_t id = buffers_[buffer.index()].bus_transfer;
    if (id == none) return none;
    const ScheduledTransfer& transfer = out_.transfers[id];
    if (transfer.from != from || transfer.bytes != bytes || transfer.to == memory || room.at > transfer.start ||
        tiles_.buffers[buffer.index()].bytes != bytes || !machine_.has_bus(route)) {
      return none;
    }
    return same_way(transfer.route, route, memory) ? id : none;
  }

  Error unreachable(MemoryId from, MemoryId to) const {
    return {.message = fmt::format("nothing leads from {} to {}", hardware_[from].name, hardware_[to].name),
            .place = hardware_.name,
            .advice = "join them by a link"};
  }

  // Books a transfer; when its data are there.
  Expected<Moment> move(BufferId buffer, std::int64_t bytes, MemoryId from, MemoryId to, std::uint16_t route,
                        TransferKind kind, const Moment& earliest) {
    const Route& way = machine_.routes()[route];
    double begin = earliest.at;
    const double end =
        bookings_->book(way.channels, earliest.at, 8.0 * static_cast<double>(whole_pages(bytes, from, to)),
                        way.bits_per_cycle, &begin) +
        way.latency_cycles;
    const auto id = static_cast<std::uint32_t>(out_.transfers.size());
    ScheduledTransfer transfer{.start = begin,
                               .end = end,
                               .bytes = bytes,
                               .buffer = buffer,
                               .from = from,
                               .to = to,
                               .route = route,
                               .kind = kind,
                               .joined = false,
                               .wait = earliest.wait,
                               .by = earliest.by};
    if (begin > earliest.at) {
      for (const ChannelUse& use : way.channels) {
        const std::uint32_t last = last_on_[use.channel];
        if (last == none || out_.transfers[last].end > begin * (1 + 1e-12)) continue;
        transfer.wait = Wait::transfer;
        transfer.by = last;
      }
    }
    for (const ChannelUse& use : way.channels) last_on_[use.channel] = id;
    out_.transfers.push_back(transfer);
    if (machine_.has_bus(route)) buffers_[buffer.index()].bus_transfer = id;
    TensorState& tensor = tensor_of(buffer);
    if (to == tensor.home) {
      tensor.start = std::min(tensor.start, begin);
      tensor.end = std::max(tensor.end, end);
    }
    if (from == tensor.home) tensor.end = std::max(tensor.end, end);
    return Moment{end, Wait::transfer, id};
  }

  std::int64_t whole_pages(std::int64_t bytes, MemoryId from, MemoryId to) const {
    const std::int64_t page = std::max(hardware_[from].page_bits, hardware_[to].page_bits) / 8;
    return page <= 1 ? bytes : (bytes + page - 1) / page * page;
  }

  // ---- copies and room

  std::uint32_t add_copy(BufferId buffer, MemoryId memory, std::int64_t bytes, std::uint32_t group = none,
                         std::uint8_t input = 0) {
    std::uint32_t id = none;
    if (!free_copies_.empty()) {
      id = free_copies_.back();
      free_copies_.pop_back();
    } else {
      id = static_cast<std::uint32_t>(copies_.size());
      copies_.emplace_back();
    }
    Copy& copy = copies_[id];
    copy = Copy{.memory = memory, .group = group, .input = input, .buffer = buffer, .pinned = pin_, .bytes = bytes};
    copy.readers = readers_in(buffer, memory, group, input);
    copy.next = buffers_[buffer.index()].copies;
    buffers_[buffer.index()].copies = id;
    copy.place = static_cast<std::uint32_t>(held_[memory.index()].size());
    held_[memory.index()].push_back(id);
    copy.stay = static_cast<std::uint32_t>(out_.stays.size());
    out_.stays.push_back({.start = 0, .end = never, .bytes = bytes, .buffer = buffer, .tile = {}, .memory = memory});
    return id;
  }

  // Tiles still to be placed that will read the buffer (the group's part of it) in that memory.
  std::uint32_t readers_in(BufferId buffer, MemoryId memory, std::uint32_t group, std::uint8_t input) {
    std::uint32_t count = 0;
    for (std::uint32_t i = first_unplaced(buffer); i < first_reader_[buffer.index() + 1]; ++i) {
      const TileId tile(readers_[i]);
      if (placed_[tile.index()] || (i > first_reader_[buffer.index()] && readers_[i - 1] == readers_[i])) continue;
      if (group != none && group_of(tile) != group) continue;
      for (const TileRead& read : tiles_.reads_of(tile)) {
        if (read.buffer != buffer || (group != none && tiles_.part(read).input != input)) continue;
        if (!streams(tile, read) && memory_for(tile, read) == memory) ++count;
      }
    }
    return count;
  }

  std::uint32_t first_unplaced(BufferId buffer) {
    std::uint32_t& next = next_reader_[buffer.index()];
    while (next < first_reader_[buffer.index() + 1] && placed_[readers_[next]]) ++next;
    return next;
  }

  static void keep_until(Copy& copy, const Moment& until) { copy.idle = later(copy.idle, until); }

  void release(std::uint32_t id, const Moment& at) {
    Copy& copy = copies_[id];
    rooms_[copy.memory.index()].give_back(copy.bytes, at);
    Stay& stay = out_.stays[copy.stay];
    stay.end = std::max(at.at, stay.start);
    auto& held = held_[copy.memory.index()];
    copies_[held.back()].place = copy.place;
    held[copy.place] = held.back();
    held.pop_back();
    std::uint32_t* link = &buffers_[copy.buffer.index()].copies;
    while (*link != id) link = &copies_[*link].next;
    *link = copy.next;
    free_copies_.push_back(id);
  }

  // Takes `bytes` of a memory for the tile that is being placed.
  Expected<Moment> make_room(TileId tile, MemoryId memory, std::int64_t bytes) {
    Room& room = rooms_[memory.index()];
    while (!room.make(bytes)) {
      const std::uint32_t victim = choose_victim(memory);
      if (victim == none) return too_small(tile, memory, bytes);
      const BufferId buffer = copies_[victim].buffer;
      if (copies_[victim].responsible && buffers_[buffer.index()].home.at == never) MONET_CHECK(write_back(buffer));
      release(victim, copies_[victim].idle);
    }
    room.take(bytes);
    return room.free_from();
  }

  // What is needed last; what is at home already, if there is a choice.
  std::uint32_t choose_victim(MemoryId memory) {
    std::uint32_t best = none;
    std::uint64_t best_score = 0;
    for (std::uint32_t id : held_[memory.index()]) {
      const Copy& copy = copies_[id];
      if (copy.pinned == pin_) continue;
      const std::uint32_t next = first_unplaced(copy.buffer);
      const std::uint64_t when =
          copy.readers == 0 || next == first_reader_[copy.buffer.index() + 1] ? 0xffffffffULL : rank_[readers_[next]];
      const bool clean = !copy.responsible || buffers_[copy.buffer.index()].home.at < never;
      const std::uint64_t score = when << 1 | (clean ? 1 : 0);
      if (best == none || score > best_score || (score == best_score && id < best)) {
        best = id;
        best_score = score;
      }
    }
    return best;
  }

  // By the tile that is being placed.
  std::int64_t pinned_in(MemoryId memory) const {
    std::int64_t used = 0;
    for (std::uint32_t id : held_[memory.index()]) used += copies_[id].pinned == pin_ ? copies_[id].bytes : 0;
    return used;
  }

  Error too_small(TileId tile, MemoryId memory, std::int64_t bytes) const {
    const std::int64_t used = pinned_in(memory);
    return {.kind = ErrorKind::infeasible,
            .message = fmt::format("a tile of it needs {} bytes of {}, which has {}", used + bytes,
                                   hardware_[memory].name, rooms_[memory.index()].capacity()),
            .place = graph_[tiles_.node[tile.index()]].name,
            .advice = "give it smaller tiles, or fewer operators to its stack"};
  }

  // Brings home what only a core has.
  Status write_back(BufferId buffer) {
    BufferState& state = buffers_[buffer.index()];
    std::uint32_t source = none;
    for (std::uint32_t c = state.copies; c != none; c = copies_[c].next) {
      if (copies_[c].group == none && (source == none || copies_[c].responsible)) source = c;
    }
    if (source == none) {
      return Error{.kind = ErrorKind::defect,
                   .message = fmt::format("{} is nowhere", graph_[tiles_.buffers[buffer.index()].tensor].name)};
    }
    const MemoryId home = tensor_of(buffer).home;
    const std::uint16_t route = machine_.route(copies_[source].memory, home);
    if (route == no_route) return unreachable(copies_[source].memory, home);
    MONET_TRY(state.home, move(buffer, copies_[source].bytes, copies_[source].memory, home, route,
                               TransferKind::write_back, copies_[source].ready));
    keep_until(copies_[source], state.home);
    copies_[source].responsible = false;
    return Done{};
  }

  // ---- results of a tile

  Expected<Moment> room_for_results(TileId tile, const TileCost& tile_cost) {
    Moment moment;
    const auto output = static_cast<std::size_t>(Path::output);
    const bool streams_out = streams(tile, output);
    for (const TileWrite& write : tiles_.writes_of(tile)) {
      BufferState& state = buffers_[write.buffer.index()];
      const MemoryId memory = output_memory(tile);
      if (streams_out) {
        if (!write.adds) continue;
        if (state.home.at == never) MONET_CHECK(write_back(write.buffer));
        drop(write.buffer);
        if (memory == tensor_of(write.buffer).home) {
          moment = later(moment, state.home);
        } else {
          MONET_TRY(const Moment there, visit(write.buffer, tiles_.buffers[write.buffer.index()].bytes, memory));
          moment = later(moment, there);
        }
        continue;
      }
      if (write.adds) {
        std::uint32_t copy = find(write.buffer, memory);
        if (copy == none) {
          MONET_TRY(copy, fetch(tile, write.buffer, memory, tiles_.buffers[write.buffer.index()].bytes, none,
                                TransferKind::fetch));
        }
        // The sum goes on here: what was left behind is out of date.
        for (std::uint32_t other = state.copies; other != none;) {
          const std::uint32_t next = copies_[other].next;
          if (other != copy) release(other, copies_[other].idle);
          other = next;
        }
        copies_[copy].pinned = pin_;
        copies_[copy].responsible = true;
        state.home = {never};
        moment = later(moment, copies_[copy].ready);
        results_.push_back(copy);
        continue;
      }
      const std::int64_t bytes = tiles_.buffers[write.buffer.index()].bytes;
      MONET_TRY(const Moment room, make_room(tile, memory, bytes));
      moment = later(moment, room);
      const std::uint32_t copy = add_copy(write.buffer, memory, bytes);
      copies_[copy].responsible = true;
      results_.push_back(copy);
      fresh_.push_back(copy);
    }
    for (const HeldBytes& held : tile_cost.held) {
      const MemoryId memory = hardware_[core_of(tile)].levels[held.level].memory;
      MONET_TRY(const Moment room, make_room(tile, memory, held.bytes));
      moment = later(moment, room);
      workspaces_.emplace_back(memory, held.bytes);
    }
    return moment;
  }

  // The tile takes its share of the memories' ports and, for what streams, of the way to home: it runs as long as that
  // makes it.
  void occupy(TileId tile, const TileCost& tile_cost) {
    ScheduledTile& to = out_.tiles[tile.index()];
    if (tile_cost.cycles <= 0) return;
    uses_.clear();
    const auto add_use = [&](std::uint16_t channel, double bits) {
      const auto known = std::ranges::find(uses_, channel, &ChannelUse::channel);
      if (known != uses_.end()) {
        known->share += bits / tile_cost.cycles;
      } else {
        uses_.push_back({channel, bits / tile_cost.cycles});
      }
    };
    for (const PortUse& use : tile_cost.ports) {
      const std::uint16_t channel = port_channels_[port_slot(to.core, use.level, use.port)];
      if (channel != no_route) add_use(channel, use.bits);
    }
    to.read_route = tile_cost.home_read_bits > 0 ? stream_route(to.core, tile, true) : no_route;
    to.write_route = tile_cost.home_write_bits > 0 ? stream_route(to.core, tile, false) : no_route;
    const auto add_links = [&](std::uint16_t route, double bits) {
      if (route == no_route) return;
      for (const ChannelUse& use : machine_.routes()[route].channels) {
        if (machine_.channels()[use.channel].link.valid()) add_use(use.channel, bits);
      }
    };
    add_links(to.read_route, tile_cost.home_read_bits);
    add_links(to.write_route, tile_cost.home_write_bits);
    if (!uses_.empty()) to.end = bookings_->book(uses_, to.start, tile_cost.cycles, 1);
  }

  std::size_t port_slot(CoreId core, std::uint8_t level, std::int8_t port) const {
    return first_port_[core.index()] + level * max_ports_ + static_cast<std::size_t>(port);
  }

  // Channels of the ports that tiles may use, by core, level and port.
  void find_ports() {
    for (const Memory& memory : hardware_.memories) max_ports_ = std::max(max_ports_, memory.ports.size());
    for (std::size_t c = 0; c < hardware_.cores.size(); ++c) {
      const Core& core = hardware_.cores[c];
      first_port_.push_back(port_channels_.size());
      port_channels_.resize(port_channels_.size() + (core.levels.size() + 1) * max_ports_, no_route);
      const CorePlaces& places = machine_[CoreId(c)];
      for (std::size_t level = 0; level <= core.levels.size(); ++level) {
        const MemoryId memory = level < core.levels.size() ? core.levels[level].memory : places.home[0];
        const auto among = [&](const auto& list) { return std::ranges::find(list, memory) != list.end(); };
        if (!among(places.local) && !among(places.home)) continue;
        for (std::size_t port = 0; port < hardware_[memory].ports.size(); ++port) {
          port_channels_[port_slot(CoreId(c), static_cast<std::uint8_t>(level), static_cast<std::int8_t>(port))] =
              machine_.port_channel(memory, static_cast<std::int8_t>(port));
        }
      }
    }
  }

  // Between home and the core's own memory; where it has none, there is no way to share.
  std::uint16_t stream_route(CoreId core, TileId tile, bool reads) {
    // Sums that go on are read too.
    for (std::size_t path = reads ? 0 : static_cast<std::size_t>(Path::output); path < path_count; ++path) {
      if (!streams(tile, path)) continue;
      std::uint16_t& known = stream_routes_[(core.index() * 2 + (reads ? 0 : 1)) * path_count + path];
      if (known == no_route) {
        const CorePlaces& places = machine_[core];
        MemoryId inner = places.local[path];
        for (std::size_t other = 0; other < path_count && !inner.valid(); ++other) inner = places.local[other];
        if (!inner.valid() || inner == places.home[path]) continue;
        const auto [from, to] = reads ? std::pair(places.home[path], inner) : std::pair(inner, places.home[path]);
        known = machine_.route(from, to);
        if (known == no_route && !failure_) failure_ = unreachable(from, to);
      }
      if (known != no_route) return known;
    }
    return no_route;
  }

  void settle(TileId tile) {
    const ScheduledTile& to = out_.tiles[tile.index()];
    const Moment end{to.end, Wait::memory, static_cast<std::uint32_t>(tile.index())};
    const Moment made{to.end, Wait::data, static_cast<std::uint32_t>(tile.index())};
    for (const auto& [memory, bytes] : workspaces_) {
      rooms_[memory.index()].give_back(bytes, end);
      out_.stays.push_back(
          {.start = to.start, .end = to.end, .bytes = bytes, .buffer = {}, .tile = tile, .memory = memory});
    }
    workspaces_.clear();
    for (std::uint32_t copy : used_) {
      keep_until(copies_[copy], end);
      --copies_[copy].readers;
    }
    for (std::uint32_t copy : fresh_) out_.stays[copies_[copy].stay].start = to.start;
    for (std::uint32_t copy : results_) {
      copies_[copy].ready = made;
      keep_until(copies_[copy], end);
    }
    fresh_.clear();
    results_.clear();
    const bool streams_out = streams(tile, static_cast<std::size_t>(Path::output));
    for (const TileWrite& write : tiles_.writes_of(tile)) {
      if (streams_out) write_home(tile, write, made);
      if (failure_) return;
    }
    for (Stay& stay : visits_) {
      stay.end = stay.end == never ? to.end : stay.end;
      out_.stays.push_back(stay);
    }
    visits_.clear();
    for (const TileWrite& write : tiles_.writes_of(tile)) {
      if (write.final) complete(tile, write.buffer);
    }
    for (const TileRead& read : tiles_.reads_of(tile)) finish_read(tile, read);
    const auto chain = std::ranges::equal_range(chain_, static_cast<std::uint32_t>(tile.index()), {},
                                                &std::pair<std::uint32_t, std::uint32_t>::first);
    for (const auto& [from, to_tile] : chain) arrived(TileId(to_tile), made);
    // The last reader of an old value lets the new one come.
    const NodeId node = tiles_.node[tile.index()];
    auto& [left, last] = left_of_[node.index()];
    last = later(last, made);
    if (--left > 0) return;
    for (const auto& [reader, replacer] :
         std::ranges::equal_range(replaces_, node, {}, &std::pair<NodeId, NodeId>::first)) {
      const OperatorTiles& op = tiles_.operators[replacer.index()];
      for (std::uint32_t i = 0; i < op.count; ++i) arrived(TileId(op.first + i), last);
    }
  }

  void write_home(TileId tile, const TileWrite& write, const Moment& made) {
    BufferState& state = buffers_[write.buffer.index()];
    TensorState& tensor = tensor_of(write.buffer);
    const MemoryId written = output_memory(tile);
    if (written == tensor.home) {
      tensor.start = std::min(tensor.start, out_.tiles[tile.index()].start);
      tensor.end = std::max(tensor.end, made.at);
      state.home = made;
      return;
    }
    // Its place is in another memory.
    const std::int64_t bytes = tiles_.buffers[write.buffer.index()].bytes;
    const std::uint16_t route = machine_.route(written, tensor.home);
    if (route == no_route) {
      failure_ = unreachable(written, tensor.home);
      return;
    }
    const auto there = move(write.buffer, bytes, written, tensor.home, route, TransferKind::write_back, made);
    if (!there) {
      failure_ = there.error();
      return;
    }
    state.home = *there;
    const auto visit =
        std::ranges::find_if(visits_, [&](const Stay& stay) { return stay.buffer == write.buffer && write.adds; });
    if (visit != visits_.end()) {
      visit->end = there->at;
    } else {
      out_.stays.push_back({.start = out_.tiles[tile.index()].start,
                            .end = there->at,
                            .bytes = bytes,
                            .buffer = write.buffer,
                            .tile = {},
                            .memory = written});
    }
  }

  // All of a buffer is made.
  void complete(TileId tile, BufferId buffer) {
    BufferState& state = buffers_[buffer.index()];
    if (state.must_go_home && state.home.at == never) {
      if (auto done = write_back(buffer); !done) failure_ = done.error();
    }
    const Moment made{out_.tiles[tile.index()].end, Wait::data, static_cast<std::uint32_t>(tile.index())};
    for (std::uint32_t i = first_reader_[buffer.index()]; i < first_reader_[buffer.index() + 1]; ++i) {
      arrived(TileId(readers_[i]), made);
    }
    if (state.readers == 0) drop(buffer);
    page_out_if_done(buffer);
  }

  // One of the things that a tile waits for. Until it is placed, its own record holds when the last of them was there.
  void arrived(TileId tile, const Moment& moment) {
    ScheduledTile& waiting = out_.tiles[tile.index()];
    if (moment.at > waiting.start) {
      waiting.start = moment.at;
      waiting.by = moment.by;
    }
    if (--waits_for_[tile.index()] == 0 && in_.assignment.order == PlanOrder::critical_path) {
      offer(tile, waiting.start);
    }
  }

  void finish_read(TileId tile, const TileRead& read) {
    BufferState& state = buffers_[read.buffer.index()];
    const Moment end{out_.tiles[tile.index()].end, Wait::memory, static_cast<std::uint32_t>(tile.index())};
    if (streams(tile, read)) {
      TensorState& tensor = tensor_of(read.buffer);
      tensor.end = std::max(tensor.end, end.at);
    }
    --state.readers;
    if (graph_[tiles_.node[tile.index()]].phase == Phase::forward) --state.forward_readers;
    if (state.readers == 0) {
      drop(read.buffer);
    } else if (!streams(tile, read)) {
      const std::uint32_t copy = find(tile, read);
      if (copy != none && copies_[copy].readers == 0 && (!copies_[copy].responsible || state.home.at < never)) {
        release(copy, copies_[copy].idle);
      }
    }
    page_out_if_done(read.buffer);
  }

  // Nothing reads it any more.
  void drop(BufferId buffer) {
    while (buffers_[buffer.index()].copies != none) {
      const std::uint32_t copy = buffers_[buffer.index()].copies;
      release(copy, copies_[copy].idle);
    }
  }

  // ---- paging

  MemoryId pages_to(BufferId buffer) const {
    const TensorId tensor = tiles_.buffers[buffer.index()].tensor;
    return in_.assignment.paged.size() > tensor.index() ? in_.assignment.paged[tensor.index()] : MemoryId();
  }

  // The forward part is done with it: it goes to storage, and every copy with it.
  void page_out_if_done(BufferId buffer) {
    const MemoryId storage = pages_to(buffer);
    BufferState& state = buffers_[buffer.index()];
    if (!storage.valid() || state.paged_out || state.paged_back || state.forward_readers > 0 || state.readers == 0 ||
        state.home.at == never) {
      return;
    }
    TensorState& tensor = tensor_of(buffer);
    const std::uint16_t route = machine_.route(tensor.home, storage);
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

  Status check_paged() const {
    for (std::size_t b = 0; b < buffers_.size(); ++b) {
      if (!pages_to(BufferId(b)).valid() || buffers_[b].paged_out || buffers_[b].paged_back) continue;
      return Error{.message =
                       "it cannot be paged out: in this order the backward part is done with it before the forward "
                       "part is",
                   .place = graph_[tiles_.buffers[b].tensor].name,
                   .advice = "keep it, or put operators of the two parts into different stacks"};
    }
    return Done{};
  }

  // Just in time: while the core works on the tile before the one that needs it.
  void page_in(BufferId buffer, double not_before) {
    BufferState& state = buffers_[buffer.index()];
    TensorState& tensor = tensor_of(buffer);
    const MemoryId storage = pages_to(buffer);
    const std::uint16_t route = machine_.route(storage, tensor.home);
    Moment from = state.home;
    from.at = std::max(from.at, not_before);
    if (route == no_route) return;
    const double begun = tensor.start;
    const auto in =
        move(buffer, tiles_.buffers[buffer.index()].bytes, storage, tensor.home, route, TransferKind::page_in, from);
    if (!in) return;
    tensor.start = begun;
    state.home = *in;
    state.paged_out = false;
    state.paged_back = true;
    tensor.back = std::min(tensor.back, out_.transfers.back().start);
    tensor.page_end = std::max(tensor.page_end, in->at);
  }

  // ---- after the last tile

  void finish() {
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
    out_.routes = machine_.routes();
    renumber_costs();
  }

  std::int64_t bytes_of(TensorId tensor) const {
    std::int64_t sum = 0;
    for (std::uint32_t b = tiles_.first_buffer[tensor.index()]; b < tiles_.first_buffer[tensor.index() + 1]; ++b) {
      sum += tiles_.buffers[b].bytes;
    }
    return sum;
  }

  // Only the costs that are used go along.
  void renumber_costs() {
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

  const ScheduleInput& in_;
  const Graph& graph_;
  Machine& machine_;
  const Hardware& hardware_;
  const TileGraph& tiles_;
  bool direct_;
  Schedule out_;
  std::optional<Bookings> bookings_;
  std::vector<Room> rooms_;                       // by memory
  std::vector<std::vector<std::uint32_t>> held_;  // copies in each memory
  std::vector<CoreState> cores_;
  std::vector<std::uint32_t> rank_;   // by tile
  std::vector<std::uint32_t> group_;  // by tile: which piece of its operator's split, a number of its own
  std::vector<bool> placed_;
  std::vector<BufferState> buffers_;
  std::vector<TensorState> tensors_;
  std::vector<Copy> copies_;
  std::vector<std::uint32_t> free_copies_;
  std::vector<std::uint32_t> first_reader_, readers_, next_reader_;  // tiles that read each buffer
  std::vector<std::uint32_t> waits_for_;                             // by tile: inputs not made yet
  std::vector<std::pair<std::uint32_t, std::uint32_t>> chain_;       // tiles that add, after which
  std::vector<std::pair<NodeId, NodeId>>
      replaces_;  // readers of a value, and what replaces it or reads it when it was paged
  std::vector<std::pair<std::uint32_t, Moment>> left_of_;  // by node: tiles not placed yet, and the end of the others
  std::vector<std::uint32_t> last_on_;                     // transfer, by channel
  std::vector<std::uint16_t> stream_routes_;
  std::vector<std::size_t> first_port_;  // by core
  std::vector<std::uint16_t> port_channels_;
  std::size_t max_ports_ = 0;
  std::vector<ChannelUse> uses_;
  struct Turn {
    double at;
    std::uint32_t core;
    bool operator<(const Turn& other) const { return at != other.at ? at > other.at : core > other.core; }
  };
  std::priority_queue<Turn> turns_;
  std::vector<double> announced_;  // by core: its turn in the queue
  // Of the tile that is being placed.
  std::uint32_t pin_ = none;
  std::vector<std::uint32_t> used_, results_, fresh_;
  std::vector<std::pair<MemoryId, std::int64_t>> workspaces_;
  std::vector<Stay> visits_;  // in homes of other data
  std::vector<std::pair<MemoryId, std::int64_t>> needs_;
  bool only_parts_ = false;  // there is no room for whole buffers of which it reads a part
  std::vector<std::pair<std::uint32_t, std::uint16_t>> listeners_;  // copies, and the routes to them
  std::optional<Error> failure_;
};

}  // namespace

Expected<Schedule> make_schedule(const ScheduleInput& input) { return Scheduler(input).run(); }

}  // namespace monet

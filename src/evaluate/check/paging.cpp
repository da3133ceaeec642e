// What the plan pages out is away from home memory in between: saved tensors between forward and backward, weights and
// optimizer state but for their uses.
#include "evaluate/check/rules.h"

#include <algorithm>

namespace monet::check {

namespace {

// When a tensor has left, and when it begins to come back.
struct Absence {
  double from = 0;
  double to = 0;
};

// Weights and optimizer state that live in storage: each stay at home begins and ends with a use.
class Lodging {
 public:
  explicit Lodging(const CheckContext& context) : context_(context), uses_(context.graph.tensors().size()) {
    for (const ScheduledTransfer& transfer : context.schedule.transfers) {
      const TensorId place = context.place_of(context.tiles.buffers[transfer.buffer.index()].tensor);
      if (!context.lives_away(place)) continue;
      for (const MemoryId memory : {transfer.from, transfer.to}) {
        uses_[place.index()].push_back({transfer.start, transfer.end, memory, {}, false});
      }
    }
    for (std::size_t i = 0; i < context.tiles.tiles(); ++i) {
      for (const TileRead& read : context.tiles.reads_of(TileId(i))) add(TileId(i), read.buffer);
      for (const TileWrite& write : context.tiles.writes_of(TileId(i))) add(TileId(i), write.buffer);
    }
  }

  void run() {
    for (const TensorStay& stay : context_.schedule.home) {
      if (!context_.lives_away(stay.tensor) || stay.memory == context_.away(stay.tensor)) continue;
      check_ends(stay);
      if (context_.assignment.order == PlanOrder::critical_path) check_phases(stay);
    }
  }

 private:
  struct Use {
    double start, end;
    MemoryId memory;
    NodeId node;         // not valid: a transfer
    bool works_in_home;  // the tile, on all that it uses
  };

  void add(TileId tile, BufferId buffer) {
    const TensorId place = context_.place_of(context_.tiles.buffers[buffer.index()].tensor);
    if (!context_.lives_away(place)) return;
    const ScheduledTile& at = context_.at(tile);
    const MemoryId home = context_.schedule.home_of[at.core.index()];
    const bool works_in_home = std::ranges::all_of(context_.local[at.core.index()], [&](const auto& memories) {
      return std::ranges::all_of(memories, [&](MemoryId memory) { return memory == home; });
    });
    if (!works_in_home && context_.cost(tile).streamed == 0) return;
    uses_[place.index()].push_back({at.start, at.end, home, context_.tiles.node[tile.index()], works_in_home});
  }

  bool is_within(const Use& use, const TensorStay& stay) const {
    return use.memory == stay.memory && context_.not_after(stay.start, use.start) &&
           context_.not_after(use.end, stay.end);
  }

  void check_ends(const TensorStay& stay) {
    double first = stay.end, last = stay.start;
    for (const Use& use : uses_[stay.tensor.index()]) {
      if (!is_within(use, stay)) continue;
      first = std::min(first, use.start);
      last = std::max(last, use.end);
    }
    if (context_.not_after(first, stay.start) && context_.not_after(stay.end, last)) return;
    context_.findings.add("{} lives in {} and stays in {} from {} to {}, where it is used from {} to {}",
                          context_.graph[stay.tensor].name, context_.name(context_.away(stay.tensor)),
                          context_.name(stay.memory), stay.start, stay.end, first, last);
  }

  // Between phases of which one comes after the other it is away.
  void check_phases(const TensorStay& stay) {
    const std::vector<Use>& uses = uses_[stay.tensor.index()];
    for (std::size_t phase = 0; phase + 1 < phase_count; ++phase) {
      const auto is_early = [&](const Use& use) {
        return static_cast<std::size_t>(context_.graph[use.node].phase) <= phase;
      };
      std::size_t last_early = 0, first_late = context_.graph.nodes().size();
      bool early = false, late = false;
      for (const Use& use : uses) {
        if (!use.node.valid()) continue;
        if (is_early(use)) {
          last_early = std::max(last_early, use.node.index());
        } else {
          first_late = std::min(first_late, use.node.index());
        }
        if (use.works_in_home && is_within(use, stay)) (is_early(use) ? early : late) = true;
      }
      if (last_early > first_late || !early || !late) continue;
      context_.findings.add("{} lives in {} and stays in {} from {} to {}, between two parts of the step",
                            context_.graph[stay.tensor].name, context_.name(context_.away(stay.tensor)),
                            context_.name(stay.memory), stay.start, stay.end);
    }
  }

  const CheckContext& context_;
  std::vector<std::vector<Use>> uses_;  // by tensor
};

}  // namespace

void check_paging(const CheckContext& context) {
  const auto& paged = context.assignment.paged;
  if (paged.empty()) return;
  Lodging(context).run();
  std::vector<Absence> absence(paged.size(), Absence{.from = 0, .to = context.schedule.cycles});
  std::vector<bool> left(context.tiles.buffers.size(), false);
  for (const ScheduledTransfer& transfer : context.schedule.transfers) {
    Absence& of = absence[context.tiles.buffers[transfer.buffer.index()].tensor.index()];
    if (transfer.kind == TransferKind::page_out) {
      left[transfer.buffer.index()] = true;
      of.from = std::max(of.from, transfer.end);
    }
    if (transfer.kind == TransferKind::page_in) of.to = std::min(of.to, transfer.start);
  }
  for (std::size_t i = 0; i < left.size(); ++i) {
    const MemoryId away = paged[context.tiles.buffers[i].tensor.index()];
    if (!away.valid() || left[i] || context.lives_away(context.tiles.buffers[i].tensor)) continue;
    context.findings.add("{} is planned to be paged out to {} and is not", context.name(BufferId(i)),
                         context.name(away));
  }
  for (const TensorStay& stay : context.schedule.home) {
    const MemoryId away = paged[stay.tensor.index()];
    if (!away.valid() || stay.memory == away || context.lives_away(stay.tensor)) continue;
    const Absence& of = absence[stay.tensor.index()];
    const double both = std::min(of.to, stay.end) - std::max(of.from, stay.start);
    if (both <= 2 * context.tolerance) continue;
    context.findings.add("{} is paged out to {} and stays in {} for {} cycles meanwhile",
                         context.graph[stay.tensor].name, context.name(away), context.name(stay.memory), both);
  }
}

}  // namespace monet::check

#include "evaluate/plan/bind_tensors.h"

#include "base/glob.h"
#include "base/try.h"
#include "config/check_keys.h"
#include "evaluate/plan/reader.h"
#include "training/blocks.h"
#include "training/recompute.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <unordered_map>

namespace monet {

namespace {

Error error_at(const PlannedTensor& planned, std::string message, std::string advice) {
  return {.message = std::move(message), .place = planned.place.text(), .advice = std::move(advice)};
}

// Parts that data can come to, from any core, and from which they can come back.
class Reach {
 public:
  explicit Reach(const Hardware& hardware) : cores_(hardware.cores.size()) {
    const std::size_t parts = cores_ + hardware.memories.size();
    std::vector<std::vector<std::size_t>> to(parts);
    std::vector<std::vector<std::size_t>> from(parts);
    const auto join = [&](std::size_t a, std::size_t b) {
      to[a].push_back(b);
      from[b].push_back(a);
    };
    for (std::size_t i = 0; i < cores_; ++i) {
      for (const Level& level : hardware.cores[i].levels) {
        join(i, part(level.memory));
        join(part(level.memory), i);
      }
    }
    for (const Link& link : hardware.links) add(link, join);
    there_ = reached(to);
    back_ = reached(from);
  }

  bool holds(MemoryId memory) const { return there_[part(memory)] && back_[part(memory)]; }

 private:
  std::size_t part(MemoryId memory) const { return cores_ + memory.index(); }
  std::size_t part(const End& end) const { return end.core.valid() ? end.core.index() : part(end.memory); }

  template <class Join>
  void add(const Link& link, const Join& join) const {
    for (std::size_t a = 0; a + 1 < link.ends.size(); ++a) {
      // All on a bus reach each other: through the first of them will do.
      const std::size_t one = part(link.kind == LinkKind::bus ? link.ends.front() : link.ends[a]);
      const std::size_t other = part(link.ends[a + 1]);
      join(one, other);
      if (link.kind == LinkKind::bus || link.both_ways) join(other, one);
    }
  }

  std::vector<bool> reached(const std::vector<std::vector<std::size_t>>& next) const {
    std::vector<bool> seen(next.size(), false);
    std::vector<std::size_t> open;
    for (std::size_t i = 0; i < cores_; ++i) {
      seen[i] = true;
      open.push_back(i);
    }
    while (!open.empty()) {
      const std::size_t at = open.back();
      open.pop_back();
      for (std::size_t part : next[at]) {
        if (seen[part]) continue;
        seen[part] = true;
        open.push_back(part);
      }
    }
    return seen;
  }

  std::size_t cores_;
  std::vector<bool> there_, back_;
};

// A tensor that a plan may decide about.
struct Candidate {
  TensorId tensor;
  std::int64_t bytes = 0;
  std::string reason;  // why it cannot be recomputed; empty: it can
  bool saved = true;   // by the forward part for the backward part; else it is there before the step begins
};

bool stays_between_steps(Role role) {
  return role == Role::weight || role == Role::master_weight || role == Role::optimizer_state;
}

std::vector<Candidate> candidates_in(const Graph& graph) {
  std::vector<Candidate> result;
  for (training::SavedCandidate& saved : training::saved_candidates(graph)) {
    result.push_back({saved.tensor, saved.bytes, std::move(saved.reason)});
  }
  for (std::size_t i = 0; i < graph.tensors().size(); ++i) {
    const Tensor& tensor = graph.tensors()[i];
    if (tensor.producer.valid() || !stays_between_steps(tensor.role)) continue;
    result.push_back({TensorId(i), bytes(tensor),
                      fmt::format("it is there before the step begins ({})", name_of(tensor.role)), false});
  }
  return result;
}

class TensorBinding {
 public:
  // Without a machine memories are not looked at.
  TensorBinding(const Graph& graph, const Hardware* hardware)
      : graph_(graph), hardware_(hardware), candidates_(candidates_in(graph)), bound_(candidates_.size()) {
    for (std::size_t i = 0; i < candidates_.size(); ++i) candidate_.emplace(candidates_[i].tensor, i);
    for (std::size_t i = 0; i < graph.tensors().size(); ++i) tensors_.emplace(graph.tensors()[i].name, TensorId(i));
  }

  Status add(const PlannedTensor& planned) {
    MemoryId memory;
    if (!planned.memory.empty() && hardware_ != nullptr) {
      MONET_TRY(memory, memory_of(planned));
    }
    MONET_TRY(const std::vector<std::size_t> chosen, candidates_of(planned));
    for (std::size_t i : chosen) {
      const Candidate& candidate = candidates_[i];
      if (memory.valid()) MONET_RETURN_IF_ERROR(check_room(planned, candidate, memory));
      bound_[i] = BoundTensor{candidate.tensor, planned.retention, memory};
    }
    return Done{};
  }

  std::vector<BoundTensor> take() const {
    std::vector<BoundTensor> result;
    for (const auto& bound : bound_) {
      if (bound) result.push_back(*bound);
    }
    return result;
  }

 private:
  Expected<MemoryId> memory_of(const PlannedTensor& planned) {
    const auto found = std::ranges::find(hardware_->memories, planned.memory, &Memory::name);
    if (found == hardware_->memories.end()) {
      std::vector<std::string> names;
      for (const Memory& memory : hardware_->memories) names.push_back(memory.name);
      return error_at(planned, fmt::format("there is no memory '{}'", shown(planned.memory)),
                      meant_name(planned.memory, names));
    }
    const MemoryId id(static_cast<std::size_t>(found - hardware_->memories.begin()));
    if (found->kind == MemoryKind::registers) {
      return error_at(planned, fmt::format("memory '{}' is made of registers: nothing can be kept there", found->name),
                      "choose a larger memory");
    }
    if (!reach_) reach_.emplace(*hardware_);
    if (!reach_->holds(id)) {
      return error_at(planned, fmt::format("memory '{}' cannot be reached from the cores and back", found->name),
                      "join it with a link, or choose another memory");
    }
    return id;
  }

  Status check_room(const PlannedTensor& planned, const Candidate& candidate, MemoryId memory) const {
    const std::int64_t room = (*hardware_)[memory].size_bits / 8;
    if (candidate.bytes <= room) return Done{};
    return error_at(planned,
                    fmt::format("tensor '{}' has {} bytes and memory '{}' only {}", graph_[candidate.tensor].name,
                                candidate.bytes, (*hardware_)[memory].name, room),
                    "choose a larger memory");
  }

  Expected<std::vector<std::size_t>> candidates_of(const PlannedTensor& planned) const {
    const auto found = tensors_.find(planned.name);
    if (found != tensors_.end()) return behind(planned, found->second);
    if (planned.name == "blocks") return in_blocks(planned);
    if (planned.name == "weights") return between_steps(planned, {Role::weight, Role::master_weight});
    if (planned.name == "optimizer-state") return between_steps(planned, {Role::optimizer_state});
    if (is_pattern(planned.name)) return matching(planned);
    return error_at(planned, fmt::format("there is no tensor '{}'", shown(planned.name)),
                    meant_name(planned.name, names(planned.retention == Retention::page)));
  }

  // For messages: of what is saved, or of all candidates.
  std::vector<std::string> names(bool all) const {
    std::vector<std::string> result;
    for (const Candidate& candidate : candidates_) {
      if (all || candidate.saved) result.push_back(graph_[candidate.tensor].name);
    }
    return result;
  }

  static Error cannot_recompute(const PlannedTensor& planned, const std::string& name, const std::string& reason) {
    return error_at(planned, fmt::format("tensor '{}' cannot be recomputed: {}", name, reason), "keep it, or page it");
  }

  Expected<std::vector<std::size_t>> in_blocks(const PlannedTensor& planned) const {
    const std::vector<training::Block> blocks = training::find_blocks(graph_);
    if (blocks.empty()) {
      return error_at(planned, "the network has no residual blocks or transformer layers that could be found",
                      "name tensors, or patterns of them");
    }
    std::vector<std::size_t> chosen;
    for (TensorId id : training::saved_in_blocks(graph_, blocks)) chosen.push_back(candidate_.at(id));
    if (!chosen.empty()) return chosen;
    return error_at(planned,
                    fmt::format("the {} blocks of the network save nothing that can be recomputed", blocks.size()),
                    "take it out: there is nothing to decide");
  }

  Expected<std::vector<std::size_t>> between_steps(const PlannedTensor& planned,
                                                   std::initializer_list<Role> roles) const {
    std::vector<std::size_t> chosen;
    for (std::size_t i = 0; i < candidates_.size(); ++i) {
      const Candidate& candidate = candidates_[i];
      if (candidate.saved || std::ranges::find(roles, graph_[candidate.tensor].role) == roles.end()) continue;
      if (planned.retention == Retention::recompute) {
        return cannot_recompute(planned, graph_[candidate.tensor].name, candidate.reason);
      }
      chosen.push_back(i);
    }
    if (!chosen.empty()) return chosen;
    return error_at(planned, fmt::format("the step has no {}", planned.name),
                    "take it out: there is nothing to decide");
  }

  Expected<std::vector<std::size_t>> behind(const PlannedTensor& planned, TensorId tensor) const {
    std::vector<std::size_t> chosen;
    for (TensorId id : training::stored_behind(graph_, tensor)) {
      const auto found = candidate_.find(id);
      if (found == candidate_.end()) continue;
      const Candidate& candidate = candidates_[found->second];
      // Of a weight that is read through a view, the view is no name.
      if (!candidate.saved && id != tensor) continue;
      if (planned.retention == Retention::recompute && !candidate.reason.empty()) {
        return cannot_recompute(planned, planned.name, candidate.reason);
      }
      chosen.push_back(found->second);
    }
    // Of what is there anyway a plan may say so.
    const bool kept_anyway = planned.retention == Retention::keep && planned.memory.empty();
    if (!chosen.empty() || kept_anyway) return chosen;
    return error_at(planned, fmt::format("tensor '{}' is not saved: {}", planned.name, why_not_saved(tensor)),
                    "take it out: there is nothing to decide");
  }

  std::string why_not_saved(TensorId id) const {
    const Tensor& tensor = graph_[id];
    if (!tensor.producer.valid()) return fmt::format("it is there before the step begins ({})", name_of(tensor.role));
    if (graph_[tensor.producer].phase != Phase::forward) return "the forward part does not make it";
    if (tensor.updates.valid() || std::ranges::find(graph_.outputs, id) != graph_.outputs.end()) {
      return "it leaves the step, so it is kept anyway";
    }
    return "the backward part does not read it";
  }

  Expected<std::vector<std::size_t>> matching(const PlannedTensor& planned) const {
    std::vector<std::size_t> chosen;
    std::string reason;
    for (std::size_t i = 0; i < candidates_.size(); ++i) {
      // Saved tensors come first.
      if (!candidates_[i].saved && !chosen.empty() && candidates_[chosen.front()].saved) break;
      if (!matches(planned.name, graph_[candidates_[i].tensor].name)) continue;
      if (planned.retention != Retention::recompute || candidates_[i].reason.empty()) {
        chosen.push_back(i);
      } else if (reason.empty()) {
        reason = fmt::format("'{}': {}", graph_[candidates_[i].tensor].name, candidates_[i].reason);
      }
    }
    if (!chosen.empty()) return chosen;
    if (!reason.empty()) {
      return error_at(planned, fmt::format("no tensor that matches '{}' can be recomputed; {}", planned.name, reason),
                      "keep them, or page them");
    }
    const std::vector<std::string> known = names(planned.retention == Retention::page);
    return error_at(planned, fmt::format("no saved tensor matches '{}'", shown(planned.name)),
                    known.empty() ? "this graph saves none" : meant_name(planned.name, known));
  }

  const Graph& graph_;
  const Hardware* hardware_;
  std::vector<Candidate> candidates_;
  std::unordered_map<TensorId, std::size_t> candidate_;
  std::unordered_map<std::string_view, TensorId> tensors_;
  std::vector<std::optional<BoundTensor>> bound_;  // by candidate
  std::optional<Reach> reach_;
};

Expected<std::vector<BoundTensor>> bind(const Plan& plan, const Graph& graph, const Hardware* hardware) {
  if (plan.tensors.empty()) return std::vector<BoundTensor>();
  TensorBinding binding(graph, hardware);
  for (const PlannedTensor& planned : plan.tensors) MONET_RETURN_IF_ERROR(binding.add(planned));
  return binding.take();
}

}  // namespace

Expected<std::vector<BoundTensor>> bind_tensors(const Plan& plan, const Graph& graph, const Hardware& hardware) {
  return bind(plan, graph, &hardware);
}

Expected<std::vector<BoundTensor>> bind_tensors(const Plan& plan, const Graph& graph) {
  return bind(plan, graph, nullptr);
}

std::vector<TensorId> recomputed(const std::vector<BoundTensor>& tensors) {
  std::vector<TensorId> result;
  for (const BoundTensor& bound : tensors) {
    if (bound.retention == Retention::recompute) result.push_back(bound.tensor);
  }
  return result;
}

}  // namespace monet

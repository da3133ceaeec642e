#include "kernels/compile/duplicate.h"

#include "kernels/compile/rewriting.h"

#include <algorithm>
#include <map>
#include <utility>

namespace monet::compiling {

namespace {

// Operators that use their operand more than once: the expression of it would stand in them as often.
bool uses_twice(Op op) {
  switch (op) {
    case Op::Gelu:
    case Op::GeluGrad:
    case Op::Silu:
    case Op::SiluGrad:
    case Op::Mish:
    case Op::MishGrad:
    case Op::HardSwish:
    case Op::HardSwishGrad:
    case Op::HardSigmoidGrad:
    case Op::ClipGrad:
    case Op::SigmoidGrad:
    case Op::TanhGrad: return true;
    default: return false;
  }
}

// Operands that an expression reads when what is cheap is written out in it.
class Inlined {
 public:
  Inlined(const LoweredStep& step, const Graph& graph, const std::vector<Part>& parts, const Order& order)
      : step_(step),
        graph_(graph),
        order_(order),
        copied_(step.launches.size(), false),
        written_(step.launches.size(), false),
        leaves_(step.launches.size()) {
    constexpr std::size_t most_operands = 4;  // torch/_inductor/config.py: realize_reads_threshold
    for (std::size_t i = 0; i < step.launches.size(); ++i) {
      if (parts[i].kind != PartKind::element) continue;
      collect_leaves(i);
      const bool few = leaves_[i].size() <= most_operands;
      copied_[i] = few && read_by_several(i, parts);
      written_[i] = !few && read_twice(i);
    }
  }

  bool copied(std::size_t launch) const { return copied_[launch]; }

 private:
  void collect_leaves(std::size_t launch) {
    for (const Touch& read : step_.launches[launch].reads) {
      const auto& writers = order_.writers(read.buffer);
      const bool one = writers.size() == 1 && !leaves_[writers[0]].empty() && !written_[writers[0]];
      if (one && (copied_[writers[0]] || order_.readers(read.buffer).size() == 1)) {
        leaves_[launch].insert(leaves_[launch].end(), leaves_[writers[0]].begin(), leaves_[writers[0]].end());
      } else {
        leaves_[launch].push_back(read.buffer);
      }
    }
    std::ranges::sort(leaves_[launch]);
    const auto rest = std::ranges::unique(leaves_[launch]);
    leaves_[launch].erase(rest.begin(), rest.end());
  }

  bool read_twice(std::size_t launch) const {
    for (const Touch& write : step_.launches[launch].writes) {
      for (std::uint32_t reader : order_.readers(write.buffer)) {
        const std::vector<NodeId>& nodes = step_.launches[reader].nodes;
        if (!nodes.empty() && uses_twice(graph_[nodes.back()].op)) return true;
      }
    }
    return false;
  }

  // By loops of the compiler, of the same part of the step.
  bool read_by_several(std::size_t launch, const std::vector<Part>& parts) const {
    const Launch& made = step_.launches[launch];
    if (made.writes.size() != 1) return false;
    const AllocationId buffer = made.writes[0].buffer;
    const Allocation& allocation = step_.buffers[buffer.index()];
    if (allocation.permanent || allocation.until_end || allocation.result || order_.writers(buffer).size() != 1)
      return false;
    const auto& readers = order_.readers(buffer);
    return readers.size() > 1 && std::ranges::all_of(readers, [&](std::uint32_t reader) {
             return parts[reader].kind != PartKind::library && step_.launches[reader].phase == made.phase;
           });
  }

  const LoweredStep& step_;
  const Graph& graph_;
  const Order& order_;
  std::vector<bool> copied_;   // each reader gets its own
  std::vector<bool> written_;  // its readers read it as an operand
  std::vector<std::vector<AllocationId>> leaves_;
};

}  // namespace

void duplicate_cheap(LoweredStep& step, const Graph& graph) {
  const std::vector<Part> parts = parts_of(step, graph);
  const Order order(step);
  const Inlined inlined(step, graph, parts, order);
  Rewriting rewriting(step);
  // The first reader keeps the launch itself; the others get copies of all that is written out in them.
  std::vector<bool> taken(rewriting.old().size(), false);
  for (std::size_t i = 0; i < rewriting.old().size(); ++i) {
    Launch launch = rewriting.old()[i];
    std::map<AllocationId, AllocationId> copies;
    std::vector<std::pair<std::uint32_t, bool>> stack;  // launches to copy, and whether their operands are there
    const auto want = [&](const Launch& reader) {
      for (const Touch& read : reader.reads) {
        const auto& writers = order.writers(read.buffer);
        if (writers.size() == 1 && inlined.copied(writers[0]) && !copies.contains(read.buffer)) {
          stack.emplace_back(writers[0], false);
        }
      }
    };
    if (parts[i].kind != PartKind::library && !inlined.copied(i)) want(launch);
    while (!stack.empty()) {
      auto& [writer, ready] = stack.back();
      const Launch& made = rewriting.old()[writer];
      if (copies.contains(made.writes[0].buffer)) {
        stack.pop_back();
      } else if (!ready) {
        ready = true;
        want(made);
      } else {
        std::vector<Touch> reads = made.reads;
        for (Touch& read : reads) {
          if (const auto copy = copies.find(read.buffer); copy != copies.end()) read.buffer = copy->second;
        }
        const std::uint32_t now = writer;
        stack.pop_back();
        if (taken[now]) {
          rewriting.copy(made, std::move(reads), launch, copies);
        } else {
          taken[now] = true;
          Launch first = made;
          first.reads = std::move(reads);
          copies[made.writes[0].buffer] = made.writes[0].buffer;
          rewriting.keep(std::move(first));
        }
      }
    }
    for (Touch& read : launch.reads) {
      if (const auto copy = copies.find(read.buffer); copy != copies.end()) read.buffer = copy->second;
    }
    if (!inlined.copied(i)) rewriting.keep(std::move(launch));
  }
}

}  // namespace monet::compiling

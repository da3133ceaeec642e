#include "optimize/assignment/screen.h"

#include "evaluate/account/totals.h"
#include "optimize/fusion/extract.h"

#include <algorithm>
#include <limits>

namespace monet::assigning {

namespace {

constexpr std::size_t window_size = 10;  // operators
constexpr std::size_t most_windows = 3;  // that one move is judged by

// Latency, and time of transfers from and to home: of operators by themselves one hides behind the other.
double cycles_and_traffic(const Evaluated& evaluated) {
  double cycles = evaluated.schedule.cycles;
  for (const ScheduledTransfer& transfer : evaluated.schedule.transfers) {
    if (transfer.joined || transfer.kind == TransferKind::core_to_core) continue;
    cycles += 8.0 * static_cast<double>(transfer.bytes) / evaluated.schedule.routes[transfer.route].bits_per_cycle;
  }
  return cycles;
}

template <class T>
void append(std::string& key, const T& value) {
  key.append(reinterpret_cast<const char*>(&value), sizeof value);
}

}  // namespace

Screen::Screen(const Graph& graph, Evaluator& evaluator, SearchObjective objective)
    : graph_(graph), evaluator_(evaluator), objective_(objective), readers_of_(graph), readers_(graph.nodes().size()) {
  for (std::size_t n = 0; n < graph.nodes().size(); ++n) {
    for (NodeId maker : evaluator.dependencies().before(NodeId(n))) readers_[maker.index()].emplace_back(n);
  }
}

std::vector<NodeId> Screen::around(NodeId node) const {
  std::vector<NodeId> found = {node};
  for (std::size_t i = 0; i < found.size() && found.size() < window_size; ++i) {
    const auto add = [&](NodeId other) {
      if (found.size() < window_size && std::ranges::find(found, other) == found.end()) found.push_back(other);
    };
    std::ranges::for_each(evaluator_.dependencies().before(found[i]), add);
    std::ranges::for_each(readers_[found[i].index()], add);
  }
  std::ranges::sort(found);
  return found;
}

Screen::Window& Screen::window_of(NodeId node) {
  const auto [entry, added] = windows_.try_emplace(node);
  Window& window = entry->second;
  if (!added) return window;
  window.nodes = around(node);
  fusion::Extracted extracted = fusion::extract(graph_, readers_of_, window.nodes);
  window.now = std::move(extracted.nodes);
  window.graph = std::make_unique<const Graph>(std::move(extracted.graph));
  window.evaluator = std::make_unique<Evaluator>(*window.graph, evaluator_);
  return window;
}

double Screen::price(Window& window, const State& state) {
  State local{.transfers = state.transfers, .turns = {}, .operators = {}, .stacks = state.stacks};
  local.turns.assign(window.graph->nodes().size(), Turn::usual);
  local.operators.resize(window.graph->nodes().size());
  std::string key;
  append(key, state.transfers);
  for (std::size_t i = 0; i < window.nodes.size(); ++i) {
    const OperatorAssignment& op = state.operators[window.nodes[i].index()];
    local.operators[window.now[i].index()] = op;
    for (const LoopCut& cut : op.cuts) {
      append(key, cut.loop);
      append(key, cut.pieces);
      append(key, cut.tile);
    }
    for (CoreId core : op.cores) append(key, core);
    append(key, op.stack);
  }
  const auto [entry, added] = window.known.try_emplace(key, std::numeric_limits<double>::infinity());
  if (!added) return entry->second;
  const auto evaluated =
      window.evaluator->evaluate(request_of(local, *window.graph, window.evaluator->dependencies(), {}));
  if (!evaluated) return entry->second;
  const Totals sums = totals(evaluator_.machine().hardware(), evaluated->schedule);
  switch (objective_) {
    case SearchObjective::latency: entry->second = cycles_and_traffic(*evaluated); break;
    case SearchObjective::energy: entry->second = sums.energy_pj; break;
    case SearchObjective::edp: entry->second = cycles_and_traffic(*evaluated) * sums.energy_pj; break;
  }
  return entry->second;
}

double Screen::gain(const Moves& moves, const State& state, const AssignmentMove& move) {
  if (move.nodes.empty() || move.kind == MoveKind::turn) return 0;
  const auto next = moves.moved(state, move);
  if (!next) return -std::numeric_limits<double>::infinity();
  // One of each content stands for all.
  std::vector<std::pair<NodeId, double>> judged;
  for (NodeId node : move.nodes) {
    if (next->operators[node.index()] == state.operators[node.index()]) continue;
    const auto same = std::ranges::find_if(
        judged, [&](const auto& each) { return evaluator_.classes()[each.first] == evaluator_.classes()[node]; });
    if (same != judged.end()) {
      same->second += 1;
    } else if (judged.size() < most_windows) {
      judged.emplace_back(node, 1);
    }
  }
  double gain = 0;
  for (const auto& [node, count] : judged) {
    Window& window = window_of(node);
    gain += count * (price(window, state) - price(window, *next));
  }
  return gain;
}

}  // namespace monet::assigning

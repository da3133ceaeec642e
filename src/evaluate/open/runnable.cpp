#include "evaluate/open/runnable.h"

#include "base/try.h"
#include "graph/expand.h"
#include "mapping/operators.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <map>
#include <set>

namespace monet {

namespace {

// What decides what a core can run.
std::string abilities(const Core& core) {
  std::string text = core.type + ":";
  const auto add = [&](const std::array<double, count_kinds>& able) {
    for (double each : able) text += each > 0 ? '1' : '0';
  };
  const auto add_precisions = [&](const std::vector<PrecisionRate>& precisions) {
    for (const PrecisionRate& precision : precisions) text += precision.name + ",";
  };
  for (const std::string& pattern : core.operators) text += pattern + ",";
  for (const Unit& unit : core.units) {
    add(unit.cycles);
    add_precisions(unit.precisions);
  }
  if (core.rate) {
    add(core.rate->operations_per_s);
    for (const KindRates& rates : core.rate->by_precision) add(rates.operations_per_s);
    add_precisions(core.rate->precisions);
  }
  return text + "\n";
}

std::vector<const Core*> different_cores(const Hardware& hardware) {
  std::vector<const Core*> cores;
  std::set<std::string> seen;
  for (const Core& core : hardware.cores) {
    if (seen.insert(abilities(core)).second) cores.push_back(&core);
  }
  return cores;
}

// Why none of the cores can run it; empty: one can.
std::vector<std::string> refusals(const Graph& graph, const Node& node, const std::vector<const Core*>& cores,
                                  double clock_hz, const ExtractOptions& options) {
  if (node.op == Op::Custom) return {};
  const std::vector<monet::Problem> problems = problems_of(graph, node, options);
  std::vector<std::string> reasons;
  for (const Core* core : cores) {
    if (problems.empty()) break;
    std::string reason = cannot_run(*core, clock_hz, node.op, problems);
    if (reason.empty()) return {};
    // Cores of one type have one reason.
    if (const std::size_t at = reason.find(core->name); at != std::string::npos) {
      reason.replace(at, core->name.size(), core->type);
    }
    if (std::ranges::find(reasons, reason) == reasons.end()) reasons.push_back(std::move(reason));
  }
  return reasons;
}

}  // namespace

std::vector<Unrunnable> unrunnable_operators(const Graph& graph, const Hardware& hardware,
                                             const ExtractOptions& options) {
  const std::vector<const Core*> cores = different_cores(hardware);
  std::vector<Unrunnable> found;
  for (const Node& node : graph.nodes()) {
    std::vector<std::string> reasons = refusals(graph, node, cores, hardware.clock_hz, options);
    if (reasons.empty()) continue;
    const std::string op(name_of(node.op));
    auto same = std::ranges::find_if(found, [&](const Unrunnable& u) { return u.op == op && u.reasons == reasons; });
    if (same == found.end()) same = found.insert(found.end(), {op, 0, node.name, std::move(reasons)});
    ++same->count;
  }
  return found;
}

Error unrunnable_error(const Hardware& hardware, std::span<const Unrunnable> operators) {
  std::vector<std::string> parts;
  for (const Unrunnable& each : operators) {
    parts.push_back(
        fmt::format("{} {} (such as '{}'): {}", each.count, each.op, each.example, fmt::join(each.reasons, "; ")));
  }
  return {.kind = ErrorKind::infeasible,
          .message = fmt::format("no core can run {}", fmt::join(parts, ". None can run ")),
          .place = hardware.name,
          .advice = "add what is missing to a core's operators and operations, or a core for them"};
}

Expected<ExpandedGraph> expanded_for(Graph graph, const Hardware& hardware, const ExtractOptions& options,
                                     std::span<const std::string> also) {
  const std::vector<const Core*> cores = different_cores(hardware);
  const std::set<std::string> named(also.begin(), also.end());
  std::map<std::string, std::vector<std::string>> by_type;
  ExpandedGraph result;
  const auto wanted = [&](const Graph& all, const Node& node) {
    return named.contains(node.name) || !refusals(all, node, cores, hardware.clock_hz, options).empty();
  };
  for (const Node& node : graph.nodes()) {
    if (!is_expandable(node) || !wanted(graph, node)) continue;
    result.names.push_back(node.name);
    by_type[std::string(name_of(node.op))].push_back(node.name);
  }
  if (result.names.empty()) {
    result.graph = std::move(graph);
    return result;
  }
  MONET_TRY(result.graph, expand(std::move(graph), wanted));
  for (const auto& [op, names] : by_type) {
    result.notes.push_back(fmt::format(
        "no core of {} runs {}: {} as the simpler operators of {} ('{}'{})", hardware.name, op,
        names.size() == 1 ? "1 runs" : fmt::format("{} run", names.size()),
        names.size() == 1 ? "which it consists" : "which they consist", names.front(), names.size() > 1 ? ", …" : ""));
  }
  return result;
}

std::string abilities_of(const Hardware& hardware) {
  std::string text;
  for (const Core* core : different_cores(hardware)) text += abilities(*core);
  return text;
}

}  // namespace monet

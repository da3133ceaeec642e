#include "present/shared/diagnosis.h"

#include "base/quantities.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>

namespace monet {

namespace {

constexpr double mostly = 0.6;        // of the step: what is busy for so long limits it
constexpr double worth_saying = 0.1;  // of the critical path: an operator by itself
constexpr double far_from_bound = 1.5;

std::string percent(double part, double whole) { return fmt::format("{:.0f} %", 100 * part / whole); }

std::string bytes_text(double bytes) { return byte_size(static_cast<std::int64_t>(std::llround(bytes))); }

// Cores of one type together.
struct CoreGroup {
  std::string name;
  std::size_t count = 0;
  double busy = 0, compute = 0, stall = 0;  // cycles, added up
  std::map<std::string, double> idle_by;
};

std::vector<CoreGroup> core_groups(const Evaluation& evaluation) {
  std::vector<CoreGroup> groups;
  for (const ResourceResult& resource : evaluation.resources) {
    if (resource.kind != "core") continue;
    const std::string& name = resource.type.empty() ? resource.name : resource.type;
    auto group = std::ranges::find(groups, name, &CoreGroup::name);
    if (group == groups.end()) group = groups.insert(group, {.name = name});
    ++group->count;
    group->busy += resource.busy_cycles;
    group->compute += resource.compute_cycles;
    group->stall += resource.stall_cycles + resource.load_cycles + resource.fill_cycles + resource.slowed_cycles;
    for (const auto& [cause, cycles] : resource.idle_by) group->idle_by[cause] += cycles;
  }
  return groups;
}

std::string cores_text(const CoreGroup& group) {
  return group.count > 1 ? fmt::format("the {} cores {}", group.count, group.name) : "core " + group.name;
}

// "the 16 cores pe compute", "core simd computes".
const char* of_one(const CoreGroup& group, const char* one, const char* many) { return group.count > 1 ? many : one; }

std::string idle_text(const CoreGroup& group, double whole) {
  const auto most = std::ranges::max_element(group.idle_by, {}, [](const auto& part) { return part.second; });
  if (most == group.idle_by.end() || most->second < worth_saying * whole) return "";
  const std::string share = percent(most->second, whole);
  if (most->first == "nothing to do")
    return fmt::format(", and {} nothing to do for {}", of_one(group, "has", "have"), share);
  const char* what = most->first == "memory" ? "room in memory" : most->first == "transfer" ? "transfers" : "data";
  return fmt::format(", and {} for {} for {}", of_one(group, "waits", "wait"), what, share);
}

// What is busy most of the time; else what the busiest cores do.
std::string limit_sentence(const Evaluation& evaluation) {
  const double step = evaluation.latency_cycles;
  const ResourceResult* route = nullptr;
  for (const ResourceResult& resource : evaluation.resources) {
    if (resource.kind != "core" && (route == nullptr || resource.busy_cycles > route->busy_cycles)) route = &resource;
  }
  if (route != nullptr && route->busy_cycles > mostly * step)
    return fmt::format("{}{} is busy for {} of the step: {} cross it",
                       route->name.find(route->kind) == std::string::npos ? route->kind + " " : "", route->name,
                       percent(route->busy_cycles, step), bytes_text(route->bytes));
  const std::vector<CoreGroup> groups = core_groups(evaluation);
  if (groups.empty()) return "";
  const auto share = [&](const CoreGroup& group) { return group.busy / (step * static_cast<double>(group.count)); };
  const CoreGroup& group = *std::ranges::max_element(groups, {}, share);
  const double whole = step * static_cast<double>(group.count);
  if (group.compute > mostly * whole)
    return fmt::format("{} {} for {} of the step", cores_text(group), of_one(group, "computes", "compute"),
                       percent(group.compute, whole));
  if (group.busy > mostly * whole && group.stall > group.compute)
    return fmt::format("{} {} tiles for {} of the step, and {} stalled on operands for {}", cores_text(group),
                       of_one(group, "runs", "run"), percent(group.busy, whole), of_one(group, "is", "are"),
                       percent(group.stall, whole));
  return fmt::format("nothing is busy most of the time: {} {} for {} of the step{}", cores_text(group),
                     of_one(group, "computes", "compute"), percent(group.compute, whole), idle_text(group, whole));
}

// Launches of a graphics processor: which kind of operator takes the time.
std::string kernels_sentence(const Evaluation& evaluation) {
  std::map<std::string, double> by_operator;
  double all = 0;
  for (const OperatorResult& row : evaluation.operators) {
    by_operator[row.op] += row.busy_cycles;
    all += row.busy_cycles;
  }
  if (!(all > 0)) return "";
  const auto& [op, cycles] = *std::ranges::max_element(by_operator, {}, [](const auto& part) { return part.second; });
  std::string text = fmt::format("{} takes {} of the step", op, percent(cycles, all));
  if (evaluation.tiles > 0 && evaluation.clock_hz > 0)
    text += fmt::format("; {} launches of {} on average, {} of the machine's peak", grouped(evaluation.tiles),
                        seconds_text(evaluation.latency_s / static_cast<double>(evaluation.tiles)),
                        percent(evaluation.utilization, 1));
  return text;
}

std::string phases_sentence(const Evaluation& evaluation, double longest) {
  std::string text;
  for (const PhaseResult& phase : evaluation.phases) {
    if (phase.latency_cycles > 0)
      text += fmt::format("{}{} {}", text.empty() ? "" : ", ", phase.phase,
                          percent(phase.latency_cycles, evaluation.latency_cycles));
  }
  if (text.empty()) return "";
  return fmt::format("{}; no operator by itself holds it up for more than {}", text,
                     percent(longest, evaluation.latency_cycles));
}

// The operator that holds up the step for longest.
std::string operator_sentence(const Evaluation& evaluation) {
  const double step = evaluation.latency_cycles;
  std::map<std::string, double> held;
  for (const CriticalStep& part : evaluation.critical_path)
    if (part.kind != "wait") held[part.name] += part.end - part.start;
  const OperatorResult* largest = nullptr;
  double longest = 0;
  for (const OperatorResult& row : evaluation.operators) {
    const auto found = held.find(row.name);
    if (found != held.end() && found->second > longest) {
      longest = found->second;
      largest = &row;
    }
  }
  if (largest == nullptr || longest < worth_saying * step) return phases_sentence(evaluation, longest);
  // A launch over a list of tensors has the time of all of them under the name of one.
  const auto others =
      evaluation.reach.laws.empty() ? 0 : std::ranges::count_if(evaluation.operators, [&](const auto& row) {
        return row.op == largest->op && row.phase == largest->phase && row.busy_cycles == 0;
      });
  std::string text = others > 0
                         ? fmt::format("{} and {} more {} in its launches are {} of the step", largest->name, others,
                                       largest->op, percent(longest, step))
                         : fmt::format("{} ({}) is {} of the step", largest->name, largest->op, percent(longest, step));
  if (largest->cores.size() == 1) {
    std::string type;
    std::size_t equal = 0;
    for (const ResourceResult& core : evaluation.resources)
      if (core.kind == "core" && core.name == largest->cores.front()) type = core.type;
    for (const ResourceResult& core : evaluation.resources) equal += core.kind == "core" && core.type == type;
    if (!type.empty() && equal > 1) text += fmt::format(", on 1 of {} cores {}", equal, type);
  }
  const double stalled = largest->stall_cycles + largest->slowed_cycles;
  if (stalled > 0.5 * largest->busy_cycles)
    text += fmt::format(", stalled for {} of it", percent(stalled, largest->busy_cycles));
  return text;
}

std::string bound_sentence(const Evaluation& evaluation) {
  const bool kernels = !evaluation.reach.laws.empty();
  if (kernels || evaluation.bound_cycles <= 0 || evaluation.latency_cycles < far_from_bound * evaluation.bound_cycles)
    return "";
  return fmt::format("another plan is at most {:.2g}x faster: `monet optimize` looks for one",
                     evaluation.latency_cycles / evaluation.bound_cycles);
}

}  // namespace

std::vector<std::string> diagnosis_of(const Evaluation& evaluation) {
  std::vector<std::string> sentences;
  if (evaluation.latency_cycles <= 0) return sentences;
  const bool kernels = !evaluation.reach.laws.empty();
  for (std::string sentence : {kernels ? kernels_sentence(evaluation) : limit_sentence(evaluation),
                               operator_sentence(evaluation), bound_sentence(evaluation)})
    if (!sentence.empty()) sentences.push_back(std::move(sentence));
  return sentences;
}

}  // namespace monet

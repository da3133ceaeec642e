
#include "hardware/writer_parts.h"

#include <monet/plan.h>

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace monet {

namespace {

using namespace hardware_text;

std::string loops_text(const std::vector<LoopSize>& loops) {
  std::vector<std::string> fields;
  for (const LoopSize& loop : loops) fields.push_back(fmt::format("{}: {}", name_of(loop.loop), loop.size));
  return join_fields(fields);
}

std::string stack_text(const PlannedStack& stack) {
  if (stack.name.empty() && stack.tile.empty()) return quoted_list(stack.operators);
  std::vector<std::string> fields;
  if (!stack.name.empty()) fields.push_back("name: " + yaml_quoted(stack.name));
  fields.push_back("operators: " + quoted_list(stack.operators));
  if (!stack.tile.empty()) fields.push_back("tile: " + loops_text(stack.tile));
  return join_fields(fields);
}

std::string operator_text(const PlannedOperator& planned) {
  std::vector<std::string> fields;
  if (!planned.tile.empty()) fields.push_back("tile: " + loops_text(planned.tile));
  if (!planned.split.empty()) fields.push_back("split: " + loops_text(planned.split));
  if (planned.cores.size() == 1) fields.push_back("cores: " + yaml_quoted(planned.cores.front()));
  if (planned.cores.size() > 1) fields.push_back("cores: " + quoted_list(planned.cores));
  if (planned.priority) fields.push_back(fmt::format("priority: {}", *planned.priority));
  return join_fields(fields);
}

std::string tensor_text(const PlannedTensor& planned) {
  if (planned.memory.empty()) return std::string(name_of(planned.retention));
  return fmt::format("{{{}: {}}}", name_of(planned.retention), yaml_quoted(planned.memory));
}

std::string parallel_text(const PlannedParallel& parallel) {
  std::vector<std::string> mesh;
  for (const auto& [axis, chips] : parallel.mesh) mesh.push_back(fmt::format("{}: {}", axis, chips));
  std::vector<std::string> fields = {"mesh: " + join_fields(mesh), fmt::format("zero: {}", parallel.zero)};
  if (parallel.sequence) fields.emplace_back("sequence: on");
  if (!parallel.overlap) fields.emplace_back("overlap: off");
  if (parallel.micro_batch > 0) fields.push_back(fmt::format("micro_batch: {}", parallel.micro_batch));
  if (!parallel.recompute.empty()) fields.push_back("recompute: " + yaml_quoted(parallel.recompute));
  const PlannedStages& stages = parallel.stages;
  std::vector<std::string> cut;
  if (!stages.schedule.empty()) cut.push_back("schedule: " + yaml_quoted(stages.schedule));
  if (stages.chunks > 1) cut.push_back(fmt::format("chunks: {}", stages.chunks));
  if (!stages.cut.empty()) cut.push_back("cut: " + yaml_quoted(stages.cut));
  if (!stages.sizes.empty()) cut.push_back(fmt::format("sizes: [{}]", fmt::join(stages.sizes, ", ")));
  if (!cut.empty()) fields.push_back("stages: " + join_fields(cut));
  return join_fields(fields);
}

// YAML wants the mark of a key that is longer than 1,024 characters.
void add_entry(Lines& out, const std::string& name, const std::string& value) {
  constexpr std::size_t longest = 1000;
  const std::string key = yaml_quoted(name);
  if (key.size() <= longest) return out.field(1, key, value);
  out.add(1, "? " + key);
  out.add(1, ": " + value);
}

}  // namespace

std::string to_yaml(const Plan& plan) {
  Lines out;
  out.field(0, "plan", std::to_string(plan_version));
  if (!plan.graph_hash.empty()) out.field(0, "graph", yaml_quoted(plan.graph_hash));
  if (!plan.hardware_hash.empty()) out.field(0, "hardware", yaml_quoted(plan.hardware_hash));
  out.field(0, "order", name_of(plan.order));
  out.field(0, "transfers", name_of(plan.transfers));
  if (!plan.lowering.empty()) out.field(0, "lowering", yaml_quoted(plan.lowering));
  if (!plan.home.empty() && plan.room_bytes == 0) out.field(0, "home", yaml_quoted(plan.home));
  if (!plan.home.empty() && plan.room_bytes > 0) {
    out.field(0, "home", fmt::format("{{memory: {}, room: {} B}}", yaml_quoted(plan.home), plan.room_bytes));
  }
  if (plan.parallel) out.field(0, "parallel", parallel_text(*plan.parallel));
  if (!plan.expanded.empty()) out.field(0, "expanded", quoted_list(plan.expanded));
  if (!plan.stacks.empty()) out.add(0, "stacks:");
  for (const PlannedStack& stack : plan.stacks) out.add(1, "- " + stack_text(stack));
  if (!plan.operators.empty()) out.add(0, "operators:");
  for (const PlannedOperator& planned : plan.operators) add_entry(out, planned.name, operator_text(planned));
  if (!plan.tensors.empty()) out.add(0, "tensors:");
  for (const PlannedTensor& planned : plan.tensors) add_entry(out, planned.name, tensor_text(planned));
  return fmt::format("{}\n{}{}\n", plan_begins, std::move(out).text(), plan_ends);
}

}  // namespace monet

#include "evaluate/plan/reader.h"

#include "base/read_file.h"
#include "base/try.h"
#include "config/check_keys.h"
#include "config/units.h"
#include "config/yaml_values.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <span>

namespace monet {

namespace {

constexpr std::size_t hash_digits = 32;

const YamlFileKind plan_file_kind = {.name = "plan",
                                     .example = "docs/plans.md",
                                     .shorten = "use patterns for operators that are alike",
                                     .max_bytes = max_plan_bytes,
                                     .max_nodes = max_plan_values};

Status check_map(const Yaml& node, const std::string& what, std::span<const std::string> keys) {
  const std::vector<std::string> known(keys.begin(), keys.end());
  if (!node.is_map()) return wrong_form(node, what, fmt::format("a block of keys: {}", fmt::join(known, ", ")));
  for (const Yaml::Entry& entry : node.entries) {
    if (std::ranges::find(known, entry.key) == known.end()) {
      return error_at(entry.place, fmt::format("unknown key '{}' in {}", shown(entry.key), what),
                      meant_name(entry.key, known));
    }
  }
  return Done{};
}

Expected<std::string> read_name(const Yaml& node, const std::string& what, std::string_view expected) {
  if (!node.is_scalar() || node.scalar.empty()) return wrong_form(node, what, expected);
  if (node.scalar.size() > max_plan_name) {
    return error_at(node.place, fmt::format("{} has a name of {} characters", what, node.scalar.size()),
                    fmt::format("at most {}", max_plan_name));
  }
  return node.scalar;
}

Expected<std::vector<std::string>> read_names(const Yaml& node, const std::string& what) {
  constexpr std::string_view expected = "a name or a list of names: [a, b]";
  std::vector<std::string> names;
  if (node.is_list()) {
    for (const YamlPtr& item : node.items) {
      MONET_TRY(names.emplace_back(), read_name(*item, fmt::format("an item of {}", what), "a name"));
    }
  } else {
    MONET_TRY(names.emplace_back(), read_name(node, what, expected));
  }
  return names;
}

// One of the names that an enumeration has.
template <class Choice>
Expected<Choice> read_choice(const Yaml& node, const std::string& what, std::initializer_list<Choice> choices) {
  std::vector<std::string> names;
  for (Choice choice : choices) names.emplace_back(name_of(choice));
  if (!node.is_scalar()) return wrong_form(node, what, fmt::format("one of: {}", fmt::join(names, ", ")));
  for (Choice choice : choices) {
    if (node.scalar == name_of(choice)) return choice;
  }
  return error_at(node.place, fmt::format("{} cannot be '{}'", what, shown(node.scalar)),
                  meant_name(node.scalar, names));
}

Expected<std::int64_t> read_size(const Yaml& node, const std::string& what) {
  const std::string expected = fmt::format("write a whole number from 1 to {}", max_plan_size);
  if (!node.is_scalar()) return wrong_form(node, what, "a whole number");
  std::int64_t size = 0;
  const char* end = node.scalar.data() + node.scalar.size();
  const auto [stop, problem] = std::from_chars(node.scalar.data(), end, size);
  if (stop != end || problem == std::errc::invalid_argument) {
    return error_at(node.place, fmt::format("{}: '{}' is not a whole number", what, shown(node.scalar)), expected);
  }
  if (problem != std::errc() || size < 1 || size > max_plan_size) {
    return error_at(node.place, fmt::format("{} cannot be {}", what, shown(node.scalar)), expected);
  }
  return size;
}

Expected<double> read_number(const Yaml& node, const std::string& what) {
  if (!node.is_scalar()) return wrong_form(node, what, "a number");
  double number = 0;
  const char* end = node.scalar.data() + node.scalar.size();
  const auto [stop, problem] = std::from_chars(node.scalar.data(), end, number);
  if (stop != end || problem != std::errc() || !std::isfinite(number)) {
    return error_at(node.place, fmt::format("{}: '{}' is not a number", what, shown(node.scalar)),
                    "write a number, for example 3");
  }
  return number;
}

const std::vector<std::string>& common_loops() {
  static const std::vector<std::string> names = [] {
    std::vector<std::string> all;
    for (std::size_t i = 0; i <= static_cast<std::size_t>(Dim::A0); ++i) all.push_back(name_of(static_cast<Dim>(i)));
    return all;
  }();
  return names;
}

Expected<std::vector<LoopSize>> read_loops(const Yaml& node, const std::string& what) {
  if (!node.is_map()) return wrong_form(node, what, "loops and numbers: {OY: 4, K: 16}");
  std::vector<LoopSize> loops;
  for (const Yaml::Entry& entry : node.entries) {
    const auto loop = dim_named(entry.key);
    if (!loop) {
      return error_at(entry.place, fmt::format("there is no loop '{}'", shown(entry.key)),
                      meant_name(entry.key, common_loops()));
    }
    MONET_TRY(const std::int64_t size, read_size(*entry.value, fmt::format("'{}' in {}", entry.key, what)));
    loops.push_back({*loop, size});
  }
  return loops;
}

class PlanReader {
 public:
  Expected<Plan> read(const Yaml& root) {
    static const std::vector<std::string> keys = {"plan", "graph",    "hardware", "order",     "transfers", "lowering",
                                                  "home", "expanded", "stacks",   "operators", "tensors",   "parallel"};
    MONET_RETURN_IF_ERROR(check_map(root, "a plan", keys));
    const Yaml* version = root.find("plan");
    if (version == nullptr) {
      return error_at(root.place, "the version of the format is missing", fmt::format("write plan: {}", plan_version));
    }
    if (version->scalar != std::to_string(plan_version)) {
      return error_at(version->place, fmt::format("there is no version '{}' of the format", shown(version->scalar)),
                      fmt::format("this program reads plan: {}", plan_version));
    }
    for (const Yaml::Entry& entry : root.entries) {
      if (entry.value->kind == YamlKind::nothing) {
        return error_at(entry.place, fmt::format("'{}' has no value", entry.key), "remove it or state it");
      }
      MONET_RETURN_IF_ERROR(read(entry.key, *entry.value));
    }
    return std::move(plan_);
  }

 private:
  Status read(const std::string& key, const Yaml& value) {
    if (key == "graph") return read_hash(value, "graph", plan_.graph_hash, plan_.graph_place);
    if (key == "hardware") return read_hash(value, "hardware", plan_.hardware_hash, plan_.hardware_place);
    if (key == "order") {
      using enum PlanOrder;
      MONET_TRY(plan_.order, read_choice(value, "'order'", {critical_path, graph, listed, frugal}));
    } else if (key == "transfers") {
      using enum PlanTransfers;
      MONET_TRY(plan_.transfers, read_choice(value, "'transfers'", {direct, memory}));
    } else if (key == "lowering") {
      if (!value.is_scalar()) return wrong_form(value, "'lowering'", "one word: eager");
      plan_.lowering = value.scalar;
    } else if (key == "home") {
      MONET_RETURN_IF_ERROR(read_home(value));
    } else if (key == "expanded") {
      MONET_TRY(plan_.expanded, read_names(value, "'expanded'"));
    } else if (key == "stacks") {
      if (!value.is_list()) return wrong_form(value, "'stacks'", "a list: a line starting with - for each stack");
      for (const YamlPtr& item : value.items) MONET_RETURN_IF_ERROR(read_stack(*item));
    } else if (key == "operators") {
      MONET_RETURN_IF_ERROR(check_named(value, "operators", "operator"));
      for (const Yaml::Entry& entry : value.entries) MONET_RETURN_IF_ERROR(read_operator(entry));
    } else if (key == "parallel") {
      MONET_RETURN_IF_ERROR(read_parallel(value));
    } else if (key == "tensors") {
      MONET_RETURN_IF_ERROR(check_named(value, "tensors", "tensor"));
      for (const Yaml::Entry& entry : value.entries) MONET_RETURN_IF_ERROR(read_tensor(entry));
    }
    return Done{};
  }

  Status read_home(const Yaml& value) {
    if (value.is_scalar()) {
      plan_.home = value.scalar;
      return Done{};
    }
    static const std::vector<std::string> keys = {"memory", "room"};
    MONET_RETURN_IF_ERROR(check_map(value, "'home'", keys));
    const Yaml* memory = value.find("memory");
    if (memory == nullptr || !memory->is_scalar())
      return wrong_form(value, "'home'", "a memory's name, or {memory: storage, room: 240 KiB}");
    plan_.home = memory->scalar;
    const Yaml* room = value.find("room");
    if (room == nullptr) return Done{};
    const auto size = room->is_scalar() ? parse_quantity(room->scalar) : Expected<Quantity>(Error{});
    const auto bits = size ? convert(*size, Measure::size, 0) : Expected<double>(Error{});
    if (!bits || *bits < 8 || *bits > 0x1p60) return wrong_form(*room, "'room'", "a size: 240 KiB");
    plan_.room_bytes = static_cast<std::int64_t>(*bits / 8);
    return Done{};
  }

  static Expected<bool> read_switch(const Yaml& value, const std::string& what) {
    if (value.is_scalar() && (value.scalar == "on" || value.scalar == "true")) return true;
    if (value.is_scalar() && (value.scalar == "off" || value.scalar == "false" || value.scalar == "none")) return false;
    return wrong_form(value, what, "on or off");
  }

  Status read_parallel(const Yaml& value) {
    static const std::vector<std::string> keys = {"mesh",        "zero",      "sequence", "overlap",
                                                  "micro_batch", "recompute", "stages"};
    MONET_RETURN_IF_ERROR(check_map(value, "'parallel'", keys));
    PlannedParallel parallel{.mesh = {}, .place = value.place};
    const Yaml* mesh = value.find("mesh");
    if (mesh == nullptr || !mesh->is_map())
      return wrong_form(mesh == nullptr ? value : *mesh, "'parallel'", "a mesh: {mesh: {dp: 2, tp: 4}}");
    for (const Yaml::Entry& entry : mesh->entries) {
      MONET_TRY(const std::int64_t size, read_size(*entry.value, fmt::format("'{}' of the mesh", shown(entry.key))));
      parallel.mesh.emplace_back(entry.key, size);
    }
    if (const Yaml* zero = value.find("zero")) {
      const bool known =
          zero->is_scalar() && zero->scalar.size() == 1 && zero->scalar[0] >= '0' && zero->scalar[0] <= '3';
      if (!known) return wrong_form(*zero, "'zero'", "0, 1, 2 or 3");
      parallel.zero = zero->scalar[0] - '0';
    }
    if (const Yaml* sequence = value.find("sequence")) {
      MONET_TRY(parallel.sequence, read_switch(*sequence, "'sequence'"));
    }
    if (const Yaml* overlap = value.find("overlap")) {
      MONET_TRY(parallel.overlap, read_switch(*overlap, "'overlap'"));
    }
    if (const Yaml* micro_batch = value.find("micro_batch")) {
      MONET_TRY(parallel.micro_batch, read_size(*micro_batch, "'micro_batch'"));
    }
    if (const Yaml* recompute = value.find("recompute")) {
      if (!recompute->is_scalar()) return wrong_form(*recompute, "'recompute'", "none, selective or blocks");
      parallel.recompute = recompute->scalar;
    }
    if (const Yaml* stages = value.find("stages")) {
      MONET_TRY(parallel.stages, read_stages(*stages));
    }
    plan_.parallel = std::move(parallel);
    return Done{};
  }

  static Expected<PlannedStages> read_stages(const Yaml& value) {
    static const std::vector<std::string> keys = {"schedule", "chunks", "cut", "sizes"};
    MONET_RETURN_IF_ERROR(check_map(value, "'stages'", keys));
    PlannedStages stages;
    for (const auto& [key, word] : {std::pair("schedule", &stages.schedule), std::pair("cut", &stages.cut)}) {
      const Yaml* said = value.find(key);
      if (said == nullptr) continue;
      if (!said->is_scalar()) return wrong_form(*said, fmt::format("'{}'", key), "a word");
      *word = said->scalar;
    }
    if (const Yaml* chunks = value.find("chunks")) {
      MONET_TRY(stages.chunks, read_size(*chunks, "'chunks'"));
    }
    if (const Yaml* sizes = value.find("sizes")) {
      if (!sizes->is_list()) return wrong_form(*sizes, "'sizes'", "blocks of each stage: [12, 12]");
      for (const auto& item : sizes->items) {
        MONET_TRY(const std::int64_t size, read_size(*item, "'sizes'"));
        stages.sizes.push_back(size);
      }
    }
    return stages;
  }

  static Status read_hash(const Yaml& value, std::string_view key, std::string& hash, Place& place) {
    const bool digits = value.scalar.find_first_not_of("0123456789abcdef") == std::string::npos;
    if (!value.is_scalar() || value.scalar.size() != hash_digits || !digits) {
      return error_at(value.place, fmt::format("'{}' is no content hash", key),
                      fmt::format("write {} hexadecimal digits, or remove the line", hash_digits));
    }
    hash = value.scalar;
    place = value.place;
    return Done{};
  }

  // Keys that the user's graph chose.
  static Status check_named(const Yaml& value, std::string_view key, std::string_view each) {
    if (!value.is_map()) {
      return wrong_form(value, fmt::format("'{}'", key), fmt::format("a block with a name for each {}", each));
    }
    std::size_t patterns = 0;
    for (const Yaml::Entry& entry : value.entries) {
      if (entry.key.size() > max_plan_name) {
        return error_at(entry.place, fmt::format("'{}' has a name of {} characters", key, entry.key.size()),
                        fmt::format("at most {}", max_plan_name));
      }
      patterns += is_pattern(entry.key) ? 1 : 0;
      if (patterns > max_plan_patterns) {
        return error_at(entry.place, fmt::format("more than {} patterns in '{}'", max_plan_patterns, key),
                        "name the rest one by one");
      }
    }
    return Done{};
  }

  Status read_stack(const Yaml& item) {
    static const std::vector<std::string> keys = {"name", "operators", "tile"};
    PlannedStack stack{.name = {}, .operators = {}, .tile = {}, .place = item.place};
    const Yaml* operators = &item;
    if (!item.is_list()) {
      if (!item.is_map()) return wrong_form(item, "a stack", "the names of its operators: [conv1, relu1]");
      MONET_RETURN_IF_ERROR(check_map(item, "a stack", keys));
      operators = item.find("operators");
      if (operators == nullptr) {
        return error_at(item.place, "a stack without operators", "write operators: [conv1, relu1]");
      }
      if (const Yaml* name = item.find("name")) {
        MONET_TRY(stack.name, read_name(*name, "'name' of a stack", "a text"));
      }
      if (const Yaml* tile = item.find("tile")) {
        MONET_TRY(stack.tile, read_loops(*tile, "'tile' of a stack"));
      }
    }
    MONET_TRY(stack.operators, read_names(*operators, "a stack"));
    if (stack.operators.empty()) {
      return error_at(operators->place, "a stack without operators", "name at least one, or remove the stack");
    }
    plan_.stacks.push_back(std::move(stack));
    return Done{};
  }

  Status read_operator(const Yaml::Entry& entry) {
    static const std::vector<std::string> keys = {"tile", "split", "cores", "priority"};
    const std::string what = fmt::format("operator '{}'", shown(entry.key));
    const Yaml& value = *entry.value;
    MONET_RETURN_IF_ERROR(check_map(value, what, keys));
    PlannedOperator planned{
        .name = entry.key, .tile = {}, .split = {}, .cores = {}, .priority = {}, .place = entry.place};
    if (const Yaml* tile = value.find("tile")) {
      MONET_TRY(planned.tile, read_loops(*tile, fmt::format("'tile' of {}", what)));
    }
    if (const Yaml* split = value.find("split")) {
      MONET_TRY(planned.split, read_loops(*split, fmt::format("'split' of {}", what)));
    }
    if (const Yaml* cores = value.find("cores")) {
      MONET_TRY(planned.cores, read_names(*cores, fmt::format("'cores' of {}", what)));
      if (planned.cores.empty()) {
        return error_at(cores->place, fmt::format("'cores' of {} names none", what), "name a core, or remove the key");
      }
    }
    if (const Yaml* priority = value.find("priority")) {
      MONET_TRY(planned.priority, read_number(*priority, fmt::format("'priority' of {}", what)));
    }
    plan_.operators.push_back(std::move(planned));
    return Done{};
  }

  Status read_tensor(const Yaml::Entry& entry) {
    static const std::vector<std::string> keys = {"keep", "page"};
    const std::string what = fmt::format("tensor '{}'", shown(entry.key));
    const Yaml& value = *entry.value;
    PlannedTensor planned{.name = entry.key, .retention = {}, .memory = {}, .place = entry.place};
    if (value.is_map()) {
      MONET_RETURN_IF_ERROR(check_map(value, what, keys));
      if (value.entries.size() != 1) {
        return error_at(value.place, fmt::format("{} is to be kept and paged, or neither", what),
                        "write {page: MEMORY} or {keep: MEMORY}");
      }
      const Yaml::Entry& only = value.entries.front();
      planned.retention = only.key == "page" ? Retention::page : Retention::keep;
      MONET_TRY(planned.memory, read_name(*only.value, fmt::format("'{}' of {}", only.key, what), "a memory's name"));
    } else {
      using enum Retention;
      MONET_TRY(planned.retention, read_choice(value, what, {keep, recompute, page}));
      if (planned.retention == page) {
        return error_at(value.place, fmt::format("{} is paged, but not where to", what), "write {page: MEMORY}");
      }
    }
    plan_.tensors.push_back(std::move(planned));
    return Done{};
  }

  Plan plan_;
};

}  // namespace

bool is_pattern(std::string_view name) { return name.find_first_of("*?") != std::string_view::npos; }

Expected<Plan> plan_from(const std::string& text, const std::string& file) {
  const std::size_t last = text.find_last_not_of(" \r\n");
  if (text.starts_with(plan_begins) && !text.substr(0, last + 1).ends_with(plan_ends)) {
    return Error{
        .message = "the plan is cut short: its last line is missing",
        .place = file,
        .advice = fmt::format("make it anew; or, where it was shortened on purpose, end it with: {}", plan_ends)};
  }
  MONET_TRY(const YamlPtr root, parse_yaml(text, file, plan_file_kind));
  return PlanReader().read(*root);
}

Expected<Plan> read_plan(const std::string& path) {
  MONET_TRY(const std::string text, read_file(path));
  return plan_from(text, path);
}

}  // namespace monet

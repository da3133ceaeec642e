#include "base/read_file.h"
#include "base/try.h"
#include "config/parameters.h"
#include "config/yaml.h"
#include "config/yaml_values.h"
#include "explore/space/axes.h"
#include "explore/space/family.h"
#include "explore/space/space.h"
#include "explore/space/workloads.h"
#include "hardware/include.h"
#include "hardware/presets.h"

#include <monet/expected.h>

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <limits>
#include <string>

namespace monet::explore {

namespace {

constexpr std::int64_t largest_limit = 16;
constexpr std::int64_t most_evaluations = 1000000;
constexpr std::size_t most_constraints = 100;
constexpr std::size_t most_objectives = 8;
constexpr double seconds_per_year = 365.25 * 86400;

Status read_fuse(const Yaml& node, Policy& policy) {
  MONET_RETURN_IF_ERROR(check_keys_of(node, "'fuse'", {"limit", "objective", "improve"}));
  policy.kind = PolicyKind::fused;
  if (const Yaml* limit = node.find("limit")) {
    MONET_TRY(policy.limit, read_whole(*limit, "'limit' of 'fuse'", 1, largest_limit));
  }
  if (const Yaml* objective = node.find("objective")) {
    MONET_TRY(policy.objective, read_one_of(*objective, "'objective' of 'fuse'", {"latency", "energy", "edp"}));
  }
  if (const Yaml* improve = node.find("improve")) {
    MONET_TRY(policy.improve, read_switch(*improve, "'improve' of 'fuse'"));
  }
  return Done{};
}

// "2MiB", "sram=2MiB", "80%", as --memory-budget takes them; which memories there are is known for each machine.
Status check_budget(const Yaml& node) {
  std::string amount = node.scalar.substr(node.scalar.find('=') == std::string::npos ? 0 : node.scalar.find('=') + 1);
  const bool share = amount.ends_with('%');
  if (share) amount.pop_back();
  const auto quantity = parse_quantity(amount);
  const bool is_size = quantity && (quantity->dimension.is_number() || quantity->dimension == Dimension{.bit = 1});
  if (is_size && quantity->value > 0 && (!share || quantity->dimension.is_number())) return Done{};
  return error_at(node.place, fmt::format("'{}' is no budget", shown(node.scalar)),
                  "write a size as in 512 KiB, sram=2 MiB, or a share as in 80%");
}

Status read_checkpoint(const Yaml& node, Policy& policy) {
  MONET_RETURN_IF_ERROR(check_keys_of(node, "'checkpoint'", {"memory_budget", "objective", "evaluations"}));
  policy.kind = PolicyKind::checkpointed;
  const Yaml* budget = node.find("memory_budget");
  if (budget == nullptr) {
    return error_at(node.place, "'checkpoint' without a budget", "write memory_budget: 80%, or a size as in 512 KiB");
  }
  MONET_TRY(policy.budget, read_word(*budget, "'memory_budget'"));
  MONET_RETURN_IF_ERROR(check_budget(*budget));
  if (const Yaml* objective = node.find("objective")) {
    MONET_TRY(policy.objective, read_one_of(*objective, "'objective' of 'checkpoint'", {"latency", "energy", "edp"}));
  }
  if (const Yaml* evaluations = node.find("evaluations")) {
    MONET_TRY(const std::int64_t count, read_whole(*evaluations, "'evaluations' of 'checkpoint'", 1, most_evaluations));
    policy.evaluations = static_cast<std::size_t>(count);
  }
  return Done{};
}

// `default`, {fuse: {…}} or {checkpoint: {…}}.
Expected<Policy> read_policy(const Yaml& node) {
  Policy policy;
  if (!node.is_map()) {
    MONET_RETURN_IF_ERROR(read_one_of(node, "'plan'", {"default", "fuse", "checkpoint"}));
    if (node.scalar == "fuse") policy.kind = PolicyKind::fused;
    if (node.scalar == "checkpoint") {
      return error_at(node.place, "'checkpoint' without a budget", "write {checkpoint: {memory_budget: 80%}}");
    }
    return policy;
  }
  MONET_RETURN_IF_ERROR(check_keys_of(node, "'plan'", {"fuse", "checkpoint"}));
  if (node.entries.size() != 1) {
    return error_at(node.place, "a plan is made in one way", "write either fuse or checkpoint");
  }
  const Yaml::Entry& entry = node.entries.front();
  MONET_RETURN_IF_ERROR(entry.key == "fuse" ? read_fuse(*entry.value, policy) : read_checkpoint(*entry.value, policy));
  return policy;
}

Expected<Prices> read_prices(const Yaml& node) {
  MONET_RETURN_IF_ERROR(check_keys_of(node, "'prices'", {"per_kwh", "per_mm2", "per_machine", "lifetime_years"}));
  Prices prices;
  double years = 0;
  for (const auto& [key, value] : {std::pair{"per_kwh", &prices.per_kwh},
                                   {"per_mm2", &prices.per_mm2},
                                   {"per_machine", &prices.per_machine},
                                   {"lifetime_years", &years}}) {
    const Yaml* found = node.find(key);
    if (found == nullptr) continue;
    MONET_TRY(*value, read_real(*found, fmt::format("'{}'", key), 0));
  }
  if ((prices.per_mm2 > 0 || prices.per_machine > 0) && years == 0) {
    return error_at(node.place, "a machine with a price and no lifetime", "write lifetime_years: 5");
  }
  prices.lifetime_s = years * seconds_per_year;
  return prices;
}

// Expressions over parameters and facts of the machine, whose names are not looked at.
Expected<std::vector<Constraint>> read_constraints(const Yaml& node) {
  std::vector<Constraint> constraints;
  for (const Yaml* item : one_or_more(node)) {
    if (!item->is_scalar()) return wrong_form(*item, "a constraint", "an expression: area <= 100 mm2");
    if (constraints.size() == most_constraints) {
      return error_at(item->place, fmt::format("more than {} constraints", most_constraints), "join some with 'and'");
    }
    const std::string text = is_expression(*item) ? item->scalar.substr(1) : item->scalar;
    auto parsed = Expression::parse(text);
    if (!parsed) {
      Error error = placed(std::move(parsed).error(), item->place);
      if (error.advice.empty()) error.advice = "write for example area <= 100 mm2";
      return error;
    }
    constraints.push_back({*std::move(parsed), item->place.text()});
  }
  return constraints;
}

// Names of objectives of a space whose workloads and prices are known.
Expected<std::vector<Objective>> read_objectives(const Yaml& node, const Space& space) {
  std::vector<Objective> objectives;
  std::vector<std::string> names;
  for (const Yaml* item : one_or_more(node)) {
    MONET_TRY(const std::string name, read_word(*item, "an objective"));
    auto objective = space.objective_named(name);
    if (!objective) {
      objective.error().place = item->place.text();
      return std::move(objective).error();
    }
    if (std::ranges::find(names, name) != names.end()) {
      return error_at(item->place, fmt::format("the objective '{}' stands twice", name), "remove one of them");
    }
    if (objectives.size() == most_objectives) {
      return error_at(item->place, fmt::format("more than {} objectives", most_objectives), "choose those that matter");
    }
    names.push_back(name);
    objectives.push_back(*objective);
  }
  if (objectives.empty()) return error_at(node.place, "'objectives' is an empty list", "write [latency, energy]");
  return objectives;
}

// The text of the block `entry` of `root`, every line and column where it stands in `text`: what is around it is empty.
Expected<std::string> block_text(const std::string& text, const Yaml& root, const Yaml::Entry& entry) {
  const Place& first = entry.value->place;
  int last = std::numeric_limits<int>::max();  // the line after it
  for (const Yaml::Entry& other : root.entries) {
    if (other.place.line > entry.place.line) last = std::min(last, other.place.line);
  }
  std::string result;
  int line = 1;
  std::size_t begin = 0, start = std::string::npos;
  while (begin < text.size() && line < last) {
    std::size_t end = text.find('\n', begin);
    end = end == std::string::npos ? text.size() : end + 1;
    if (line < first.line) {
      result += '\n';
    } else if (line == first.line) {
      const auto indent = static_cast<std::size_t>(first.column - 1);
      start = begin + indent;
      if (start >= end) break;
      result += std::string(indent, ' ') + text.substr(start, end - start);
    } else {
      result += text.substr(begin, end - begin);
    }
    begin = end;
    ++line;
  }
  const bool elsewhere = start == std::string::npos || start >= text.size() || first.line < entry.place.line;
  const bool flow_around = root.place.line == first.line || entry.place.column != root.place.column;
  if (elsewhere || flow_around || (first.line == entry.place.line && text[start] != '{')) {
    return error_at(entry.place, "the machine is not written as a block of its own",
                    "write its keys in lines of their own under 'hardware:'");
  }
  return result;
}

constexpr std::int64_t format_version = 1;
constexpr std::size_t longest_description = 2000;

const YamlFileKind space_file_kind = {.name = "space",
                                      .example = "docs/explore.md",
                                      .shorten = "use {from: …, to: …, step: …} or {powers_of_two: …} for values",
                                      .max_bytes = std::size_t{1} << 20,
                                      .max_nodes = 100000};

const std::vector<std::string>& space_keys() {
  static const std::vector<std::string> all = {"space",       "name",    "description", "hardware",  "parameters",
                                               "constraints", "network", "batch",       "workloads", "plan",
                                               "objectives",  "prices",  "off_chip",    "zigzag"};
  return all;
}

class SpaceReader {
 public:
  SpaceReader(const std::string& text, const std::string& path) {
    space_.text = text;
    space_.path = path;
  }

  Expected<ParameterTable> read(const Yaml& root) {
    MONET_RETURN_IF_ERROR(check_keys_of(root, "a space", space_keys()));
    MONET_RETURN_IF_ERROR(check_version(root));
    for (const std::string_view needed : {"name", "hardware", "parameters", "workloads"}) {
      if (root.find(needed) == nullptr) {
        return error_at(root.place, fmt::format("the space has no '{}'", needed), "see docs/explore.md for an example");
      }
    }
    MONET_TRY(space_.name, read_word(*root.find("name"), "'name'"));
    if (const Yaml* description = root.find("description")) {
      MONET_TRY(space_.description, read_word(*description, "'description'", longest_description));
    }
    MONET_RETURN_IF_ERROR(read_hardware_of(root));
    MONET_TRY(ParameterTable table, read_parameter_table(*root.find("parameters")));
    space_.axes = table.axes;
    space_.derived = table.derived;
    if (const Yaml* constraints = root.find("constraints")) {
      MONET_TRY(space_.constraints, read_constraints(*constraints));
    }
    MONET_TRY(space_.subject, read_subject(root, folder()));
    describe_subject();
    MONET_TRY(space_.workloads, read_workloads(*root.find("workloads"), folder(), space_.subject));
    if (const Yaml* plan = root.find("plan")) {
      MONET_TRY(space_.policy, read_policy(*plan));
    }
    if (const Yaml* prices = root.find("prices")) {
      MONET_TRY(space_.prices, read_prices(*prices));
    }
    space_.objectives = {{.metric = Metric::latency}, {.metric = Metric::energy}};
    if (const Yaml* objectives = root.find("objectives")) {
      MONET_TRY(space_.objectives, read_objectives(*objectives, space_));
    }
    if (const Yaml* off_chip = root.find("off_chip")) {
      MONET_TRY(space_.off_chip, read_switch(*off_chip, "'off_chip'"));
    }
    if (const Yaml* zigzag = root.find("zigzag")) {
      MONET_TRY(space_.zigzag, read_switch(*zigzag, "'zigzag'"));
    }
    return table;
  }

  Space space_;

 private:
  std::string folder() const { return std::filesystem::path(space_.path).parent_path().string(); }

  // What is said of the workloads may be about others.
  void describe_subject() {
    const Subject& subject = space_.subject;
    std::string with = subject.network;
    if (subject.batch) with += fmt::format("{}batch {}", with.empty() ? "" : ", ", *subject.batch);
    if (!with.empty())
      space_.description += fmt::format("{}here with {}", space_.description.empty() ? "" : "; ", with);
  }

  static Status check_version(const Yaml& root) {
    const Yaml* version = root.find("space");
    if (version == nullptr) {
      return error_at(root.place, "the version of the format is missing", "write space: 1 in the first line");
    }
    if (version->scalar != std::to_string(format_version)) {
      return error_at(version->place, fmt::format("there is no version '{}' of the format", shown(version->scalar)),
                      fmt::format("this program reads space: {}", format_version));
    }
    return Done{};
  }

  Status read_hardware_of(const Yaml& root) {
    const Yaml::Entry& entry = *root.entry("hardware");
    const Yaml& value = *entry.value;
    if (value.is_map()) {
      MONET_TRY(space_.hardware_text, block_text(space_.text, root, entry));
      return Done{};
    }
    if (!value.is_scalar()) return wrong_form(value, "'hardware'", "a preset, a file, or a machine under 'hardware:'");
    MONET_TRY(space_.hardware, read_word(value, "'hardware'", 4096));
    hardware_place_ = value.place;
    const std::filesystem::path path = space_.hardware;
    if (preset_text(space_.hardware) == nullptr && path.is_relative() && !folder().empty()) {
      const std::filesystem::path beside = std::filesystem::path(folder()) / path;
      std::error_code ignored;
      // A name that is neither file nor preset stays as it is, for the message.
      if (path.has_extension() || std::filesystem::exists(beside, ignored)) space_.hardware = beside.string();
    }
    return Done{};
  }

 public:
  Place hardware_place_;
};

Expected<Space> read_space(const std::string& text, const std::string& path, bool with_files) {
  MONET_TRY(const YamlPtr root, parse_yaml(text, path, space_file_kind));
  SpaceReader reader(text, path);
  MONET_TRY(const ParameterTable table, reader.read(*root));
  if (!with_files) return std::move(reader.space_);
  if (auto checked = check_family(reader.space_, table); !checked) {
    Error error = std::move(checked).error();
    // A file that is not there is the space's mistake.
    if (error.place == reader.space_.hardware && !error.place.empty()) {
      error.message = fmt::format("the hardware '{}': {}", shown(reader.space_.hardware), error.message);
      error.place = reader.hardware_place_.text();
    }
    return error;
  }
  return std::move(reader.space_);
}

}  // namespace

Expected<Space> Space::read(const std::string& path) {
  MONET_TRY(const std::string text, read_file(path));
  return read_text(text, path);
}

Expected<Space> Space::read_text(const std::string& text, const std::string& path) {
  return read_space(text, path, true);
}

Expected<Space> Space::read_alone(const std::string& text, const std::string& path) {
  return read_space(text, path, false);
}

}  // namespace monet::explore

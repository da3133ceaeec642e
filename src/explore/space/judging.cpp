#include "explore/space/judging.h"

#include "base/try.h"
#include "config/parameters.h"
#include "config/yaml_values.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

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

}  // namespace

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

}  // namespace monet::explore

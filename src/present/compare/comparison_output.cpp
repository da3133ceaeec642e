#include "base/csv.h"
#include "base/quantities.h"
#include "present/compare/comparison.h"
#include "present/json/json.h"
#include "present/shared/numbers.h"
#include "present/text/search.h"

#include <monet/text.h>

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace monet {

namespace {

const ComparisonRow* find(const Comparison& comparison, const std::string& total) {
  const auto found = std::ranges::find(comparison.rows, total, &ComparisonRow::total);
  return found == comparison.rows.end() ? nullptr : &*found;
}

bool is_equal(const ComparisonRow& row) {
  constexpr double rounding = 1e-9;
  return std::abs(row.delta) <= rounding * std::max(std::abs(row.a), std::abs(row.b));
}

// Amounts as people read them; cycles as time where there is one clock.
class Amounts {
 public:
  explicit Amounts(const Comparison& comparison) : clock_hz_(comparison.clock_hz) {}

  std::string text(double value, const std::string& unit) const {
    if (value < 0) return "-" + text(-value, unit);
    if (unit == "s") return seconds_text(value);
    if (unit == "pJ") return energy_text(value);
    if (unit == "bytes") return value < 9e15 ? byte_size(std::llround(value)) : fmt::format("{:.4g} B", value);
    if (unit == "cycles") return clock_hz_ > 0 ? seconds_text(value / clock_hz_) : cycles_text(value) + " cycles";
    return value != 0 && value < 1 ? fmt::format("{:.4g}", value) : cycles_text(value);
  }
  std::string change(double delta, const std::string& unit) const { return (delta > 0 ? "+" : "") + text(delta, unit); }

 private:
  double clock_hz_;
};

// "+5.23%"; beyond ten times as much, "x24.8".
std::string ratio(double b, double a) {
  constexpr double large = 10;
  return a > 0 && b > large * a ? fmt::format("x{:.3g}", b / a) : change_text(b, a);
}

// The part of a total that changed most in its direction, and the one that changed most against it.
struct Explanation {
  const ComparisonRow* most = nullptr;
  const ComparisonRow* against = nullptr;
};

Explanation explanation_of(const Comparison& comparison, const ComparisonRow& total, const std::string& name) {
  Explanation found;
  const auto size = [](const ComparisonRow* row) { return row == nullptr ? 0 : std::abs(row->delta); };
  for (const ComparisonRow& row : comparison.rows) {
    if (row.total != name || row.part.empty()) continue;
    const double along = total.delta > 0 ? row.delta : -row.delta;
    if (along > size(found.most)) found.most = &row;
    if (-along > size(found.against)) found.against = &row;
  }
  return found;
}

// "; stall explains 81% of that (+1.1 ms)"
std::string explained(const Comparison& comparison, const ComparisonRow& total) {
  Explanation found = explanation_of(comparison, total, total.total);
  if (found.most == nullptr) found = explanation_of(comparison, total, total.total + " by place");
  if (found.most == nullptr) return "";
  const Amounts amounts(comparison);
  const double share = found.most->delta / total.delta;
  const std::string amount = amounts.change(found.most->delta, total.unit);
  constexpr double all = 1.005;
  if (share <= all) return fmt::format("; {} explains {:.0f}% of that ({})", found.most->part, 100 * share, amount);
  std::string text = fmt::format("; {} alone makes {}", found.most->part, amount);
  if (found.against != nullptr)
    text += fmt::format(", and {} takes back {}", found.against->part,
                        amounts.text(std::abs(found.against->delta), total.unit));
  return text;
}

std::string sentence(const Comparison& comparison, const ComparisonRow& row, const std::string& what) {
  const Amounts amounts(comparison);
  if (is_equal(row)) return fmt::format("{} is the same, {}.", what, amounts.text(row.a, row.unit));
  std::string change = amounts.change(row.delta, row.unit) + " of";
  if (row.a > 0) {
    const double ratio_of = row.b / row.a;
    change = ratio_of >= 2
                 ? fmt::format("{:.3g} times", ratio_of)
                 : fmt::format("{:.3g}% {} than", 100 * std::abs(ratio_of - 1), ratio_of > 1 ? "more" : "less");
  }
  return fmt::format("{} is {}, {} {}{}.", what, amounts.text(row.b, row.unit), change, amounts.text(row.a, row.unit),
                     explained(comparison, row));
}

// Older results do not say.
std::string numbers_of(const std::string& recipe, const std::string& from) {
  return recipe.empty() ? "not said" : numbers_text(recipe, from);
}

// "numbers  int8-everywhere, …": of both, or of each.
std::string numbers_lines(const Comparison& comparison) {
  const std::string a = numbers_of(comparison.a_recipe, comparison.a_recipe_from);
  const std::string b = numbers_of(comparison.b_recipe, comparison.b_recipe_from);
  return a == b ? fmt::format("numbers  {}\n", a) : fmt::format("numbers  a: {}\n         b: {}\n", a, b);
}

Json json_of(const ComparisonRow& row) {
  return {{"part", row.name()}, {"unit", row.unit}, {"a", row.a}, {"b", row.b}, {"delta", row.delta}};
}

Json json_of(const ComparedOperator& row) {
  return {{"name", row.name},         {"phase", row.phase}, {"a_cycles", row.a_cycles},
          {"b_cycles", row.b_cycles}, {"a_pj", row.a_pj},   {"b_pj", row.b_pj}};
}

// Parts that are equal say something only of time and energy.
bool is_shown(const ComparisonRow& row) {
  if (row.a == 0 && row.b == 0) return false;
  if (row.part.empty() || !is_equal(row)) return true;
  return row.total == "latency" || row.total == "time" || row.total == "energy";
}

Text rows_table(const Comparison& comparison) {
  using enum Table::Align;
  const Amounts amounts(comparison);
  Table table({{""}, {"a", right}, {"b", right}, {"change", right}, {"", right}});
  bool left_out = false;
  for (const ComparisonRow& row : comparison.rows) {
    left_out |= !is_shown(row) && (row.a != 0 || row.b != 0);
    if (!is_shown(row)) continue;
    table.add({row.part.empty() ? row.total : "  " + row.part, amounts.text(row.a, row.unit),
               amounts.text(row.b, row.unit), is_equal(row) ? "=" : amounts.change(row.delta, row.unit),
               is_equal(row) ? "" : ratio(row.b, row.a)});
  }
  return table + (left_out ? "parts that are equal are left out; --json has all\n" : "");
}

Text operators_table(const Comparison& comparison) {
  constexpr std::size_t most = 12;
  using enum Table::Align;
  if (comparison.operators.empty()) return "";
  const Amounts amounts(comparison);
  const auto time = [&](double cycles) { return amounts.text(cycles, "cycles"); };
  Table table({{"operators that differ most"},
               {"phase"},
               {"a, busy", right},
               {"b, busy", right},
               {"change", right},
               {"a, energy", right},
               {"b, energy", right},
               {"change", right}});
  for (std::size_t i = 0; i < std::min(most, comparison.operators.size()); ++i) {
    const ComparedOperator& row = comparison.operators[i];
    table.add({row.name, row.phase, time(row.a_cycles), time(row.b_cycles),
               amounts.change(row.b_cycles - row.a_cycles, "cycles"), energy_text(row.a_pj), energy_text(row.b_pj),
               amounts.change(row.b_pj - row.a_pj, "pJ")});
  }
  return "\n" + table;
}

}  // namespace

std::string summary_of(const Comparison& comparison) {
  const ComparisonRow* time = find(comparison, "time");
  if (time == nullptr) time = find(comparison, "latency");
  const ComparisonRow* energy = find(comparison, "energy");
  if (time == nullptr || energy == nullptr) return "";
  if (std::ranges::all_of(comparison.rows, is_equal))
    return "Nothing differs: time, energy, memory and work are equal.";
  const std::string of_time = sentence(comparison, *time, "The latency of b");
  const std::string of_energy = sentence(comparison, *energy, "The energy of b");
  return is_equal(*time) && !is_equal(*energy) ? of_energy + " " + of_time : of_time + " " + of_energy;
}

std::string to_json(const Comparison& comparison) {
  Json json = {{"schema", 1}, {"command", "compare"}, {"a", comparison.a}, {"b", comparison.b}};
  json["recipe"] = {{"a", comparison.a_recipe}, {"b", comparison.b_recipe}};
  json["recipe_from"] = {{"a", comparison.a_recipe_from}, {"b", comparison.b_recipe_from}};
  json["recipe_text"] = {{"a", numbers_of(comparison.a_recipe, comparison.a_recipe_from)},
                         {"b", numbers_of(comparison.b_recipe, comparison.b_recipe_from)}};
  json["clock_hz"] = comparison.clock_hz > 0 ? Json(comparison.clock_hz) : Json(nullptr);
  json["summary"] = summary_of(comparison);
  json["rows"] = Json::array();
  for (const ComparisonRow& row : comparison.rows) json["rows"].push_back(json_of(row));
  json["operators"] = Json::array();
  for (const ComparedOperator& row : comparison.operators) json["operators"].push_back(json_of(row));
  json["assumptions"] = Json::array();
  for (const Comparison::Difference& each : comparison.assumptions)
    json["assumptions"].push_back({{"what", each.what}, {"a", each.a}, {"b", each.b}});
  json["notes"] = comparison.notes;
  return text_of(json);
}

Text to_text(const Comparison& comparison) {
  Text text = fmt::format("{}\n\na  {}\nb  {}\n{}\n", summary_of(comparison), comparison.a, comparison.b,
                          numbers_lines(comparison));
  if (!comparison.assumptions.empty()) {
    Table table({{"differs"}, {"a"}, {"b"}});
    for (const Comparison::Difference& each : comparison.assumptions) table.add({each.what, each.a, each.b});
    text += table + "\n";
  }
  return text + rows_table(comparison) + operators_table(comparison);
}

std::string to_csv(const Comparison& comparison) {
  std::string text = "part,unit,a,b,delta\n";
  for (const ComparisonRow& row : comparison.rows)
    fmt::format_to(std::back_inserter(text), "{},{},{},{},{}\n", csv_field(row.name()), row.unit, row.a, row.b,
                   row.delta);
  return text;
}

}  // namespace monet

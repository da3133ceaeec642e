#include "present/compare/comparison.h"

#include "base/try.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <filesystem>
#include <map>

namespace monet {

namespace {

constexpr std::size_t most_operators = 100;

// The order in which people expect parts; others come after these, by name.
constexpr std::array<std::string_view, 20> usual_order = {
    "compute",   "stall",    "traffic",       "recomputation", "paging",   "waiting",         "static",
    "input",     "weight",   "master weight", "activation",    "gradient", "weight gradient", "optimizer state",
    "statistic", "constant", "workspace",     "forward",       "backward", "optimizer"};

std::size_t rank_of(const std::string& part) {
  return static_cast<std::size_t>(std::ranges::find(usual_order, part) - usual_order.begin());
}

struct Pair {
  double a = 0, b = 0;
};

using Pairs = std::vector<std::pair<std::string, Pair>>;

Pairs paired(const Parts& a, const Parts& b) {
  std::map<std::string, Pair> both;
  for (const auto& [name, value] : a) both[name].a += value;
  for (const auto& [name, value] : b) both[name].b += value;
  Pairs pairs(both.begin(), both.end());
  std::ranges::stable_sort(pairs, {}, [](const auto& pair) { return rank_of(pair.first); });
  return pairs;
}

class ComparisonRows {
 public:
  explicit ComparisonRows(std::vector<ComparisonRow>& rows) : rows_(rows) {}

  void add(const std::string& total, const std::string& unit, Pair value, const std::string& part = "") {
    rows_.push_back({total, part, unit, value.a, value.b, value.b - value.a});
  }

  // What its parts leave is a part of its own, so that they always add up.
  void add(const std::string& name, const std::string& unit, Pair total, const Pairs& parts) {
    add(name, unit, total);
    Pair rest = total, size;
    for (const auto& [part, value] : parts) {
      add(name, unit, value, part);
      rest.a -= value.a;
      rest.b -= value.b;
      size.a += std::abs(value.a);
      size.b += std::abs(value.b);
    }
    constexpr double rounding = 1e-9;
    const auto is_some = [](double left, double of, double whole) {
      return std::abs(left) > rounding * std::max(of, std::abs(whole));
    };
    if (!parts.empty() && (is_some(rest.a, size.a, total.a) || is_some(rest.b, size.b, total.b)))
      add(name, unit, rest, "other");
  }

 private:
  std::vector<ComparisonRow>& rows_;
};

void add_latency(const ResultFacts& a, const ResultFacts& b, Comparison& comparison, ComparisonRows& rows) {
  const bool parts_known = !a.latency_by.empty() && !b.latency_by.empty();
  Pairs parts;
  if (parts_known) {
    parts = paired(a.latency_by, b.latency_by);
  } else {
    comparison.notes.push_back(
        fmt::format("{} does not say what its latency consists of (an older version of monet made it): no parts",
                    a.latency_by.empty() ? comparison.a : comparison.b));
  }
  rows.add("latency", "cycles", {a.latency_cycles, b.latency_cycles}, parts);
  if (a.clock_hz == b.clock_hz) return;
  if (!(a.clock_hz > 0) || !(b.clock_hz > 0)) {
    comparison.notes.emplace_back(
        "one of the machines has no clock: cycles are compared, which may be of other lengths");
    return;
  }
  const auto seconds = [&](Pair cycles) { return Pair{cycles.a / a.clock_hz, cycles.b / b.clock_hz}; };
  for (auto& part : parts) part.second = seconds(part.second);
  rows.add("time", "s", seconds({a.latency_cycles, b.latency_cycles}), parts);
}

void add_energy(const ResultFacts& a, const ResultFacts& b, ComparisonRows& rows) {
  const Pair total{a.energy_pj, b.energy_pj};
  const bool parts_known = !a.energy_by.empty() && !b.energy_by.empty();
  rows.add("energy", "pJ", total, parts_known ? paired(a.energy_by, b.energy_by) : Pairs());
  Pairs places = paired(a.energy_at, b.energy_at);
  if (places.empty()) return;
  std::ranges::stable_sort(places, std::ranges::greater(),
                           [](const auto& place) { return std::max(place.second.a, place.second.b); });
  rows.add("energy by place", "pJ", total, places);
}

struct MemoryPair {
  ResultFacts::Memory a, b;
};

// In the order in which the results name them.
std::vector<MemoryPair> memories_of(const ResultFacts& a, const ResultFacts& b) {
  std::vector<MemoryPair> pairs;
  std::map<std::string, std::size_t> place;
  for (const ResultFacts* facts : {&a, &b}) {
    for (const ResultFacts::Memory& memory : facts->memories) {
      const auto [at, is_new] = place.try_emplace(memory.name, pairs.size());
      if (is_new) pairs.emplace_back();
      (facts == &a ? pairs[at->second].a : pairs[at->second].b) = memory;
    }
  }
  return pairs;
}

void add_memories(const ResultFacts& a, const ResultFacts& b, Comparison& comparison, ComparisonRows& rows) {
  const auto has_addresses = [](const ResultFacts::Memory& memory) {
    return memory.packed_bytes > 0 || memory.live_bytes == 0;
  };
  for (const auto& [of_a, of_b] : memories_of(a, b)) {
    const std::string& name = of_a.name.empty() ? of_b.name : of_a.name;
    const bool packed = has_addresses(of_a) && has_addresses(of_b);
    Pairs parts = paired(of_a.by_role, of_b.by_role);
    if (packed)
      parts.emplace_back("gaps", Pair{of_a.packed_bytes - of_a.live_bytes, of_b.packed_bytes - of_b.live_bytes});
    rows.add("memory " + name, "bytes",
             packed ? Pair{of_a.packed_bytes, of_b.packed_bytes} : Pair{of_a.live_bytes, of_b.live_bytes}, parts);
    if (!packed && (of_a.packed_bytes > 0 || of_b.packed_bytes > 0))
      comparison.notes.push_back(fmt::format("only one of them has addresses in {}: what is live is compared", name));
  }
}

void add_work(const ResultFacts& a, const ResultFacts& b, ComparisonRows& rows) {
  rows.add("macs", "", {a.macs, b.macs}, paired(a.macs_by_phase, b.macs_by_phase));
  rows.add("recomputed operators", "", {a.recomputed_operators, b.recomputed_operators});
  rows.add("saved for the backward part", "bytes", {a.saved_bytes, b.saved_bytes});
  const Pair read{a.home_read_bytes, b.home_read_bytes}, written{a.home_written_bytes, b.home_written_bytes};
  rows.add("traffic of home memory", "bytes", {read.a + written.a, read.b + written.b},
           {{"read", read}, {"written", written}});
  rows.add("utilization", "", {a.utilization, b.utilization});
}

// Those that explain most come first: by time, where both run at one clock or have clocks, then by energy.
void add_operators(const ResultFacts& a, const ResultFacts& b, Comparison& comparison) {
  std::map<std::pair<std::string, std::string>, ComparedOperator> rows;
  for (const ResultFacts* facts : {&a, &b}) {
    for (const ResultFacts::Operator& each : facts->operators) {
      ComparedOperator& row = rows[{each.phase, each.name}];
      row.name = each.name;
      row.phase = each.phase;
      (facts == &a ? row.a_cycles : row.b_cycles) += each.busy_cycles;
      (facts == &a ? row.a_pj : row.b_pj) += each.energy_pj;
    }
  }
  const bool clocked = a.clock_hz > 0 && b.clock_hz > 0;
  const auto change = [&](const ComparedOperator& row) {
    const double time = clocked ? row.b_cycles / b.clock_hz - row.a_cycles / a.clock_hz : row.b_cycles - row.a_cycles;
    return std::pair(std::abs(time), std::abs(row.b_pj - row.a_pj));
  };
  for (const auto& [key, row] : rows) {
    if (change(row) != std::pair(0.0, 0.0)) comparison.operators.push_back(row);
  }
  std::ranges::stable_sort(comparison.operators, std::ranges::greater(), change);
  if (comparison.operators.size() > most_operators) comparison.operators.resize(most_operators);
}

void add_assumptions(const ResultFacts& a, const ResultFacts& b, Comparison& comparison) {
  for (std::size_t i = 0; i < a.assumptions.size(); ++i) {
    const auto& [what, of_a] = a.assumptions[i];
    const std::string& of_b = b.assumptions[i].second;
    if (of_a != of_b) comparison.assumptions.push_back({what, of_a, of_b});
  }
}

// "out/kept" of "out/kept/result.json".
std::string short_name(const ResultFile& file) {
  const std::filesystem::path path = file.path;
  return path.filename() == "result.json" && path.has_parent_path() ? path.parent_path().string() : path.string();
}

}  // namespace

Comparison compare(const ResultFacts& a, const ResultFacts& b) {
  Comparison comparison{.a = a.name,
                        .b = b.name,
                        .a_recipe = a.recipe,
                        .a_recipe_from = a.recipe_from,
                        .b_recipe = b.recipe,
                        .b_recipe_from = b.recipe_from,
                        .clock_hz = a.clock_hz == b.clock_hz ? a.clock_hz : 0};
  ComparisonRows rows(comparison.rows);
  add_latency(a, b, comparison, rows);
  add_energy(a, b, rows);
  add_memories(a, b, comparison, rows);
  add_work(a, b, rows);
  add_operators(a, b, comparison);
  add_assumptions(a, b, comparison);
  return comparison;
}

Expected<Comparison> compare_files(const ResultFile& a, const ResultFile& b) {
  MONET_TRY(ResultFacts of_a, facts_of(a));
  MONET_TRY(ResultFacts of_b, facts_of(b));
  if (of_a.name == of_b.name) {
    of_a.name = short_name(a);
    of_b.name = short_name(b);
  }
  return compare(of_a, of_b);
}

Expected<Comparison> compare_results(const std::string& a, const std::string& b) {
  return compare_results(NamedResult{.name = a, .result = {}, .details = {}}, {.name = b, .result = {}, .details = {}});
}

Expected<Comparison> compare_results(const NamedResult& a, const NamedResult& b) {
  MONET_TRY(const ResultFile of_a, read_result(a));
  MONET_TRY(const ResultFile of_b, read_result(b));
  return compare_files(of_a, of_b);
}

}  // namespace monet

#include "present/compare/comparison_facts.h"

#include "base/quantities.h"
#include "base/try.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>

namespace monet {

namespace {

bool is_digit(char c) { return c >= '0' && c <= '9'; }

Parts joined(const Parts& parts) {
  std::map<std::string, double> sums;
  for (const auto& [name, value] : parts) sums[name_of_equals(name)] += value;
  return {sums.begin(), sums.end()};
}

Status read_memories(const ResultFields& fields, ResultFacts& facts) {
  MONET_TRY(const std::vector<ResultFields> list, fields.objects("memories"));
  std::vector<ResultFacts::Memory> all;
  for (const ResultFields& each : list) {
    ResultFacts::Memory memory;
    MONET_TRY(memory.name, each.text_or("name", ""));
    MONET_TRY(memory.packed_bytes, each.number_or("packed_peak_bytes", 0));
    MONET_TRY(memory.live_bytes, each.number_or("live_peak_bytes", 0));
    MONET_TRY(memory.by_role, each.parts("peak_by_role"));
    if (memory.live_bytes > 0) all.push_back(std::move(memory));
  }
  std::map<std::string, std::size_t> place;
  for (ResultFacts::Memory& memory : all) {
    memory.name = name_of_equals(memory.name);
    const auto [at, is_new] = place.try_emplace(memory.name, facts.memories.size());
    if (is_new) {
      facts.memories.push_back(std::move(memory));
    } else if (memory.live_bytes > facts.memories[at->second].live_bytes) {
      facts.memories[at->second] = std::move(memory);
    }
  }
  return Done{};
}

Status read_operators(const ResultFields& fields, ResultFacts& facts) {
  MONET_TRY(const std::vector<ResultFields> list, fields.objects("operators"));
  for (const ResultFields& each : list) {
    ResultFacts::Operator row;
    MONET_TRY(row.name, each.text_or("name", ""));
    MONET_TRY(row.phase, each.text_or("phase", ""));
    MONET_TRY(row.busy_cycles, each.number_or("busy_cycles", 0));
    MONET_TRY(row.energy_pj, each.number_or("energy_pj", 0));
    MONET_TRY(const double read, each.number_or("home_read_bytes", 0));
    MONET_TRY(const double written, each.number_or("home_write_bytes", 0));
    MONET_TRY(const bool recomputed, each.flag_or("recomputed", false));
    facts.home_read_bytes += read;
    facts.home_written_bytes += written;
    facts.recomputed_operators += recomputed ? 1 : 0;
    facts.operators.push_back(std::move(row));
  }
  return Done{};
}

Status read_assumptions(const ResultFields& fields, ResultFacts& facts) {
  const auto add = [&](const char* what, const std::string& value) { facts.assumptions.emplace_back(what, value); };
  MONET_TRY(const std::string model, fields.text_or("model", "a network"));
  MONET_TRY(const std::string hardware, fields.text_or("hardware", "a machine"));
  facts.name = fmt::format("{} on {}", model, hardware);
  add("network", model);
  add("machine", hardware);
  MONET_TRY(const std::string chosen, fields.text_or("hardware_parameters", ""));
  add("parameters of the machine", chosen);
  MONET_TRY(const std::string mode, fields.text_or("mode", ""));
  add("step", mode);
  MONET_TRY(facts.recipe, fields.text_or("recipe", ""));
  MONET_TRY(facts.recipe_from, fields.text_or("recipe_from", ""));
  add("number formats", facts.recipe);
  MONET_TRY(const std::string optimizer, fields.text_or("optimizer", ""));
  add("optimizer", optimizer);
  const auto count = [&](const char* what, const char* key) -> Status {
    MONET_TRY(const double number, fields.number_or(key, 0));
    add(what, cycles_text(number));
    return Done{};
  };
  MONET_RETURN_IF_ERROR(count("batch", "batch"));
  MONET_RETURN_IF_ERROR(count("micro-batches", "micro_batches"));
  MONET_TRY(const std::string objective, fields.text_or("objective", ""));
  add("mapped for", objective);
  add("clock", facts.clock_hz > 0 ? frequency_text(facts.clock_hz) : "none");
  MONET_RETURN_IF_ERROR(count("parameters", "parameters"));
  MONET_RETURN_IF_ERROR(count("operators", "nodes"));
  MONET_RETURN_IF_ERROR(count("stacks", "stacks"));
  MONET_RETURN_IF_ERROR(count("tiles", "tiles"));
  MONET_TRY(const bool fits, fields.flag_or("fits", true));
  add("fits the memory", fits ? "yes" : "no");
  return Done{};
}

}  // namespace

std::string name_of_equals(const std::string& name) {
  std::string result;
  for (const char c : name) {
    if (c == '/') {
      // Numbers at the end of an owner's name, as in "pe0_3", tell equals apart.
      std::size_t end = result.size();
      while (end > 0 && (is_digit(result[end - 1]) || (result[end - 1] == '_' && end < result.size()))) --end;
      if (end < result.size() && end > 0 && result[end - 1] != '/' && result[end - 1] != ' ') {
        result.resize(end);
        result += '*';
      }
    }
    result += c;
  }
  return result;
}

Expected<ResultFacts> facts_of(const ResultFile& file) {
  if (file.command != "evaluate")
    return Error{
        .message = fmt::format("this is of `monet {}`; results of `monet evaluate` are compared", file.command),
        .place = file.path,
        .advice = "evaluate one of its plans: monet evaluate ... --plan FILE -o DIR"};
  const ResultFields fields(file.json, file.path);
  ResultFacts facts;
  MONET_TRY(facts.clock_hz, fields.number_or("clock_hz", 0));
  MONET_TRY(facts.latency_cycles, fields.number("latency_cycles"));
  MONET_TRY(facts.energy_pj, fields.number("energy_pj"));
  MONET_TRY(facts.latency_by, fields.parts("latency_by"));
  MONET_TRY(facts.energy_by, fields.parts("energy_by"));
  MONET_TRY(const Parts energy_at, fields.parts("energy_breakdown"));
  facts.energy_at = joined(energy_at);
  MONET_TRY(facts.macs, fields.number_or("macs", 0));
  MONET_TRY(facts.utilization, fields.number_or("utilization", 0));
  MONET_TRY(facts.saved_bytes, fields.number_or("saved_bytes", 0));
  MONET_TRY(const std::vector<ResultFields> phases, fields.objects("phases"));
  for (const ResultFields& phase : phases) {
    MONET_TRY(const std::string name, phase.text_or("phase", ""));
    MONET_TRY(const double macs, phase.number_or("macs", 0));
    facts.macs_by_phase.emplace_back(name, macs);
  }
  MONET_RETURN_IF_ERROR(read_assumptions(fields, facts));
  MONET_RETURN_IF_ERROR(read_memories(fields, facts));
  MONET_RETURN_IF_ERROR(read_operators(fields, facts));
  return facts;
}

}  // namespace monet

#include "base/try.h"
#include "hardware/prototypes.h"

#include <fmt/format.h>

#include <algorithm>

namespace monet {

namespace {

constexpr std::array simple_kinds = {Count::add,   Count::multiply, Count::compare,
                                     Count::logic, Count::round,    Count::move};

// Operations a second and energies that a block states; 0: not stated. Energies that it leaves out are `power_w` times
// the time of an operation (0: left out).
struct RateTable {
  KindRates rates;
  std::array<bool, count_kinds> has_energy{};
};

Expected<RateTable> read_rates(const ReadState& state, const Fields& fields, std::string_view energy_key,
                               double power_w) {
  RateTable table;
  const auto entries_of = [&](std::string_view key) {
    const Yaml* found = fields.find(key);
    return found == nullptr ? std::vector<const Yaml::Entry*>() : general_first(*found);
  };
  for (const Yaml::Entry* entry : entries_of("operations")) {
    const YamlPtr block = block_of(entry->value, "value");
    MONET_TRY(const Fields inner, state.open(*block, rate_value_block(), fields.context(), entry->key));
    MONET_TRY(const auto value, inner.quantity("value", "operations"));
    if (!value || *value <= 0)
      return inner.error("value", fmt::format("no rate for {}", entry->key), "write 6.4 MOP/s");
    for (const Count kind : kinds_of(entry->key)) table.rates.operations_per_s[static_cast<std::size_t>(kind)] = *value;
  }
  for (const Yaml::Entry* entry : entries_of(energy_key)) {
    const YamlPtr block = block_of(entry->value, "value");
    MONET_TRY(const Fields inner, state.open(*block, energy_value_block(), fields.context(), entry->key));
    MONET_TRY(const auto value, inner.quantity("value", "energy"));
    if (!value) return inner.error("value", fmt::format("no energy for {}", entry->key), "write 1.7 nJ");
    for (const Count kind : kinds_of(entry->key)) {
      table.rates.energy_pj[static_cast<std::size_t>(kind)] = *value;
      table.has_energy[static_cast<std::size_t>(kind)] = true;
    }
  }
  for (std::size_t i = 0; i < count_kinds && power_w > 0; ++i) {
    if (table.rates.operations_per_s[i] == 0 || table.has_energy[i]) continue;
    table.rates.energy_pj[i] = power_w * 1e12 / table.rates.operations_per_s[i];
    table.has_energy[i] = true;
    fields.note_derived(fmt::format("{} energy", name_of(static_cast<Count>(i))), table.rates.energy_pj[i],
                        Measure::energy, "the power while it works, times the time of the operation", 'D');
  }
  return table;
}

// Where a precision states rates of its own.
Status read_by_precision(const ReadState& state, const Fields& fields, double power_w, Rate& rate) {
  const Yaml* table = fields.find("precisions");
  for (std::size_t i = 0; i < rate.precisions.size(); ++i) {
    const Yaml::Entry& entry = table->entries[i];
    const YamlPtr block = block_of(entry.value, "rate");
    const bool states = block->find("operations") != nullptr;
    if (!states && block->find("operation_energy") == nullptr) continue;
    MONET_TRY(const Fields inner, state.open(*block, rate_precision_block(), fields.context(), entry.key));
    if (!states) {
      return inner.error("operation_energy", "energies without operations a second",
                         "write operations: {mac: 8 MOP/s}, or energy: 0.5 for all of them");
    }
    MONET_TRY(RateTable own, read_rates(state, inner, "operation_energy", power_w));
    for (std::size_t kind = 0; kind < count_kinds; ++kind) {
      if (own.rates.operations_per_s[kind] == 0) {
        own.rates.energy_pj[kind] = 0;
      } else if (!own.has_energy[kind]) {
        own.rates.energy_pj[kind] = rate.energy_pj[kind] * rate.precisions[i].energy;
      }
    }
    rate.by_precision.resize(rate.precisions.size());
    rate.by_precision[i] = own.rates;
  }
  return Done{};
}

}  // namespace

std::vector<Count> kinds_of(const std::string& name) {
  std::vector<Count> kinds;
  if (name == "arithmetic") return {simple_kinds.begin(), simple_kinds.end()};
  for (std::size_t i = 0; i < count_kinds; ++i) {
    const auto kind = static_cast<Count>(i);
    if (name == "all" || name == name_of(kind)) kinds.push_back(kind);
  }
  return kinds;
}

std::vector<const Yaml::Entry*> general_first(const Yaml& table) {
  std::vector<const Yaml::Entry*> entries;
  for (const Yaml::Entry& entry : table.entries) entries.push_back(&entry);
  const auto rank = [](const Yaml::Entry* entry) {
    return entry->key == "all" ? 0 : entry->key == "arithmetic" ? 1 : 2;
  };
  std::stable_sort(entries.begin(), entries.end(),
                   [&](const Yaml::Entry* a, const Yaml::Entry* b) { return rank(a) < rank(b); });
  return entries;
}

YamlPtr block_of(const YamlPtr& value, std::string_view key) {
  if (value->is_map()) return value;
  auto block = std::make_shared<Yaml>();
  block->kind = YamlKind::map;
  block->place = value->place;
  block->entries.push_back({std::string(key), value->place, value});
  block->size = 2;
  return block;
}

Expected<Rate> read_rate(const ReadState& state, const Yaml& node, const Context& around) {
  MONET_TRY(const Fields fields, state.open(node, rate_block(), around, "rate"));
  const Yaml* operations = fields.find("operations");
  if (operations == nullptr || operations->entries.empty()) {
    return fields.error("operations", "a rate without operations a second", "write operations: {all: 6.4 MOP/s}");
  }
  MONET_TRY(const auto power, fields.quantity("power"));
  MONET_TRY(const RateTable table, read_rates(state, fields, "energy", power.value_or(0)));
  Rate rate;
  static_cast<KindRates&>(rate) = table.rates;
  for (std::size_t i = 0; i < count_kinds; ++i) {
    if (rate.operations_per_s[i] == 0 || table.has_energy[i]) continue;
    fields.note_derived(fmt::format("{} energy", name_of(static_cast<Count>(i))), 0, Measure::energy,
                        "left out, and no table has whole processors: counted as 0", 'D');
  }
  MONET_TRY(rate.precisions, read_precisions(state, fields, rate_precision_block()));
  MONET_RETURN_IF_ERROR(read_by_precision(state, fields, power.value_or(0), rate));
  return rate;
}

}  // namespace monet

#include "base/try.h"
#include "hardware/prototypes.h"
#include "kernels/laws/forms.h"
#include "kernels/measured_text.h"

#include <fmt/format.h>

#include <algorithm>

namespace monet {

namespace {

constexpr std::int64_t max_multiprocessors = 1 << 20;

Expected<double> needed(const Fields& fields, std::string_view key) {
  MONET_TRY(const auto value, fields.quantity(key));
  if (value && *value > 0) return *value;
  return fields.error(key, fmt::format("'{}' is {}", key, value ? "0" : "missing"),
                      "copy it from a machine that `monet calibrate` wrote");
}

Expected<double> or_zero(const Fields& fields, std::string_view key) {
  MONET_TRY(const auto value, fields.quantity(key));
  return value.value_or(0);
}

// A bandwidth in bytes a microsecond.
Expected<double> needed_rate(const Fields& fields, std::string_view key) {
  MONET_TRY(const double bits_per_cycle, needed(fields, key));
  return bits_per_cycle * fields.context().clock_hz / 8e6;
}

Expected<MemoryLaw> read_memory_law(const Fields& fields) {
  MemoryLaw law;
  MONET_TRY(law.cache_rate, needed_rate(fields, "cache_rate"));
  MONET_TRY(law.memory_rate, needed_rate(fields, "memory_rate"));
  MONET_TRY(const double until, needed(fields, "cache_until"));
  MONET_TRY(const double from, needed(fields, "memory_from"));
  MONET_TRY(const double cold, or_zero(fields, "cold_after"));
  law.cache_until = until / 8;
  law.memory_from = from / 8;
  law.cold_after = cold > 0 ? cold / 8 : law.cache_until;
  if (law.memory_from > law.cache_until) return law;
  return fields.error("memory_from", "memory_from is not above cache_until", "write a larger one");
}

Expected<EnergyLaw> read_energy_law(const Fields& fields) {
  EnergyLaw law;
  MONET_TRY(law.base_w, or_zero(fields, "base"));
  MONET_TRY(law.busy_w, or_zero(fields, "busy"));
  MONET_TRY(law.scalar_w, or_zero(fields, "scalar"));
  MONET_TRY(law.limit_w, or_zero(fields, "limit"));
  MONET_TRY(law.byte_pj, or_zero(fields, "byte"));
  MONET_TRY(law.memory_byte_pj, or_zero(fields, "memory_byte"));
  MONET_TRY(const auto exponent, fields.number("clock_exponent"));
  law.clock_exponent = exponent.value_or(0);
  if (law.clock_exponent < 0)
    return fields.error("clock_exponent", "'clock_exponent' is below 0", "a lower clock takes less energy");
  for (std::size_t i = 0; i < kernel_precisions; ++i) {
    MONET_TRY(law.flop_pj[i], or_zero(fields, name_of(static_cast<KernelPrecision>(i))));
  }
  return law;
}

Status refuse_other_coefficients(const Yaml& node, const LawForm& form, const std::string& law) {
  std::vector<std::string> known = {"reach", "noise", "measured"};
  for (const Coefficient& c : form.coefficients) known.emplace_back(c.name);
  for (const Yaml::Entry& entry : node.entries) {
    if (std::find(known.begin(), known.end(), entry.key) != known.end()) continue;
    return Error{.message = fmt::format("the law of {} has no coefficient '{}'", law, entry.key),
                 .place = entry.place.text(),
                 .advice = meant_name(entry.key, known)};
  }
  return Done{};
}

Expected<ClassLaw> read_law(const ReadState& state, const Yaml::Entry& entry, const Context& around,
                            const KernelLaws& laws) {
  const auto of = kernel_class_named(entry.key);
  if (!of) {
    return Error{.message = fmt::format("there is no class of kernels '{}'", shown(entry.key)),
                 .place = entry.place.text(),
                 .advice = "for example product.forward.bf16, convolution.weight_gradient.fp32.windows"};
  }
  MONET_TRY(const Fields fields, state.open(*entry.value, kernel_law_block(), around, entry.key));
  const LawForm& form = form_of(*of);
  MONET_RETURN_IF_ERROR(refuse_other_coefficients(*entry.value, form, entry.key));
  ClassLaw law{.kernel_class = *of, .coefficients = default_coefficients(laws, *of)};
  for (std::size_t i = 0; i < form.coefficients.size(); ++i) {
    const Coefficient& c = form.coefficients[i];
    MONET_TRY(const auto value, fields.number(c.name));
    if (!value) continue;
    if (*value <= 0) return fields.error(c.name, fmt::format("'{}' is not above 0", c.name));
    law.coefficients[i] = *value * file_unit(c.scale);
  }
  MONET_TRY(const auto reach, fields.number("reach"));
  MONET_TRY(const auto noise, fields.number("noise"));
  law.nearness = {std::max(reach.value_or(1), 1e-3), std::max(noise.value_or(0.1), 1e-3)};
  auto measured = parse_measured(*of, fields.text("measured"));
  if (!measured) return fields.error("measured", measured.error().message, measured.error().advice);
  law.measured = *std::move(measured);
  return law;
}

}  // namespace

// Without laws, what is left out follows from the data sheet: hardware/kernel_defaults.h.
Expected<std::shared_ptr<const KernelLaws>> read_kernels(const ReadState& state, const Yaml& node,
                                                         const Context& around) {
  MONET_TRY(const Fields fields, state.open(node, kernels_block(), around, "kernels"));
  const auto part = [&](std::string_view key, const Block& block) -> Expected<Fields> {
    const Yaml* inner = fields.find(key);
    if (inner == nullptr)
      return fields.error(key, fmt::format("kernels without '{}'", key),
                          "copy it from a machine that `monet calibrate` wrote");
    return state.open(*inner, block, fields.context(), std::string(key));
  };
  auto laws = std::make_shared<KernelLaws>();
  laws->source = fields.context().source;
  laws->confidence = fields.context().confidence;
  laws->date = fields.text("date");
  if (fields.has("energy")) {
    MONET_TRY(const Fields energy, part("energy", kernel_energy_block()));
    MONET_TRY(laws->energy, read_energy_law(energy));
  }
  if (!fields.has("multiprocessors") && !fields.has("ceiling") && !fields.has("memory") && !fields.has("laws"))
    return std::shared_ptr<const KernelLaws>(std::move(laws));
  MONET_TRY(const auto multiprocessors, fields.integer("multiprocessors", 1, max_multiprocessors));
  if (!multiprocessors)
    return fields.error("multiprocessors", "kernels without 'multiprocessors'", "write their number");
  laws->multiprocessors = static_cast<double>(*multiprocessors);
  MONET_TRY(const Fields ceiling, part("ceiling", kernel_ceiling_block()));
  for (std::size_t i = 0; i < kernel_precisions; ++i) {
    MONET_TRY(const double rate, needed(ceiling, name_of(static_cast<KernelPrecision>(i))));
    laws->ceiling[i] = rate / 1e6;
  }
  MONET_TRY(const Fields memory, part("memory", kernel_memory_block()));
  MONET_TRY(laws->memory, read_memory_law(memory));
  MONET_TRY(const auto slow_32, memory.number("cold_slowdown_32"));
  MONET_TRY(const auto slow_tf32, memory.number("cold_slowdown_tf32"));
  MONET_TRY(const auto slow_16, memory.number("cold_slowdown_16"));
  laws->cold_slowdown = {slow_32.value_or(0), slow_tf32.value_or(slow_32.value_or(0)), slow_16.value_or(0)};
  constexpr std::array waiting = {"cold_waiting_32", "cold_waiting_tf32", "cold_waiting_16"};
  for (std::size_t i = 0; i < kernel_precisions; ++i) {
    MONET_TRY(const auto value, memory.number(waiting[i]));
    laws->cold_waiting[i] = value.value_or(laws->cold_slowdown[i]);
  }
  if (const Yaml* table = fields.find("laws")) {
    for (const Yaml::Entry& entry : table->entries) {
      MONET_TRY(ClassLaw law, read_law(state, entry, fields.context(), *laws));
      laws->classes.push_back(std::move(law));
    }
  }
  complete(*laws);
  return std::shared_ptr<const KernelLaws>(std::move(laws));
}

}  // namespace monet

#include "hardware/writer_parts.h"
#include "kernels/laws/forms.h"
#include "kernels/measured_text.h"

namespace monet::hardware_text {

namespace {

constexpr std::size_t line_length = 118;

std::string rounded(double value) { return fmt::format("{:.4g}", value); }

void write_law(Lines& out, int at, const ClassLaw& law) {
  const LawForm& form = form_of(law.kernel_class);
  out.add(at, name_of(law.kernel_class) + ":");
  for (std::size_t i = 0; i < form.coefficients.size(); ++i)
    out.field(at + 1, form.coefficients[i].name, rounded(law.coefficients[i] / file_unit(form.coefficients[i].scale)));
  if (law.measured.empty()) return;
  out.field(at + 1, "reach", rounded(law.nearness.reach));
  out.field(at + 1, "noise", rounded(law.nearness.noise));
  out.add(at + 1, fmt::format("measured: >-  # {}", measured_columns(law.kernel_class.kind)));
  std::string line;
  for (std::size_t i = 0; i < law.measured.size(); ++i) {
    const std::string next = measured_text(law.measured[i]) + (i + 1 < law.measured.size() ? "," : "");
    if (!line.empty() && 2 * static_cast<std::size_t>(at + 2) + line.size() + 1 + next.size() > line_length) {
      out.add(at + 2, line);
      line.clear();
    }
    line += (line.empty() ? "" : " ") + next;
  }
  out.add(at + 2, line);
}

}  // namespace

void write_kernels(Lines& out, int at, const KernelLaws& laws) {
  out.add(at, "kernels:");
  if (!laws.source.empty()) out.field(at + 1, "source", yaml_quoted(laws.source));
  if (laws.confidence != '-') out.field(at + 1, "confidence", std::string(1, laws.confidence));
  if (!laws.date.empty()) out.field(at + 1, "date", yaml_quoted(laws.date));
  out.field(at + 1, "multiprocessors", fmt::format("{}", laws.multiprocessors));
  std::vector<std::string> ceilings, energies;
  const EnergyLaw& energy = laws.energy;
  const auto power = [&](std::string_view key, double watts) {
    if (watts > 0) energies.push_back(fmt::format("{}: {} W", key, rounded(watts)));
  };
  const auto joules = [&](std::string_view key, double pj) {
    if (pj > 0) energies.push_back(fmt::format("{}: {} pJ", key, rounded(pj)));
  };
  power("base", energy.base_w);
  power("busy", energy.busy_w);
  power("scalar", energy.scalar_w);
  power("limit", energy.limit_w);
  joules("byte", energy.byte_pj);
  joules("memory_byte", energy.memory_byte_pj);
  for (std::size_t i = 0; i < kernel_precisions; ++i) {
    const std::string_view name = name_of(static_cast<KernelPrecision>(i));
    ceilings.push_back(fmt::format("{}: {} TFLOP/s", name, rounded(laws.ceiling[i] / 1e6)));
    joules(name, energy.flop_pj[i]);
  }
  if (energy.clock_exponent > 0) energies.push_back(fmt::format("clock_exponent: {}", rounded(energy.clock_exponent)));
  out.field(at + 1, "ceiling", join_fields(ceilings));
  const MemoryLaw& memory = laws.memory;
  out.field(at + 1, "memory",
            join_fields({fmt::format("cache_rate: {} GB/s", rounded(memory.cache_rate / 1e3)),
                         fmt::format("memory_rate: {} GB/s", rounded(memory.memory_rate / 1e3)),
                         fmt::format("cache_until: {} MB", rounded(memory.cache_until / 1e6)),
                         fmt::format("memory_from: {} MB", rounded(memory.memory_from / 1e6)),
                         fmt::format("cold_after: {} MB", rounded(memory.cold_after / 1e6)),
                         fmt::format("cold_slowdown_32: {}", rounded(laws.cold_slowdown[0])),
                         fmt::format("cold_slowdown_tf32: {}", rounded(laws.cold_slowdown[1])),
                         fmt::format("cold_slowdown_16: {}", rounded(laws.cold_slowdown[2])),
                         fmt::format("cold_waiting_32: {}", rounded(laws.cold_waiting[0])),
                         fmt::format("cold_waiting_tf32: {}", rounded(laws.cold_waiting[1])),
                         fmt::format("cold_waiting_16: {}", rounded(laws.cold_waiting[2]))}));
  if (!energies.empty()) out.field(at + 1, "energy", join_fields(energies));
  if (!laws.classes.empty()) out.add(at + 1, "laws:");
  for (const ClassLaw& law : laws.classes) write_law(out, at + 2, law);
}

}  // namespace monet::hardware_text

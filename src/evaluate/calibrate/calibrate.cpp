#include "base/stopwatch.h"
#include "base/try.h"
#include "hardware/kernel_defaults.h"
#include "hardware/presets.h"
#include "hardware/writer_parts.h"
#include "kernels/calibrate/fit.h"

#include <monet/calibrate.h>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <filesystem>

namespace monet {

namespace {

constexpr std::size_t few_measured = 5;

Expected<const Core*> core_to_calibrate(const Hardware& hardware, const std::string& name) {
  std::vector<std::string> known;
  for (const Core& core : hardware.cores) {
    if (core.type == name || (name.empty() && hardware.cores.size() == 1)) return &core;
    if (std::find(known.begin(), known.end(), core.type) == known.end()) known.push_back(core.type);
  }
  return Error{.message = name.empty() ? fmt::format("{} has {} cores", hardware.name, hardware.cores.size())
                                       : fmt::format("{} has no core '{}'", hardware.name, name),
               .place = "--core",
               .advice = fmt::format("one of: {}", fmt::join(known, ", "))};
}

// The fastest product that was measured, by precision.
void measure_ceilings(KernelLaws& laws, const std::vector<MeasuredKernel>& kernels) {
  std::array<double, kernel_precisions> best{};
  for (const MeasuredKernel& point : kernels) {
    if (point.kernel.kind != KernelKind::product) continue;
    double& ceiling = best[static_cast<std::size_t>(point.kernel.precision)];
    ceiling = std::max(ceiling, point.kernel.flops / point.us);
  }
  for (std::size_t i = 0; i < kernel_precisions; ++i)
    if (best[i] > 0) laws.ceiling[i] = best[i];
}

// Of the file that is written: a preset by its name, a file from where it will be.
std::string include_of(const CalibrateOptions& options) {
  const std::string& base = options.base.name();
  if (preset_text(base) != nullptr) return base;
  std::error_code ignored;
  const std::filesystem::path file = std::filesystem::absolute(base, ignored);
  if (options.output.empty()) return file.string();
  const auto folder = std::filesystem::absolute(options.output, ignored).parent_path();
  const auto relative = std::filesystem::relative(file, folder, ignored);
  return relative.empty() ? file.string() : relative.string();
}

std::string machine_text(const KernelLaws& laws, const CalibrateOptions& options, const std::string& name,
                         const Core& core) {
  hardware_text::Lines out;
  out.field(0, "monet", "1");
  out.field(0, "name", hardware_text::yaml_quoted(name));
  out.field(0, "include", hardware_text::yaml_quoted(include_of(options)));
  out.add(0, "cores:");
  out.add(1, hardware_text::yaml_quoted(core.type) + ":");
  hardware_text::write_kernels(out, 2, laws);
  return std::move(out).text();
}

void add_notes(const std::vector<ClassError>& errors, const Measurements& measured, Calibration& result) {
  std::vector<bool> kinds(kernel_kinds, false);
  std::vector<std::string> few, absent;
  for (const ClassError& error : errors) {
    kinds[static_cast<std::size_t>(error.kernel_class.kind)] = true;
    if (error.measured < few_measured) few.push_back(name_of(error.kernel_class));
  }
  for (std::size_t i = 0; i < kernel_kinds; ++i)
    if (!kinds[i]) absent.emplace_back(name_of(static_cast<KernelKind>(i)));
  if (!absent.empty())
    result.notes.push_back(
        fmt::format("not measured, so laws of the base or its data sheet: {}", fmt::join(absent, ", ")));
  if (!few.empty())
    result.notes.push_back(
        fmt::format("fewer than {} kernels were measured of {}", few_measured, fmt::join(few, ", ")));
  if (measured.energies.empty()) result.notes.emplace_back("no energy was measured: it stays as the base has it");
}

}  // namespace

Expected<Calibration> calibrate(const std::vector<std::string>& tables, const CalibrateOptions& options) {
  const auto start = std::chrono::steady_clock::now();
  MONET_TRY(const auto opened, options.base.hardware());
  const Hardware& hardware = *opened;
  MONET_TRY(const Core* core, core_to_calibrate(hardware, options.core));
  MONET_TRY(KernelLaws laws, kernel_laws_of(hardware, *core));
  MONET_TRY(const Measurements measured, read_measurements(tables));
  std::vector<std::string> names;
  for (const std::string& table : tables) names.push_back(std::filesystem::path(table).filename().string());
  laws.source = options.source.empty() ? fmt::format("monet calibrate {}", fmt::join(names, " ")) : options.source;
  laws.confidence = 'A';
  laws.date = options.date;
  if (options.power_limit_w > 0) laws.energy.limit_w = options.power_limit_w;

  measure_ceilings(laws, measured.kernels);
  fit_memory(laws, measured.kernels);
  fit_cold_slowdown(laws, measured.kernels);
  Calibration result;
  result.notes = measured.notes;
  const std::vector<ClassError> errors = fit_classes(laws, measured.kernels, options.folds, options.jobs);
  for (const ClassError& error : errors)
    result.classes.push_back({name_of(error.kernel_class), error.measured, error.law, error.left_out});
  if (!measured.energies.empty()) {
    const ClassError error = fit_energy(laws, measured.energies, options.folds);
    result.classes.push_back({"energy", error.measured, error.law, error.left_out});
  }
  add_notes(errors, measured, result);
  const std::string name = options.name.empty() ? hardware.name + "_calibrated" : options.name;
  result.machine = machine_text(laws, options, name, *core);
  result.wall_s = seconds_since(start);
  return result;
}

}  // namespace monet

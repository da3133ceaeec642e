#include "evaluate/open/machines.h"

#include "base/try.h"
#include "compat/import/import.h"
#include "evaluate/open/hardware.h"
#include "hardware/presets.h"
#include "hardware/writer.h"

namespace monet {

Expected<std::vector<PresetSummary>> list_hardware() {
  std::vector<PresetSummary> presets;
  for (const std::string& name : preset_names()) {
    MONET_TRY(const HardwareReport report, describe_hardware(name));
    PresetSummary& preset = presets.emplace_back();
    preset.name = name;
    preset.description = report.description;
    preset.cores = report.gang_cores;
    preset.macs_per_cycle = report.macs_per_cycle;
    preset.clock_hz = report.clock_hz;
    for (const PeakSummary& peak : report.peaks) {
      if (peak.operations_per_s <= preset.peak_operations_per_s) continue;
      preset.peak_operations_per_s = peak.operations_per_s;
      preset.peak_precision = peak.precision;
    }
    preset.on_chip_bits = report.on_chip_bits;
    preset.dram_bits = report.dram_bits;
    preset.confidence = report.confidence;
  }
  return presets;
}

Expected<HardwareReport> describe_hardware(const Machine& machine) {
  MONET_TRY(const std::shared_ptr<const Hardware> hardware, machine.hardware());
  return summarize(*hardware);
}

Expected<std::string> import_hardware_file(const std::string& path, const std::string& mapping) {
  MONET_TRY(const Hardware hardware, import_hardware(path, {.mapping = mapping}));
  return to_yaml(hardware);
}

}  // namespace monet

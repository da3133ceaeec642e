#include "hardware/reader.h"

#include "base/read_file.h"
#include "base/try.h"
#include "config/words.h"
#include "hardware/assemble.h"
#include "hardware/include.h"
#include "hardware/kernel_defaults.h"
#include "hardware/prototypes.h"

#include <fmt/format.h>

#include <algorithm>

namespace monet {

namespace {

constexpr std::int64_t format_version = 1;

Status check_version(const Fields& fields) {
  MONET_TRY(const auto version, fields.integer("monet", 1, 1000000));
  if (!version) {
    return fields.error("monet", "the version of the format is missing", "write monet: 1 in the first line");
  }
  if (*version != format_version) {
    return fields.error(
        "monet", fmt::format("version {} of the format; this program reads version {}", *version, format_version),
        "take a newer program");
  }
  return Done{};
}

Status read_effects(const ReadState& state, const Fields& machine, Effects& effects) {
  const Yaml* node = machine.find("effects");
  if (node == nullptr) return Done{};
  MONET_TRY(const Fields fields, state.open(*node, effects_block(), machine.context(), ""));
  MONET_TRY(effects.fill_drain, fields.boolean("fill_drain", true));
  MONET_TRY(effects.memory_latency, fields.boolean("memory_latency", true));
  MONET_TRY(effects.energy_by_precision, fields.boolean("energy_by_precision", true));
  MONET_TRY(effects.static_energy, fields.boolean("static_energy", true));
  MONET_TRY(effects.network_energy, fields.boolean("network_energy", true));
  return Done{};
}

Status read_peaks(const ReadState& state, const Fields& machine, std::vector<StatedPeak>& peaks) {
  const Yaml* table = machine.find("peak");
  if (table == nullptr) return Done{};
  for (const Yaml::Entry& entry : table->entries) {
    YamlPtr block = entry.value;
    if (!block->is_map()) {
      auto made = std::make_shared<Yaml>();
      made->kind = YamlKind::map;
      made->place = entry.value->place;
      made->entries.push_back({"value", entry.value->place, entry.value});
      made->size = 2;
      block = made;
    }
    MONET_TRY(const Fields fields, state.open(*block, rate_value_block(), machine.context(), "peak " + entry.key));
    MONET_TRY(const auto value, fields.quantity("value"));
    if (!value || *value <= 0) return fields.error("value", "a peak of nothing", "write int8: 4 TOP/s");
    peaks.push_back({entry.key, *value, fields.context().source, fields.context().confidence});
  }
  return Done{};
}

Status read_validated(const ReadState& state, const Fields& machine, std::vector<Validated>& validated) {
  const Yaml* table = machine.find("validated");
  if (table == nullptr) return Done{};
  for (const Yaml::Entry& entry : table->entries) {
    MONET_TRY(const Fields fields,
              state.open(*entry.value, validated_block(), machine.context(), "validated " + entry.key));
    Validated& made = validated.emplace_back(Validated{.lowering = entry.key, .machine = fields.text("machine")});
    if (made.machine.empty())
      return fields.error("machine", "validated on no machine", "write the name of the one that was measured");
    MONET_TRY(made.latency_percent, fields.number("latency"));
    MONET_TRY(made.energy_percent, fields.number("energy"));
    MONET_TRY(made.memory_percent, fields.number("memory"));
    made.source = fields.context().source;
  }
  return Done{};
}

// What a kernel core does not state of its kernels follows from the rest of the machine.
Status complete_kernels(Hardware& hardware, const HardwarePlaces& places) {
  for (Core& core : hardware.cores) {
    if (!core.kernels || core.kernels->multiprocessors > 0) continue;
    auto laws = kernel_laws_of(hardware, core);
    if (!laws) {
      Error error = laws.error();
      error.place = places.machine.text();
      return error;
    }
    core.kernels = std::make_shared<const KernelLaws>(*std::move(laws));
  }
  return Done{};
}

}  // namespace

Expected<Hardware> read_hardware_tree(const Yaml& root, const std::string& path, const HardwareOptions& options) {
  if (!root.is_map()) {
    return Error{.message = fmt::format("a hardware file is a block of keys, not {}", name_of(root.kind)),
                 .place = root.place.text(),
                 .advice = "see docs/hardware.md for an example"};
  }
  MONET_TRY(const Words words, Words::read(root.find("parameters"), options.parameters));
  MONET_TRY(const YamlPtr tree, words.choose(root));
  MONET_RETURN_IF_ERROR(check_keys(*tree, machine_block(), "the machine"));
  MONET_TRY(const Parameters parameters, Parameters::read(root.find("parameters"), options.parameters, path));

  Hardware hardware;
  ReadState state{.parameters = parameters, .origins = hardware.origins};
  MONET_TRY(const Fields fields, state.open(*tree, machine_block(), {}, ""));
  MONET_RETURN_IF_ERROR(check_version(fields));
  hardware.clock_hz = state.reference_hz = fields.context().clock_hz;
  hardware.technology_nm = fields.context().technology_nm;
  hardware.name = fields.text("name");
  if (hardware.name.empty()) return fields.error("name", "the machine has no name", "write name: my_machine");
  hardware.description = fields.text("description");
  hardware.recipe = fields.text("recipe");
  hardware.parameters = parameters.texts();
  for (const Yaml* note : fields.names("notes")) hardware.notes.push_back(note->scalar);
  state.energies_by_size = fields.text("energies") != "fixed";
  MONET_RETURN_IF_ERROR(read_effects(state, fields, hardware.effects));

  MONET_RETURN_IF_ERROR(read_peaks(state, fields, hardware.peaks));
  MONET_RETURN_IF_ERROR(read_validated(state, fields, hardware.validated));

  if (fields.has("fabric")) {
    MONET_TRY(hardware.fabric, read_fabric(state, fields));
  }

  HardwarePlaces places;
  places.machine = root.place;
  MONET_TRY(const ClusterPrototype machine, read_parts(state, fields, 0));
  MONET_RETURN_IF_ERROR(assemble(machine, hardware, places));
  MONET_RETURN_IF_ERROR(complete_kernels(hardware, places));
  MONET_RETURN_IF_ERROR(check(hardware, places));
  for (const std::string& doubt : doubts(hardware)) {
    auto& notes = hardware.notes;
    if (std::find(notes.begin(), notes.end(), doubt) == notes.end()) notes.push_back(doubt);
  }
  return hardware;
}

Expected<Hardware> read_hardware(const std::string& path, const HardwareOptions& options) {
  MONET_TRY(const std::string text, read_file(path));
  return read_hardware_text(text, path, options);
}

Expected<Hardware> read_hardware_text(const std::string& text, const std::string& path,
                                      const HardwareOptions& options) {
  MONET_TRY(const YamlPtr root, parse_hardware(text, path));
  return read_hardware_tree(*root, path, options);
}

Expected<YamlPtr> parse_hardware(const std::string& text, const std::string& path) {
  MONET_TRY(const YamlPtr written, parse_yaml(text, path));
  MONET_TRY(const YamlPtr whole, resolve_includes(written, path));
  return chip_beside_fabric(whole);
}

}  // namespace monet

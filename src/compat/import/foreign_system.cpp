#include "compat/import/foreign_system.h"

#include <fmt/format.h>

#include <cctype>

namespace monet {

std::string foreign_name(std::string_view name) {
  constexpr std::size_t longest = 100;
  std::string plain;
  for (const char c : name.substr(0, longest))
    plain += std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_' || c == '-' || c == '.' ? c : '_';
  // A key that starts like a number would be read as one.
  if (plain.empty() || std::isalpha(static_cast<unsigned char>(plain[0])) == 0) plain = "n" + plain;
  return plain;
}

ForeignSystem::ForeignSystem(std::string name) {
  hardware.name = std::move(name);
  hardware.recipe = "int8-everywhere";  // as those tools count
  hardware.effects = {.fill_drain = false,
                      .memory_latency = false,
                      .energy_by_precision = false,
                      .static_energy = false,
                      .network_energy = false};
}

std::string ForeignSystem::unique(const std::string& name) {
  const std::string plain = foreign_name(name);
  std::string chosen = plain;
  for (int i = 1; !names_.insert(chosen).second; ++i) chosen = fmt::format("{}_{}", plain, i);
  return chosen;
}

MemoryId ForeignSystem::add_memory(const Memory& memory, const std::string& name) {
  hardware.memories.push_back(memory);
  hardware.memories.back().name = unique(name);
  return MemoryId(hardware.memories.size() - 1);
}

CoreId ForeignSystem::add_core(const ZigzagCore& file, const std::string& name, const std::string& type,
                               const std::vector<MemoryId>& shared) {
  Core core = file.core;
  core.name = unique(name);
  core.type = type;
  std::set<std::string> own;
  for (std::size_t i = 0; i < core.levels.size(); ++i) {
    if (i < shared.size() && shared[i].valid()) {
      core.levels[i].memory = shared[i];
      continue;
    }
    const std::string plain = foreign_name(file.memories[i].name);
    std::string chosen = plain;
    for (int n = 1; !own.insert(chosen).second; ++n) chosen = fmt::format("{}_{}", plain, n);
    core.levels[i].memory = MemoryId(hardware.memories.size());
    hardware.memories.push_back(file.memories[i]);
    hardware.memories.back().name = core.name + "/" + chosen;
    for (Origin origin : file.origins) {
      if (origin.part != file.memories[i].name) continue;
      origin.part = hardware.memories.back().name;
      hardware.origins.push_back(std::move(origin));
    }
  }
  hardware.cores.push_back(std::move(core));
  return CoreId(hardware.cores.size() - 1);
}

void ForeignSystem::add_notes(const std::string& about, const std::vector<std::string>& notes) {
  for (const std::string& note : notes)
    hardware.notes.push_back(about.empty() ? note : fmt::format("{}: {}", about, note));
}

}  // namespace monet

#include "hardware/writer_parts.h"

#include <array>

namespace monet::hardware_text {

namespace {

// 13 digits are all that a level has (hardware/read_fabric.cpp).
std::string microseconds(double seconds) { return fmt::format("{:.13g} us", seconds * 1e6); }

std::string shares_text(const std::vector<WidthShare>& table) {
  std::vector<std::string> points;
  for (const WidthShare& point : table) points.push_back(fmt::format("{} B {}", point.bytes, point.share));
  return list_of(points);
}

}  // namespace

void write_fabric(Lines& out, const Fabric& fabric) {
  out.add(0, "fabric:");
  for (const FabricLevel& level : fabric.levels) {
    out.add(1, "- name: " + yaml_quoted(level.name));
    out.field(2, "chips", level.chips == any_chips ? "any" : std::to_string(level.chips));
    out.field(2, "kind", name_of(level.kind));
    std::vector<std::string> sizes;
    for (const std::int64_t size : level.sizes) sizes.push_back(std::to_string(size));
    if (!sizes.empty()) out.field(2, "sizes", list_of(sizes));
    if (level.dimensions > 0) out.field(2, "dimensions", std::to_string(level.dimensions));
    out.field(2, "width", fmt::format("{:.13g} GB/s", level.bytes_per_s / 1e9));
    if (level.latency_s > 0) out.field(2, "latency", microseconds(level.latency_s));
    if (level.start_s > 0) out.field(2, "start", microseconds(level.start_s));
    if (level.reduces) out.field(2, "reduces", "true");
    out.quantity(2, "energy", level.energy_pj_per_bit, "pJ/bit");
    if (level.oversubscription != 1) out.field(2, "oversubscription", fmt::format("{}", level.oversubscription));
    if (level.chip_share > 0) out.field(2, "share", fmt::format("{}", level.chip_share));
    std::vector<std::string> algorithms;
    for (const CollectiveAlgorithm algorithm : level.algorithms) algorithms.emplace_back(name_of(algorithm));
    if (!algorithms.empty()) out.field(2, "algorithms", list_of(algorithms));
    if (level.efficiency.empty() && level.efficiency_in_switch.empty()) continue;
    out.add(2, "efficiency:");
    if (!level.efficiency_source.empty()) out.field(3, "source", yaml_quoted(level.efficiency_source));
    if (!level.efficiency.empty()) out.field(3, "by_size", shares_text(level.efficiency));
    if (!level.efficiency_in_switch.empty()) out.field(3, "in_switch", shares_text(level.efficiency_in_switch));
  }
}

}  // namespace monet::hardware_text

// Prices of collectives against ASTRA-sim's analytical backend, which simulates every message, and against NCCL as it
// was measured on one node. The files belong to others and are no part of the project.
#include "base/csv_records.h"
#include "base/try.h"
#include "fabric/price.h"
#include "hardware/hardware.h"
#include "validate/validation.h"

#include <monet/machine.h>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdlib>
#include <filesystem>
#include <map>

namespace monet {

namespace {

constexpr const char* simulated_file = "astra_sim_collectives.csv";
constexpr const char* measured_file = "collectives_measured.csv";
constexpr double simulated_gigabyte = 0x1p30;  // a GB of ASTRA-sim

std::vector<std::string> by_dimension(const std::string& text) {
  std::vector<std::string> parts;
  for (std::size_t at = 0; at <= text.size();) {
    const std::size_t end = std::min(text.find('x', at), text.size());
    parts.push_back(text.substr(at, end - at));
    at = end + 1;
  }
  return parts;
}

Expected<double> number_in(const CsvRecord& row, const std::string& text) {
  double value = 0;
  const char* const end = text.data() + text.size();
  const auto [stop, problem] = std::from_chars(text.data(), end, value);
  if (problem != std::errc() || stop != end || !(value > 0) || value > 1e12)
    return row.error(fmt::format("'{}' is no number above 0", text));
  return value;
}

// The network of a row. A width is a link's there, and a latency that of a link, of which a switch has two on the way.
Expected<Fabric> simulated_fabric(const CsvRecord& row) {
  MONET_TRY(const std::string topology, row.text("topology"));
  MONET_TRY(const std::string chips, row.text("npus"));
  MONET_TRY(const std::string widths, row.text("bandwidth_GBps"));
  MONET_TRY(const std::string latencies, row.text("latency_ns"));
  std::array<std::vector<std::string>, 4> parts = {by_dimension(topology), by_dimension(chips), by_dimension(widths),
                                                   by_dimension(latencies)};
  Fabric fabric;
  double all = 1;
  for (std::size_t d = 0; d < parts[0].size(); ++d) {
    if (d >= max_fabric_levels || std::ranges::any_of(parts, [&](const auto& part) { return part.size() <= d; }))
      return row.error("dimensions that do not agree");
    MONET_TRY(const double units, number_in(row, parts[1][d]));
    MONET_TRY(const double width, number_in(row, parts[2][d]));
    MONET_TRY(const double nanoseconds, number_in(row, parts[3][d]));
    all *= units;
    if (units < 2 || all > 1e6 || units != static_cast<double>(static_cast<std::int64_t>(units)))
      return row.error("chips that cannot be");
    FabricLevel level{.name = fmt::format("dimension {}", d), .chips = static_cast<std::int64_t>(all)};
    level.bytes_per_s = width * simulated_gigabyte;
    level.latency_s = nanoseconds * 1e-9;
    // Rings alone where there are several dimensions, and `direct` where chips are joined: both need no naming.
    if (parts[0].size() > 1) level.algorithms = {CollectiveAlgorithm::ring};
    if (parts[0][d] == "Ring") {
      level.kind = FabricKind::ring;
    } else if (parts[0][d] == "FullyConnected") {
      level.kind = FabricKind::full;
      level.bytes_per_s *= units - 1;
    } else if (parts[0][d] == "Switch") {
      level.latency_s *= 2;
    } else {
      return row.error(fmt::format("there is no topology '{}'", parts[0][d]));
    }
    fabric.levels.push_back(std::move(level));
  }
  return fabric;
}

// What ASTRA-sim does that is known to be another thing; empty: the same.
std::string simulated_aside(const std::string& topology, const std::string& algorithm, CollectiveKind kind) {
  const bool many = topology.find('x') != std::string::npos;
  if (algorithm == "doubleBinaryTree") return "its double binary tree is not pipelined";
  if (algorithm == "direct" && topology == "Switch")
    return "its switch lets a chip send to all others at full rate at once";
  if (many && kind == CollectiveKind::all_to_all)
    return "sent round a ring of each dimension, where each chip could send to each";
  return {};
}

Expected<ValidationRow> simulated_row(const CsvRecord& row) {
  MONET_TRY(const Fabric fabric, simulated_fabric(row));
  MONET_TRY(const std::string topology, row.text("topology"));
  MONET_TRY(const std::string chips, row.text("npus"));
  MONET_TRY(const std::string algorithm, row.text("algorithm"));
  MONET_TRY(const std::string collective, row.text("collective"));
  MONET_TRY(const double bytes, row.number("comm_size_bytes"));
  const bool failed = row.has("failed");
  double nanoseconds = 0;
  if (!failed) {
    MONET_TRY(nanoseconds, row.number("time_ns"));
  }
  const auto kind = collective_kind_named(collective);
  if (!kind) return row.error(fmt::format("there is no collective '{}'", collective));
  MONET_TRY(const GroupShape group, whole_group(fabric, fabric.levels.back().chips));
  // Of an all-gather it states the shard of one chip.
  const double whole = *kind == CollectiveKind::all_gather ? bytes * static_cast<double>(group.chips()) : bytes;
  static const std::map<std::string, CollectiveAlgorithm> names = {{"ring", CollectiveAlgorithm::ring},
                                                                   {"direct", CollectiveAlgorithm::direct},
                                                                   {"halvingDoubling", CollectiveAlgorithm::halving},
                                                                   {"doubleBinaryTree", CollectiveAlgorithm::tree}};
  const auto named = names.find(algorithm);
  const CollectiveAlgorithm by = named == names.end() ? CollectiveAlgorithm::hierarchical : named->second;
  const std::string name =
      fmt::format("ASTRA-sim, {} {}, {} by {}, {:.0f} B", topology, chips, collective, algorithm, bytes);
  const auto priced = price(fabric, {*kind, whole, group}, by);
  std::string aside = simulated_aside(topology, algorithm, *kind);
  if (!priced && aside.empty()) aside = "no such algorithm here";
  if (failed) return prediction(name, "simulated us", priced ? priced->seconds * 1e6 : 0, "it failed there");
  return ValidationRow{name, "simulated us", nanoseconds / 1e3, priced ? priced->seconds * 1e6 : 0, aside};
}

// The preset that a measured processor is part of.
class MeasuredMachines {
 public:
  Expected<double> microseconds(const std::string& preset, std::int64_t chips, double bytes) {
    auto found = fabrics_.find(preset);
    if (found == fabrics_.end()) {
      MONET_TRY(const std::shared_ptr<const Hardware> hardware, Machine(preset).hardware());
      found = fabrics_.emplace(preset, *hardware->fabric).first;
    }
    MONET_TRY(const Fabric fabric, with_chips(found->second, chips));
    MONET_TRY(const GroupShape group, whole_group(fabric, chips));
    return price(fabric, {CollectiveKind::all_reduce, bytes, group}).seconds * 1e6;
  }

 private:
  std::map<std::string, Fabric> fabrics_;
};

Expected<ValidationRow> measured_row(const CsvRecord& row, const std::string& preset, MeasuredMachines& machines) {
  MONET_TRY(const std::string gpu, row.text("gpu"));
  MONET_TRY(const std::int64_t chips, row.integer("gpus"));
  MONET_TRY(const std::string collective, row.text("collective"));
  MONET_TRY(const double bytes, row.number("bytes"));
  MONET_TRY(const double microseconds, row.number("time_us"));
  ValidationRow made{fmt::format("NCCL, {} {}, {}, {:.0f} B", chips, gpu, collective, bytes), "measured us, " + gpu,
                     microseconds, 0, ""};
  if (collective != "all_reduce") {
    made.aside = "not an all-reduce";
    return made;
  }
  MONET_TRY(made.modelled, machines.microseconds(preset, chips, bytes));
  return made;
}

bool has_all(const std::filesystem::path& folder, const std::vector<std::string>& files) {
  std::error_code ignored;
  return std::ranges::all_of(
      files, [&](const std::string& file) { return std::filesystem::is_regular_file(folder / file, ignored); });
}

}  // namespace

const std::vector<std::string>& collective_files() {
  static const std::vector<std::string> files = {simulated_file, measured_file};
  return files;
}

Expected<std::string> parallel_folder(const std::string& data, const std::string& own,
                                      const std::vector<std::string>& files) {
  std::vector<std::filesystem::path> places;
  if (!data.empty()) places.emplace_back(data);
  const char* shared = std::getenv("MONET_SHARED");
  places.push_back(shared != nullptr ? shared : std::filesystem::path(own).parent_path().parent_path() / "shared");
  for (const std::filesystem::path& place : places) {
    for (const std::filesystem::path& folder : {place / "parallel", place / "reference" / "parallel", place})
      if (has_all(folder, files)) return folder.string();
  }
  return Error{.message = fmt::format("the tables of others are not here: {} are needed", fmt::join(files, " and ")),
               .place = places.front().string(),
               .advice = "give the folder with them: --data DIR; they lie in DIR/parallel"};
}

Expected<Validation> validate_collectives(const std::string& folder, const ValidateOptions& options) {
  Validation validation{.name = "collectives", .rows = {}, .notes = {}};
  validation.brief = true;
  const std::string advice = "give the folder with it: --data DIR";
  MONET_TRY(const auto simulated, read_csv(folder + "/" + simulated_file, advice));
  for (const CsvRecord& row : simulated) {
    MONET_TRY(ValidationRow made, simulated_row(row));
    validation.rows.push_back(std::move(made));
  }
  MONET_TRY(const auto measured, read_csv(folder + "/" + measured_file, advice));
  MeasuredMachines machines;
  static const std::map<std::string, std::string> presets = {{"A100", "dgx_a100"}, {"H100", "dgx_h100"}};
  std::map<std::string, int> others;
  for (const CsvRecord& row : measured) {
    MONET_TRY(const std::string gpu, row.text("gpu"));
    const auto preset = presets.find(gpu);
    if (preset == presets.end()) {
      ++others[gpu];
      continue;
    }
    MONET_TRY(ValidationRow made, measured_row(row, preset->second, machines));
    validation.rows.push_back(std::move(made));
  }
  for (const auto& [gpu, rows] : others)
    validation.notes.push_back(fmt::format("{} rows of {} are left out: no preset is such a machine", rows, gpu));
  validation.notes.push_back(
      "widths and starts of the presets dgx_a100 and dgx_h100 are fitted to these very measurements (the efficiency in "
      "their files): their rows say how well, and predict nothing");
  validation.notes.push_back("ASTRA-sim is a simulator of others and no measurement; a GB is 2^30 bytes there");
  MONET_RETURN_IF_ERROR(keep_wanted(validation, options));
  return validation;
}

}  // namespace monet

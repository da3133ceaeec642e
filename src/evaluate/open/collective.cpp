#include <monet/collective.h>

#include "base/checked.h"
#include "base/suggest.h"
#include "base/try.h"
#include "fabric/price.h"
#include "hardware/hardware.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

namespace monet {

namespace {

Expected<CollectiveKind> kind_of(const std::string& name) {
  if (const auto kind = collective_kind_named(name)) return *kind;
  std::vector<std::string> known;
  for (std::size_t i = 0; i < collective_kind_count; ++i) known.emplace_back(name_of(static_cast<CollectiveKind>(i)));
  const std::string near = nearest(name, known);
  return Error{.message = fmt::format("there is no collective '{}'", name),
               .place = "KIND",
               .advice = near.empty() ? fmt::format("known: {}", fmt::join(known, ", "))
                                      : fmt::format("did you mean '{}'?", near)};
}

// 0: there is no mesh.
Expected<std::int64_t> mesh_chips(const CollectiveOptions& options) {
  std::int64_t chips = options.mesh.empty() ? 0 : 1;
  for (const auto& [name, size] : options.mesh) {
    const auto product = checked_multiply(chips, size);
    if (size < 1 || !product) {
      return Error{.message = fmt::format("the axis {} cannot have {} chips", name, size),
                   .place = "--mesh",
                   .advice = "sizes are from 1, and multiply to the chips"};
    }
    chips = *product;
  }
  return chips;
}

Expected<Fabric> fabric_of(const Hardware& hardware, const CollectiveOptions& options, std::int64_t in_mesh) {
  if (!hardware.fabric) {
    return Error{.message = fmt::format("the machine '{}' is one chip: it has no fabric", hardware.name),
                 .place = "--hardware",
                 .advice = "take one that has, as dgx_h100, or write fabric: (docs/parallel.md)"};
  }
  std::int64_t chips = options.chips;
  if (chips == 0) chips = in_mesh;
  if (chips == 0) chips = hardware.fabric->chips().value_or(0);
  if (chips == 0) {
    return Error{.message = fmt::format("how many chips? '{}' has as many as are asked for", hardware.name),
                 .place = "--chips",
                 .advice = "write --chips 64"};
  }
  return with_chips(*hardware.fabric, chips);
}

Expected<GroupShape> group_of(const Fabric& fabric, const CollectiveOptions& options, std::int64_t chips) {
  if (options.mesh.empty()) {
    if (options.over.empty()) return whole_group(fabric, chips);
    return Error{.message = "axes without a mesh", .place = "--over", .advice = "write --mesh dp=8,tp=8 --over tp"};
  }
  Mesh mesh;
  for (const auto& [name, size] : options.mesh) {
    if (mesh.find(name))
      return Error{
          .message = fmt::format("two axes '{}'", name), .place = "--mesh", .advice = "give each its own name"};
    mesh.axes.push_back({name, size});
  }
  if (mesh.chips() != chips) {
    return Error{.message = fmt::format("the mesh has {} chips, not {}", mesh.chips(), chips),
                 .place = "--mesh",
                 .advice = "sizes of the axes multiply to the chips"};
  }
  std::vector<std::size_t> axes;
  for (const std::string& name : options.over) {
    const auto axis = mesh.find(name);
    if (!axis || std::ranges::find(axes, *axis) != axes.end()) {
      return Error{
          .message = axis ? fmt::format("the axis '{}' twice", name) : fmt::format("the mesh has no axis '{}'", name),
          .place = "--over",
          .advice = "name axes of --mesh, each once"};
    }
    axes.push_back(*axis);
  }
  if (axes.empty()) {
    return Error{.message = "along which axes?", .place = "--over", .advice = "name axes of --mesh: --over dp"};
  }
  return group_shape(fabric, mesh, axes);
}

// What others call the bus bandwidth: the bytes that a ring would send, over the time.
double bus_bytes(CollectiveKind kind, double bytes, double n) {
  switch (kind) {
    case CollectiveKind::all_reduce: return 2 * (n - 1) / n * bytes;
    case CollectiveKind::reduce_scatter:
    case CollectiveKind::all_gather:
    case CollectiveKind::all_to_all: return (n - 1) / n * bytes;
    case CollectiveKind::broadcast:
    case CollectiveKind::send: break;
  }
  return bytes;
}

Expected<CollectivePrice> collective_price(const Fabric& fabric, const Collective& collective,
                                           const std::string& algorithm) {
  if (algorithm.empty()) return price(fabric, collective);
  const auto known = collective_algorithm_named(algorithm);
  if (known) {
    if (const auto found = price(fabric, collective, *known)) return *found;
  }
  std::vector<std::string_view> possible;
  for (const CollectiveAlgorithm each : algorithms_of(fabric, collective)) possible.push_back(name_of(each));
  return Error{.message = known ? fmt::format("{} is not possible by {} here", name_of(collective.kind), algorithm)
                                : fmt::format("there is no algorithm '{}'", algorithm),
               .place = "--algorithm",
               .advice = fmt::format("possible: {}", fmt::join(possible, ", "))};
}

}  // namespace

Expected<CollectiveReport> price_collective(const CollectiveOptions& options) {
  MONET_TRY(const CollectiveKind kind, kind_of(options.kind));
  if (options.bytes < 1) return Error{.message = "no bytes", .place = "--bytes", .advice = "write --bytes 1GiB"};
  MONET_TRY(const std::shared_ptr<const Hardware> hardware, options.machine.hardware());
  MONET_TRY(const std::int64_t in_mesh, mesh_chips(options));
  MONET_TRY(const Fabric fabric, fabric_of(*hardware, options, in_mesh));
  CollectiveReport report{.machine = hardware->name, .kind = options.kind, .bytes = options.bytes};
  report.chips = options.chips != 0 ? options.chips : in_mesh != 0 ? in_mesh : *fabric.chips();
  MONET_TRY(const GroupShape group, group_of(fabric, options, report.chips));
  const Collective collective{kind, static_cast<double>(options.bytes), group};
  MONET_TRY(const CollectivePrice price, collective_price(fabric, collective, options.algorithm));
  report.group = group.chips();
  report.seconds = price.seconds;
  report.bound_seconds = price.bound_seconds;
  report.energy_pj = price.energy_pj;
  if (report.group > 1) {
    report.algorithm = name_of(price.algorithm);
    report.bytes_per_s = bus_bytes(kind, collective.bytes, static_cast<double>(report.group)) / price.seconds;
  }
  std::int64_t below = 1;
  for (std::size_t l = 0; l < fabric.levels.size(); ++l) {
    const std::int64_t under = chips_under(fabric, group, l);
    report.levels.push_back({fabric.levels[l].name, std::string(name_of(fabric.levels[l].kind)), under / below,
                             price.bytes[l], price.level_seconds[l]});
    below = under;
  }
  for (const CollectiveAlgorithm each : algorithms_of(fabric, collective))
    report.algorithms.emplace_back(name_of(each), monet::price(fabric, collective, each)->seconds);
  return report;
}

}  // namespace monet

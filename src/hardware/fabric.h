// What joins many equal chips: levels of network, innermost first, by their figures alone. Chips are a number and never
// parts, so that ten thousand of them cost what eight do. Prices of collectives on it: fabric/price.h.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace monet {

constexpr std::size_t max_fabric_levels = 6;
constexpr std::size_t max_torus_dimensions = 3;
constexpr std::int64_t any_chips = 0;

// switched: each chip has a port, and any two talk at its full width. ring: the width of a chip is that of its two
// links together. torus: of the two links of every dimension. full: of the links to all other units.
enum class FabricKind : std::uint8_t { switched, ring, torus, full };
std::string_view name_of(FabricKind kind);

// How a collective is carried out (fabric/price.h says what each does).
enum class CollectiveAlgorithm : std::uint8_t { ring, tree, halving, direct, in_switch, hierarchical };
constexpr std::size_t collective_algorithm_count = 6;
std::string_view name_of(CollectiveAlgorithm algorithm);
std::optional<CollectiveAlgorithm> collective_algorithm_named(std::string_view name);

// Share of the width that messages of a size reach; between two sizes a straight line in the logarithms of both,
// outside of them as at the nearest.
struct WidthShare {
  double bytes = 0;  // of the whole buffer of a chip
  double share = 1;
  bool operator==(const WidthShare&) const = default;
};

struct FabricLevel {
  std::string name;
  std::int64_t chips = any_chips;  // all that lie under one unit of this level; any_chips: as many as are asked for
  FabricKind kind = FabricKind::switched;
  std::vector<std::int64_t> sizes;  // torus: units of the level below along each dimension, outermost first
  std::int64_t dimensions = 0;      // torus of any_chips: how many; its sizes are then as equal as they can be
  double bytes_per_s = 0;           // the width: of one chip, each way, over all its links of this level
  double latency_s = 0;             // of one message from chip to chip; ring, torus: over one link
  double start_s = 0;               // of a collective, before its first message
  bool reduces = false;             // the switch adds up what passes, and copies to many
  double energy_pj_per_bit = 0;     // that crosses the level; ring, torus: each link
  double oversubscription = 1;      // all chips at once get the width divided by this
  double chip_share = 0;            // of the chip's compute that a collective takes while it runs here
  std::vector<CollectiveAlgorithm> algorithms;   // that its library has beside ring and direct; empty: all
  std::vector<WidthShare> efficiency;            // by growing size; empty: 1
  std::vector<WidthShare> efficiency_in_switch;  // of collectives that the switch adds up; empty: as above
  std::string efficiency_source;

  bool operator==(const FabricLevel&) const = default;
};

struct Fabric {
  std::vector<FabricLevel> levels;  // innermost first; at least one

  // All chips; none: as many as are asked for.
  std::optional<std::int64_t> chips() const;
  bool operator==(const Fabric&) const = default;
};

}  // namespace monet

// What the blocks of a file describe, before it is repeated and joined: names of other parts are not resolved yet.
#pragma once

#include "hardware/fields.h"
#include "hardware/hardware.h"

#include <memory>

namespace monet {

// What all blocks are read with.
struct ReadState {
  const Parameters& parameters;
  std::vector<Origin>& origins;
  double reference_hz = 0;
  bool energies_by_size = true;

  Expected<Fields> open(const Yaml& node, const Block& block, const Context& around, const std::string& part) const;
  // Cycles of the reference clock in one of this clock.
  double cycle_scale(double clock_hz) const { return clock_hz == reference_hz ? 1 : reference_hz / clock_hz; }
};

// Row-major; empty: one part under its plain name.
struct Repeat {
  std::vector<std::int64_t> shape;
  bool is_grid = false;

  std::int64_t count() const;
  std::string suffix(std::int64_t index) const;  // "3", "0_2"
};
Expected<Repeat> read_repeat(const Fields& fields);

struct MemoryPrototype {
  std::string name;
  Memory memory;
  Place place;
  std::vector<Place> port_places;
  std::vector<const Yaml*> moves;  // by port; null: left out
};
Expected<MemoryPrototype> read_memory(const ReadState& state, const Fields& fields, const std::string& name);
// Costs that the block leaves out or that change with the size. `default_*`: what the parameters' defaults give.
struct DefaultSize {
  double size_bits = 0;
  double width_bits = 0;
};
Status read_memory_costs(const ReadState& state, const Fields& fields, const DefaultSize& by_default, Memory& memory);

struct LevelPrototype {
  std::string name;
  std::string use;  // empty: a memory of the core's own
  std::optional<MemoryPrototype> own;
  std::array<bool, path_count> paths{};
  std::uint32_t served = 0;
  std::string link;  // empty: to be found; "none"
  Place place;
  Place link_place;
};

struct CorePrototype {
  std::string name;
  Core core;  // without its levels
  std::vector<LevelPrototype> levels;
  Repeat repeat;
  Place place;
  std::size_t size = 0;  // of its block, in nodes
};
Expected<CorePrototype> read_core(const ReadState& state, const Yaml::Entry& entry, const Context& around);
Expected<Unit> read_array(const ReadState& state, const Yaml& node, const Context& around);
Expected<Unit> read_vector(const ReadState& state, const Yaml& node, const Context& around);
// The area of a unit that states none: that of the arithmetic in its lanes, for the precision that needs most. Stays 0
// where no table has any of its precisions, or no technology is stated.
void derive_unit_area(const Fields& core, Unit& unit);
Expected<Rate> read_rate(const ReadState& state, const Yaml& node, const Context& around);
Expected<std::shared_ptr<const KernelLaws>> read_kernels(const ReadState& state, const Yaml& node,
                                                         const Context& around);
// `kind`: the block that an entry is.
Expected<std::vector<PrecisionRate>> read_precisions(const ReadState& state, const Fields& unit, const Block& kind);

// Tables by kind of operation. The kinds that an entry stands for (`mac`, `arithmetic`, `all`);
std::vector<Count> kinds_of(const std::string& name);
// entries for many kinds first, so that those for one kind have the last word;
std::vector<const Yaml::Entry*> general_first(const Yaml& table);
// a value that stands for a block: {key: value}.
YamlPtr block_of(const YamlPtr& value, std::string_view key);

enum class Topology : std::uint8_t { link, bus, star, mesh, torus, ring, tree, all_to_all };
struct LinkPrototype {
  Topology topology = Topology::link;
  std::vector<const Yaml*> ends;
  std::vector<std::int64_t> grid;
  std::int64_t arity = 2;
  std::string name;  // empty: left out
  Link link;         // without its ends
  Place place;
};
Expected<LinkPrototype> read_link(const ReadState& state, const Yaml& node, const Context& around);

// The levels between chips. Requires: the machine has the key.
Expected<Fabric> read_fabric(const ReadState& state, const Fields& machine);

struct ClusterPrototype {
  std::string name;
  std::vector<MemoryPrototype> memories;
  std::vector<CorePrototype> cores;
  std::vector<ClusterPrototype> clusters;
  std::vector<LinkPrototype> links;
  Repeat repeat;
  double static_w = 0;
  double area_mm2 = 0;
  Place place;
};
// Memories, cores, clusters and links of the machine or of a cluster.
Expected<ClusterPrototype> read_parts(const ReadState& state, const Fields& fields, int depth);

}  // namespace monet

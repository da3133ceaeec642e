#include "evaluate/plan/hash.h"

#include "base/require.h"
#include "base/try.h"
#include "kernels/law_values.h"
#include "kernels/measured_text.h"

#include <fmt/format.h>
#include <xxhash.h>

#include <array>
#include <iterator>
#include <memory>
#include <type_traits>

namespace monet {

namespace {

// Changed when the same content is written down in another way.
constexpr std::uint64_t content_version = 1;

class Digest {
 public:
  Digest() : state_(XXH3_createState(), XXH3_freeState) {
    MONET_REQUIRE(state_ != nullptr);
    XXH3_128bits_reset_withSeed(state_.get(), content_version);
  }

  template <class T>
    requires std::is_arithmetic_v<T>
  Digest& operator<<(T value) {
    add(&value, sizeof value);
    return *this;
  }
  template <class T>
    requires std::is_enum_v<T>
  Digest& operator<<(T value) {
    return *this << static_cast<std::underlying_type_t<T>>(value);
  }
  template <class Tag>
  Digest& operator<<(Id<Tag> id) {
    return *this << static_cast<std::uint32_t>(id.valid() ? id.index() : 0xffffffffU);
  }
  Digest& operator<<(std::string_view text) {
    *this << std::uint64_t{text.size()};
    add(text.data(), text.size());
    return *this;
  }
  template <class T, class A>
  Digest& operator<<(const std::vector<T, A>& values) {
    *this << std::uint64_t{values.size()};
    for (const T& value : values) *this << value;
    return *this;
  }
  template <class T, std::size_t n>
  Digest& operator<<(const std::array<T, n>& values) {
    for (const T& value : values) *this << value;
    return *this;
  }

  std::string text() const {
    const XXH128_hash_t hash = XXH3_128bits_digest(state_.get());
    return fmt::format("{:016x}{:016x}", hash.high64, hash.low64);
  }

 private:
  void add(const void* data, std::size_t size) { XXH3_128bits_update(state_.get(), data, size); }

  std::unique_ptr<XXH3_state_t, decltype(&XXH3_freeState)> state_;
};

// A graph's tensors, numbered as they first occur: the numbers do not depend on how it was built.
class GraphDigest {
 public:
  explicit GraphDigest(const Graph& graph) : graph_(graph), number_(graph.tensors().size(), 0) {}

  std::string text() {
    tensors(graph_.inputs);
    digest_ << std::uint64_t{graph_.nodes().size()};
    for (const Node& node : graph_.nodes()) {
      digest_ << std::string_view(node.name) << name_of(node.op) << node.phase;
      digest_ << std::int64_t{std::distance(node.attributes.begin(), node.attributes.end())};
      for (const auto& [key, value] : node.attributes) {
        digest_ << name_of(key) << std::uint64_t{value.index()};
        std::visit([&](const auto& each) { digest_ << each; }, value);
      }
      tensors(node.inputs);
      tensors(node.outputs);
    }
    tensors(graph_.outputs);
    return digest_.text();
  }

 private:
  void tensors(const std::vector<TensorId>& ids) {
    digest_ << std::uint64_t{ids.size()};
    for (TensorId id : ids) tensor(id);
  }

  void tensor(TensorId id) {
    if (!id.valid()) {
      digest_ << std::uint32_t{0};
      return;
    }
    const bool fresh = number_[id.index()] == 0;
    if (fresh) number_[id.index()] = ++count_;
    digest_ << number_[id.index()];
    if (!fresh) return;
    const Tensor& tensor = graph_[id];
    const Format& format = tensor.type.format;
    digest_ << std::string_view(tensor.name) << tensor.type.shape << to_string(format) << name_of(tensor.role)
            << tensor.parameter;
    const Constant* constant = graph_.constant(id);
    digest_ << (constant != nullptr);
    if (constant != nullptr) {
      digest_ << name_of(constant->type) << constant->pattern << constant->diagonal;
      std::visit([&](const auto& values) { digest_ << values; }, constant->values);
    }
    this->tensor(tensor.updates);
  }

  const Graph& graph_;
  Digest digest_;
  std::vector<std::uint32_t> number_;  // from 1; 0: not met yet
  std::uint32_t count_ = 0;
};

Digest& operator<<(Digest& digest, const PrecisionRate& precision) {
  return digest << std::string_view(precision.name) << precision.rate << precision.energy
                << std::string_view(precision.accumulate);
}

Digest& operator<<(Digest& digest, const Port& port) {
  return digest << std::string_view(port.name) << port.kind << port.min_bits << port.max_bits << port.words_per_cycle;
}

Digest& operator<<(Digest& digest, const Memory& memory) {
  digest << std::string_view(memory.name) << memory.kind << memory.size_bits << memory.read_pj << memory.write_pj
         << memory.latency_cycles << memory.double_buffered << memory.page_bits << memory.network_pj_per_bit
         << memory.static_w << memory.area_mm2 << memory.read_latency_cycles << memory.write_latency_cycles;
  digest << std::uint64_t{memory.ports.size()};
  for (const Port& port : memory.ports) digest << port;
  return digest;
}

Digest& operator<<(Digest& digest, const Unit& unit) {
  digest << std::string_view(unit.name) << std::uint64_t{unit.dimensions.size()};
  for (const UnitDimension& dimension : unit.dimensions) {
    digest << std::string_view(dimension.name) << dimension.size << dimension.loops;
  }
  digest << unit.cycles << unit.energy_pj << std::uint64_t{unit.precisions.size()};
  for (const PrecisionRate& precision : unit.precisions) digest << precision;
  return digest << unit.fill_cycles << std::string_view(unit.cycle_rule ? unit.cycle_rule->text() : std::string())
                << unit.energy_pj_per_cycle << unit.area_mm2;
}

Digest& operator<<(Digest& digest, const KernelLaws& laws) {
  const MemoryLaw& memory = laws.memory;
  const EnergyLaw& energy = laws.energy;
  digest << laws.multiprocessors << laws.ceiling << laws.top_rate << laws.cold_slowdown << laws.cold_waiting
         << memory.cache_rate << memory.memory_rate << memory.cache_until << memory.memory_from << memory.cold_after
         << energy.base_w << energy.flop_pj << energy.byte_pj << energy.memory_byte_pj << energy.busy_w
         << energy.scalar_w << energy.limit_w << energy.clock_exponent << std::uint64_t{laws.classes.size()};
  for (const ClassLaw& law : laws.classes) {
    digest << std::string_view(name_of(law.kernel_class)) << law.coefficients << law.nearness.reach
           << law.nearness.noise << std::uint64_t{law.measured.size()};
    for (const MeasuredKernel& point : law.measured) digest << std::string_view(measured_text(point)) << point.us;
  }
  return digest;
}

Digest& operator<<(Digest& digest, const Core& core) {
  digest << std::string_view(core.name) << std::string_view(core.type) << std::uint64_t{core.units.size()};
  for (const Unit& unit : core.units) digest << unit;
  digest << core.rate.has_value();
  if (core.rate) {
    digest << core.rate->operations_per_s << core.rate->energy_pj << std::uint64_t{core.rate->precisions.size()};
    for (const PrecisionRate& precision : core.rate->precisions) digest << precision;
    digest << std::uint64_t{core.rate->by_precision.size()};
    for (const KindRates& rates : core.rate->by_precision) digest << rates.operations_per_s << rates.energy_pj;
  }
  digest << std::uint64_t{core.levels.size()};
  for (const Level& level : core.levels) digest << level.memory << level.port << level.served << level.link;
  for (const Level& level : core.levels) {
    if (level.over_links) digest << level.over_links;
  }
  digest << std::uint64_t{core.dataflow.size()};
  for (const SpatialChoice& choice : core.dataflow) {
    digest << std::uint64_t{choice.dimension} << choice.loop << choice.size;
  }
  if (core.kernels) digest << *core.kernels;
  return digest << core.operators << core.static_w << core.area_mm2;
}

Digest& operator<<(Digest& digest, const Link& link) {
  digest << std::string_view(link.name) << link.kind << std::uint64_t{link.ends.size()};
  for (const End& end : link.ends) digest << end.core << end.memory;
  return digest << link.both_ways << link.bits_per_cycle << link.latency_cycles << link.energy_pj_per_bit
                << link.energy_pj_per_cycle << link.static_w << link.area_mm2;
}

}  // namespace

std::string hash_of(const Graph& graph) { return GraphDigest(graph).text(); }

std::string hash_of(const Hardware& hardware) {
  Digest digest;
  const Effects& effects = hardware.effects;
  digest << hardware.clock_hz << hardware.technology_nm << effects.fill_drain << effects.memory_latency
         << effects.energy_by_precision << effects.static_energy << effects.network_energy << hardware.static_w
         << hardware.area_mm2;
  digest << std::uint64_t{hardware.cores.size()};
  for (const Core& core : hardware.cores) digest << core;
  digest << std::uint64_t{hardware.memories.size()};
  for (const Memory& memory : hardware.memories) digest << memory;
  digest << std::uint64_t{hardware.links.size()};
  for (const Link& link : hardware.links) digest << link;
  return digest.text();
}

Expected<std::vector<std::string>> check_hashes(const Plan& plan, const Graph& graph, const Hardware& hardware,
                                                bool force) {
  std::vector<std::string> warnings;
  const auto compare = [&](const std::string& stated, const auto& what, std::string_view name,
                           const Place& place) -> Status {
    if (stated.empty()) return Done{};
    const std::string actual = hash_of(what);
    if (stated == actual) return Done{};
    Error error{
        .message = fmt::format("the plan was made for another {}: {}, and this one is {}", name, stated, actual),
        .place = place.text(),
        .advice = "make the plan anew, or use it all the same with --force"};
    if (!force) return error;
    error.advice.clear();
    warnings.push_back(error.text());
    return Done{};
  };
  MONET_RETURN_IF_ERROR(compare(plan.graph_hash, graph, "graph", plan.graph_place));
  MONET_RETURN_IF_ERROR(compare(plan.hardware_hash, hardware, "machine", plan.hardware_place));
  return warnings;
}

}  // namespace monet

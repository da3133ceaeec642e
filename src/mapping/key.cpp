#include "mapping/key.h"

#include <fmt/format.h>
#include <xxhash.h>

#include <type_traits>

namespace monet {

namespace {

// Bumped whenever the model or the search may give another result for the same input.
constexpr int model_version = 6;

class Key {
 public:
  template <class T>
    requires std::is_arithmetic_v<T> || std::is_enum_v<T>
  Key& operator<<(T value) {
    text_.append(reinterpret_cast<const char*>(&value), sizeof value);
    return *this;
  }
  Key& operator<<(const std::string& text) {
    *this << text.size();
    text_ += text;
    return *this;
  }
  std::string take() { return std::move(text_); }

 private:
  std::string text_;
};

void add(Key& key, const std::vector<SpatialLoop>& loops) {
  key << loops.size();
  for (const SpatialLoop& loop : loops) key << loop.dimension << loop.loop << loop.size;
}

void add(Key& key, const std::vector<OrderSlot>& slots) {
  key << slots.size();
  for (const OrderSlot& slot : slots) key << slot.loop.value_or(0xff) << slot.size.value_or(0);
}

void add(Key& key, const Unit& unit) {
  key << unit.dimensions.size();
  for (const UnitDimension& dimension : unit.dimensions) {
    key << dimension.size << dimension.loops.size();
    for (Dim dim : dimension.loops) key << dim;
  }
  for (double cycles : unit.cycles) key << cycles;
  for (double energy : unit.energy_pj) key << energy;
  key << unit.precisions.size();
  for (const PrecisionRate& precision : unit.precisions) key << precision.name << precision.rate << precision.energy;
  key << unit.fill_cycles << unit.energy_pj_per_cycle << (unit.cycle_rule ? unit.cycle_rule->text() : std::string());
}

void add(Key& key, const TargetMemory& memory) {
  key << memory.kind << memory.size_bits << memory.read_pj << memory.write_pj << memory.latency_cycles
      << memory.double_buffered << memory.network_pj_per_bit << memory.link_pj_per_bit << memory.link_bits
      << memory.link_latency_cycles << memory.served << memory.instances << memory.ports.size();
  for (const Port& port : memory.ports) key << port.kind << port.min_bits << port.max_bits << port.words_per_cycle;
  for (const auto& path : memory.port) {
    for (std::int8_t port : path) key << port;
  }
}

}  // namespace

std::string key_of(const Problem& problem) {
  Key key;
  key << problem.loops.size();
  for (const Loop& loop : problem.loops) key << loop.name << loop.size;
  key << problem.operands.size();
  for (const ProblemOperand& operand : problem.operands) {
    key << operand.path << operand.written << operand.accumulates << operand.continues << operand.piece_bits
        << operand.bits << operand.register_bits << operand.partial_bits << operand.axes.size();
    for (const ProblemAxis& axis : operand.axes) {
      key << axis.divisor << axis.span << axis.limit << axis.scattered << axis.terms.size();
      for (const Term& term : axis.terms) key << term.loop << term.factor;
    }
  }
  for (std::int64_t count : problem.per_point.of) key << count;
  key << problem.precision << problem.leeway;
  return key.take();
}

std::string key_of(const Target& target) {
  Key key;
  add(key, target.unit);
  key << target.memories.size();
  for (const TargetMemory& memory : target.memories) add(key, memory);
  const Effects& effects = target.effects;
  key << effects.fill_drain << effects.memory_latency << effects.energy_by_precision << effects.static_energy
      << effects.network_energy << target.clock_hz << target.static_w;
  return key.take();
}

std::string key_of(const SearchOptions& options) {
  Key key;
  key << options.objective << options.factors << options.refine << options.climb;
  add(key, options.constraints.unrolled);
  add(key, options.constraints.innermost);
  add(key, options.constraints.outermost);
  for (const HeldLoops& held : options.constraints.held) key << held.path << held.memory << held.loops;
  return key.take();
}

std::string digest_of(const std::string& key) {
  const auto [low, high] = digest_words_of(key);
  return fmt::format("{:016x}{:016x}", high, low);
}

std::pair<std::uint64_t, std::uint64_t> digest_words_of(const std::string& key) {
  const XXH128_hash_t hash = XXH3_128bits_withSeed(key.data(), key.size(), model_version);
  return {hash.low64, hash.high64};
}

int version_of_model() { return model_version; }

}  // namespace monet

// Keys tell apart all that changes a result, and nothing else.
#include "mapping/key.h"

#include "mapping/random_cases.h"

#include <gtest/gtest.h>

#include <functional>
#include <set>

namespace monet {
namespace {

using namespace test;

template <class T>
void expect_all_different(const T& original, const std::vector<std::function<void(T&)>>& changes) {
  std::set<std::string> keys = {key_of(original)};
  std::set<std::string> digests = {digest_of(key_of(original))};
  for (std::size_t i = 0; i < changes.size(); ++i) {
    T other = original;
    changes[i](other);
    EXPECT_TRUE(keys.insert(key_of(other)).second) << "change " << i << " is not in the key";
    EXPECT_TRUE(digests.insert(digest_of(key_of(other))).second) << i;
  }
}

TEST(Key, OfAProblemHasEveryField) {
  Problem problem = convolution_with(2, 3, 4, 3, {2, 1, 1});
  using P = Problem;
  expect_all_different<P>(problem, {[](P& p) { p.loops[0].size = 7; },
                                    [](P& p) { p.loops[0].name = Dim::H; },
                                    [](P& p) { p.loops.push_back({Dim::B, 2}); },
                                    [](P& p) { p.operands.pop_back(); },
                                    [](P& p) { p.operands[0].path = Path::weight; },
                                    [](P& p) { p.operands[0].written = true; },
                                    [](P& p) { p.operands[0].accumulates = true; },
                                    [](P& p) { p.operands[0].continues = true; },
                                    [](P& p) { p.operands[0].piece_bits = 8; },
                                    [](P& p) { p.operands[0].bits = 9; },
                                    [](P& p) { p.operands[0].bits = 8.25; },
                                    [](P& p) { p.operands[0].register_bits = 4; },
                                    [](P& p) { p.operands[0].partial_bits = 9; },
                                    [](P& p) { p.operands[0].axes.pop_back(); },
                                    [](P& p) { p.operands[0].axes[0].divisor = 2; },
                                    [](P& p) { p.operands[0].axes[0].span = 2; },
                                    [](P& p) { p.operands[0].axes[0].limit = 99; },
                                    [](P& p) { p.operands[0].axes[0].scattered = true; },
                                    [](P& p) { p.operands[0].axes[0].terms[0].loop = 0; },
                                    [](P& p) { p.operands[0].axes[0].terms[0].factor = 5; },
                                    [](P& p) { p.operands[0].axes[0].terms.clear(); },
                                    [](P& p) { p.per_point[Count::exp] = 1; },
                                    [](P& p) { p.precision = "int4"; }});
}

TEST(Key, OfATargetHasEveryField) {
  using T = Target;
  Target target = tpu_like();
  target.unit.precisions = {{"int8", 1, 1, "int32"}};
  target.clock_hz = 1e9;
  expect_all_different<T>(target, {[](T& t) { t.unit.dimensions[0].size = 33; },
                                   [](T& t) { t.unit.dimensions[0].loops = {}; },
                                   [](T& t) { t.unit.dimensions[0].loops = {Dim::C}; },
                                   [](T& t) { t.unit.dimensions.pop_back(); },
                                   [](T& t) { t.unit.cycles[3] = 2; },
                                   [](T& t) { t.unit.energy_pj[3] = 2; },
                                   [](T& t) { t.unit.precisions.clear(); },
                                   [](T& t) { t.unit.precisions[0].name = "int4"; },
                                   [](T& t) { t.unit.precisions[0].rate = 2; },
                                   [](T& t) { t.unit.precisions[0].energy = 2; },
                                   [](T& t) { t.unit.fill_cycles = 2; },
                                   [](T& t) { t.unit.cycle_rule = *Expression::parse("rows"); },
                                   [](T& t) { t.unit.cycle_rule = *Expression::parse("depth"); },
                                   [](T& t) { t.unit.energy_pj_per_cycle = 2; },
                                   [](T& t) { t.memories.pop_back(); },
                                   [](T& t) { t.memories[0].kind = MemoryKind::dram; },
                                   [](T& t) { t.memories[0].size_bits += 1; },
                                   [](T& t) { t.memories[0].read_pj += 1; },
                                   [](T& t) { t.memories[0].write_pj += 1; },
                                   [](T& t) { t.memories[0].latency_cycles += 1; },
                                   [](T& t) { t.memories[0].double_buffered = true; },
                                   [](T& t) { t.memories[0].network_pj_per_bit += 1; },
                                   [](T& t) { t.memories[0].link_pj_per_bit += 1; },
                                   [](T& t) { t.memories[0].link_bits += 1; },
                                   [](T& t) { t.memories[0].link_latency_cycles += 1; },
                                   [](T& t) { t.memories[0].served = 1; },
                                   [](T& t) { t.memories[0].instances = 7; },
                                   [](T& t) { t.memories[0].ports.pop_back(); },
                                   [](T& t) { t.memories[0].ports[0].kind = PortKind::read_write; },
                                   [](T& t) { t.memories[0].ports[0].min_bits = 4; },
                                   [](T& t) { t.memories[0].ports[0].max_bits = 64; },
                                   [](T& t) { t.memories[0].ports[0].words_per_cycle = 0.5; },
                                   [](T& t) { t.memories[0].port[1][0] = no_port; },
                                   [](T& t) { t.effects.fill_drain = true; },
                                   [](T& t) { t.effects.memory_latency = true; },
                                   [](T& t) { t.effects.energy_by_precision = true; },
                                   [](T& t) { t.effects.static_energy = true; },
                                   [](T& t) { t.effects.network_energy = true; },
                                   [](T& t) { t.clock_hz = 2e9; },
                                   [](T& t) { t.static_w = 1; }});
}

TEST(Key, OfATargetHasNoNames) {
  Target target = tpu_like();
  target.unit.name = "other";
  target.unit.dimensions[0].name = "rows";
  for (TargetMemory& memory : target.memories) {
    memory.name += "2";
    for (Port& port : memory.ports) port.name += "2";
    memory.memory = MemoryId(5);
  }
  EXPECT_EQ(key_of(target), key_of(tpu_like()));
}

TEST(Key, OfOptionsHasEveryField) {
  using O = SearchOptions;
  O options;
  options.constraints.unrolled = {{0, 0, 4}};
  options.constraints.innermost = {{1, 4}};
  options.constraints.outermost = {{2, 4}};
  options.constraints.held = {{Path::weight, 1, 3}};
  expect_all_different<O>(
      options,
      {[](O& o) { o.objective = Objective::energy; }, [](O& o) { o.factors = 7; }, [](O& o) { o.refine = false; },
       [](O& o) { o.constraints.unrolled.clear(); }, [](O& o) { o.constraints.unrolled[0].dimension = 1; },
       [](O& o) { o.constraints.unrolled[0].loop = 1; }, [](O& o) { o.constraints.unrolled[0].size = 5; },
       [](O& o) { o.constraints.innermost.clear(); }, [](O& o) { o.constraints.innermost[0].loop.reset(); },
       [](O& o) { o.constraints.innermost[0].size.reset(); }, [](O& o) { o.constraints.innermost[0].size = 5; },
       [](O& o) { o.constraints.outermost.clear(); }, [](O& o) { o.constraints.outermost[0].loop = 5; },
       [](O& o) { o.constraints.held.clear(); }, [](O& o) { o.constraints.held[0].path = Path::input; },
       [](O& o) { o.constraints.held[0].memory = 0; }, [](O& o) { o.constraints.held[0].loops = 1; }});
  O patient;
  patient.prune = false;
  EXPECT_EQ(key_of(patient), key_of(O{})) << "pruning does not change a result";
}

}  // namespace
}  // namespace monet

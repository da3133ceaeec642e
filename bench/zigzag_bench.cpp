// How many mappings does ZigZag's model cost in a second here, and how long do the 12 different layers of ResNet-18
// take on a machine like ZigZag's tpu_like?
#include "compat/zigzag/search.h"

#include <benchmark/benchmark.h>

#include <array>
#include <string>
#include <vector>

namespace monet {
namespace {

using PathPorts = std::array<std::array<std::int8_t, transfer_count>, path_count>;

TargetMemory memory(std::string name, std::int64_t bits, double read_pj, double write_pj, std::vector<Port> ports,
                    PathPorts port, std::uint32_t served) {
  TargetMemory made;
  made.name = std::move(name);
  made.size_bits = bits;
  made.read_pj = read_pj;
  made.write_pj = write_pj;
  made.ports = std::move(ports);
  made.port = port;
  made.served = served;
  return made;
}

// 32 x 32 lanes; weights and sums in registers at each lane, an SRAM for inputs and outputs, a DRAM for all: figures of
// the example in ZigZag's repository.
Target tpu_like() {
  constexpr std::int8_t x = no_port;
  Target target;
  target.unit.dimensions = {{"D1", 32, {}}, {"D2", 32, {}}};
  target.unit.energy_pj[static_cast<std::size_t>(Count::mac)] = 0.04;
  const auto port = [](std::int64_t least, std::int64_t most) { return Port{"p", PortKind::read_write, least, most}; };
  // By path (inputs, weights, outputs): from high, to low, from low, to high.
  target.memories = {
      memory("rf_128B", 1024, 0.095, 0.095, {port(8, 8), port(8, 8)}, {{{x, x, x, x}, {1, 0, x, x}, {x, x, x, x}}}, 0),
      memory("rf_2B", 16, 0.021, 0.021, {port(16, 16), port(16, 16), port(16, 16), port(16, 16)},
             {{{x, x, x, x}, {x, x, x, x}, {2, 0, 3, 1}}}, 0),
      memory("sram_2MB", 16777216, 416.16, 378.4, {port(64, 2048), port(64, 2048)},
             {{{1, 0, x, x}, {x, x, x, x}, {1, 0, 1, 0}}}, 3),
      memory("dram", 10000000000, 700, 750, {port(64, 64)}, {{{0, 0, x, x}, {0, 0, x, x}, {0, 0, 0, 0}}}, 3)};
  return target;
}

ZigzagLayer conv(std::int64_t channels, std::int64_t outputs, std::int64_t size, std::int64_t kernel,
                 std::int64_t stride) {
  ZigzagConv made;
  made.output_channels = outputs;
  made.channels = channels;
  made.width = made.height = size;
  made.kernel = {kernel, kernel};
  made.strides = {stride, stride};
  made.input_width = made.input_height = size * stride;
  return zigzag_conv("conv", made);
}

std::vector<ZigzagLayer> resnet18() {
  ZigzagProduct classifier;
  classifier.contracted = 512;
  classifier.columns = 1000;
  return {conv(3, 64, 112, 7, 2),   conv(64, 64, 56, 3, 1),   conv(64, 128, 28, 3, 2),
          conv(64, 128, 28, 1, 2),  conv(128, 128, 28, 3, 1), conv(128, 256, 14, 3, 2),
          conv(128, 256, 14, 1, 2), conv(256, 256, 14, 3, 1), conv(256, 512, 7, 3, 2),
          conv(256, 512, 7, 1, 2),  conv(512, 512, 7, 3, 1),  zigzag_product("fc", "Gemm", classifier)};
}

void zigzag_resnet18(benchmark::State& state) {
  const Target target = tpu_like();
  ZigzagMapping mapping;
  mapping.spatial = {{"D1", {{Dim::K, 32}}}, {"D2", {{Dim::C, 32}}}};
  ZigzagOptions options;
  options.factors = state.range(0);
  options.objective = static_cast<Objective>(state.range(1));
  const std::vector<ZigzagLayer> layers = resnet18();
  double mappings = 0;
  for (auto _ : state) {
    for (const ZigzagLayer& layer : layers) {
      const auto result = zigzag_map(layer, target, mapping, options);
      if (!result) {
        state.SkipWithError(result.error().text().c_str());
        return;
      }
      mappings += result->evaluated;
    }
  }
  state.counters["mappings_per_second"] = benchmark::Counter(mappings, benchmark::Counter::kIsRate);
}
BENCHMARK(zigzag_resnet18)
    ->ArgNames({"factors", "objective"})
    ->ArgsProduct({{6, 7, 8}, {0, 1}})
    ->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace monet

// Chips whose cycles were measured: networks, tiles and cores as Stream's authors set them up (main_validation_*), on
// the machines in data/validation/. The plan is all of the network as one stack, in the order of the graph: each core
// runs its tiles in the order of the program, as deep into the network as data allow.
#include "base/glob.h"
#include "base/try.h"
#include "evaluate/check/check.h"
#include "evaluate/evaluate.h"
#include "evaluate/open/hardware.h"
#include "graph/builder.h"
#include "networks/layers.h"
#include "validate/validation.h"

#include <fmt/format.h>

#include <utility>
#include <vector>

namespace monet {

namespace {

// A network, and where each of its layers runs in which tiles.
class Program {
 public:
  explicit Program(const std::string& name) : builder_(name) {
    plan_.order = PlanOrder::graph;
    plan_.stacks.push_back({.name = {}, .operators = {}, .tile = {}, .place = {}});
  }

  TensorId input(Shape shape) { return builder_.input("input", std::move(shape)); }
  TensorId convolution(TensorId x, networks::Convolution sizes, std::vector<LoopSize> tile, std::string core) {
    return networks::convolution(builder_, next(std::move(tile), std::move(core)), x, sizes);
  }
  TensorId max_pool(TensorId x, std::int64_t kernel, std::vector<LoopSize> tile, std::string core) {
    return networks::max_pool(builder_, next(std::move(tile), std::move(core)), x, kernel, kernel, 0);
  }
  TensorId add(TensorId a, TensorId b, std::vector<LoopSize> tile, std::string core) {
    return builder_.add(Op::Add, next(std::move(tile), std::move(core)), {a, b});
  }
  Expected<Graph> finish(TensorId output) {
    builder_.output(output);
    return builder_.finish();
  }
  const Plan& plan() const { return plan_; }

 private:
  // Names of layers are numbers.
  std::string next(std::vector<LoopSize> tile, std::string core) {
    std::vector<std::string>& layers = plan_.stacks.front().operators;
    layers.push_back(fmt::format("layer{}", layers.size()));
    plan_.operators.push_back({.name = layers.back(),
                               .tile = std::move(tile),
                               .split = {},
                               .cores = {std::move(core)},
                               .priority = {},
                               .place = {}});
    return layers.back();
  }

  GraphBuilder builder_;
  Plan plan_;
};

// FSRCNN, line by line.
Expected<Graph> fsrcnn(Program& program) {
  constexpr std::pair<std::int64_t, std::int64_t> layers[] = {{56, 5}, {12, 1}, {12, 3}, {12, 3},
                                                              {12, 3}, {12, 3}, {56, 1}, {16, 3}};
  TensorId x = program.input({1, 1, 540, 960});
  for (const auto& [channels, kernel] : layers) {
    x = program.convolution(x, {.channels = channels, .kernel = kernel}, {{Dim::OY, 1}}, "core");
  }
  return program.finish(x);
}

// The first nine layers of ResNet-18, with a 1x1 convolution beside the first block.
Expected<Graph> resnet18_start(Program& program) {
  const std::vector<LoopSize> line = {{Dim::OY, 1}};
  const networks::Convolution wide{.channels = 64, .kernel = 3};
  TensorId x = program.input({1, 3, 224, 224});
  x = program.convolution(x, {.channels = 64, .kernel = 7, .stride = 2}, {{Dim::K, 16}, {Dim::OY, 1}, {Dim::OX, 14}},
                          "digital");
  x = program.max_pool(x, 2, {{Dim::OY, 1}, {Dim::OX, 14}}, "pool");
  const TensorId first = program.convolution(x, wide, line, "analog");
  const TensorId beside = program.convolution(x, {.channels = 64, .kernel = 1}, line, "analog");
  const TensorId second = program.convolution(first, wide, line, "analog");
  const TensorId block = program.add(beside, second, line, "simd");
  const TensorId third = program.convolution(block, wide, line, "analog");
  const TensorId fourth = program.convolution(third, wide, line, "analog");
  return program.finish(program.add(block, fourth, line, "simd"));
}

// ResNet-50, third segment: a layer on each core, two pixels at a time.
Expected<Graph> resnet50_segment(Program& program) {
  constexpr std::pair<std::int64_t, std::int64_t> layers[] = {{64, 1}, {64, 3}, {256, 1}, {64, 1}, {64, 3}};
  TensorId x = program.input({1, 256, 56, 56});
  int core = 0;
  for (const auto& [channels, kernel] : layers) {
    x = program.convolution(x, {.channels = channels, .kernel = kernel}, {{Dim::OY, 1}, {Dim::OX, 2}},
                            fmt::format("core{}", core++));
  }
  return program.finish(x);
}

struct Chip {
  const char* machine;  // file in data/validation/
  const char* workload;
  double measured;  // cycles
  const char* aside;
  Expected<Graph> (*build)(Program& program);
};

constexpr const char* two_figures = "no target: one source has 66,302 cycles, another 3.66e5";
constexpr Chip chips[] = {
    {"depfin", "FSRCNN 540x960", 6.18e6, "", fsrcnn},
    {"diana", "ResNet-18, first nine layers", 8.12e5, "", resnet18_start},
    {"aimc_4x4", "ResNet-50, segment 3", 66302, two_figures, resnet50_segment},
    {"aimc_4x4", "ResNet-50, segment 3", 3.66e5, two_figures, resnet50_segment},
};

Expected<double> cycles_of(const Chip& chip, const std::string& data) {
  MONET_TRY(const Hardware hardware, open_hardware(fmt::format("{}/validation/{}.yaml", data, chip.machine)));
  Program program(chip.workload);
  MONET_TRY(const Graph graph, chip.build(program));
  MappingCache cache;
  EvaluatorOptions options;
  options.cost.extract.precision = "int8";
  Evaluator evaluator(graph, hardware, cache, options);
  MONET_TRY(const PlanRequest request, evaluator.bind(program.plan()));
  MONET_TRY(const Evaluated result, evaluator.evaluate(request));
  MONET_RETURN_IF_ERROR(
      verify_schedule(graph, hardware, result.assignment, result.tiles, result.schedule,
                      {.streams = evaluator.counts_streams(), .element_bits = evaluator.element_bits()}));
  return result.schedule.cycles;
}

}  // namespace

Expected<Validation> validate_silicon(const std::string& data, const ValidateOptions& options) {
  Validation validation{.name = "silicon", .rows = {}, .notes = {}};
  const Chip* before = nullptr;
  double cycles = 0;
  for (const Chip& chip : chips) {
    const std::string name = fmt::format("{}, {}", chip.machine, chip.workload);
    if (!options.only.empty() && !matches(options.only, name)) continue;
    if (before == nullptr || std::string_view(before->machine) != chip.machine) {
      MONET_TRY(cycles, cycles_of(chip, data));
    }
    before = &chip;
    validation.rows.push_back({name, "cycles", chip.measured, cycles, chip.aside});
  }
  if (validation.rows.empty()) return nothing_matches(options, "depfin, FSRCNN 540x960");
  validation.notes = {
      "all: 8-bit operands, 16-bit sums; a core runs its tiles in the order of the program (depth first); weights, the "
      "image and the result are in the outer memory when it begins and ends; no biases, no activation functions",
      "all: prefetching as early as memory allows; equal ports of a memory stand in for each other; an access narrower "
      "than a port takes all of it for a cycle",
      "depfin: the last layer as 16 channels (the 4 x 4 pixels of each pixel); a sum is in one register until it is "
      "written, so that the array waits meanwhile",
      "diana: 16 x 16 x 3 x 3 of the analog array are used; the operands of an addition come through 16 bits a cycle "
      "each, as the set-up of its authors has it; a 1x1 convolution beside the first block",
      "aimc_4x4: five cores, neighbours joined by 128 bits a cycle, off-chip memory by 4,096",
  };
  return validation;
}

}  // namespace monet

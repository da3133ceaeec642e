// Small training steps on a machine of one memory, with storage beside it, for searches over memory.
#pragma once

#include "graph/builder.h"
#include "hardware/reader.h"
#include "networks/open.h"
#include "optimize/memory/exact.h"
#include "optimize/memory/search.h"
#include "training/options.h"
#include "training/step.h"

#include <gtest/gtest.h>

#include <memory>
#include <string>

namespace monet::test {

// One operation a cycle in one memory; storage moves a byte a cycle and takes 100 pJ for it.
inline Hardware one_memory_machine(bool storage) {
  std::string text =
      "monet: 1\nname: small\nclock: 1 GHz\nmemories:\n"
      "  ram: {kind: sram, size: 64 MiB, ports: {rw: {width: 64 bit/cycle}}, read_energy: 1 pJ, write_energy: 1 pJ}\n";
  if (storage) {
    text +=
        "  flash: {kind: storage, size: 64 MiB, ports: {rw: {width: 8 bit/cycle}}, read_energy: 100 pJ, write_energy: "
        "100 pJ, read_latency: 10 cycle, write_latency: 10 cycle}\n";
  }
  text += "cores:\n  cpu:\n    rate: {operations: {all: 1 GOP/s}, energy: {all: 2 pJ}}\n    memories: {ram: {use: ram}";
  text += storage ? ", flash: {use: flash}}\n" : "}\n";
  auto hardware = read_hardware_text(text, "small.yaml");
  EXPECT_TRUE(hardware.has_value()) << (hardware ? "" : hardware.error().text());
  return *std::move(hardware);
}

inline Graph training_step_of(const std::string& model, std::int64_t batch) {
  auto network = open_network(model, {.batch = batch});
  EXPECT_TRUE(network.has_value()) << (network ? "" : network.error().text());
  auto step = training::make_training_step(*std::move(network), *training::step_options({}));
  EXPECT_TRUE(step.has_value()) << (step ? "" : step.error().text());
  return std::move(step->graph);
}

class MemoryCase {
 public:
  MemoryCase(Graph graph, Hardware hardware, const MemorySpaceOptions& options = {.page_static = false})
      : graph_(std::move(graph)), hardware_(std::move(hardware)), machine_(hardware_) {
    how_.cost.search.factors = 3;
    Evaluator evaluator(graph_, hardware_, cache_, how_);
    space_ = std::make_unique<MemorySpace>(graph_, hardware_, machine_, plan_, std::vector<BoundTensor>(),
                                           evaluator.element_bits(), options);
    restart();
  }

  // Forgets what was priced.
  void restart(std::size_t jobs = 1) {
    prices_ = std::make_unique<MemoryPrices>(MemoryPricesInput{.step = graph_,
                                                               .hardware = hardware_,
                                                               .cache = cache_,
                                                               .how = how_,
                                                               .plan = plan_,
                                                               .space = *space_,
                                                               .memory = home(),
                                                               .jobs = jobs});
  }

  MemoryId home() const {
    for (std::size_t m = 0; m < hardware_.memories.size(); ++m) {
      if (machine_.is_home(MemoryId(m))) return MemoryId(m);
    }
    return {};
  }

  Graph graph_;
  Hardware hardware_;
  RoutedMachine machine_;
  Plan plan_;
  EvaluatorOptions how_;
  MappingCache cache_;
  std::unique_ptr<MemorySpace> space_;
  std::unique_ptr<MemoryPrices> prices_;
};

}  // namespace monet::test

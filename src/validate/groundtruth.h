// Measured training steps (data/groundtruth/h200_training.csv).
#pragma once

#include <monet/expected.h>

#include <array>
#include <cstdint>
#include <string>
#include <vector>

namespace monet {

struct MeasuredStep {
  std::string network;
  std::int64_t batch = 0;
  std::string precision;
  std::string optimizer;
  bool checkpoint = false;
  std::int64_t parameters = 0;
  std::int64_t static_bytes = 0;
  std::int64_t after_forward_bytes = 0;
  std::array<std::int64_t, 3> phase_peak_bytes = {};  // forward, backward, optimizer: with workspaces of libraries
  std::int64_t peak_bytes = 0;                        // the largest of them
  double step_ms = 0;                                 // all of the step replayed as one graph: nothing between kernels
  double energy_mj = 0;                               // of the board, over the same replays
  std::int64_t forward_flops = 0;
  std::int64_t backward_flops = 0;

  std::string name() const;
};

// Fails, naming the line, when a column is missing or a number is none.
Expected<std::vector<MeasuredStep>> read_measured_steps(const std::string& path);
// Steps whose network a compiler fused (data/groundtruth/h200_compiled.csv): no counts, one peak of memory.
Expected<std::vector<MeasuredStep>> read_compiled_steps(const std::string& path);

}  // namespace monet

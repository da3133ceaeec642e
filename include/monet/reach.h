// How a result came about, and how well results like it were compared with measurements.
#pragma once

#include <optional>
#include <string>

namespace monet {

struct Reach {
  std::string
      lowering;      // "nests": loop nests on arrays and rate cores; "eager": kernels as an eager framework has them
  std::string laws;  // of kernels: what they rest on
  // Mean absolute errors in per cent; none: not compared.
  std::optional<double> latency_percent, energy_percent, memory_percent;
  std::string source;  // of these; empty: nothing was compared
};

}  // namespace monet

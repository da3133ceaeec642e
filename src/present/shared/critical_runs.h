// The critical path, shortened for readers.
#pragma once

#include <monet/evaluate.h>

#include <string>
#include <vector>

namespace monet {

// Consecutive steps of the same name and kind as one.
struct CriticalRun {
  std::string name, kind;
  double start = 0, end = 0;
  std::int64_t steps = 0;
};
std::vector<CriticalRun> critical_runs(const std::vector<CriticalStep>& steps);

}  // namespace monet

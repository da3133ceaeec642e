#include "present/shared/critical_runs.h"

namespace monet {

std::vector<CriticalRun> critical_runs(const std::vector<CriticalStep>& steps) {
  std::vector<CriticalRun> runs;
  for (const CriticalStep& step : steps) {
    if (runs.empty() || runs.back().name != step.name || runs.back().kind != step.kind)
      runs.push_back({step.name, step.kind, step.start, step.end, 0});
    runs.back().end = step.end;
    ++runs.back().steps;
  }
  return runs;
}

}  // namespace monet

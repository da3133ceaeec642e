// Which weights are those of experts, found by structure: of products that have a loop which weight, activation and
// result all follow, as many products side by side. Each chip of an axis has some of the experts, and tokens are sent
// to them and back.
#pragma once

#include "parallel/split.h"

#include <string>
#include <vector>

namespace monet::parallel {

struct ExpertParallel {
  Places stored;   // weights of experts and their states
  Places settled;  // results of experts that go back to where their tokens are
  std::vector<std::string> products;
};

// `at_home`: where tensors are while tokens stay on their chips. Fails where there are no experts, or they do not
// divide.
Expected<ExpertParallel> expert_parallel(const Graph& step, std::int64_t chips, const Places& at_home);

}  // namespace monet::parallel

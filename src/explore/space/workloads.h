// The workloads of a space: networks, and what is done with them.
#pragma once

#include "config/yaml.h"
#include "explore/space/space.h"

#include <string>
#include <vector>

namespace monet::explore {

constexpr std::size_t most_workloads = 64;

// Lists for network, batch, precision, step and lowering stand for all combinations. `folder`: where network files are
// looked for; they are not opened. Workloads that `subject` makes equal are one, which counts as often as they did.
Expected<std::vector<Workload>> read_workloads(const Yaml& node, const std::string& folder, const Subject& subject);

// The keys `network` and `batch` of a space.
Expected<Subject> read_subject(const Yaml& root, const std::string& folder);

}  // namespace monet::explore

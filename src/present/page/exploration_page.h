// A store as a page.
#pragma once

#include "explore/space/space.h"
#include "present/page/page.h"

#include <monet/expected.h>

#include <string>
#include <utility>
#include <vector>

namespace monet {

// Of more designs than `most_designs`, the front and every so many are shown.
Expected<PageContent> content_of_store(const std::string& path, const std::vector<std::string>& objectives,
                                       double tolerance = 0.005, std::size_t most_designs = 100000);

// What gives the results of a design again, for each workload: "monet evaluate NET --hardware H {set}", where {set}
// stands for the design's parameters. Notes say where more is needed than to run them.
struct DesignCommands {
  std::vector<std::pair<std::string, std::string>> commands;  // workload, command
  std::vector<std::string> notes;
};
DesignCommands commands_of(const explore::Space& space);

}  // namespace monet

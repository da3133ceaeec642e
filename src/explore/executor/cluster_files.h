// The files of a space that workers on other machines need.
#pragma once

#include "explore/executor/cluster_messages.h"
#include "explore/space/space.h"

namespace monet::explore {

// Networks and hardware with all that it includes, by absolute path, each once. Not those that the space itself names
// by absolute path: these must be on every machine.
Expected<std::vector<std::string>> files_of(const Space& space);

}  // namespace monet::explore

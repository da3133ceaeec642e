// A machine that is written in a space.
#pragma once

#include "config/yaml.h"

#include <monet/expected.h>

#include <string>

namespace monet::explore {

// The text of the block `entry` of `root`, every line and column where it stands in `text`: what is around it is empty.
Expected<std::string> block_text(const std::string& text, const Yaml& root, const Yaml::Entry& entry);

}  // namespace monet::explore

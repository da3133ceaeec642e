// Whether the blocks of a file have the keys and forms of the tables (config/keys.h).
#pragma once

#include "config/keys.h"
#include "config/yaml.h"

namespace monet {

// Fails at the first key that the table does not have or that has another form. `what` names the block in messages.
Status check_keys(const Yaml& node, const Block& block, const std::string& what);

// A value with a source of its own: {value: …, source: …}.
bool is_stated(const Yaml& node);

// "did you mean 'size'?", or all the candidates.
std::string meant_name(std::string_view name, const std::vector<std::string>& known);

}  // namespace monet

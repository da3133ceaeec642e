// `include`: blocks of other files (or presets) under those of a file.
#pragma once

#include "config/yaml.h"

#include <string>

namespace monet {

// The tree with every `include` resolved. A block takes from an included file the keys that it does not state itself;
// blocks that both have are merged in the same way, lists are joined, the included file's first; what a
// file adds stands before the next of its keys that both have, else last. What a file with a
// `source` gives keeps that source. `path` is the including file: others are looked for beside it, then among the
// presets.
Expected<YamlPtr> resolve_includes(const YamlPtr& root, const std::string& path);

// A machine of many chips as one chip with its fabric: what `chips` describes lies under the rest of the file, as if it
// had been included; levels of the fabric that two files name alike are one. Fails where chips are joined by nothing,
// or have a fabric of their own.
Expected<YamlPtr> chip_beside_fabric(const YamlPtr& root);

}  // namespace monet

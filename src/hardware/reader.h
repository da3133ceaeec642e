// Reads a hardware file (docs/hardware.md) into a Hardware that is complete and consistent: what is left out is
// filled in and listed in `origins`; what is impossible is an error with file, line and column.
#pragma once

#include "config/yaml.h"
#include "hardware/hardware.h"

#include <monet/expected.h>

#include <string>
#include <utility>
#include <vector>

namespace monet {

struct HardwareOptions {
  // Values of parameters, as written in the file ("4 MiB", "= x * 2"); a name the file does not have is an error.
  std::vector<std::pair<std::string, std::string>> parameters;
};

// `path` is for messages and for finding included files, which are looked for beside it.
Expected<Hardware> read_hardware(const std::string& path, const HardwareOptions& options = {});
Expected<Hardware> read_hardware_text(const std::string& text, const std::string& path,
                                      const HardwareOptions& options = {});

// The same in two steps, for many machines of one file: its text as a tree with all that it includes, and the machine
// that the tree describes for some values of its parameters. Trees may be read from several threads.
Expected<YamlPtr> parse_hardware(const std::string& text, const std::string& path);
Expected<Hardware> read_hardware_tree(const Yaml& root, const std::string& path, const HardwareOptions& options = {});

}  // namespace monet

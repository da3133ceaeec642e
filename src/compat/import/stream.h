// Stream's system files: cores, each in a file of its own, and what connects them.
#pragma once

#include "compat/import/import.h"
#include "config/yaml_node.h"

#include <map>

namespace monet {

struct StreamSystem {
  Hardware hardware;
  std::map<std::int64_t, End> parts;  // what each of the file's core ids has become
};

Expected<StreamSystem> read_stream_system(const YamlDocument& document, const std::string& path,
                                          const FileReader& read);

}  // namespace monet

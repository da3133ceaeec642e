#include "cli/schema.h"

#include "base/embedded.h"

#include <monet/hardware.h>

#include <algorithm>
#include <string_view>

namespace monet::cli {

namespace {

constexpr std::string_view folder = "schemas/", ending = ".json";
constexpr const char* machine = "machine";  // made from the tables that read it

}  // namespace

std::vector<std::string> schema_names() {
  std::vector<std::string> names = {machine};
  for (const EmbeddedFile& file : embedded_files()) {
    if (!file.path.starts_with(folder)) continue;
    std::string_view name = file.path;
    name.remove_prefix(folder.size());
    name.remove_suffix(ending.size());
    names.emplace_back(name);
  }
  std::ranges::sort(names);
  return names;
}

std::string schema_text(const std::string& name) {
  return name == machine ? hardware_schema()
                         : std::string(embedded_text(std::string(folder) + name + std::string(ending)));
}

}  // namespace monet::cli

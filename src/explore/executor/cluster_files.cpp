#include "explore/executor/cluster_files.h"

#include "base/read_file.h"
#include "base/try.h"
#include "config/yaml.h"
#include "hardware/include.h"

#include <algorithm>
#include <filesystem>

namespace monet::explore {

namespace {

namespace fs = std::filesystem;

class FileCollector {
 public:
  explicit FileCollector(const Space& space) : space_(space) {}

  // True: a file that was not known yet.
  bool add(const std::string& name) {
    std::error_code ignored;
    if (name.empty() || !fs::is_regular_file(name, ignored)) return false;
    const std::string path = fs::absolute(name).lexically_normal().string();
    if (std::ranges::find(files_, path) != files_.end()) return false;
    if (fs::path(name).is_absolute() && space_.text.find(name) != std::string::npos) return false;
    files_.push_back(path);
    return true;
  }

  Status add_hardware(const std::string& name) {
    if (!add(name)) return Done{};
    MONET_TRY(const std::string text, read_file(name));
    return add_included(text, name);
  }

  // Those that a text includes. The hardware was read before: what cannot be is not looked at.
  Status add_included(const std::string& text, const std::string& path) {
    const auto root = parse_yaml(text, path);
    return root ? walk(**root, path) : Status(Done{});
  }

  std::vector<std::string> files() && { return std::move(files_); }

 private:
  Status walk(const Yaml& node, const std::string& path) {
    for (const YamlPtr& item : node.items) MONET_RETURN_IF_ERROR(walk(*item, path));
    for (const Yaml::Entry& entry : node.entries) {
      if (entry.key != "include") {
        MONET_RETURN_IF_ERROR(walk(*entry.value, path));
        continue;
      }
      const auto include = [&](const Yaml& file) { return add_hardware(fs::path(path).parent_path() / file.scalar); };
      if (entry.value->is_scalar()) MONET_RETURN_IF_ERROR(include(*entry.value));
      for (const YamlPtr& item : entry.value->items) MONET_RETURN_IF_ERROR(include(*item));
    }
    return Done{};
  }

  const Space& space_;
  std::vector<std::string> files_;
};

}  // namespace

Expected<std::vector<std::string>> files_of(const Space& space) {
  FileCollector collector(space);
  MONET_RETURN_IF_ERROR(collector.add_hardware(space.hardware));
  if (!space.hardware_text.empty()) MONET_RETURN_IF_ERROR(collector.add_included(space.hardware_text, space.path));
  for (const Workload& workload : space.workloads) collector.add(workload.network.name());
  return std::move(collector).files();
}

}  // namespace monet::explore

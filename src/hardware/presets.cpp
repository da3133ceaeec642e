#include "hardware/presets.h"
#include "base/embedded.h"

#include <map>

namespace monet {

namespace {

constexpr std::string_view folder = "presets/";
constexpr std::string_view ending = ".yaml";

const std::map<std::string, std::string>& presets() {
  static const auto all = [] {
    std::map<std::string, std::string> texts;
    for (const EmbeddedFile& file : embedded_files()) {
      if (!file.path.starts_with(folder)) continue;
      const auto name = file.path.substr(folder.size(), file.path.size() - folder.size() - ending.size());
      texts.emplace(name, file.text);
    }
    return texts;
  }();
  return all;
}

}  // namespace

const std::string* preset_text(const std::string& name) {
  const auto found = presets().find(name);
  return found == presets().end() ? nullptr : &found->second;
}

const std::vector<std::string>& preset_names() {
  static const auto names = [] {
    std::vector<std::string> all;
    for (const auto& [name, text] : presets()) all.push_back(name);
    return all;
  }();
  return names;
}

}  // namespace monet

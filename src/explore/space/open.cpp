#include "explore/space/open.h"

#include "base/embedded.h"
#include "base/suggest.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <filesystem>

namespace monet::explore {

namespace {

constexpr std::string_view spaces_folder = "spaces/";
constexpr std::string_view ending = ".yaml";

}  // namespace

const std::vector<std::string>& space_names() {
  static const std::vector<std::string> names = [] {
    std::vector<std::string> all;
    for (const EmbeddedFile& file : embedded_files()) {
      if (!file.path.starts_with(spaces_folder)) continue;
      all.emplace_back(file.path.substr(spaces_folder.size(), file.path.size() - spaces_folder.size() - ending.size()));
    }
    std::ranges::sort(all);
    return all;
  }();
  return names;
}

Expected<Space> open_space(const std::string& name) {
  if (std::ranges::find(space_names(), name) != space_names().end()) {
    return Space::read_text(std::string(embedded_text(fmt::format("{}{}{}", spaces_folder, name, ending))),
                            "space " + name);
  }
  std::error_code ignored;
  if (std::filesystem::exists(name, ignored)) return Space::read(name);
  const std::string near = nearest(name, space_names());
  return Error{.message = "there is no such file or space",
               .place = name,
               .advice = near.empty()
                             ? fmt::format("spaces that come with the program: {}; docs/explore.md says how to "
                                           "write one",
                                           fmt::join(space_names(), ", "))
                             : fmt::format("did you mean '{}'?", near)};
}

}  // namespace monet::explore

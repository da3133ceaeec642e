#include "explore/space/open.h"

#include "base/embedded.h"
#include "base/suggest.h"
#include "base/try.h"
#include "networks/builtin.h"

#include <monet/network.h>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <filesystem>

namespace monet::explore {

namespace {

constexpr std::string_view spaces_folder = "spaces/";
constexpr std::string_view ending = ".yaml";

// As a YAML text in single quotes.
std::string quoted(const std::string& text) {
  std::string result = "'";
  for (const char c : text) result += c == '\'' ? "''" : std::string(1, c);
  return result + "'";
}

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

Subject subject_of(const std::string& network, std::int64_t batch) {
  return {.network = network, .batch = batch > 0 ? std::optional(batch) : std::nullopt};
}

Expected<Space> open_space(const std::string& name, const Subject& subject) {
  MONET_TRY(Space space, open_space(name));
  std::string more;
  const auto said = [&](const char* key) {
    return Error{.message = fmt::format("its '{}' is said already", key),
                 .place = space.path,
                 .advice = fmt::format("leave --{} out, or '{}' in the file", key, key)};
  };
  if (!subject.network.empty()) {
    if (!space.subject.network.empty()) return said("network");
    MONET_TRY(const Network opened, Network::open(subject.network));
    const std::string absolute =
        is_builtin(subject.network) ? subject.network : std::filesystem::absolute(subject.network).string();
    more += fmt::format("network: {}\n", quoted(absolute));
  }
  if (subject.batch) {
    if (space.subject.batch) return said("batch");
    more += fmt::format("batch: {}\n", *subject.batch);
  }
  if (more.empty()) return space;
  const bool ended = space.text.empty() || space.text.ends_with('\n');
  return Space::read_text(space.text + (ended ? "" : "\n") + more, space.path);
}

}  // namespace monet::explore

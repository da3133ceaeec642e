#include "compat/import/core_files.h"

#include "base/try.h"

#include <fmt/format.h>

namespace monet {

std::vector<std::string> CoreFiles::places(const std::string& name) const {
  const std::filesystem::path given(name);
  std::vector<std::string> all;
  const auto add = [&](const std::filesystem::path& path) { all.push_back(path.lexically_normal().string()); };
  add(folder_ / given);
  if (given.is_absolute()) return all;
  add(folder_ / "cores" / given);
  add(given);
  if (given.has_parent_path()) {
    for (std::filesystem::path above = folder_; above.has_relative_path(); above = above.parent_path())
      add(above.parent_path() / given);
  }
  add(folder_ / "cores" / given.filename());
  add(folder_ / given.filename());
  return all;
}

Status CoreFiles::read(const std::string& path, const std::string& text) {
  MONET_TRY(const YamlDocument document, parse_foreign_yaml(text, path));
  MONET_TRY(ZigzagCore core, read_zigzag_core(document.root));
  notes_.insert(notes_.end(), document.repeated.begin(), document.repeated.end());
  const std::string stem = std::filesystem::path(path).stem().string();
  for (const std::string& note : core.notes) notes_.push_back(fmt::format("{}: {}", stem, note));
  files_.emplace(path, std::move(core));
  return Done{};
}

Expected<std::string> CoreFiles::find(const std::string& name, const YamlNode& at) {
  if (const auto known = found_.find(name); known != found_.end()) return known->second;
  constexpr std::size_t expected_places = 3;  // of those in places()
  const auto candidates = places(name);
  for (std::size_t i = 0; i < candidates.size(); ++i) {
    const auto text = read_(candidates[i]);
    if (!text) continue;
    if (i >= expected_places)
      notes_.push_back(fmt::format("{}: '{}' was found at {}", at.place(), name, candidates[i]));
    if (!files_.contains(candidates[i])) MONET_RETURN_IF_ERROR(read(candidates[i], *text));
    found_[name] = candidates[i];
    return candidates[i];
  }
  return at.error(fmt::format("the core file '{}' was not found", name),
                  fmt::format("it may be at {} or {}", candidates.front(), candidates[candidates.size() > 1 ? 1 : 0]));
}

}  // namespace monet

#include "serve/folder.h"

#include "base/try.h"
#include "base/whole_file.h"
#include "config/yaml.h"
#include "hardware/presets.h"
#include "networks/builtin.h"

#include <fmt/format.h>
#include <xxhash.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <ostream>

namespace monet::serving {

namespace {

namespace fs = std::filesystem;

constexpr std::string_view upload = "upload:";
constexpr const char* upload_name = "network.onnx";

std::string digest(const std::string& bytes) {
  const XXH128_hash_t hash = XXH3_128bits(bytes.data(), bytes.size());
  return fmt::format("{:016x}{:016x}", hash.high64, hash.low64);
}

std::string users_folder() {
  if (const char* data = std::getenv("XDG_DATA_HOME"); data != nullptr && *data != '\0')
    return (fs::path(data) / "monet").string();
  if (const char* home = std::getenv("HOME"); home != nullptr && *home != '\0')
    return (fs::path(home) / ".local" / "share" / "monet").string();
  return "";
}

Status make_folder(const fs::path& path) {
  std::error_code problem;
  fs::create_directories(path, problem);
  if (!problem) return Done{};
  return Error{.message = fmt::format("cannot make the folder: {}", problem.message()),
               .place = path.string(),
               .advice = "give another one with --folder"};
}

Status keep(const fs::path& path, const std::string& bytes) {
  MONET_RETURN_IF_ERROR(make_folder(path.parent_path()));
  return write_whole_file(path.string(), [&](std::ostream& out) { out << bytes; });
}

// A file name is a label only: what could be a path, or is no letter, is left out.
std::string label_of(const std::string& name) {
  std::string label;
  for (const char c : fs::path(name).filename().string())
    if (std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '.' || c == '_' || c == '-') label += c;
  if (label.size() > 80) label.resize(80);
  return label.empty() ? "network" : label;
}

// Whoever sends a machine must not read files of the one who serves.
Status check_includes(const Yaml& node) {
  const auto check = [](const Yaml& named) -> Status {
    if (!named.is_scalar() || preset_text(named.scalar) != nullptr) return Done{};
    return Error{.message = fmt::format("'{}' is no preset", shown(named.scalar)),
                 .place = named.place.text(),
                 .advice = "a machine that is sent may include presets alone"};
  };
  for (const Yaml::Entry& entry : node.entries) {
    if (entry.key == "include") {
      MONET_RETURN_IF_ERROR(check(*entry.value));
      for (const YamlPtr& item : entry.value->items) MONET_RETURN_IF_ERROR(check(*item));
    }
    MONET_RETURN_IF_ERROR(check_includes(*entry.value));
  }
  for (const YamlPtr& item : node.items) MONET_RETURN_IF_ERROR(check_includes(*item));
  return Done{};
}

}  // namespace

Expected<ServeFolder> ServeFolder::open(std::string path) {
  if (path.empty()) path = users_folder();
  if (path.empty())
    return Error{
        .message = "there is no home folder to keep history in", .place = "monet serve", .advice = "give --folder DIR"};
  MONET_RETURN_IF_ERROR(make_folder(path));
  return ServeFolder(std::move(path));
}

std::string ServeFolder::history() const { return (fs::path(path_) / "history.sqlite").string(); }

std::string ServeFolder::store(const std::string& key) const {
  return (fs::path(path_) / fmt::format("explore-{}.sqlite", digest(key))).string();
}

Expected<std::string> ServeFolder::keep_network(const std::string& bytes, const std::string& name) const {
  const std::string hash = digest(bytes);
  const fs::path file = fs::path(path_) / "networks" / hash / upload_name;
  std::error_code ignored;
  if (!fs::exists(file, ignored)) MONET_RETURN_IF_ERROR(keep(file, bytes));
  return fmt::format("{}{}/{}", upload, hash, label_of(name));
}

Expected<Network> ServeFolder::network(const std::string& name) const {
  MONET_TRY(std::string found, network_name(name));
  return Network(std::move(found));
}

Expected<std::string> ServeFolder::network_name(const std::string& name) const {
  if (is_builtin(name)) return name;
  const Error none{.message = fmt::format("there is no network '{}'", shown(name)),
                   .place = "network",
                   .advice = "give the name of a built-in network, or send an ONNX file"};
  if (!name.starts_with(upload)) return none;
  const std::string hash = name.substr(upload.size(), 32);
  if (hash.size() != 32 || hash.find_first_not_of("0123456789abcdef") != std::string::npos) return none;
  const fs::path file = fs::path(path_) / "networks" / hash / upload_name;
  std::error_code ignored;
  if (!fs::exists(file, ignored)) return none;
  return file.string();
}

Expected<Machine> ServeFolder::preset(const std::string& name, HardwareParameters parameters) const {
  if (preset_text(name) == nullptr)
    return Error{.message = fmt::format("there is no preset '{}'", shown(name)),
                 .place = "machine",
                 .advice = "GET /api/machines lists them"};
  return Machine(name, std::move(parameters));
}

Expected<Machine> ServeFolder::machine(const std::string& yaml, HardwareParameters parameters) const {
  MONET_TRY(const YamlPtr root, parse_yaml(yaml, "machine"));
  MONET_RETURN_IF_ERROR(check_includes(*root));
  const fs::path file = fs::path(path_) / "machines" / digest(yaml) / "machine.yaml";
  std::error_code ignored;
  if (!fs::exists(file, ignored)) MONET_RETURN_IF_ERROR(keep(file, yaml));
  return Machine(file.string(), std::move(parameters));
}

}  // namespace monet::serving

#include "onnx/external_data.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>

namespace monet::onnx {

namespace {

namespace fs = std::filesystem;

Error refused(const std::string& location, const std::string& how) {
  return {.message = fmt::format("its values are said to be in '{}', {}: a model file must not make the program read "
                                 "other files of the user",
                                 location, how),
          .place = {},
          .advice = "put the data into the model's folder, and name them by their path in it"};
}

bool is_inside(const fs::path& path, const fs::path& folder) {
  return std::ranges::mismatch(folder, path).in1 == folder.end();
}

}  // namespace

Expected<std::string> external_path(const std::string& folder, const std::string& location) {
  const fs::path written = location;
  if (written.is_absolute()) return refused(location, "an absolute path");
  if (std::ranges::find(written, "..") != written.end())
    return refused(location, "which may leave the model's folder by '..'");
  const fs::path path = fs::path(folder) / written;
  std::error_code problem;
  const fs::path home = fs::canonical(folder.empty() ? "." : folder, problem);
  // What is not there is for the reader to find out.
  if (problem) return path.string();
  const fs::path target = fs::weakly_canonical(path, problem);
  if (problem || !is_inside(target, home)) return refused(location, "which links out of the model's folder");
  return path.string();
}

}  // namespace monet::onnx

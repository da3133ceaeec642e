// Reference models and measurements that are not part of the repository. Tests that need them are skipped where they
// are absent.
#pragma once

#include "support/source_folder.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>

namespace monet::test {

// The folder named by MONET_SHARED, or ../shared beside the repository.
inline std::filesystem::path shared_folder() {
  if (const char* folder = std::getenv("MONET_SHARED")) return folder;
  return source_folder().parent_path() / "shared";
}

}  // namespace monet::test

// Binds `path`, a variable, to a file or folder under the shared one, or skips the test.
#define MONET_SHARED_OR_SKIP(path, relative)                                      \
  const std::filesystem::path path = ::monet::test::shared_folder() / (relative); \
  if (!std::filesystem::exists(path)) GTEST_SKIP() << path << " is absent; set MONET_SHARED"

// Entries of mapping files for tests.
#pragma once

#include "mapping/mapping_file.h"

#include <gtest/gtest.h>

#include <string>

namespace monet::test {

// The entry for all layers, with these fields: indented lines of YAML.
inline MappingFile::Entry entry_of(const std::string& fields) {
  const auto file = read_mapping_text("- name: default\n" + fields, "m.yaml");
  EXPECT_TRUE(file) << file.error().text();
  return file ? file->entries.at(0) : MappingFile::Entry{};
}

}  // namespace monet::test

#include "hardware/part_path.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace monet {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

TEST(PartPath, WhatIsPutTogetherComesApart) {
  const std::string path = part_inside(part_inside("", "core pe"), "memory sram");
  EXPECT_EQ(path, "core pe: memory sram");
  EXPECT_THAT(parts_of_path(path), ElementsAre("core pe", "memory sram"));
  EXPECT_THAT(parts_of_path("core pe"), ElementsAre("core pe"));
  EXPECT_THAT(parts_of_path(""), IsEmpty());
}

TEST(PartPath, AColonWithoutABlankBelongsToAName) { EXPECT_THAT(parts_of_path("core a:b"), ElementsAre("core a:b")); }

}  // namespace
}  // namespace monet

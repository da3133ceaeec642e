#include "base/glob.h"

#include <gtest/gtest.h>

#include <string>

namespace monet {
namespace {

TEST(Glob, MatchesAsAShellDoes) {
  EXPECT_TRUE(matches("layer1.*", "layer1.0.weight"));
  EXPECT_TRUE(matches("*", ""));
  EXPECT_TRUE(matches("*.bias", "a.b.bias"));
  EXPECT_TRUE(matches("a?c", "abc"));
  EXPECT_TRUE(matches("*a*b*", "xxaxxbxx"));
  EXPECT_FALSE(matches("a?c", "ac"));
  EXPECT_FALSE(matches("layer1.*", "layer10.0.weight"));
  EXPECT_FALSE(matches("", "a"));
}

TEST(Glob, ManyStarsAreQuick) { EXPECT_FALSE(matches("*a*a*a*a*a*a*a*a*a*b", std::string(5000, 'a'))); }

}  // namespace
}  // namespace monet

// Is the word that is meant suggested, and nothing when none is near?
#include "base/suggest.h"

#include <gtest/gtest.h>

#include <vector>

namespace monet {
namespace {

const std::vector<std::string> names = {"resnet18", "resnet50", "mobilenet", "sequence", "batch"};

TEST(Suggest, SlipsOfTheFinger) {
  EXPECT_EQ(nearest("resnet-18", names), "resnet18");
  EXPECT_EQ(nearest("resnte50", names), "resnet50");
  EXPECT_EQ(nearest("mobilnet", names), "mobilenet");
  EXPECT_EQ(nearest("bacth", names), "batch");
}

TEST(Suggest, NothingWhenNothingIsNear) {
  EXPECT_EQ(nearest("transformer", names), "");
  EXPECT_EQ(nearest("x", names), "");
  EXPECT_EQ(nearest("batch", std::vector<std::string>{}), "");
}

TEST(Suggest, AShortCandidateIsNotMadeOfNothing) {
  EXPECT_EQ(nearest("ab", std::vector<std::string>{"x", "yz", ""}), "");
}

TEST(Suggest, VeryLongWordsAreNotCompared) { EXPECT_EQ(nearest(std::string(100000, 'a'), names), ""); }

TEST(Suggest, TheFirstOfEquallyNearOnes) {
  EXPECT_EQ(nearest("resnet10", std::vector<std::string>{"resnet18", "resnet50"}), "resnet18");
}

}  // namespace
}  // namespace monet

// Are headings, rules and bad news told apart by colour?
#include "cli/paint.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace monet::cli {
namespace {

using testing::HasSubstr;

TEST(Paint, HeadingsAreBoldRulesDimAndBadThingsRed) {
  Table table({{"name"}, {"size"}});
  table.add({"a", "1"});
  const std::string text = painted(laid_out("net on machine\nDOES NOT FIT dram\n\n" + table));
  EXPECT_THAT(text, HasSubstr("\033[1mnet on machine\033[0m\n"));
  EXPECT_THAT(text, HasSubstr("\033[31mDOES NOT FIT\033[0m dram\n"));
  EXPECT_THAT(text, HasSubstr("\033[1mname  size\033[0m\n\033[2m----------\033[0m\na     1\n"));
}

TEST(Paint, WhatStandsOverLinesFurtherInIsBold) {
  Table table({{"memory"}}, 2);
  table.add({"sram"});
  EXPECT_THAT(painted(laid_out("machine\n\nsystem\n" + table)), HasSubstr("\033[1msystem\033[0m\n"));
}

TEST(Paint, HeadingsOfHelpAreBold) {
  EXPECT_EQ(painted_help("Examples:\n  monet x:\n"), "\033[1mExamples:\033[0m\n  monet x:\n");
}

}  // namespace
}  // namespace monet::cli

// Does text fit a terminal without losing anything?
#include "cli/layout.h"

#include "cli/text_table.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <sstream>

namespace monet::cli {
namespace {

using testing::HasSubstr;

std::vector<std::string> sorted_words(const std::string& text) {
  std::vector<std::string> words;
  std::istringstream in(text);
  for (std::string word; in >> word;)
    if (word.find_first_not_of('-') != std::string::npos) words.push_back(word);
  std::ranges::sort(words);
  words.erase(std::unique(words.begin(), words.end()), words.end());
  return words;
}

TEST(Layout, WhatFitsStaysAsItIs) {
  const std::string text = "net on machine\nlatency      1 ms\n\na  b\n----\n1  2\n";
  EXPECT_EQ(fitted(text, 80), text);
}

TEST(Layout, AValueGoesOnUnderItself) {
  EXPECT_EQ(fitted("bound        latency 2.48x of 10.48 ms, energy 2.55x\n", 40),
            "bound        latency 2.48x of 10.48 ms,\n"
            "             energy 2.55x\n");
}

TEST(Layout, AWideTableIsCutBetweenColumns) {
  EXPECT_EQ(fitted("operator  cycles  energy\n"
                   "------------------------\n"
                   "conv          12    3 nJ\n"
                   "relu           4    1 nJ\n"
                   "and 3 more\n",
                   18),
            "operator  cycles\n"
            "----------------\n"
            "conv          12\n"
            "relu           4\n"
            "\n"
            "operator  energy\n"
            "----------------\n"
            "conv        3 nJ\n"
            "relu        1 nJ\n"
            "and 3 more\n");
}

TEST(Layout, ARuleUnderNothingIsNoTable) {
  for (const std::string heading : {"x", "", " "}) {
    const std::string text = heading + "\n     " + std::string(300, '-') + "\nb\n";
    EXPECT_EQ(sorted_words(fitted(text, 80)), sorted_words(text)) << heading;
  }
}

TEST(Layout, RowsWithNothingToSayAreNotRepeated) {
  EXPECT_EQ(fitted("case  error  \n-------------------------\na       1 %  set aside\nb       2 %\n", 15),
            "case  error\n-----------\na       1 %\nb       2 %\n\ncase\n---------------\na     set aside\n");
}

TEST(Layout, ALongLastColumnGoesOnBelow) {
  const std::string text =
      "name  description\n"
      "-----------------------------------------------------\n"
      "a100  a machine with many multiprocessors under an L2\n";
  EXPECT_EQ(fitted(text, 34),
            "name  description\n"
            "----------------------------------\n"
            "a100  a machine with many\n"
            "      multiprocessors under an L2\n");
}

TEST(Layout, ATableWithAnIndentKeepsIt) {
  const std::string cut =
      fitted("cores\n  memory  kind  size\n  ------------------\n  sram    sram  2 MiB\n  pool\n", 16);
  EXPECT_EQ(cut,
            "cores\n  memory  kind\n  ------------\n  sram    sram\n\n  memory  size\n  -------------\n  sram    2 "
            "MiB\n  pool\n");
}

TEST(Layout, CharactersCountAndNotBytes) {
  EXPECT_EQ(width_of("41.47 mm²"), 9U);
  const std::string text = "area\n---------\n41.47 mm²\n";
  EXPECT_EQ(fitted(text, 9), text);
}

TEST(Layout, RandomTablesFitAndLoseNothing) {
  std::mt19937 random(7);
  const auto below = [&](std::size_t n) { return static_cast<std::size_t>(random()) % n; };
  for (int round = 0; round < 300; ++round) {
    const std::size_t columns = 2 + below(8), rows = 1 + below(6), width = 24 + below(60);
    std::string text;
    std::vector<std::size_t> widths;
    std::vector<std::vector<std::string>> cells(rows + 1, std::vector<std::string>(columns));
    for (std::size_t c = 0; c < columns; ++c) {
      widths.push_back(0);
      for (std::size_t r = 0; r <= rows; ++r) {
        cells[r][c] = std::string(1 + below(9), static_cast<char>('a' + below(26)));
        widths[c] = std::max(widths[c], cells[r][c].size());
      }
    }
    for (std::size_t r = 0; r <= rows; ++r) {
      std::string line;
      for (std::size_t c = 0; c < columns; ++c)
        line += cells[r][c] + std::string(widths[c] - cells[r][c].size() + 2, ' ');
      line.erase(line.find_last_not_of(' ') + 1);
      text += line + "\n";
      if (r == 0) text += std::string(20, '-') + "\n";
    }
    const std::string fit = fitted(text, width);
    EXPECT_EQ(sorted_words(fit), sorted_words(text));
    for (const std::string_view line : lines_of(fit)) {
      EXPECT_LE(width_of(line), width) << fit;
      EXPECT_TRUE(line.empty() || line.back() != ' ') << fit;
    }
  }
}

TEST(Layout, HeadingsAreBoldRulesDimAndBadThingsRed) {
  const std::string text = painted("net on machine\nDOES NOT FIT dram\n\nname  size\n----------\na     1\n");
  EXPECT_THAT(text, HasSubstr("\033[1mnet on machine\033[0m\n"));
  EXPECT_THAT(text, HasSubstr("\033[31mDOES NOT FIT\033[0m dram\n"));
  EXPECT_THAT(text, HasSubstr("\033[1mname  size\033[0m\n\033[2m----------\033[0m\na     1\n"));
}

TEST(Layout, HeadingsOfHelpAreBold) {
  EXPECT_EQ(painted_help("Examples:\n  monet x:\n"), "\033[1mExamples:\033[0m\n  monet x:\n");
}

}  // namespace
}  // namespace monet::cli

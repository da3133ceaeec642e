// Does text fit a terminal without losing anything?
#include "present/text/layout.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <sstream>

namespace monet {
namespace {

constexpr auto right = Table::Align::right;

std::string fitted(const Text& text, std::size_t columns) {
  std::string lines;
  for (const TextLine& line : laid_out(text, columns)) lines += line.text + "\n";
  return lines;
}

Table table_of(std::vector<Table::Column> columns, const std::vector<Table::Row>& rows, std::size_t indent = 0) {
  Table table(std::move(columns), indent);
  for (const Table::Row& row : rows) table.add(row);
  return table;
}

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
  const Text text = "net on machine\nlatency      1 ms\n\n" + table_of({{"a"}, {"b"}}, {{"1", "2"}});
  EXPECT_EQ(text.plain(), "net on machine\nlatency      1 ms\n\na  b\n----\n1  2\n");
  EXPECT_EQ(fitted(text, 80), text.plain());
}

TEST(Layout, LinesAndTablesAreToldApart) {
  using Kind = TextLine::Kind;
  Table table = table_of({{"a"}}, {{"1"}});
  table.add_rule();
  table.add({"2"});
  std::vector<Kind> kinds;
  for (const TextLine& line : laid_out("heading\n-----\n" + table)) kinds.push_back(line.kind);
  EXPECT_EQ(kinds,
            (std::vector<Kind>{Kind::words, Kind::words, Kind::heading, Kind::rule, Kind::row, Kind::rule, Kind::row}));
}

TEST(Layout, AValueGoesOnUnderItself) {
  EXPECT_EQ(fitted("bound        latency 2.48x of 10.48 ms, energy 2.55x\n", 40),
            "bound        latency 2.48x of 10.48 ms,\n"
            "             energy 2.55x\n");
}

TEST(Layout, AWideTableIsCutBetweenColumns) {
  const Table table =
      table_of({{"operator"}, {"cycles", right}, {"energy", right}}, {{"conv", "12", "3 nJ"}, {"relu", "4", "1 nJ"}});
  EXPECT_EQ(fitted(table + "and 3 more\n", 18),
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

TEST(Layout, RowsWithNothingToSayAreNotRepeated) {
  EXPECT_EQ(fitted(table_of({{"case"}, {"error", right}, {""}}, {{"a", "1 %", "set aside"}, {"b", "2 %", ""}}), 15),
            "case  error\n-----------\na       1 %\nb       2 %\n\ncase\n---------------\na     set aside\n");
}

TEST(Layout, ALongLastColumnGoesOnBelow) {
  const Table table =
      table_of({{"name"}, {"description"}}, {{"a100", "a machine with many multiprocessors under an L2"}});
  EXPECT_EQ(fitted(table, 34),
            "name  description\n"
            "----------------------------------\n"
            "a100  a machine with many\n"
            "      multiprocessors under an L2\n");
}

TEST(Layout, ATableWithAnIndentKeepsIt) {
  const Table table = table_of({{"memory"}, {"kind"}, {"size"}}, {{"sram", "sram", "2 MiB"}, {"pool", "", "1 KiB"}}, 2);
  EXPECT_EQ(fitted("cores\n" + table, 16),
            "cores\n  memory  kind\n  ------------\n  sram    sram\n  pool\n\n"
            "  memory  size\n  -------------\n  sram    2 MiB\n  pool    1 KiB\n");
}

TEST(Layout, CharactersCountAndNotBytes) {
  EXPECT_EQ(width_of("41.47 mm²"), 9U);
  const Table table = table_of({{"area"}}, {{"41.47 mm²"}});
  EXPECT_EQ(fitted(table, 9), "area\n---------\n41.47 mm²\n");
}

TEST(Layout, RandomTablesFitAndLoseNothing) {
  std::mt19937 random(7);
  const auto below = [&](std::size_t n) { return static_cast<std::size_t>(random()) % n; };
  const auto word = [&] { return std::string(1 + below(9), static_cast<char>('a' + below(26))); };
  for (int round = 0; round < 300; ++round) {
    const std::size_t columns = 2 + below(8), rows = 1 + below(6), width = 24 + below(60);
    std::vector<Table::Column> titles(columns);
    for (Table::Column& column : titles) column = {word(), below(2) == 0 ? Table::Align::left : right};
    std::vector<Table::Row> cells(rows, Table::Row(columns));
    for (Table::Row& row : cells) std::ranges::generate(row, word);
    const Table table = table_of(titles, cells, below(3));
    const std::string fit = fitted(table, width);
    EXPECT_EQ(sorted_words(fit), sorted_words(Text(table).plain()));
    for (const std::string_view line : lines_of(fit)) {
      EXPECT_LE(width_of(line), width) << fit;
      EXPECT_TRUE(line.empty() || line.back() != ' ') << fit;
    }
  }
}

}  // namespace
}  // namespace monet

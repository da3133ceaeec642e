// Do tables keep their rows, whatever the cells hold?
#include <monet/text.h>

#include <gtest/gtest.h>

namespace monet {
namespace {

TEST(Tables, ShowControlCharactersAsOne) {
  Table table({{"name", Table::Align::left}, {"bytes", Table::Align::right}});
  table.add({"a\nb\x1b[2J\x7f", "1"});
  table.add({"caf\xc3\xa9", "12"});
  EXPECT_EQ(Text(table).plain(),
            "name      bytes\n"
            "---------------\n"
            "a?b?[2J?      1\n"
            "caf\xc3\xa9         12\n");
}

TEST(Tables, AlignsColumns) {
  Table table({{"name"}, {"number", Table::Align::right}});
  table.add({"a", "1"});
  table.add_rule();
  table.add({"longer", "1,000"});
  EXPECT_EQ(Text(table).plain(),
            "name    number\n"
            "--------------\n"
            "a            1\n"
            "--------------\n"
            "longer   1,000\n");
}

TEST(Tables, CountsCharactersNotBytes) {
  Table table({{"x"}, {"y"}});
  table.add({"größe", "1"});
  table.add({"abcde", "2"});
  const std::string text = Text(table).plain();
  EXPECT_NE(text.find("größe  1\n"), std::string::npos) << text;
  EXPECT_NE(text.find("abcde  2\n"), std::string::npos) << text;
}

}  // namespace
}  // namespace monet

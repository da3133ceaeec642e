// Do tables keep their rows, whatever the cells hold?
#include "present/text/table.h"

#include <gtest/gtest.h>

namespace monet {
namespace {

TEST(Tables, ShowControlCharactersAsOne) {
  Table table({{"name", Table::Align::left}, {"bytes", Table::Align::right}});
  table.add({"a\nb\x1b[2J\x7f", "1"});
  table.add({"caf\xc3\xa9", "12"});
  EXPECT_EQ(table.text(),
            "name      bytes\n"
            "---------------\n"
            "a?b?[2J?      1\n"
            "caf\xc3\xa9         12\n");
}

}  // namespace
}  // namespace monet

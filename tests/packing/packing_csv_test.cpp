// Are files of buffers read as written, and does each mistake get an answer that helps?
#include "packing/csv.h"
#include "support/expect_error.h"

#include <gmock/gmock.h>

namespace monet {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

Expected<PackTable> read(std::string_view text) { return read_pack_csv(text, "x.csv"); }

void expect_wrong_csv(std::string_view text, const std::vector<std::string>& words, const std::string& place) {
  const auto table = read(text);
  ASSERT_FALSE(table) << text;
  test::expect_error(table.error(), words, place);
}

TEST(PackCsv, ReadsBuffers) {
  const auto table = read("id,lower,upper,size\na,0,3,20\nb,-2,5,0\n");
  ASSERT_TRUE(table) << table.error().text();
  EXPECT_THAT(table->ids, ElementsAre("a", "b"));
  EXPECT_EQ(table->items[0].upper, 3);
  EXPECT_EQ(table->items[0].size, 20);
  EXPECT_EQ(table->items[0].alignment, 1);
  EXPECT_EQ(table->items[1].lower, -2);
  EXPECT_TRUE(table->notes.empty());
}

TEST(PackCsv, TakesColumnsInAnyOrderSpacesQuotesAndWindowsLines) {
  const auto table = read(
      "\xef\xbb\xbfsize, alignment ,id,upper,lower,hint\r\n"
      "4,\t8,\"a \"\"b\"\", c\" ,9,0,x\r\n"
      "\r\n"
      "7,,b,12,8,");
  ASSERT_TRUE(table) << table.error().text();
  EXPECT_THAT(table->ids, ElementsAre("a \"b\", c", "b"));
  EXPECT_EQ(table->items[0].alignment, 8);
  EXPECT_EQ(table->items[1].alignment, 1);
  EXPECT_EQ(table->items[1].lower, 8);
  EXPECT_THAT(table->notes, ElementsAre(HasSubstr("x.csv:1:33: the column \"hint\" is ignored")));
}

TEST(PackCsv, AHeadingAloneIsNoBuffers) {
  const auto table = read("id,lower,upper,size");
  ASSERT_TRUE(table);
  EXPECT_TRUE(table->items.empty());
}

TEST(PackCsv, AColumnThatIsNearlyOneSaysSo) {
  const auto table = read("id,lower,upper,size,alignmen\na,0,3,20,8\n");
  ASSERT_TRUE(table);
  EXPECT_THAT(table->notes, ElementsAre(HasSubstr("did you mean \"alignment\"?")));
}

TEST(PackCsv, Mistakes) {
  expect_wrong_csv("", {"empty"}, "x.csv");
  expect_wrong_csv("\n \n", {"empty"}, "x.csv");
  expect_wrong_csv("id,lower,uper,size\n", {"no column \"upper\""}, "x.csv:1:1");
  expect_wrong_csv("a,0,3,20\n", {"no column \"id\""}, "x.csv:1:1");
  expect_wrong_csv("id,lower,upper,size,lower\n", {"\"lower\" is there twice"}, "x.csv:1:21");
  const std::string heading = "id,lower,upper,size,alignment\n";
  expect_wrong_csv(heading + "a,0,3,20\n", {"4 fields, the heading 5"}, "x.csv:2:1");
  expect_wrong_csv(heading + "a,0,3,20,1,1\n", {"6 fields, the heading 5"}, "x.csv:2:1");
  expect_wrong_csv(heading + "\na,0,3, 2k,1\n", {"the size is \"2k\""}, "x.csv:3:8");
  expect_wrong_csv(heading + "a,,3,2,1\n", {"the lower is \"\""}, "x.csv:2:3");
  expect_wrong_csv(heading + "a,0,3,99999999999999999999,1\n", {"99999999999999999999 is out of range"}, "x.csv:2:7");
  expect_wrong_csv(heading + "a,4,3,2,1\n", {"the upper is 3"}, "x.csv:2:5");
  expect_wrong_csv(heading + "a,-9223372036854775808,5,2,1\n", {"the upper is 5"}, "x.csv:2:24");
  expect_wrong_csv(heading + "a,0,3,-2,1\n", {"the size is -2"}, "x.csv:2:7");
  expect_wrong_csv(heading + "a,0,3,2,0\n", {"the alignment is 0"}, "x.csv:2:9");
  expect_wrong_csv(heading + "a,0,3,1152921504606846976,1\n", {"the size is 1152921504606846976"}, "x.csv:2:7");
  expect_wrong_csv(heading + "a,0,3,2,1\na,0,3,2,1\n", {"\"a\" is already in line 2"}, "x.csv:3:1");
  expect_wrong_csv(heading + "\"a,0,3,2,1\n", {"quotes are not closed"}, "x.csv:2:1");
  expect_wrong_csv(heading + "\"a\"b,0,3,2,1\n", {"follows the closing quote"}, "x.csv:2:4");
  expect_wrong_csv(heading + std::string(1001, 'a') + ",0,3,2,1\n", {"1001 characters"}, "x.csv:2:1");
  expect_wrong_csv(std::string(1000, ','), {"more than 1000 fields"}, "x.csv:1:1001");
}

TEST(PackCsv, TooManyBuffers) {
  const std::string text = "id,lower,upper,size\na,0,1,1\nb,0,1,1\nc,0,1,1\n";
  EXPECT_TRUE(read_pack_csv(text, "x.csv", 3));
  const auto table = read_pack_csv(text, "x.csv", 2);
  ASSERT_FALSE(table);
  test::expect_error(table.error(), {"more than 2 buffers"}, "x.csv:4:1");
}

}  // namespace
}  // namespace monet

// Is every message text that a terminal and JSON can show, whatever a file held?
#include "base/text.h"

#include <monet/error.h>

#include <gtest/gtest.h>

namespace monet {
namespace {

TEST(AsUtf8, LeavesWhatIsRight) {
  for (const char* text : {"", "conv1", "größe", "…", "\xf0\x9f\x8c\xb3", "a\tb"}) EXPECT_EQ(as_utf8(text), text);
}

// RFC 3629: stray and missing continuations, overlong forms, surrogates, beyond the last character.
TEST(AsUtf8, EscapesWhatIsNot) {
  EXPECT_EQ(as_utf8("a\xff"
                    "b"),
            "a\\xffb");
  EXPECT_EQ(as_utf8("\x80"), "\\x80");
  EXPECT_EQ(as_utf8("\xc3"), "\\xc3");
  EXPECT_EQ(as_utf8("\xc3("), "\\xc3(");
  EXPECT_EQ(as_utf8("\xc0\xaf"), "\\xc0\\xaf");
  EXPECT_EQ(as_utf8("\xe0\x80\xaf"), "\\xe0\\x80\\xaf");
  EXPECT_EQ(as_utf8("\xed\xa0\x80"), "\\xed\\xa0\\x80");
  EXPECT_EQ(as_utf8("\xf4\x90\x80\x80"), "\\xf4\\x90\\x80\\x80");
}

TEST(AsUtf8, OfEveryError) {
  EXPECT_EQ((Error{.message = "no '\xfe'", .place = "n\xc3", .advice = "x"}).text(), "n\\xc3: no '\\xfe' (x)");
}

}  // namespace
}  // namespace monet

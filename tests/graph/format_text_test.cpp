// Are formats written so that they can be read again, and is everything else refused?
#include "graph/format.h"

#include <gtest/gtest.h>

#include <random>
#include <set>

namespace monet {
namespace {

using enum ElementType;

TEST(FormatText, IsReadAsItIsWritten) {
  for (const char* text :
       {"fp32", "int4", "fp7e3m3", "int5", "fp8e4m3:e8m0/32@-1", "int8:e8m0/8x8@-3", "int8:e8m0/16@-1+1/2",
        "int8:fp32/tensor", "int8:e8m0/tensor", "int8:fp32/channel@-4", "fp4e2m1:fp8e4m3/16@-1+tensor32",
        "fp4e2m1:fp8e4m3/channel@-1+tensor32", "fp12e5m6i:bf16/7@-32", "uint8:fp16/65535x65535@-1", "int8:fp64/2x1@-1",
        "int2:e8m0/1@-1", "int8:e8m0/255@-1+8/255"}) {
    const auto format = parse_format(text);
    ASSERT_TRUE(format.has_value()) << text;
    EXPECT_EQ(to_string(*format), text);
    EXPECT_EQ(parse_format(to_string(*format)), format);
    EXPECT_EQ(what_is_wrong(*format), "");
  }
}

TEST(FormatText, MeansWhatItSays) {
  EXPECT_EQ(parse_format("fp8e4m3:e8m0/32@-2"),
            (Format{.element = float8e4m3fn, .scale_bits = 8, .group_axis = -2, .group_size = 32}));
  EXPECT_EQ(parse_format("int8:e8m0/4x8@-1"),
            (Format{.element = int8, .scale_bits = 8, .group_size = 8, .group_rows = 4}));
  EXPECT_EQ(
      parse_format("int8:fp32/channel@-4"),
      (Format{.element = int8, .scale_bits = 32, .group_axis = -4, .grouping = Grouping::channel, .scale = float32}));
  EXPECT_EQ(
      parse_format("fp4e2m1:fp8e4m3/16@-1+tensor32"),
      (Format{
          .element = float4e2m1, .scale_bits = 8, .group_size = 16, .scale = float8e4m3fn, .tensor_scale_bits = 32}));
}

TEST(FormatText, RefusesEverythingElse) {
  for (const char* text : {"",
                           ":",
                           "/",
                           "fp33",
                           "FP32",
                           "fp32 ",
                           " fp32",
                           "fp32:",
                           "int8:e8m0",
                           "int8:e8m0/",
                           "int8:e8m0/32",
                           "int8:e8m0/32@",
                           "int8:e8m0/32@1",
                           "int8:e8m0/32@0",
                           "int8:e8m0/32@-0",
                           "int8:e8m0/32@-33",
                           "int8:e8m0/32@-1x",
                           "int8:e8m0/32@-1+",
                           "int8:e8m0/0@-1",
                           "int8:e8m0/-8@-1",
                           "int8:e8m0/65536@-1",
                           "int8:e8m0/99999999999999999999@-1",
                           "int8:e8m0/032@-1",
                           "int8:e8m0/+32@-1",
                           "int8:e8m0/8x@-1",
                           "int8:e8m0/x8@-1",
                           "int8:e8m0/0x8@-1",
                           "int8:e8m0/1x8@-1",
                           "int8:e8m0/8x8x8@-1",
                           "int8:fp8e8m0/32@-1",
                           "int8:int8/32@-1",
                           "int8:fp33/32@-1",
                           "int8:e8m0/tensor@-1",
                           "int8:e8m0/channel",
                           "int8:e8m0/rows@-1",
                           "int8:e8m0/16@-1+1",
                           "int8:e8m0/16@-1+1/",
                           "int8:e8m0/16@-1+0/2",
                           "int8:e8m0/16@-1+9/2",
                           "int8:e8m0/16@-1+1/0",
                           "int8:e8m0/16@-1+1/256",
                           "int8:e8m0/16@-1+1/2+1/2",
                           "int8:e8m0/16@-1+1/2+2/4",
                           "fp4e2m1:fp8e4m3/16@-1+tensor",
                           "fp4e2m1:fp8e4m3/16@-1+tensor32+tensor32",
                           "fp4e2m1:fp8e4m3/16@-1 +tensor32",
                           "bool:e8m0/32@-1",
                           "fp64:e8m0/32@-1",
                           "int8:fp32/16@-1+1/2",
                           "int8:e8m0/16@-1+tensor32",
                           "fp4e2m1:fp8e4m3/16@-1+tensor16",
                           "fp4e2m1:fp32/tensor+tensor32",
                           "int8:e8m0/2@-1+1/3"}) {
    EXPECT_EQ(parse_format(text), std::nullopt) << text;
  }
}

TEST(FormatText, SaysWhatIsWrong) {
  struct Case {
    Format format;
    std::string_view complaint;
  };
  const Format mx{.element = int8, .scale_bits = 8, .group_size = 32};
  const auto with = [&](auto change) {
    Format format = mx;
    change(format);
    return format;
  };
  for (const Case& one : {
           Case{with([](Format& f) { f.element = boolean; }), "bool cannot be scaled"},
           Case{with([](Format& f) { f.element = float8e8m0; }), "fp8e8m0 cannot be scaled"},
           Case{with([](Format& f) { f.element = float64; }), "at most 32 bits, not fp64"},
           Case{with([](Format& f) { f.element = uint64; }), "at most 32 bits, not uint64"},
           Case{with([](Format& f) { f.scale = int8; }), "a floating-point number, not int8"},
           Case{with([](Format& f) { f.group_size = 0; }), "at least one element"},
           Case{with([](Format& f) { f.group_rows = 0; }), "at least one element"},
           Case{with([](Format& f) { f.subgroup_size = 0; }), "at least one element"},
           Case{with([](Format& f) { f.group_axis = 0; }), "counted from the last"},
           Case{with([](Format& f) { f.group_axis = -33; }), "counted from the last"},
           Case{with([](Format& f) { f.subscale_bits = 9; }), "at most 8 bits"},
           Case{with([](Format& f) {
                  f.subscale_bits = 1;
                  f.grouping = Grouping::tensor;
                }),
                "subgroups need blocks"},
           Case{with([](Format& f) {
                  f.subscale_bits = 1;
                  f.scale = float32;
                }),
                "subgroups need blocks"},
           Case{with([](Format& f) {
                  f.subscale_bits = 1;
                  f.subgroup_size = 33;
                }),
                "a subgroup of 33 is larger than its group of 32"},
           Case{with([](Format& f) { f.tensor_scale_bits = 16; }), "has 32 bits, not 16"},
           Case{with([](Format& f) { f.tensor_scale_bits = 32; }), "needs groups with a floating-point scale"},
           Case{with([](Format& f) {
                  f.tensor_scale_bits = 32;
                  f.scale = float32;
                  f.grouping = Grouping::tensor;
                }),
                "needs groups with a floating-point scale"},
       }) {
    EXPECT_NE(what_is_wrong(one.format).find(one.complaint), std::string::npos)
        << "'" << one.complaint << "' is not in: " << what_is_wrong(one.format);
  }
  EXPECT_EQ(what_is_wrong({.element = float64}), "");
}

// Pieces of formats in any order, and letters changed: whatever is read is written as it was.
TEST(FormatText, SurvivesRandomWords) {
  const std::vector<std::string> pieces = {"int8",    "fp4e2m1", ":",     "e8m0", "fp32",  "/",      "32",
                                           "8x8",     "@-1",     "@",     "+",    "1/2",   "tensor", "32",
                                           "channel", "-",       "99999", "x",    "\0\xff"};
  std::mt19937_64 random(1);
  int read = 0;
  for (int i = 0; i < 200000; ++i) {
    std::string text;
    for (std::uint64_t k = random() % 12; k > 0; --k) text += pieces[random() % pieces.size()];
    if (i % 2 == 0) text = "int8:e8m0/32@-1+1/2";
    for (std::uint64_t k = random() % 3; k > 0 && !text.empty(); --k)
      text[random() % text.size()] = static_cast<char>(random());
    const auto format = parse_format(text);
    if (!format) continue;
    ++read;
    EXPECT_EQ(to_string(*format), text);
    EXPECT_GE(stored_bits(*format), 2);
  }
  EXPECT_GT(read, 1000);
}

TEST(FormatText, TypesOfAUserHaveNamesOfTheirOwn) {
  std::set<std::string> names;
  for (std::int64_t number = -2; number <= 0x10001; ++number) {
    if (!is_known(number)) continue;
    const auto type = static_cast<ElementType>(number);
    EXPECT_TRUE(names.emplace(name_of(type)).second) << name_of(type);
    EXPECT_EQ(element_type_named(name_of(type)), type);
    EXPECT_GE(bits_of(type), 2);
    EXPECT_LE(bits_of(type), 64);
    EXPECT_EQ(is_floating(type) + is_integer(type) + (type == boolean), 1);
    if (const auto parts = unnamed_float_parts(type)) {
      EXPECT_EQ(float_element(parts->exponent_bits, parts->mantissa_bits, parts->specials), type);
      EXPECT_EQ(bits_of(type), 1 + parts->exponent_bits + parts->mantissa_bits);
    }
  }
  // 24 named; 7 · 24 · 3 floats without the 7 of ieee that lack a mantissa and the 8 that are named; 31 integers
  // without 4.
  EXPECT_EQ(names.size(), 24U + (7 * 24 * 3 - 7 - 8) + (31 - 4));
  EXPECT_EQ(float_element(4, 3, Specials::nan), float8e4m3fn);
  EXPECT_EQ(float_element(5, 2, Specials::ieee), float8e5m2);
  EXPECT_EQ(integer_element(8), int8);
  EXPECT_EQ(name_of(*float_element(4, 3, Specials::none)), "fp8e4m3f");
  for (const auto& wrong : {float_element(1, 3, Specials::none), float_element(9, 3, Specials::none),
                            float_element(4, -1, Specials::none), float_element(4, 24, Specials::none),
                            float_element(4, 0, Specials::ieee), integer_element(1), integer_element(33)})
    EXPECT_EQ(wrong, std::nullopt);
}

TEST(FormatText, PrecisionsUnderWhichHardwareListsRates) {
  const auto name = [](std::string_view text) { return precision_name(*parse_format(text)); };
  EXPECT_EQ(name("fp32"), "fp32");
  EXPECT_EQ(name("fp8e4m3:e8m0/32@-1"), "mxfp8");
  EXPECT_EQ(name("fp6e2m3:e8m0/8x8@-1"), "mxfp6");
  EXPECT_EQ(name("fp4e2m1:e8m0/32@-1"), "mxfp4");
  EXPECT_EQ(name("int8:e8m0/32@-1"), "mxint8");
  EXPECT_EQ(name("int8:e8m0/16@-1+1/2"), "mx9");
  EXPECT_EQ(name("int5:e8m0/16@-1+1/2"), "mx6");
  EXPECT_EQ(name("int3:e8m0/16@-1+1/2"), "mx4");
  EXPECT_EQ(name("int8:fp32/tensor"), "int8");
}

}  // namespace
}  // namespace monet

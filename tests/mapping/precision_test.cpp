// In which numbers does a unit work on a problem that names others, and is it told?
#include "mapping/precision.h"

#include "mapping/random_cases.h"

#include <gtest/gtest.h>

namespace monet {
namespace {

using namespace test;

std::string nearest(const std::vector<std::string>& listed, const std::string& wanted) {
  std::vector<PrecisionRate> rates;
  for (const std::string& name : listed) rates.push_back({name});
  const PrecisionRate* found = nearest_precision(rates, wanted);
  return found == nullptr ? "" : found->name;
}

TEST(NearestPrecision, TheNearestIsAsWideAndOfTheSameKind) {
  using Names = std::vector<std::string>;
  const Names snax = {"mxint8", "mxfp8", "mxfp6", "mxfp4"};
  const Names dacapo = {"mx9", "mx6", "mx4"};
  const Names gpu = {"fp32", "tf32", "bf16", "fp16", "fp8", "int8"};
  struct Row {
    Names listed;
    const char *wanted, *found;
  };
  for (const Row& row : {
           // What is listed, under any of its names.
           Row{snax, "mxfp6", "mxfp6"},
           Row{gpu, "fp8e4m3", "fp8"},
           Row{gpu, "fp8e5m2", "fp8"},
           Row{{"fp8_e4m3", "fp8_e5m2"}, "fp8e5m2", "fp8_e5m2"},
           Row{{"fp16", "bf16"}, "bf16", "bf16"},
           // Wide enough, of the same kind, and of these the narrowest.
           Row{{"fp8", "mxfp8"}, "mxfp6", "mxfp8"},
           Row{{"mxint8", "fp8"}, "mxfp6", "fp8"},
           Row{{"mxfp8", "int8"}, "mxint8", "int8"},
           Row{{"mxfp8", "mxint8", "int8"}, "int4", "int8"},
           Row{{"fp16", "int32"}, "int8", "int32"},
           Row{{"int32", "bf16", "fp32"}, "fp16", "bf16"},
           Row{{"mxfp16", "mx9"}, "mx6", "mx9"},
           Row{dacapo, "mxfp8", "mx9"},
           Row{dacapo, "mxfp4", "mx4"},
           Row{snax, "int8", "mxint8"},
           Row{snax, "fp8e4m3", "mxfp8"},
           Row{{"bf16", "fp32"}, "int8", "bf16"},
           // Nothing is wide enough: the widest, of the same kind where there are two.
           Row{snax, "mx9", "mxint8"},
           Row{snax, "bf16", "mxfp8"},
           Row{{"int8", "bf16"}, "fp32", "bf16"},
           Row{{"int8", "int16"}, "fp32", "int16"},
           Row{{"fp32", "int32"}, "int64", "int32"},
           // No kind is asked for.
           Row{{"fp32", "int8"}, "bool", "int8"},
           Row{{}, "fp32", ""},
       }) {
    EXPECT_EQ(nearest(row.listed, row.wanted), row.found) << row.wanted;
  }
}

Problem product_of(const std::string& precision, double bits) {
  Problem problem = matmul(1, 4, 4, 4);
  problem.precision = precision;
  for (ProblemOperand& operand : problem.operands) operand.bits = operand.written ? 32 : bits;
  return problem;
}

Unit unit_with(std::vector<PrecisionRate> precisions) {
  Unit unit;
  unit.name = "array";
  unit.precisions = std::move(precisions);
  return unit;
}

TEST(NearestPrecision, OperandsOfBlocksKeepTheirShareOfTheScales) {
  std::string note;
  const Problem adapted = adapt(product_of("mxfp8", 8.25), unit_with({{"mxfp8", 4, 1, "fp25"}}), &note);
  EXPECT_EQ(note, "");
  EXPECT_EQ(adapted.operands[0].bits, 8.25);
  EXPECT_EQ(adapted.operands.back().bits, 32);
  EXPECT_EQ(adapted.operands[0].partial_bits, 25);
  EXPECT_EQ(adapted.operands.back().partial_bits, 32);
}

TEST(NearestPrecision, ProductsInOtherNumbersAreTold) {
  std::string note;
  adapt(product_of("fp32", 32), unit_with({{"mxint8"}, {"mxfp8"}}), &note);
  EXPECT_EQ(note,
            "the array works in mxfp8: a product of fp32 operands cannot run there as it is, and is costed as if they "
            "had been converted to mxfp8");
  EXPECT_NE(note.find(costed_as_converted), std::string::npos);
  note.clear();
  adapt(product_of("mxfp8", 8.25), unit_with({{"mx9"}, {"mx6"}}), &note);
  EXPECT_EQ(note, "the array has no mxfp8: such products are costed in mx9");
  note.clear();
  adapt(product_of("fp32", 32), unit_with({{"bf16"}}), &note);
  EXPECT_EQ(note, "the array works in bf16: fp32 operands are costed at 16 bits");
  note.clear();
  adapt(product_of("fp8e4m3", 8), unit_with({{"fp8"}}), &note);
  EXPECT_EQ(note, "");
}

TEST(NearestPrecision, ResultsOfIntegersAreNoWiderThanTheirSums) {
  struct Row {
    PrecisionRate rate;
    double bits;
    std::int64_t partial_bits;
  };
  for (const Row& row : {Row{{"int8", 1, 1, "int16"}, 8, 16}, Row{{"int8", 1, 1, "int32"}, 32, 32},
                         Row{{"mxint8", 1, 1, "fp25"}, 32, 32}}) {
    std::string note;
    const Problem adapted = adapt(product_of(row.rate.name, 8), unit_with({row.rate}), &note);
    EXPECT_EQ(adapted.operands[0].bits, 8);
    EXPECT_EQ(adapted.operands.back().bits, row.bits) << row.rate.accumulate;
    EXPECT_EQ(adapted.operands.back().partial_bits, row.partial_bits) << row.rate.accumulate;
    EXPECT_EQ(note, row.bits == 32
                        ? ""
                        : "the array works in int8 and adds up in int16: results of 32 bits are costed at 8 bits");
  }
}

}  // namespace
}  // namespace monet

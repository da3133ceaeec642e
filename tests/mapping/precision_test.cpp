// In which numbers does a unit work on a problem that names others, and is it told?
#include "mapping/precision.h"

#include "graph/number.h"
#include "mapping/random_cases.h"

#include <gtest/gtest.h>

#include <cmath>

namespace monet {
namespace {

using namespace test;

std::string used(const std::vector<std::string>& listed, const std::string& wanted) {
  std::vector<PrecisionRate> rates;
  for (const std::string& name : listed) rates.push_back({name});
  const PrecisionRate* found = precision_for(rates, wanted);
  return found == nullptr ? "" : found->name;
}

TEST(PrecisionFor, IsItsOwnOrTheNarrowestThatHoldsIt) {
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
           // Wider numbers, of which each of its own is one.
           Row{{"fp32", "bf16"}, "fp16", "fp32"},
           Row{{"fp32", "fp16"}, "bf16", "fp32"},
           Row{{"bf16", "fp32"}, "int8", "bf16"},
           Row{{"fp32", "int32"}, "int8", "fp32"},
           Row{{"fp8", "mxfp8"}, "mxfp6", "mxfp8"},
           Row{gpu, "mxfp8", "bf16"},
           Row{gpu, "mx9", "bf16"},
           Row{{"mx9", "bf16"}, "mx6", "mx9"},
           // Never narrower ones.
           Row{{"int8", "bf16"}, "fp32", ""},
           Row{{"bf16"}, "fp16", ""},
           Row{{"fp16"}, "bf16", ""},
           Row{{"fp16"}, "mxfp8", ""},
           Row{{"int8", "int16"}, "fp32", ""},
           Row{snax, "bf16", ""},
           Row{dacapo, "mxfp8", ""},
           Row{{"int7"}, "int8", ""},
           Row{{}, "fp32", ""},
       }) {
    EXPECT_EQ(used(row.listed, row.wanted), row.found) << row.wanted;
  }
}

// Every number of one type, by its codes, rounded to the other.
bool holds_all(ElementType given, ElementType wanted) {
  const int bits = bits_of(wanted);
  for (std::uint32_t code = 0; code < (1U << bits); ++code) {
    double value = is_integer(wanted) ? static_cast<double>(code) - std::ldexp(1, bits - 1) : decoded(code, wanted);
    if (!std::isfinite(value)) continue;
    if (rounded(value, given) != value) return false;
  }
  return true;
}

TEST(PrecisionFor, HoldsIsWhatRoundingEveryNumberSays) {
  const std::vector<ElementType> wanted = {ElementType::float4e2m1,   ElementType::float6e3m2, ElementType::float6e2m3,
                                           ElementType::float8e4m3fn, ElementType::float8e5m2, ElementType::float16,
                                           ElementType::bfloat16,     ElementType::int8,       ElementType::int16};
  const std::vector<ElementType> given = {ElementType::float16, ElementType::bfloat16, ElementType::tfloat32,
                                          ElementType::float32, ElementType::int8,     ElementType::int16};
  for (const ElementType to : given) {
    for (const ElementType from : wanted) {
      // Integers hold no fractions; those of a small type that has none are not told apart by its name.
      if (is_integer(to) && is_floating(from)) {
        EXPECT_FALSE(holds(name_of(to), name_of(from)));
        continue;
      }
      EXPECT_EQ(holds(name_of(to), name_of(from)), holds_all(to, from)) << name_of(from) << " in " << name_of(to);
    }
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

TEST(Adapt, OperandsOfBlocksKeepTheirShareOfTheScales) {
  std::string note;
  const Problem adapted = adapt(product_of("mxfp8", 8.25), unit_with({{"mxfp8", 4, 1, "fp25"}}), &note);
  EXPECT_EQ(note, "");
  EXPECT_EQ(adapted.operands[0].bits, 8.25);
  EXPECT_EQ(adapted.operands.back().bits, 32);
  EXPECT_EQ(adapted.operands[0].partial_bits, 25);
  EXPECT_EQ(adapted.operands.back().partial_bits, 32);
}

TEST(Adapt, ProductsInOtherNumbersAreTold) {
  std::string note;
  Problem plain = product_of("fp32", 32);
  const Unit blocks = unit_with({{"mxint8"}, {"mxfp8"}});
  EXPECT_FALSE(has_precision(blocks.precisions, plain));
  plain.leeway = Leeway::blocks;
  EXPECT_TRUE(has_precision(blocks.precisions, plain));
  const Problem converted = adapt(plain, blocks, &note);
  EXPECT_EQ(note,
            "the array works in mxint8: products of fp32 operands are costed as if these had been converted to mxint8");
  EXPECT_TRUE(is_converted(plain, converted.precision));
  note.clear();
  const Problem wider = adapt(product_of("mxfp8", 8.25), unit_with({{"bf16"}}), &note);
  EXPECT_EQ(note, "the array has no mxfp8: such products run in bf16");
  EXPECT_FALSE(is_converted(product_of("mxfp8", 8.25), wider.precision));
  note.clear();
  adapt(product_of("fp8e4m3", 8), unit_with({{"fp8"}}), &note);
  EXPECT_EQ(note, "");
}

// A product in bf16 of fp32 operands: they are rounded where they enter the array, and not before.
TEST(Adapt, ElementsStayAsWideAsTheyAreButForRegisters) {
  Problem problem = product_of("bf16", 32);
  const Problem adapted = adapt(problem, unit_with({{"bf16", 1, 1, "fp32"}}));
  EXPECT_EQ(adapted.operands[0].bits, 32);
  EXPECT_EQ(adapted.operands[0].bits_in(MemoryKind::registers), 16);
  EXPECT_EQ(adapted.operands[0].bits_in(MemoryKind::sram), 32);
  EXPECT_EQ(adapted.operands.back().bits, 32);
  const Problem summed = adapt(product_of("int8", 8), unit_with({{"int8", 1, 1, "int16"}}));
  EXPECT_EQ(summed.operands.back().bits, 32) << "what the tensor is, it stays";
}

TEST(Adapt, WhatOnlyCountsRunsInAnyNumbers) {
  Problem indices = product_of("int64", 64);
  indices.per_point[Count::mac] = 0;
  indices.per_point[Count::add] = 1;
  const Unit unit = unit_with({{"bf16"}, {"int8"}});
  EXPECT_FALSE(has_precision(unit.precisions, indices));
  indices.leeway = Leeway::any;
  EXPECT_EQ(adapt(indices, unit).precision, "bf16");
  EXPECT_EQ(adapt(indices, unit).operands[0].bits, 64);
}

TEST(Adapt, AUnitThatNamesNoPrecisionsWorksInAll) {
  EXPECT_TRUE(has_precision({}, product_of("fp32", 32)));
  EXPECT_EQ(adapt(product_of("fp32", 32), unit_with({})).precision, "fp32");
}

}  // namespace
}  // namespace monet

#include "config/expression.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <cmath>
#include <memory>

namespace monet {
namespace {

double value_of(const std::string& text, const std::vector<double>& values = {}) {
  const auto expression = Expression::parse(text);
  if (!expression) {
    ADD_FAILURE() << text << ": " << expression.error().text();
    return 0;
  }
  return expression->evaluate(values);
}

std::string expression_problem(const std::string& text) {
  const auto expression = Expression::parse(text);
  return expression ? "no error" : expression.error().text();
}

TEST(Expression, Precedence) {
  EXPECT_EQ(value_of("1 + 2 * 3"), 7);
  EXPECT_EQ(value_of("(1 + 2) * 3"), 9);
  EXPECT_EQ(value_of("10 - 4 - 3"), 3);
  EXPECT_EQ(value_of("64 / 4 / 2"), 8);
  EXPECT_EQ(value_of("2 ** 3 ** 2"), 512);
  EXPECT_EQ(value_of("-2 ** 2"), -4);
  EXPECT_EQ(value_of("2 ** -1"), 0.5);
  EXPECT_EQ(value_of("2*3**2"), 18);
  EXPECT_EQ(value_of("1 + 1 == 2"), 1);
  EXPECT_EQ(value_of("not 1 == 2"), 1);
  EXPECT_EQ(value_of("1 or 0 and 0"), 1);
  EXPECT_EQ(value_of("-7 % 4"), 1);
  EXPECT_EQ(value_of("- -3"), 3);
}

TEST(Expression, Functions) {
  EXPECT_EQ(value_of("min(3, 1, 2)"), 1);
  EXPECT_EQ(value_of("max(3)"), 3);
  EXPECT_EQ(value_of("ceil(7 / 2) + floor(7 / 2)"), 7);
  EXPECT_EQ(value_of("round(2.5)"), 3);
  EXPECT_EQ(value_of("abs(-4) + log2(8) + sqrt(16)"), 11);
  EXPECT_EQ(value_of("if(2 > 1, 10, 20)"), 10);
  EXPECT_EQ(value_of("if(0, 1 / 0, 5)"), 5);
  EXPECT_TRUE(std::isinf(value_of("1 / 0")));
}

TEST(Expression, NamesInOrderOfFirstUse) {
  const auto rule = Expression::parse("ceil(rows / 8) * (depth / rate + 1) + rows");
  ASSERT_TRUE(rule);
  EXPECT_EQ(rule->names(), (std::vector<std::string>{"rows", "depth", "rate"}));
  EXPECT_EQ(rule->evaluate(std::vector<double>{17, 32, 2}), 3 * 17 + 17);
  EXPECT_EQ(rule->text(), "ceil(rows / 8) * (depth / rate + 1) + rows");
}

TEST(Expression, QuantitiesAreInBaseUnits) {
  EXPECT_EQ(value_of("2 MiB / 8 bit"), 2097152);
  EXPECT_EQ(value_of("x * 64 bit/cycle", {2}), 128);
  // Below the slash a name of a unit is a unit, any other name is divided by.
  EXPECT_EQ(value_of("64 bit / x", {2}), 32);
}

Expected<Quantity> quantity_of(const std::string& text, const std::vector<Quantity>& values) {
  return Expression::parse(text)->evaluate(values);
}

TEST(Expression, DimensionsAreChecked) {
  const Quantity size{1024, {.bit = 1}};
  EXPECT_EQ(quantity_of("x * 2 + 1 KiB", {size})->value, 2048 + 8192);
  EXPECT_EQ(quantity_of("x / 8 bit", {size})->dimension, Dimension{});
  EXPECT_EQ(quantity_of("max(0, x)", {size})->dimension, size.dimension);
  EXPECT_EQ(quantity_of("if(x > 1 B, x, 0)", {size})->dimension, size.dimension);
  EXPECT_EQ(quantity_of("ceil(x / 3)", {size})->dimension, size.dimension);
  EXPECT_EQ(quantity_of("x + 1", {size}).error().text(), "a sum needs two values with the same unit");
  EXPECT_EQ(quantity_of("x > 1 ns", {size}).error().text(), "a comparison needs two values with the same unit");
  EXPECT_EQ(quantity_of("min(x, 1 cycle)", {size}).error().text(), "min, max or % needs two values with the same unit");
  EXPECT_EQ(quantity_of("if(1, x, 1 ns)", {size}).error().text(), "if needs two values with the same unit");
  EXPECT_EQ(quantity_of("x ** 2", {size}).error().text(), "a power takes numbers without units");
  EXPECT_EQ(quantity_of("log2(x)", {size}).error().text(), "log2 and sqrt take a number without a unit");
}

TEST(Expression, ErrorsSayTheColumn) {
  EXPECT_EQ(expression_problem("1 +"), "a value is missing at column 4 of the expression");
  EXPECT_EQ(expression_problem(""), "a value is missing at column 1 of the expression");
  EXPECT_EQ(expression_problem("(1"), "')' is missing at column 3 of the expression");
  EXPECT_EQ(expression_problem("1 1"), "unexpected '1' at column 3 of the expression");
  EXPECT_EQ(expression_problem("2 * $"), "unexpected '$' at column 5 of the expression");
  EXPECT_EQ(expression_problem("ciel(2)"),
            "unknown function 'ciel' at column 1 of the expression (did you mean 'ceil'?)");
  EXPECT_EQ(expression_problem("if(1, 2)"), "if takes 3 arguments, not 2 at column 8 of the expression");
  EXPECT_EQ(expression_problem("ceil(1, 2)"), "ceil takes 1 argument, not 2 at column 10 of the expression");
  EXPECT_EQ(expression_problem("1 < 2 < 3"),
            "a comparison of comparisons at column 8 of the expression (join two comparisons by `and`)");
  EXPECT_EQ(expression_problem("min + 1"), "'min' is not a value at column 1 of the expression");
  EXPECT_EQ(expression_problem("3 lightyears"),
            "unknown unit 'lightyears' at column 3 of the expression (units: B, bit, cycle, s, Hz, "
            "J, W, mm2, nm, OP, with k M G … or Ki Mi Gi …, and one / between two)");
}

TEST(Expression, NestingEnds) {
  EXPECT_EQ(value_of(std::string(60, '(') + "1" + std::string(60, ')')), 1);
  EXPECT_THAT(expression_problem(std::string(100, '(') + "1" + std::string(100, ')')),
              testing::HasSubstr("nesting deeper than 64"));
  EXPECT_THAT(expression_problem(std::string(5000, '-') + "1"), testing::HasSubstr("nesting deeper than 64"));
  EXPECT_THAT(expression_problem(std::string(20000, '1')), testing::HasSubstr("too long"));
  std::string powers = "1";
  for (int i = 0; i < 100; ++i) powers += "**1";
  EXPECT_THAT(expression_problem(powers), testing::HasSubstr("nesting deeper than 64"));
}

// A tree that is written out as text and, independently, evaluated by recursion.
struct Tree {
  std::string text;
  double value;
};

Tree random_tree(int depth, double x, double y) {
  const int kind = depth == 0 ? *rc::gen::inRange(0, 3) : *rc::gen::inRange(0, 14);
  if (kind == 0) {
    const int number = *rc::gen::inRange(0, 100);
    return {std::to_string(number), static_cast<double>(number)};
  }
  if (kind == 1) return {"x", x};
  if (kind == 2) return {"y", y};
  const Tree a = random_tree(depth - 1, x, y);
  if (kind == 3) return {"-(" + a.text + ")", -a.value};
  if (kind == 4) return {"ceil(" + a.text + ")", std::ceil(a.value)};
  if (kind == 5) return {"abs(" + a.text + ")", std::fabs(a.value)};
  if (kind == 6) return {"(not " + a.text + ")", a.value == 0 ? 1.0 : 0.0};
  const Tree b = random_tree(depth - 1, x, y);
  if (kind == 7) return {"(" + a.text + ") + (" + b.text + ")", a.value + b.value};
  if (kind == 8) return {"(" + a.text + ") - (" + b.text + ")", a.value - b.value};
  if (kind == 9) return {"(" + a.text + ") * (" + b.text + ")", a.value * b.value};
  if (kind == 10) return {"(" + a.text + ") / (" + b.text + ")", a.value / b.value};
  if (kind == 11) return {"((" + a.text + ") < (" + b.text + "))", a.value < b.value ? 1.0 : 0.0};
  if (kind == 12) return {"min(" + a.text + ", " + b.text + ")", b.value < a.value ? b.value : a.value};
  return {"if(" + a.text + ", " + b.text + ", 3)", a.value != 0 ? b.value : 3};
}

RC_GTEST_PROP(Expression, EqualsAnIndependentEvaluation, ()) {
  const double x = *rc::gen::inRange(-50, 50);
  const double y = *rc::gen::inRange(1, 50);
  const Tree tree = random_tree(5, x, y);
  const auto expression = Expression::parse(tree.text);
  RC_ASSERT(expression.has_value());
  std::vector<double> values;
  for (const std::string& name : expression->names()) values.push_back(name == "x" ? x : y);
  const double value = expression->evaluate(values);
  RC_ASSERT(value == tree.value || (std::isnan(value) && std::isnan(tree.value)));
}

}  // namespace
}  // namespace monet

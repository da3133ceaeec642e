// Quantize as an operator: its types, its loops, and that it is not worked out beforehand.
#include "graph/fold.h"
#include "support/expect_error.h"
#include "support/nest_check.h"

#include <gtest/gtest.h>

namespace monet::test {
namespace {

Expected<Graph> quantize_graph(const Shape& shape, const std::string& format, const std::string& mode = {}) {
  Attributes attributes = {{Attr::format, format}};
  if (!mode.empty()) attributes.set(Attr::mode, mode);
  return single(Op::Quantize, floats({shape}), attributes);
}

TEST(QuantizeOperator, GivesItsFormatToTheShapeOfItsInput) {
  for (const char* format : {"bf16", "fp8e4m3:e8m0/32@-1", "int8:e8m0/8x8@-1", "int8:fp32/tensor"}) {
    for (const Shape& shape : {Shape{3, 5}, Shape{7}, Shape{}, Shape{0, 4}}) {
      const auto graph = quantize_graph(shape, format);
      ASSERT_TRUE(graph.has_value()) << graph.error().text();
      const TensorType& type = (*graph)[graph->outputs[0]].type;
      EXPECT_EQ(type.shape, shape);
      EXPECT_EQ(to_string(type.format), format);
    }
  }
}

TEST(QuantizeOperator, RefusesWhatItCannotDo) {
  const auto refused = [](const Shape& shape, const std::string& format, const std::string& mode,
                          const std::vector<std::string>& words) {
    const auto graph = quantize_graph(shape, format, mode);
    ASSERT_FALSE(graph.has_value()) << format;
    expect_error(graph.error(), words, "", false);
  };
  refused({4}, "int8:e8m0", "", {"unknown format 'int8:e8m0'"});
  refused({4}, "int8:e8m0/32@-2", "", {"groups axis -2 of 4"});
  refused({}, "int8:fp32/channel@-2", "", {"groups axis -2 of scalar"});
  refused({4}, "int8:e8m0/32@-1", "upwards", {"unknown mode 'upwards'"});
  refused({std::int64_t{1} << 40, 1}, "int8:e8m0/65535@-1", "",
          {"to int8:e8m0/65535@-1 gives whole groups with more elements than can be counted"});
}

TEST(QuantizeOperator, ReadsAndWritesEveryElement) {
  for (const char* format : {"bf16", "fp8e4m3:e8m0/2@-1", "int8:e8m0/2x2@-1", "int8:e8m0/2@-2", "int8:fp32/channel@-2",
                             "int8:fp32/tensor"}) {
    const auto graph = quantize_graph({3, 4, 5}, format);
    ASSERT_TRUE(graph.has_value());
    EXPECT_EQ(NestCheck(site_of(*graph, graph->nodes().back())).complaint(), "") << format;
  }
}

// A multiplication by the scale's inverse and a rounding for each element; scales take a comparison more.
TEST(QuantizeOperator, CountsItsArithmetic) {
  for (const auto& [format, compares] : {std::pair{"bf16", 0}, {"fp8e4m3:e8m0/2@-1", 60}, {"int8:fp32/tensor", 60}}) {
    const auto graph = quantize_graph({3, 4, 5}, format);
    ASSERT_TRUE(graph.has_value());
    const auto counts = operation_counts(nests_of(site_of(*graph, graph->nodes().back())));
    ASSERT_TRUE(counts.has_value());
    EXPECT_EQ((*counts)[Count::multiply], 60) << format;
    EXPECT_EQ((*counts)[Count::round], 60) << format;
    EXPECT_EQ((*counts)[Count::compare], compares) << format;
  }
}

// At random: a random number for each element, and its addition.
TEST(QuantizeOperator, CountsRandomNumbers) {
  for (const char* format : {"bf16", "fp8e4m3:e8m0/2@-1", "int8:fp32/tensor"}) {
    const auto nearest = quantize_graph({3, 4, 5}, format);
    const auto random = quantize_graph({3, 4, 5}, format, "stochastic");
    ASSERT_TRUE(nearest.has_value() && random.has_value());
    auto expected = operation_counts(nests_of(site_of(*nearest, nearest->nodes().back())));
    const auto counts = operation_counts(nests_of(site_of(*random, random->nodes().back())));
    ASSERT_TRUE(expected.has_value() && counts.has_value());
    EXPECT_EQ((*expected)[Count::random], 0);
    (*expected)[Count::random] += 60;
    (*expected)[Count::add] += 60;
    EXPECT_EQ(*counts, *expected) << format;
  }
}

TEST(QuantizeOperator, IsNotFolded) {
  const Constant value = Constant::reals(ElementType::float32, {2}, {1.3, 2.6});
  const Constant* const inputs[] = {&value};
  for (const char* format : {"bf16", "int8", "int8:fp32/tensor"}) {
    const TensorType outputs[] = {{{2}, *parse_format(format)}};
    EXPECT_EQ(fold(Op::Quantize, {{Attr::format, std::string(format)}}, inputs, outputs), std::nullopt) << format;
  }
}

}  // namespace
}  // namespace monet::test

// Do tensors whose elements share scales take the bytes that they have, in memories and on links, and do the machines
// for them run everything that a step has?
#include "evaluate/evaluate_case.h"
#include "evaluate/open/hardware.h"

#include <fmt/format.h>

namespace monet {
namespace {

using namespace test;

TensorType type_of(const Shape& shape, const std::string& format) { return {shape, *parse_format(format)}; }

TEST(StoredWidth, AllElementsTogetherAreTheBytesOfTheTensor) {
  for (const char* format :
       {"fp32", "int4", "fp8e4m3:e8m0/32@-1", "fp4e2m1:e8m0/32@-2", "int8:e8m0/8x8@-1", "int8:e8m0/16@-1+1/2",
        "int8:fp32/tensor", "int8:fp32/channel@-2", "fp4e2m1:fp8e4m3/16@-1+tensor32"}) {
    for (const Shape& shape : {Shape{64, 64}, Shape{3, 40}, Shape{1, 1}, Shape{7, 65, 9}, Shape{33, 1}}) {
      const TensorType type = type_of(shape, format);
      EXPECT_EQ(stored_width(type).bytes(element_count(shape)), bytes(shape, type.format))
          << format << " " << to_string(shape);
    }
  }
}

TEST(StoredWidth, APartHasItsShare) {
  const StoredWidth width = stored_width(type_of({64, 64}, "fp8e4m3:e8m0/32@-1"));
  EXPECT_EQ(width, StoredWidth(33, 4));
  EXPECT_EQ(width.bytes(32), 33);
  EXPECT_EQ(width.bytes(1), 2);                                        // 8.25 bits
  EXPECT_EQ(stored_width(type_of({64, 64}, "int8")), StoredWidth(8));  // a whole number stays one
  EXPECT_EQ(stored_width(type_of({}, "fp32")), StoredWidth(32));
  EXPECT_EQ(StoredWidth(7).bytes(std::int64_t{1} << 60), 7 * (std::int64_t{1} << 57));  // no overflow on the way
}

// A core that does one operation a cycle, behind a link of 16 bits a cycle.
const std::string behind_a_link = "memories:\n  " + memory("dram", "dram", "1 GiB", 4096) + "\ncores:\n" +
                                  rate_core("c", memory("sram", "sram", "1 MiB", 4096) + ", dram: {use: dram}") +
                                  "links:\n  - {link: [dram, c], width: 16 bit/cycle}\n";

double cycles_to_quantize(const Shape& shape, const std::string& format) {
  GraphBuilder b("quantize");
  b.output(b.add(Op::Quantize, "q", {b.input("x", shape)}, {{Attr::format, format}}));
  return Case(finished(b), behind_a_link).cycles();
}

TEST(EvaluateLowPrecision, ScalesAndFilledGroupsMoveOnce) {
  // 32 bits of each element in; the largest, a product and a rounding for each; bytes() of the format out.
  EXPECT_EQ(cycles_to_quantize({64}, "fp8e4m3:e8m0/32@-1"), 64 * 2 + 64 * 3 + 66 * 8 / 16);
  EXPECT_EQ(cycles_to_quantize({128}, "fp4e2m1:e8m0/32@-1"), 128 * 2 + 128 * 3 + 68 * 8 / 16);
  EXPECT_EQ(cycles_to_quantize({16, 8}, "int8:e8m0/8x8@-1"), 128 * 2 + 128 * 3 + 130 * 8 / 16);
  EXPECT_EQ(cycles_to_quantize({64}, "int8"), 64 * 2 + 64 * 2 + 64 * 8 / 16);
  // 40 elements are stored as two groups of 32.
  EXPECT_EQ(cycles_to_quantize({40}, "fp8e4m3:e8m0/32@-1"), 40 * 2 + 40 * 3 + 66 * 8 / 16);
}

// A layer forward, its gradients and an update, with what a step has around products.
Graph quantized_step(const std::string& rows, const std::string& columns) {
  GraphBuilder b("step");
  const auto quantized = [&](TensorId x, const std::string& format) {
    return b.add(Op::Quantize, "quantize", {x}, {{Attr::format, format}});
  };
  const auto product = [&](TensorId x, TensorId y, bool left, bool right) {
    const TensorId result =
        b.add(Op::MatMul, "product", {x, y},
              {{Attr::trans_a, std::int64_t{left}}, {Attr::trans_b, std::int64_t{right}}, {Attr::alpha, 1.0}});
    b.edit()[result].type.format = {};
    return result;
  };
  const TensorId x = b.input("x", {16, 64});
  const TensorId w = b.parameter("w", {64, 32});
  const TensorId y = product(quantized(x, columns), quantized(w, rows), false, false);
  const TensorId biased = b.add(Op::Add, "bias", {y, b.parameter("b", {32})});
  const TensorId active = b.add(Op::Silu, "silu", {biased});
  const TensorId soft = b.add(Op::Softmax, "softmax", {active}, {{Attr::axes, std::vector<std::int64_t>{1}}});
  const TensorId gradient = b.add(Op::SiluGrad, "silu_gradient", {soft, biased});
  b.output(product(quantized(gradient, columns), quantized(w, columns), false, true));
  const TensorId dw = product(quantized(x, rows), quantized(gradient, rows), true, false);
  const TensorId rate = b.scalar(ElementType::float32, 0.1);
  const TensorId root = b.add(Op::Sqrt, "root", {b.add(Op::Mul, "square", {dw, dw})});
  const TensorId step = b.add(Op::Mul, "step", {b.add(Op::Div, "scaled", {dw, root}), rate});
  b.update(w, b.add(Op::Sub, "update", {w, step}));
  return finished(b);
}

TEST(EvaluateLowPrecision, MachinesRunAllOfAStepInTheirNumbers) {
  struct Row {
    const char *machine, *rows, *columns, *precision;
  };
  for (const Row& row : {Row{"snax_mx", "fp8e4m3:e8m0/8x8@-1", "fp8e4m3:e8m0/8x8@-1", "mxfp8"},
                         Row{"snax_mx", "int8:e8m0/8x8@-1", "int8:e8m0/8x8@-1", "mxint8"},
                         Row{"mx_square", "fp4e2m1:e8m0/8x8@-1", "fp4e2m1:e8m0/8x8@-1", "mxfp4"},
                         Row{"dacapo", "int8:e8m0/16@-2+1/2", "int8:e8m0/16@-1+1/2", "mx9"},
                         Row{"poet_mkr1000", "int8:fp32/tensor", "int8:fp32/tensor", "int8"},
                         Row{"poet_m4f", "int8:fp32/tensor", "int8:fp32/tensor", "int8"}}) {
    SCOPED_TRACE(row.machine);
    const auto hardware = open_hardware(row.machine);
    ASSERT_TRUE(hardware) << hardware.error().text();
    const Graph graph = quantized_step(row.rows, row.columns);
    MappingCache cache;
    Evaluator evaluator(graph, *hardware, cache, EvaluatorOptions{});
    const auto request = evaluator.bind({});
    ASSERT_TRUE(request) << request.error().text();
    const auto result = evaluator.evaluate(*request);
    ASSERT_TRUE(result) << result.error().text();
    const CheckReport report = check(evaluator, *result);
    EXPECT_EQ(report.count, 0U) << report.violations.front().what;
    for (const ScheduledTile& tile : result->schedule.tiles) {
      const TileCost& cost = result->schedule.costs[tile.cost];
      if (cost.macs > 0) {
        EXPECT_EQ(cost.precision, row.precision);
      }
    }
    for (const std::string& note : evaluator.notes()) EXPECT_EQ(note.find("product"), std::string::npos) << note;
    for (const Buffer& buffer : result->tiles.buffers) {
      const TensorType& type = graph[buffer.tensor].type;
      if (type.format.is_scaled()) {
        EXPECT_LE(buffer.bytes, bytes(type.shape, type.format));
      }
    }
  }
}

// Blocks are no numbers of a machine for int8, and are not taken for them.
TEST(EvaluateLowPrecision, MachinesOfIntegersRefuseBlocks) {
  for (const char* machine : {"edge_tpu_like", "ascend_like", "depfin", "meta_prototype", "tesla_npu_like",
                              "stream_fusemax", "tpu_like", "edge_tpu", "monet_2x2"}) {
    for (const char* format : {"fp8e4m3:e8m0/8x8@-1", "fp4e2m1:e8m0/32@-1", "int8"}) {
      SCOPED_TRACE(fmt::format("{} {}", machine, format));
      const auto hardware = open_hardware(machine);
      ASSERT_TRUE(hardware) << hardware.error().text();
      GraphBuilder b("product");
      const TensorId x = b.input("x", {16, 40});
      const TensorId w = b.input("w", {40, 32});
      const TensorId y = b.add(Op::MatMul, "product", {x, w});
      const bool integers = std::string_view(format) == "int8";
      for (const TensorId id : {x, w}) b.edit()[id].type.format = *parse_format(format);
      if (integers) b.edit()[y].type.format = *parse_format(format);
      b.output(y);
      const Graph graph = finished(b);
      MappingCache cache;
      Evaluator evaluator(graph, *hardware, cache, EvaluatorOptions{});
      const auto request = evaluator.bind({});
      ASSERT_TRUE(request) << request.error().text();
      const auto result = evaluator.evaluate(*request);
      EXPECT_EQ(result.has_value(), integers);
      if (!result) {
        EXPECT_NE(result.error().message.find("multiplies in int8, not in mxfp"), std::string::npos)
            << result.error().text();
      }
    }
  }
}

}  // namespace
}  // namespace monet

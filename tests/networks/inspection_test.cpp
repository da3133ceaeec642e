// Does an inspection say what the contract promises, whatever the names in the file?
#include "support/folder.h"
#include "support/onnx_builder.h"

#include <monet/inspect.h>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <fstream>

namespace monet {
namespace {

// y = relu(x w), w 3x5, with a file name and names that the test chooses.
Inspection inspect_product(const std::string& output, std::int64_t batch = 2) {
  test::OnnxModel model;
  model.input("x", {"batch", 3});
  model.initializer(test::external("w", {3, 5}));
  model.node("MatMul", {"x", "w"}, {"product"});
  model.node("Relu", {"product"}, {output});
  model.output(output);
  const test::Folder folder;
  const std::string path = folder / "net.onnx";
  std::ofstream(path, std::ios::binary) << model.bytes();
  auto inspection = inspect(path, {.batch = batch, .dimensions = {}});
  EXPECT_TRUE(inspection.has_value()) << inspection.error().text();
  return inspection ? *inspection : Inspection{};
}

TEST(Inspection, CountsWhatIsThere) {
  const Inspection inspection = inspect_product("y");
  EXPECT_EQ(inspection.parameters, 15);
  EXPECT_EQ(inspection.parameter_tensors, 1);
  EXPECT_EQ(inspection.macs.forward, 2 * 3 * 5);
  EXPECT_EQ(inspection.macs.total(), 2 * 3 * 5);
  EXPECT_EQ(inspection.nodes.forward, 2);
  EXPECT_EQ(inspection.other_operations.forward, 2 * 5);
  EXPECT_FALSE(inspection.is_training_step);
  ASSERT_EQ(inspection.layers.size(), 2);
  EXPECT_EQ(inspection.layers[0].parameters, 15);
  EXPECT_EQ(inspection.layers[1].parameters, 0);
  ASSERT_EQ(inspection.operators.size(), 2);
  EXPECT_EQ(inspection.operators[0].op, "MatMul");
  EXPECT_EQ(inspection.operators[0].output_bytes, 2 * 5 * 4);
}

TEST(Inspection, JsonHasTheFieldsOfTheContract) {
  const nlohmann::json full = nlohmann::json::parse(to_json(inspect_product("y"), true));
  EXPECT_EQ(full["schema"], 1);
  EXPECT_EQ(full["parameters"], 15);
  for (const char* by_phase : {"macs", "nodes"}) {
    ASSERT_TRUE(full.contains(by_phase));
    for (const char* phase : {"forward", "backward", "optimizer"})
      EXPECT_TRUE(full[by_phase][phase].is_number_integer()) << by_phase << " " << phase;
  }
  EXPECT_EQ(full["macs"]["forward"], 30);
  EXPECT_EQ(full["nodes"]["forward"], 2);
  EXPECT_EQ(full["layers"].size(), 2);
  EXPECT_EQ(full["layers"][0]["name"], "product");
  EXPECT_EQ(full["inputs"][0]["shape"], (nlohmann::json{2, 3}));
  EXPECT_EQ(full["bytes"]["weight"], 60);
  const nlohmann::json brief = nlohmann::json::parse(to_json(inspect_product("y"), false));
  EXPECT_FALSE(brief.contains("layers"));
  EXPECT_EQ(brief["parameters"], 15);
}

TEST(Inspection, NamesThatAreNotUtf8DoNotBreakJson) {
  for (const std::string& name :
       {std::string("\xff\xfe"), std::string("caf\xe9"), std::string("\xed\xa0\x80"), std::string("a\0b\n\"", 5)}) {
    const std::string text = to_json(inspect_product(name), true);
    const nlohmann::json parsed = nlohmann::json::parse(text, nullptr, false);
    ASSERT_FALSE(parsed.is_discarded());
    EXPECT_EQ(parsed["parameters"], 15);
    EXPECT_TRUE(parsed["outputs"][0]["name"].is_string());
  }
}

TEST(Inspection, TextShowsTheTotals) {
  const Inspection inspection = inspect_product("y", 1000);
  const std::string text = to_text(inspection, false).plain();
  EXPECT_NE(text.find("parameters   15 in 1 tensors"), std::string::npos) << text;
  EXPECT_NE(text.find("15,000"), std::string::npos) << text;
  EXPECT_NE(text.find("x 1000x3 fp32"), std::string::npos) << text;
  EXPECT_GT(to_text(inspection, true).plain().size(), text.size());
}

TEST(Inspection, UnknownModelIsAnError) {
  const auto inspection = inspect("no-such-network");
  ASSERT_FALSE(inspection.has_value());
  EXPECT_EQ(inspection.error().kind, ErrorKind::user);
}

}  // namespace
}  // namespace monet

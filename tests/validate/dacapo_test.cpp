// Do the tables of DaCapo's simulator come out of the preset's cycle rule, and does a table that is absent or broken
// get an answer that helps?
#include "validate/dacapo.h"

#include "evaluate/open/opened_step.h"
#include "support/folder.h"
#include "support/shared.h"

#include <monet/validate.h>

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <fstream>
#include <map>
#include <sstream>

namespace monet {
namespace {

constexpr const char* times_header =
    "model,phase,batch,mx_mantissa_bits,rows,cols,exec_time_s_published,exec_time_s_closed_form\n";
constexpr const char* products_header = "model_phase_batch,layer_index,m,k,n\n";

void write(const std::string& path, const std::string& text) { std::ofstream(path) << text; }

class DaCapoTables : public testing::Test {
 protected:
  void give(const std::string& times, const std::string& products) {
    write(folder / "dacapo_exec_time_tables.csv", times_header + times);
    write(folder / "dacapo_gemm_dims.csv", products_header + products);
  }
  std::string error() const {
    const auto read = read_dacapo_tables(folder / "");
    EXPECT_FALSE(read.has_value());
    return read ? "" : read.error().text();
  }
  test::Folder folder;
};

const ValidationRow* row_named(const Validation& validation, const std::string& name) {
  const auto found = std::ranges::find(validation.rows, name, &ValidationRow::name);
  return found == validation.rows.end() ? nullptr : &*found;
}

// One product each, by hand: loading, dot products of 16 elements at 16, 4 and 1 cycles, the skew of a tile.
TEST_F(DaCapoTables, GiveTheCyclesOfTheRule) {
  give("net,infer,1,7,16,16,1e-6,0\nnet,infer,1,4,16,16,1e-6,0\nnet,infer,1,2,4,16,1e-6,0\n",
       "net_infer_b1,0,16,640,16\n");
  const auto found = validate("dacapo", {.data = folder / ""});
  ASSERT_TRUE(found) << found.error().text();
  ASSERT_EQ(found->rows.size(), 3U);
  EXPECT_NEAR(found->rows[0].modelled, (196 + 40 * 16 + 17 + 13 * 16) / 500e6, 1e-15);
  EXPECT_NEAR(found->rows[1].modelled, (196 + 40 * 4 + 21 + 9 * 4) / 500e6, 1e-15);
  EXPECT_NEAR(found->rows[2].modelled, (196 + 4 * (40 + 18)) / 500e6, 1e-15);
  EXPECT_EQ(found->rows[0].name, "net, inference, batch 1, MX9, 16 rows");
  EXPECT_EQ(found->rows[2].quantity, "net infer MX4, s");
  EXPECT_EQ(found->label, "emulation of a simulator, not silicon");
  EXPECT_NE(to_text(*found).plain().find("dacapo: emulation of a simulator, not silicon"), std::string::npos);
  EXPECT_NE(to_json({*found}).find("emulation of a simulator, not silicon"), std::string::npos);
}

TEST_F(DaCapoTables, AreCheckedLineByLine) {
  give("net,infer,1,7,16,16,1e-6,0\nnet,infer,1,5,16,16,1e-6,0\n", "net_infer_b1,0,16,640,16\n");
  EXPECT_EQ(error(), (folder / "") + "/dacapo_exec_time_tables.csv:3: no format has 5 bits of mantissa");
  give("net,train,1,7,16,16,1e-6,0\n", "net_infer_b1,0,16,640,16\n");
  EXPECT_NE(error().find("dacapo_gemm_dims.csv has no products 'net_train_b1'"), std::string::npos) << error();
  give("net,infer,1,7,16,16,soon,0\n", "net_infer_b1,0,16,640,16\n");
  EXPECT_NE(error().find(":2: 'soon' is not a number in column 'exec_time_s_published'"), std::string::npos) << error();
  for (const char* never : {"0", "-1", "nan", "inf"}) {
    give(std::string("net,infer,1,7,16,16,") + never + ",0\n", "net_infer_b1,0,16,640,16\n");
    EXPECT_NE(error().find(":2: the time is not above 0"), std::string::npos) << error();
  }
  give("", "net_infer_b1,0,0,640,16\n");
  EXPECT_NE(error().find(":2: 0 is out of range in column 'm'"), std::string::npos) << error();
  give("", "net_infer_b1,0,16\n");
  EXPECT_NE(error().find(":2: the line has 3 fields, and the heading 5"), std::string::npos) << error();
}

TEST_F(DaCapoTables, RowsOutsideTheArrayAreAnError) {
  give("net,infer,1,7,17,16,1e-6,0\n", "net_infer_b1,0,16,640,16\n");
  const auto found = validate("dacapo", {.data = folder / ""});
  ASSERT_FALSE(found);
  EXPECT_NE(found.error().text().find("engine_rows"), std::string::npos) << found.error().text();
}

TEST_F(DaCapoTables, SayWhichFilesAreNeeded) {
  const char* shared = std::getenv("MONET_SHARED");
  const std::string before = shared == nullptr ? "" : shared;
  unsetenv("MONET_SHARED");
  const auto absent = dacapo_tables_folder(folder / "", folder / "project/data");
  if (shared != nullptr) setenv("MONET_SHARED", before.c_str(), 1);
  ASSERT_FALSE(absent);
  const std::string text = absent.error().text();
  for (const char* part : {"dacapo_exec_time_tables.csv", "dacapo_gemm_dims.csv", "--data", "MONET_SHARED"}) {
    EXPECT_NE(text.find(part), std::string::npos) << part << " in " << text;
  }
}

TEST_F(DaCapoTables, AreFoundInAFolderOrBeneathIt) {
  std::filesystem::create_directories(folder / "reference/hardware");
  write(folder / "reference/hardware/dacapo_exec_time_tables.csv", times_header);
  write(folder / "reference/hardware/dacapo_gemm_dims.csv", products_header);
  const auto found = dacapo_tables_folder(folder / "", "/nowhere/data");
  ASSERT_TRUE(found) << found.error().text();
  EXPECT_TRUE(found->ends_with("reference/hardware")) << *found;
  EXPECT_FALSE(missing_data("dacapo", {.data = folder / ""}).has_value());
  EXPECT_FALSE(missing_data("silicon", {.data = "/nowhere"}).has_value());
}

// All of the tables; the last column of the times is a closed form that others worked out, on the same products.
TEST(DaCapoValidation, AgreesWithTheSimulatorWithinAPercent) {
  MONET_SHARED_OR_SKIP(path, "reference/hardware/dacapo_exec_time_tables.csv");
  const auto found = validate("dacapo", {.data = path.parent_path().string()});
  ASSERT_TRUE(found) << found.error().text();
  const auto counted = std::ranges::count(found->rows, std::string(), &ValidationRow::aside);
  EXPECT_EQ(counted, 1584);
  EXPECT_LT(found->mean_absolute_percent(), 1);
  EXPECT_LT(found->worst_percent(), 4.8);
  std::ifstream file(path);
  std::string line;
  std::getline(file, line);
  for (const ValidationRow& row : found->rows) {
    if (!row.aside.empty()) continue;
    ASSERT_TRUE(std::getline(file, line));
    const double closed_form = std::stod(line.substr(line.rfind(',') + 1));
    ASSERT_NEAR(row.modelled / closed_form, 1, 1e-5) << row.name;
  }
}

TEST(DaCapoValidation, OwnGraphsAreRowsBesides) {
  MONET_SHARED_OR_SKIP(path, "reference/hardware/dacapo_exec_time_tables.csv");
  const auto found = validate("dacapo", {.data = path.parent_path().string(), .only = "*, own graph"});
  ASSERT_TRUE(found) << found.error().text();
  EXPECT_EQ(found->rows.size(), 6U * 3U);
  const ValidationRow* resnet = row_named(*found, "resnet18, training, batch 16, MX9, 16 rows, own graph");
  ASSERT_NE(resnet, nullptr);
  EXPECT_NEAR(resnet->measured, 0.8246, 1e-4);  // low_precision.md, section 5
  EXPECT_LT(std::abs(resnet->error_percent()), 10);
  EXPECT_EQ(resnet->aside, "our graph: no gradient of the image");
}

// Product by product: what our training graph has is what the authors' table has, but for the gradient of the image.
TEST(DaCapoValidation, OwnGraphsHaveTheProductsOfTheTables) {
  MONET_SHARED_OR_SKIP(path, "reference/hardware/dacapo_exec_time_tables.csv");
  const auto times = read_dacapo_tables(path.parent_path().string());
  ASSERT_TRUE(times) << times.error().text();
  for (const std::string network : {"resnet18", "resnet34"}) {
    TrainOptions options;
    options.batch = 16;
    const auto step = open_network_as_asked(network + ":classes=10", options, true);
    ASSERT_TRUE(step) << step.error().text();
    std::vector<Product> own;
    for (const NodeProduct& product : products_of(step->graph))
      own.push_back(std::min(product.sizes, product.sizes.turned()));
    own.push_back({.rows = 147, .depth = 64, .columns = 16 * 112 * 112});  // of the image
    const auto time = std::ranges::find_if(
        *times, [&](const DaCapoTime& each) { return each.network == network && each.trains() && each.batch == 16; });
    ASSERT_NE(time, times->end());
    std::vector<Product> stored;
    for (const Product& product : time->products) stored.push_back(std::min(product, product.turned()));
    std::ranges::sort(own);
    std::ranges::sort(stored);
    EXPECT_EQ(own, stored) << network;
  }
}

// The tables are reproduced to a thousandth of a percent where weight gradients have a row for each output channel.
TEST(DaCapoValidation, TurnedWeightGradientsFitTheTables) {
  MONET_SHARED_OR_SKIP(path, "reference/hardware/dacapo_exec_time_tables.csv");
  const auto found = validate("dacapo", {.data = path.parent_path().string(), .only = "resnet18, *, own graph"});
  ASSERT_TRUE(found) << found.error().text();
  int fitting = 0;
  for (const ValidationRow& row : found->rows) {
    if (row.aside != "our graph, with the gradient of the image and weight gradients turned") continue;
    EXPECT_LT(std::abs(row.error_percent()), 1e-3) << row.name;
    ++fitting;
  }
  EXPECT_EQ(fitting, 3);
}

}  // namespace
}  // namespace monet

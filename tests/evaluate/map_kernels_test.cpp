// `map` on a kernel core: a row for each launch, with the law, the tile and what no kernel goes below.
#include <monet/map.h>

#include "support/expect_error.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

namespace monet {
namespace {

using testing::HasSubstr;

MapOptions on_h200() {
  MapOptions options;
  options.machine = "h200";
  options.train.batch = 256;
  return options;
}

TEST(MapKernels, RowsHaveLawTileAndBound) {
  const auto mapping = map_network("mlp-robotics:inputs=256,hidden=256,layers=1,outputs=256", on_h200());
  ASSERT_TRUE(mapping) << mapping.error().text();
  ASSERT_EQ(mapping->layers.size(), 3U);  // product, activation, product: biases are in the products
  const MappedLayer& product = mapping->layers[0];
  ASSERT_TRUE(product.kernel);
  EXPECT_EQ(product.kernel->kernel_class, "product.forward.fp32");
  EXPECT_EQ(product.kernel->law, "product");
  EXPECT_EQ(product.kernel->law_of, "product.forward.fp32");
  EXPECT_GT(product.kernel->measured, 100);
  EXPECT_GE(product.kernel->tile_m, 16);
  EXPECT_GE(product.kernel->split, 1);
  // 256 x 256 results in tiles of that size, that many times where the sum is split, over 132 multiprocessors.
  const double tiles = 256.0 / static_cast<double>(product.kernel->tile_m) * 256.0 /
                       static_cast<double>(product.kernel->tile_n) * static_cast<double>(product.kernel->split);
  EXPECT_EQ(product.kernel->waves, std::ceil(tiles / 132));
  EXPECT_EQ(product.macs, 256.0 * 256 * 256);
  const MappedLayer& relu = mapping->layers[1];
  EXPECT_EQ(relu.kernel->kernel_class, "elementwise.relu.fp32");
  EXPECT_EQ(relu.kernel->tile_m, 0);
  for (const MappedLayer& layer : mapping->layers) {
    EXPECT_GT(layer.bound_cycles, 0) << layer.name;
    EXPECT_LE(layer.bound_cycles, layer.cycles) << layer.name;
    EXPECT_NEAR(layer.utilization, layer.bound_cycles / layer.cycles, 1e-12);
  }
  const std::string text = to_text(*mapping, {}).plain();
  EXPECT_THAT(text, HasSubstr("eager kernels"));
  EXPECT_THAT(text, HasSubstr("3 launches, one after the other"));
  EXPECT_THAT(to_json(*mapping), HasSubstr("\"class\": \"product.forward.fp32\""));
  EXPECT_THAT(to_csv(*mapping), HasSubstr(",product.forward.fp32,product,"));
}

// The data sheet's rates: whatever transforms saved the convolutions that were measured, no operation was faster.
TEST(MapKernels, OperationsHaveTheRatesOfTheDataSheet) {
  for (const auto& [precision, tflops] : {std::pair{"fp32", 67.0}, {"bf16", 989.0}}) {
    MapOptions options = on_h200();
    options.train.precision = precision;
    options.train.batch = 8192;
    const auto mapping = map_network("mlp-robotics:inputs=8192,hidden=8192,layers=1,outputs=8192", options);
    ASSERT_TRUE(mapping) << mapping.error().text();
    const MappedLayer& product = mapping->layers[0];
    EXPECT_NEAR(product.bound_cycles / mapping->clock_hz, 2 * product.macs / (tflops * 1e12),
                1e-3 * product.cycles / mapping->clock_hz)
        << precision;
  }
}

TEST(MapKernels, OtherCoresAndMappingsAreRefused) {
  MapOptions options = on_h200();
  options.machine = "jetson_agx_orin";
  options.core = "dla0";
  const auto other = map_network("mlp-robotics", options);
  ASSERT_FALSE(other);
  test::expect_error(other.error(), {"dla0 runs no kernels"}, "--core");
  options = on_h200();
  options.mapping_file = "mapping.yaml";
  const auto mapped = map_network("mlp-robotics", options);
  ASSERT_FALSE(mapped);
  test::expect_error(mapped.error(), {"a mapping has no meaning for kernels of h200"}, "--mapping");
}

}  // namespace
}  // namespace monet

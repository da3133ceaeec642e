// Prices of collectives against a simulator and measurements of others, and what is said where the files are absent.
#include "support/folder.h"
#include "support/shared.h"

#include <monet/validate.h>

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <fstream>

namespace monet {
namespace {

TEST(CollectivesValidation, AsSimulatedWithinOnePercentAndAsMeasured) {
  MONET_SHARED_OR_SKIP(path, "reference/parallel/astra_sim_collectives.csv");
  const auto validation = validate("collectives", {.data = test::shared_folder().string()});
  ASSERT_TRUE(validation) << validation.error().text();
  int simulated = 0, measured = 0;
  for (const ValidationRow& row : validation->rows) {
    if (!row.aside.empty()) continue;
    EXPECT_GT(row.modelled, 0) << row.name;
    if (row.quantity == "simulated us") {
      ++simulated;
      EXPECT_LE(std::abs(row.error_percent()), 1) << row.name;
    } else {
      ++measured;
    }
  }
  EXPECT_GT(simulated, 100);
  EXPECT_GT(measured, 100);
  EXPECT_LT(validation->mean_absolute_percent("measured us, A100"), 6);
  EXPECT_LT(validation->mean_absolute_percent("measured us, H100"), 6);
}

TEST(CollectivesValidation, ByHand) {
  test::Folder folder;
  std::ofstream(folder / "astra_sim_collectives.csv")
      << "topology,npus,bandwidth_GBps,latency_ns,algorithm,collective,comm_size_bytes,time_ns,failed\n"
         "Switch,8,50,500,ring,all_reduce,1073741824,35014000,\n"
         "Switch,8,50,500,direct,all_reduce,1073741824,1,\n";
  std::ofstream(folder / "collectives_measured.csv") << "source,gpu,gpus,collective,bytes,time_us,busbw_GBps\n"
                                                        "x,V100,2,all_reduce,1048576,10,1\n";
  const auto validation = validate("collectives", {.data = folder / ""});
  ASSERT_TRUE(validation) << validation.error().text();
  ASSERT_EQ(validation->rows.size(), 2U);
  EXPECT_NEAR(validation->rows[0].modelled, 35014, 1e-6);  // 14 x (1 us + 2.5 ms)
  EXPECT_EQ(validation->rows[1].aside, "its switch lets a chip send to all others at full rate at once");
  EXPECT_NE(std::ranges::find(validation->notes, "1 rows of V100 are left out: no preset is such a machine"),
            validation->notes.end());
}

TEST(CollectivesValidation, WrongTablesAreErrors) {
  test::Folder folder;
  const auto message = [&](const std::string& row) {
    std::ofstream(folder / "astra_sim_collectives.csv")
        << "topology,npus,bandwidth_GBps,latency_ns,algorithm,collective,comm_size_bytes,time_ns,failed\n"
        << row << "\n";
    std::ofstream(folder / "collectives_measured.csv") << "source,gpu,gpus,collective,bytes,time_us,busbw_GBps\n";
    const auto validation = validate("collectives", {.data = folder / ""});
    return validation ? std::string("no error") : validation.error().text();
  };
  EXPECT_NE(message("Star,8,50,500,ring,all_reduce,1,1,").find("there is no topology 'Star'"), std::string::npos);
  EXPECT_NE(message("Ring,8,x,500,ring,all_reduce,1,1,").find("'' is no number above 0"), std::string::npos);
  EXPECT_NE(message("RingxRing,8,50,500,ring,all_reduce,1,1,").find("dimensions that do not agree"), std::string::npos);
  EXPECT_NE(message("Ring,1,50,500,ring,all_reduce,1,1,").find("chips that cannot be"), std::string::npos);
  EXPECT_NE(message("Ring,8,50,500,ring,all_mix,1,1,").find("there is no collective 'all_mix'"), std::string::npos);
}

}  // namespace
}  // namespace monet

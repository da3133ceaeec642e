// The table of copies against a plain map.
#include "evaluate/schedule/copy_index.h"

#include "base/random.h"

#include <gtest/gtest.h>

#include <map>
#include <utility>

namespace monet::scheduling {
namespace {

TEST(CopyIndex, IsWhatAMapIs) {
  SeededRandom random(7);
  for (const std::size_t buffers : {3U, 40U, 5000U}) {
    CopyIndex index;
    std::map<std::pair<std::size_t, std::uint32_t>, std::uint32_t> expected;
    for (std::uint32_t step = 0; step < 20000; ++step) {
      const std::size_t buffer = random.below(buffers);
      const std::uint32_t where = random.with(0.2) ? none : static_cast<std::uint32_t>(random.below(20));
      const auto known = expected.find({buffer, where});
      ASSERT_EQ(index.find(BufferId(buffer), where), known == expected.end() ? none : known->second);
      if (known != expected.end() && random.with(0.7)) {
        index.erase(BufferId(buffer), where);
        expected.erase(known);
      } else {
        index.set(BufferId(buffer), where, step);
        expected[{buffer, where}] = step;
      }
    }
    for (const auto& [key, copy] : expected) EXPECT_EQ(index.find(BufferId(key.first), key.second), copy);
  }
}

}  // namespace
}  // namespace monet::scheduling

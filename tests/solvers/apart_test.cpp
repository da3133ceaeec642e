// Does work in another process come to its end, and does its end leave this process alone?
#include "solvers/apart.h"

#include <gtest/gtest.h>

#include <chrono>
#include <csignal>
#include <cstdio>
#include <functional>
#include <new>
#include <stdexcept>
#include <thread>
#include <vector>

namespace monet {
namespace {

bool never() { return false; }

class Apart : public testing::Test {
 protected:
  std::shared_ptr<std::byte> memory_ = shared_memory(1);
  std::byte& cell_ = *memory_;
};

TEST_F(Apart, OnlySharedMemoryRemains) {
  int own = 1;
  EXPECT_TRUE(run_apart(
      [&] {
        own = 2;
        cell_ = std::byte{2};
      },
      never));
  EXPECT_EQ(own, 1);
  EXPECT_EQ(cell_, std::byte{2});
}

TEST_F(Apart, ItMayDieOfAnything) {
  for (const auto& end :
       std::vector<std::function<void()>>{[] { std::raise(SIGKILL); }, [] { throw std::runtime_error("out of ideas"); },
                                          [] { throw std::bad_alloc(); }}) {
    cell_ = std::byte{0};
    EXPECT_TRUE(run_apart(
        [&] {
          cell_ = std::byte{1};
          end();
          cell_ = std::byte{2};
        },
        never));
    EXPECT_EQ(cell_, std::byte{1});
  }
}

TEST_F(Apart, WhatIsOverIsGone) {
  EXPECT_TRUE(run_apart(
      [&] {
        cell_ = std::byte{1};
        for (;;) std::this_thread::sleep_for(std::chrono::hours(1));
      },
      [&] { return cell_ == std::byte{1}; }));
}

TEST_F(Apart, AnInterruptIsForThisProcess) {
  EXPECT_TRUE(run_apart(
      [&] {
        std::raise(SIGINT);
        cell_ = std::byte{1};
      },
      never));
  EXPECT_EQ(cell_, std::byte{1});
}

TEST_F(Apart, WhatIsNotYetPrintedIsPrintedOnce) {
  testing::internal::CaptureStdout();
  std::fputs("once", stdout);
  EXPECT_TRUE(run_apart([] { std::fflush(stdout); }, never));
  EXPECT_EQ(testing::internal::GetCapturedStdout(), "once");
}

TEST_F(Apart, FromSeveralThreads) {
  const std::shared_ptr<std::byte> cells = shared_memory(8);
  {
    std::vector<std::jthread> threads;
    for (std::byte* cell = cells.get(); cell != cells.get() + 8; ++cell)
      threads.emplace_back([cell] { EXPECT_TRUE(run_apart([&] { *cell = std::byte{1}; }, never)); });
  }
  for (std::size_t i = 0; i < 8; ++i) EXPECT_EQ(cells.get()[i], std::byte{1});
}

}  // namespace
}  // namespace monet

// The checker of kernel steps: does it find nothing in good ones, and each thing that is put wrong?
#include "evaluate/check/kernels.h"

#include "evaluate/open/kernel_network.h"
#include "hardware/opened_preset.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace monet {
namespace {

using testing::HasSubstr;

class KernelChecks : public testing::Test {
 protected:
  KernelChecks() : hardware_(test::preset("h200")) {
    StepRequest how;
    how.train.batch = 4;
    how.recompute = {"*relu*"};
    auto made = kernel_step("resnet18-cifar", how, hardware_, **laws_of(hardware_));
    EXPECT_TRUE(made) << made.error().text();
    if (made) step_ = *std::move(made);
  }

  std::string found() const {
    const CheckReport report = check_kernels(step_.graph, hardware_, step_);
    EXPECT_EQ(report.count == 0, report.violations.empty());
    return report.count == 0 ? "" : report.violations.front().what;
  }
  std::vector<Launch>& launches() { return step_.lowered.launches; }

  Hardware hardware_;
  KernelStep step_;
};

TEST_F(KernelChecks, FindNothingInAGoodStep) {
  EXPECT_EQ(found(), "");
  EXPECT_TRUE(verify_kernels(step_.graph, hardware_, step_));
}

TEST_F(KernelChecks, FindANodeThatIsCarriedOutTwiceOrNever) {
  const NodeId node = launches()[3].nodes.front();
  launches()[5].nodes.push_back(node);
  EXPECT_THAT(found(), HasSubstr("is carried out 2 times"));
  launches()[5].nodes.pop_back();
  std::erase(launches()[3].nodes, node);
  EXPECT_THAT(found(), HasSubstr("is carried out 0 times"));
  const Status status = verify_kernels(step_.graph, hardware_, step_);
  ASSERT_FALSE(status);
  EXPECT_EQ(status.error().kind, ErrorKind::defect);
}

TEST_F(KernelChecks, FindALaunchThatComesTooEarly) {
  std::swap(launches()[0].nodes, launches()[4].nodes);
  EXPECT_THAT(found(), HasSubstr("runs before what it reads"));
}

TEST_F(KernelChecks, FindABufferThatNothingHasWritten) {
  launches()[0].writes.clear();
  EXPECT_THAT(found(), HasSubstr("that nothing has written"));
}

TEST_F(KernelChecks, FindATouchLargerThanItsBuffer) {
  launches()[2].writes.front().bytes = step_.lowered.buffers[launches()[2].writes.front().buffer.index()].bytes + 1;
  EXPECT_THAT(found(), HasSubstr("bytes that no buffer has"));
}

TEST_F(KernelChecks, FindAnotherPeak) {
  step_.memory.peak_bytes[1] += 512;
  EXPECT_THAT(found(), HasSubstr("the backward part holds"));
  step_.memory.peak_bytes[1] -= 512;
  step_.memory.static_bytes -= 512;
  EXPECT_THAT(found(), HasSubstr("are there before the step"));
}

TEST_F(KernelChecks, FindSumsThatAreNone) {
  step_.costs.us[1] *= 2;
  EXPECT_THAT(found(), HasSubstr("launches take"));
  step_.costs.us[1] = -1;
  EXPECT_THAT(found(), HasSubstr("takes -1 us"));
}

TEST_F(KernelChecks, FindEnergiesThatDoNotAddUp) {
  step_.costs.total_mj *= 0.99;
  EXPECT_THAT(found(), HasSubstr("launches cost"));
}

}  // namespace
}  // namespace monet

// Do exit status and output of a command keep the contract: one JSON object on standard output, all else elsewhere?
#include "cli/command.h"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <string>

namespace monet::cli {
namespace {

using testing::internal::CaptureStderr;
using testing::internal::CaptureStdout;
using testing::internal::GetCapturedStderr;
using testing::internal::GetCapturedStdout;

struct Outcome {
  int status;
  std::string output;
  std::string messages;
};

template <class Action>
Outcome captured(const Action& action) {
  CaptureStdout();
  CaptureStderr();
  const int status = action();
  return {status, GetCapturedStdout(), GetCapturedStderr()};
}

TEST(Command, ExitStatusSaysWhoseFaultItIs) {
  const auto reported = [](ErrorKind kind) {
    return captured([kind] { return report(Error{kind, "wrong", "net.onnx", "do it right"}); });
  };
  EXPECT_EQ(reported(ErrorKind::user).status, 1);
  EXPECT_EQ(reported(ErrorKind::infeasible).status, 2);
  EXPECT_EQ(reported(ErrorKind::defect).status, 3);
  EXPECT_EQ(reported(ErrorKind::user).messages, "monet: net.onnx: wrong (do it right)\n");
  EXPECT_NE(reported(ErrorKind::defect).messages.find("please report"), std::string::npos);
  EXPECT_EQ(reported(ErrorKind::user).output, "");
}

TEST(Command, JsonIsOneObjectAndNothingElse) {
  InspectCommand command;
  command.model = "mlp-robotics";
  command.common.json = true;
  const Outcome outcome = captured([&] { return run(command); });
  EXPECT_EQ(outcome.status, 0);
  const auto parsed = nlohmann::json::parse(outcome.output, nullptr, false);
  ASSERT_FALSE(parsed.is_discarded()) << outcome.output;
  EXPECT_EQ(parsed["schema"], 1);
  EXPECT_GT(parsed["parameters"], 0);
}

TEST(Command, UnknownModelGivesStatusOneAndNoOutput) {
  InspectCommand command;
  command.model = "no-such-model";
  const Outcome outcome = captured([&] { return run(command); });
  EXPECT_EQ(outcome.status, 1);
  EXPECT_EQ(outcome.output, "");
  EXPECT_NE(outcome.messages.find("no-such-model"), std::string::npos);
}

TEST(Command, NotesAreLeftOutWhenQuietAndShortenedUnlessVerbose) {
  const std::vector<std::string> many(20, "line");
  const auto lines = [&](CommonOptions options) {
    const Outcome outcome = captured([&] {
      report(many, many, options);
      return 0;
    });
    return std::ranges::count(outcome.messages, '\n');
  };
  EXPECT_EQ(lines({}), 2 * (8 + 1));
  EXPECT_EQ(lines({.quiet = true}), 8 + 1);
  EXPECT_EQ(lines({.verbose = true}), 40);
}

}  // namespace
}  // namespace monet::cli

// Does the program keep its end of the pipe? The other end is a script that speaks as it is told.
#include "explore/executor/cluster.h"
#include "explore/executor/cluster_batches.h"
#include "explore/executor/cluster_files.h"
#include "support/expect_error.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <sys/stat.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <numeric>

namespace monet::explore {
namespace {

namespace fs = std::filesystem;
using test::expect_error;
using testing::HasSubstr;
using testing::UnorderedElementsAreArray;

// Stands in for python3; called with -m monet.cluster. `answer(message)` gives the lines for a batch.
constexpr const char* scripted = R"(#!/usr/bin/env python3
import json, os, sys
hello = json.loads(sys.stdin.readline())
def say(**message): print(json.dumps(message), flush=True)
def ready(): say(type="ready", protocol=1, fingerprint=hello["fingerprint"], workers=2)
def line(design):
    return json.dumps(dict(design=design, failure="", excluded=False, hardware_hash="h", area_mm2=design / 3, static_w=0.0,
                           macs_per_cycle=1.0, on_chip_bits=8, workloads=[]))
def outcomes(message, designs=None, failed=(), batch=None):
    say(type="outcomes", batch=message["batch"] if batch is None else batch, seconds=0.5, failed=list(failed),
        outcomes=[line(design) for design in (message["designs"] if designs is None else designs)])
def answer(message): outcomes(message)
{}
ready()
for text in sys.stdin:
    message = json.loads(text)
    if message["type"] == "close": break
    if message["type"] == "batch": answer(message)
)";

class ClusterExecutorTest : public testing::Test {
 protected:
  void SetUp() override {
    folder_ = fs::temp_directory_path() / fmt::format("monet-executor-{}-{}", ::getpid(), test_name());
    fs::create_directories(folder_);
  }
  void TearDown() override { fs::remove_all(folder_); }

  static std::string test_name() { return testing::UnitTest::GetInstance()->current_test_info()->name(); }

  std::string script(const std::string& text) {
    const fs::path path = folder_ / "python";
    std::ofstream(path) << text;
    ::chmod(path.c_str(), 0700);
    return path;
  }
  // `special` is Python that comes before the conversation.
  Expected<std::unique_ptr<Executor>> executor(const std::string& special) {
    std::string text = scripted;
    text.replace(text.find("{}"), 2, special);
    return cluster_executor_for(job_, {.address = "local:2", .python = script(text)});
  }
  static Status run(Executor& executor, std::size_t count, std::vector<Outcome>* outcomes = nullptr,
                    const std::function<bool()>& stop = {}) {
    std::vector<Design> designs(count);
    std::iota(designs.begin(), designs.end(), Design{0});
    const auto take = [&](Outcome&& outcome) -> Status {
      if (outcomes != nullptr) outcomes->push_back(std::move(outcome));
      return Done{};
    };
    return executor.run(designs, take, stop);
  }
  void fails_to_start(const std::string& special, const std::vector<std::string>& words) {
    const auto made = executor(special);
    ASSERT_FALSE(made);
    expect_error(made.error(), words, "--cluster local:2");
  }
  void fails_to_run(const std::string& special, const std::vector<std::string>& words) {
    const auto made = executor(special);
    ASSERT_TRUE(made) << made.error().text();
    const Status status = run(**made, 10);
    ASSERT_FALSE(status);
    expect_error(status.error(), words, "--cluster local:2");
  }

  fs::path folder_;
  ClusterJob job_{.fingerprint = "f", .space_path = "space edge", .space_text = "name: edge\n\"quoted\""};
};

TEST_F(ClusterExecutorTest, EveryDesignOnce) {
  const auto made = executor("");
  ASSERT_TRUE(made) << made.error().text();
  EXPECT_EQ((*made)->who(), "2 workers");
  EXPECT_GE((*made)->batch_hint(), 4U);
  std::vector<Outcome> outcomes;
  ASSERT_TRUE(run(**made, 1000, &outcomes));
  std::vector<Design> found, wanted(1000);
  std::iota(wanted.begin(), wanted.end(), Design{0});
  for (const Outcome& outcome : outcomes) {
    found.push_back(outcome.design);
    EXPECT_EQ(outcome.area_mm2, static_cast<double>(outcome.design) / 3);  // to the last bit
  }
  EXPECT_THAT(found, UnorderedElementsAreArray(wanted));
  // And again: generations come one after the other.
  outcomes.clear();
  ASSERT_TRUE(run(**made, 50, &outcomes));
  EXPECT_EQ(outcomes.size(), 50U);
}

TEST_F(ClusterExecutorTest, SaysWhatWorkersNeed) {
  job_.files = {"/a/net.onnx"};
  const auto made = executor(fmt::format("open({:?}, 'w').write(json.dumps(hello))", (folder_ / "hello").string()));
  ASSERT_TRUE(made) << made.error().text();
  std::stringstream text;
  text << std::ifstream(folder_ / "hello").rdbuf();
  EXPECT_THAT(text.str(), HasSubstr(R"("protocol": 1)"));
  EXPECT_THAT(text.str(), HasSubstr(R"("address": "local:2")"));
  EXPECT_THAT(text.str(), HasSubstr(R"("space": {"path": "space edge", "text": "name: edge\n\"quoted\""})"));
  EXPECT_THAT(text.str(), HasSubstr(R"("files": ["/a/net.onnx"], "options": {"limit_s": 600.0, "tries": 2})"));
}

TEST_F(ClusterExecutorTest, OutcomesInPiecesAndFailures) {
  const auto made = executor(R"(
def answer(message):
    for design in message["designs"]:
        if design == 3: outcomes(message, [], [dict(design=3, failure="it ended the worker")])
        else: outcomes(message, [design])
)");
  ASSERT_TRUE(made) << made.error().text();
  std::vector<Outcome> all;
  ASSERT_TRUE(run(**made, 20, &all));
  EXPECT_EQ(all.size(), 20U);
  for (const Outcome& outcome : all) EXPECT_EQ(outcome.failure, outcome.design == 3 ? "it ended the worker" : "");
}

TEST_F(ClusterExecutorTest, WorkersComeAndGo) {
  const auto made = executor(R"(
def answer(message):
    say(type="workers", workers=1)
    outcomes(message)
)");
  ASSERT_TRUE(made) << made.error().text();
  ASSERT_TRUE(run(**made, 3));
  EXPECT_EQ((*made)->who(), "1 worker");
}

TEST_F(ClusterExecutorTest, StopsWhenAskedTo) {
  const auto made = executor("def answer(message): pass");
  ASSERT_TRUE(made) << made.error().text();
  int looks = 0;
  ASSERT_TRUE(run(**made, 100, nullptr, [&] { return ++looks > 2; }));
}

TEST_F(ClusterExecutorTest, StopsBeforeItIsReady) {
  const auto made =
      cluster_executor_for(job_, {.address = "local:2",
                                  .python = script("#!/usr/bin/env python3\nimport time\ntime.sleep(60)\n"),
                                  .stop = [] { return true; }});
  ASSERT_FALSE(made);
  EXPECT_THAT(made.error().message, HasSubstr("stopped before it was ready"));
}

TEST_F(ClusterExecutorTest, AnswersThatNobodyWaitsForAnyMoreAreLeft) {
  const auto made = executor(R"(
first = []
def answer(message):
    if len(first) < 4: first.append(message)
    else:
        while first and len(first) == 4 and first[0]: outcomes(first[0]); first[0] = None
        outcomes(message)
)");
  ASSERT_TRUE(made) << made.error().text();
  int looks = 0;
  ASSERT_TRUE(run(**made, 100, nullptr, [&] { return ++looks > 2; }));
  std::vector<Outcome> all;
  ASSERT_TRUE(run(**made, 10, &all));
  EXPECT_EQ(all.size(), 10U);
}

TEST_F(ClusterExecutorTest, AFailureToKeepOutcomesEndsTheRun) {
  const auto made = executor("");
  ASSERT_TRUE(made) << made.error().text();
  const std::vector<Design> designs = {1, 2, 3};
  const Status status =
      (*made)->run(designs, [](Outcome&&) -> Status { return Error{.message = "the disk is full"}; }, {});
  ASSERT_FALSE(status);
  EXPECT_EQ(status.error().message, "the disk is full");
}

TEST_F(ClusterExecutorTest, NoPython) {
  const auto made = cluster_executor_for(job_, {.address = "local:2", .python = folder_ / "absent"});
  ASSERT_FALSE(made);
  expect_error(made.error(), {"cannot be started: No such file"}, "absent");
  EXPECT_THAT(made.error().advice, HasSubstr("--python or MONET_PYTHON"));
}

TEST_F(ClusterExecutorTest, PythonByTheEnvironment) {
  ::setenv("MONET_PYTHON", (folder_ / "elsewhere").c_str(), 1);
  const auto made = cluster_executor_for(job_, {.address = "local:2"});
  ::unsetenv("MONET_PYTHON");
  ASSERT_FALSE(made);
  expect_error(made.error(), {"cannot be started"}, "elsewhere");
}

TEST_F(ClusterExecutorTest, NoPackage) {
  const std::string python = script("#!/bin/sh\necho \"$0: No module named monet.cluster\" >&2\nexit 1\n");
  const auto made = cluster_executor_for(job_, {.address = "local:2", .python = python});
  ASSERT_FALSE(made);
  expect_error(made.error(), {"has no Python package monet"}, "--cluster local:2");
  EXPECT_THAT(made.error().advice, HasSubstr("pip install '.[cluster]'"));
}

TEST_F(ClusterExecutorTest, ErrorsOfTheOtherEnd) {
  fails_to_start(R"(say(type="error", message="no scheduler answers", advice="start one"); sys.exit(1))",
                 {"no scheduler answers"});
}
TEST_F(ClusterExecutorTest, AnEarlyEndHasItsLastWords) {
  fails_to_start(R"(print("a\nthe last words", file=sys.stderr); sys.exit(3))",
                 {"-m monet.cluster ended: exit status 3\na\nthe last words"});
}
TEST_F(ClusterExecutorTest, AnEndInTheMiddle) {
  fails_to_run("def answer(message): os.kill(os.getpid(), 9)", {"ended: signal 9"});
}
TEST_F(ClusterExecutorTest, LongLastWordsAreCut) {
  const auto made = executor(R"([print("x" * 50, i, file=sys.stderr) for i in range(100000)]; sys.exit(3))");
  ASSERT_FALSE(made);
  EXPECT_LT(made.error().message.size(), 5000U);
  EXPECT_THAT(made.error().message, HasSubstr("xxx 99999"));
}
TEST_F(ClusterExecutorTest, AnotherProtocol) {
  fails_to_start("def ready(): say(type='ready', protocol=2, fingerprint='f', workers=2)",
                 {"monet.cluster speaks protocol 2, this program 1"});
}
TEST_F(ClusterExecutorTest, AnotherFingerprint) {
  fails_to_start("def ready(): say(type='ready', protocol=1, fingerprint='g', workers=2)",
                 {"with the fingerprint g, this program with f"});
}
TEST_F(ClusterExecutorTest, NotReady) {
  fails_to_start("def ready(): say(type='workers', workers=2)", {"does not begin with ready"});
}
TEST_F(ClusterExecutorTest, ReadyTwice) { fails_to_run("def answer(message): ready()", {"ready again"}); }
TEST_F(ClusterExecutorTest, Garbage) {
  fails_to_run("def answer(message): print('hello there', flush=True)", {"says what is no message: hello there"});
}
TEST_F(ClusterExecutorTest, AnUnknownType) {
  fails_to_run("def answer(message): say(type='song')", {"what is no message", "song", "not of a type"});
}
TEST_F(ClusterExecutorTest, AFieldThatIsAbsent) {
  fails_to_run("def answer(message): say(type='outcomes', batch=0)", {"what is no message", "outcomes"});
}
TEST_F(ClusterExecutorTest, AnUnknownBatch) {
  fails_to_run("def answer(message): outcomes(message, batch=77)", {"answers batch 77, which it has not"});
}
TEST_F(ClusterExecutorTest, ADesignTwice) {
  fails_to_run("def answer(message): outcomes(message, message['designs'][:1] * 2)",
               {"answers design 0, which batch 0 does not wait for"});
}
TEST_F(ClusterExecutorTest, AnotherDesign) {
  fails_to_run("def answer(message): outcomes(message, [99])", {"answers design 99, which batch 0 does not wait for"});
}
TEST_F(ClusterExecutorTest, ALineThatIsNoOutcome) {
  fails_to_run("def line(design): return '[1]'", {"not the outcome of a design"});
}

TEST(BatchSizes, GrowToTheTimeWanted) {
  BatchSizes sizes(2);
  EXPECT_EQ(sizes.next(10000, 4), 1U);
  std::size_t size = 1;
  for (int i = 0; i < 10; ++i) {
    sizes.learn(size, static_cast<double>(size) / 100);  // 100 designs a second
    const std::size_t next = sizes.next(10000, 4);
    EXPECT_LE(next, 4 * size);
    size = next;
  }
  EXPECT_EQ(size, 200U);
}
TEST(BatchSizes, SlowDesignsComeOneByOne) {
  BatchSizes sizes(2);
  sizes.learn(1, 60);
  EXPECT_EQ(sizes.next(10000, 4), 1U);
}
TEST(BatchSizes, TheEndIsShared) {
  BatchSizes sizes(2);
  for (int i = 0; i < 10; ++i) sizes.learn(1000, 2);
  EXPECT_EQ(sizes.next(1000000, 4), 1000U);
  EXPECT_EQ(sizes.next(80, 4), 10U);
  EXPECT_EQ(sizes.next(3, 4), 1U);
  EXPECT_EQ(sizes.next(1, 1), 1U);
}
TEST(BatchSizes, NothingIsEverFree) {
  BatchSizes sizes(2);
  for (int i = 0; i < 100; ++i) sizes.learn(sizes.wanted(), 0);
  EXPECT_LE(sizes.next(std::size_t{1} << 40, 4), std::size_t{1} << 14);
}

class ClusterFilesTest : public ClusterExecutorTest {
 protected:
  std::string write(const std::string& name, const std::string& text = "x") {
    fs::create_directories((folder_ / name).parent_path());
    std::ofstream(folder_ / name) << text;
    return (folder_ / name).string();
  }
};

TEST_F(ClusterFilesTest, NetworksAndHardwareWithWhatItIncludes) {
  Space space;
  space.path = write("space.yaml");
  space.hardware =
      write("machine.yaml", "include: parts/common.yaml\ncores:\n  a:\n    include: [edge_tpu, core.yaml]\n");
  const std::string common = write("parts/common.yaml", "include: other.yaml");
  const std::string other = write("parts/other.yaml", "include: common.yaml");
  const std::string core = write("core.yaml", "x: 1");
  const std::string network = write("net.onnx"), shared = write("shared.onnx");
  space.workloads = {{.name = "a", .network = network},
                     {.name = "b", .network = network},
                     {.name = "c", .network = "resnet18"},
                     {.name = "d", .network = shared}};
  space.text = "workloads: " + shared;
  const auto files = files_of(space);
  ASSERT_TRUE(files) << files.error().text();
  EXPECT_THAT(*files, UnorderedElementsAreArray({space.hardware, common, other, core, network}));
}

TEST_F(ClusterFilesTest, HardwareWithinTheSpace) {
  Space space;
  space.path = write("space.yaml");
  space.hardware_text = "include: common.yaml\n";
  const std::string common = write("common.yaml", "x: 1");
  const auto files = files_of(space);
  ASSERT_TRUE(files) << files.error().text();
  EXPECT_THAT(*files, UnorderedElementsAreArray({common}));
}

}  // namespace
}  // namespace monet::explore

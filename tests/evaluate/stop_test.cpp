// Does an evaluation end soon after it is asked to, at each of the places where it can, and never otherwise?
#include "evaluate/addresses/addresses.h"
#include "evaluate/evaluate_case.h"
#include "evaluate/open/opened_step.h"

#include <thread>

namespace monet {
namespace {

using namespace test;

const std::string machine_with_array =
    "memories:\n  " + memory("main", "sram", "1 MiB", 64) +
    "\ncores:\n  core:\n    array: {dimensions: {K: 4, C: 4}, operations: {all: {cycles: 1, energy: 1 pJ}}}\n"
    "    memories: {main: {use: main}}\n";

struct Stopping {
  Hardware hardware;
  Graph graph;
  MappingCache cache;
  std::size_t asked = 0;

  explicit Stopping(Graph of) : graph(std::move(of)) {
    hardware = *read_hardware_text("monet: 1\nname: machine\nclock: 1 GHz\n" + machine_with_array, "machine.yaml");
  }
  // Stops when it is asked for the time of that number; 0: never.
  Expected<Evaluated> run(std::size_t at, std::size_t jobs = 1) {
    EvaluatorOptions options = quick_options(jobs);
    asked = 0;
    const std::thread::id caller = std::this_thread::get_id();
    options.stop = [this, at, caller] {
      EXPECT_EQ(std::this_thread::get_id(), caller);
      return ++asked == at;
    };
    Evaluator evaluator(graph, hardware, cache, options);
    auto request = evaluator.bind(Plan{});
    if (!request) return request.error();
    return evaluator.evaluate(*request);
  }
};

TEST(Stop, WhereverItIsAsked) {
  Stopping stopping(chain(3, 24, 5));
  const auto whole = stopping.run(0);
  ASSERT_TRUE(whole.has_value()) << whole.error().text();
  const std::size_t questions = stopping.asked;
  EXPECT_GE(questions, 2U);  // before the tiles, and for the search
  for (std::size_t at = 1; at <= questions; ++at) {
    const auto result = stopping.run(at);
    ASSERT_FALSE(result.has_value()) << at;
    EXPECT_EQ(result.error().kind, ErrorKind::user);
    EXPECT_TRUE(result.error().message.starts_with("stopped"));
    EXPECT_EQ(stopping.asked, at);
  }
  // What was left behind in the cache does not matter.
  const auto again = stopping.run(0);
  ASSERT_TRUE(again.has_value());
  EXPECT_EQ(again->schedule.cycles, whole->schedule.cycles);
}

TEST(Stop, ByTheThreadThatCalls) {
  GraphBuilder b("sizes");
  for (std::int64_t size = 2; size < 40; ++size) {
    b.output(b.add(Op::Neg, "op" + std::to_string(size), {b.input("x" + std::to_string(size), {size, size + 1})}));
  }
  Stopping stopping(finished(b));
  EXPECT_TRUE(stopping.run(0, 4).has_value());
  EXPECT_FALSE(stopping.run(1, 4).has_value());
}

TEST(Stop, AnEvaluatorThatWasStoppedGoesOn) {
  Stopping stopping(chain(3, 24, 5));
  bool stop = true;
  EvaluatorOptions options = quick_options();
  options.stop = [&] { return stop; };
  Evaluator evaluator(stopping.graph, stopping.hardware, stopping.cache, options);
  const auto request = evaluator.bind(Plan{});
  ASSERT_TRUE(request.has_value());
  EXPECT_FALSE(evaluator.evaluate(*request).has_value());
  stop = false;
  const auto result = evaluator.evaluate(*request);
  ASSERT_TRUE(result.has_value()) << result.error().text();
  EXPECT_EQ(result->schedule.cycles, stopping.run(0)->schedule.cycles);
}

TEST(Stop, AmongManyTiles) {
  // 5000 tiles of one row.
  Stopping stopping(chain(1, 5000));
  EvaluatorOptions options = quick_options();
  std::size_t asked = 0;
  bool ever = false;
  options.stop = [&] { return ++asked > 0 && ever && asked > 2; };
  Evaluator evaluator(stopping.graph, stopping.hardware, stopping.cache, options);
  const auto plan = plan_from("plan: 1\noperators: {op0: {tile: {B: 1}}}\n", "plan.yaml");
  ASSERT_TRUE(plan.has_value()) << plan.error().text();
  const auto request = evaluator.bind(*plan);
  ASSERT_TRUE(request.has_value()) << request.error().text();
  ASSERT_TRUE(evaluator.evaluate(*request).has_value());
  EXPECT_EQ(asked, 3U);  // before the tiles, for the one search, and after 4096 tiles
  ever = true;
  asked = 1;  // the search is known by now
  const auto result = evaluator.evaluate(*request);
  ASSERT_FALSE(result.has_value());
  EXPECT_TRUE(result.error().message.starts_with("stopped"));
}

TEST(Stop, BeforeAMemoryIsPacked) {
  const Case c(chain(3, 24, 5), machine_with_array);
  const ScheduledStep step{c.graph(), c.hardware(), c.result().assignment, c.result().tiles, c.schedule()};
  const RoutedMachine machine(c.hardware());
  EXPECT_TRUE(pack_stays(step, machine, {}, [] { return false; }).has_value());
  const auto stopped = pack_stays(step, machine, {}, [] { return true; });
  ASSERT_FALSE(stopped.has_value());
  EXPECT_TRUE(stopped.error().message.starts_with("stopped"));
}

TEST(Stop, IsAnOption) {
  StepRequest options;
  options.stop = [] { return true; };
  const auto how = evaluator_options(options);
  ASSERT_TRUE(how.has_value());
  EXPECT_TRUE(how->stop());
}

}  // namespace
}  // namespace monet

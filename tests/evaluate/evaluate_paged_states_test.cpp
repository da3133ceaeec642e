// Weights and optimizer state that live in storage: do they come and go when they should, at the price of their bytes,
// and does the checker find it when they do not?
#include "evaluate/evaluate_case.h"
#include "evaluate/open/hardware.h"
#include "training/step.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>

namespace monet {
namespace {

using namespace test;
using testing::HasSubstr;

constexpr int flash_bits = 8;  // a cycle: a byte takes one

// A core that works on main memory, beside flash.
std::string machine(const std::string& ports =
                        "r: {kind: read, width: 8 bit/cycle}, w: {kind: write, width: 8 "
                        "bit/cycle}") {
  return "memories:\n  " + memory("main", "sram", "1 MiB", 4096) + "\n  flash: {kind: storage, size: 1 MiB, ports: {" +
         ports + "}}\ncores:\n" + rate_core("c0", "main: {use: main}, flash: {use: flash}");
}

// x -> fc1 -> tanh1 -> fc2 … with weights of 16 x 16, trained.
Graph perceptron(int layers, const training::StepOptions& options) {
  GraphBuilder b("perceptron");
  TensorId x = b.input("x", {4, 16});
  for (int i = 1; i <= layers; ++i) {
    const std::string number = std::to_string(i);
    x = b.add(Op::MatMul, "fc" + number, {x, b.parameter("w" + number, {16, 16})},
              {{Attr::trans_a, std::int64_t{0}}, {Attr::trans_b, std::int64_t{0}}, {Attr::alpha, 1.0}});
    x = b.add(Op::Tanh, "tanh" + number, {x});
  }
  b.output(x);
  auto step = training::make_training_step({finished(b), false, {}, {}}, options);
  EXPECT_TRUE(step.has_value()) << (step ? "" : step.error().text());
  return step ? std::move(step->graph) : Graph();
}

training::StepOptions adam() { return {.loss = {.kind = training::LossKind::mean_squared_error}}; }

constexpr std::int64_t weight_bytes = 16 * 16 * 4;

struct Stays {
  std::vector<TensorStay> home, flash;
};
Stays stays_of(const Case& c, const std::string& name) {
  Stays result;
  for (const TensorStay& stay : c.home(name)) {
    (c.hardware()[stay.memory].name == "flash" ? result.flash : result.home).push_back(stay);
  }
  std::ranges::sort(result.home, {}, &TensorStay::start);
  return result;
}

std::int64_t peak_in_main(const Case& c) {
  const std::vector<std::int64_t> peaks = live_peaks(c.hardware().memories.size(), c.schedule());
  for (std::size_t m = 0; m < peaks.size(); ++m) {
    if (c.hardware().memories[m].name == "main") return peaks[m];
  }
  return 0;
}

TEST(EvaluatePagedStates, OptimizerStateComesForItsUpdateAndGoesAsANewValue) {
  for (const char* order : {"critical-path", "graph"}) {
    const Case c(perceptron(3, adam()), machine(),
                 std::string("order: ") + order + "\ntensors: {optimizer-state: {page: flash}}\n");
    double last = 0;
    for (const std::string name : {"w1.m", "w1.v", "w2.m", "w2.v", "w3.m", "w3.v"}) {
      const auto in = c.transfers(name, TransferKind::page_in);
      const auto out = c.transfers(name + ".new", TransferKind::page_out);
      ASSERT_EQ(in.size(), 1U) << name;
      ASSERT_EQ(out.size(), 1U) << name;
      EXPECT_EQ(in[0].bytes, weight_bytes);
      EXPECT_EQ(in[0].end - in[0].start, weight_bytes * 8 / flash_bits);
      EXPECT_EQ(out[0].end - out[0].start, weight_bytes * 8 / flash_bits);
      const auto update = c.tiles(name.substr(0, 2) + ".update");
      ASSERT_EQ(update.size(), 1U);
      EXPECT_GE(update[0].start, in[0].end);
      EXPECT_GE(out[0].start, update[0].end);
      const Stays stays = stays_of(c, name);
      ASSERT_EQ(stays.home.size(), 1U) << name;
      EXPECT_EQ(stays.home[0].start, in[0].start);
      EXPECT_EQ(stays.home[0].end, out[0].end);
      ASSERT_EQ(stays.flash.size(), 1U);
      EXPECT_EQ(stays.flash[0].start, 0);
      EXPECT_EQ(stays.flash[0].end, c.cycles());
      last = std::max(last, out[0].end);
    }
    EXPECT_EQ(c.cycles(), last);
    EXPECT_EQ(c.transfers(TransferKind::page_in), 6U);
    EXPECT_EQ(c.transfers(TransferKind::page_out), 6U);
  }
}

// Kept, all of it is there all the time. Paged, the states of two updates at most: of one that runs and of the next.
TEST(EvaluatePagedStates, MemoryHoldsTheStateOfTwoUpdatesAtMost) {
  constexpr int layers = 8;
  const Case kept(perceptron(layers, adam()), machine(), "order: graph\n");
  const Case paged(perceptron(layers, adam()), machine(), "order: graph\ntensors: {optimizer-state: {page: flash}}\n");
  EXPECT_LE(peak_in_main(paged), peak_in_main(kept) - 2 * (layers - 2) * weight_bytes);
  EXPECT_GT(paged.cycles(), kept.cycles());
}

// The first layer's weight is read forward and by its update, the others' also for the gradient of their input.
TEST(EvaluatePagedStates, WeightsComeForEachPartOfTheStep) {
  for (const char* order : {"critical-path", "graph"}) {
    const Case c(perceptron(3, adam()), machine(),
                 std::string("order: ") + order + "\ntensors: {weights: {page: flash}}\n");
    for (const std::string name : {"w1", "w2", "w3"}) {
      const std::size_t parts = name == "w1" ? 2 : 3;
      EXPECT_EQ(c.transfers(name, TransferKind::page_in).size(), parts) << name;
      EXPECT_EQ(c.transfers(name, TransferKind::page_out).size(), 0U) << name << " is clean";
      EXPECT_EQ(c.transfers(name + ".new", TransferKind::page_out).size(), 1U) << name;
      const Stays stays = stays_of(c, name);
      ASSERT_EQ(stays.home.size(), parts) << name;
      for (std::size_t i = 1; i < parts; ++i) EXPECT_GE(stays.home[i].start, stays.home[i - 1].end);
      // Between the loss and its first use in the backward part it is away.
      EXPECT_EQ(stays.home[0].end, c.tiles("fc" + name.substr(1))[0].end);
    }
  }
}

// 166,667 operations and 4.4 million bytes a second: what is paged costs its bytes and the latency of the card.
TEST(EvaluatePagedStates, APagedWeightTakesWhatTheCardTakes) {
  auto hardware = open_hardware("poet_mkr1000");
  ASSERT_TRUE(hardware.has_value());
  const Graph step = perceptron(2, adam());
  const auto run = [&](const std::string& plan) {
    auto read = plan_from("plan: 1\norder: graph\n" + plan, "plan.yaml");
    auto wanted = carried_out(step, *hardware, *std::move(read));
    EXPECT_TRUE(wanted.has_value());
    MappingCache cache;
    Evaluator evaluator(wanted->graph, wanted->hardware, cache, {});
    auto result = evaluate(evaluator, *wanted);
    EXPECT_TRUE(result.has_value()) << (result ? "" : result.error().text());
    const CheckReport report = check(evaluator, *result);
    EXPECT_EQ(report.count, 0U) << report.violations.front().what;
    return result->schedule;
  };
  const Schedule schedule = run("tensors: {w2.m: {page: storage}}\n");
  const double clock = hardware->clock_hz;
  ASSERT_EQ(schedule.transfers.size(), 2U);
  EXPECT_NEAR((schedule.transfers[0].end - schedule.transfers[0].start) / clock, weight_bytes / 4616510.0 + 0.000109,
              1e-9);
  EXPECT_NEAR((schedule.transfers[1].end - schedule.transfers[1].start) / clock, weight_bytes / 4440000.0 + 0.000113,
              1e-9);
  // The update waits for what takes longer than the tile before it, and nothing runs after it but the page-out.
  EXPECT_GT(schedule.cycles, run("").cycles);
}

// Memory that can only be read holds what does not change.
TEST(EvaluatePagedStates, FrozenWeightsMayLiveInMemoryThatCannotBeWritten) {
  const std::string read_only = machine("r: {kind: read, width: 8 bit/cycle}");
  training::StepOptions frozen = adam();
  frozen.select.freeze = {"w1", "w2"};
  const Case c(perceptron(3, frozen), read_only, "tensors: {w1: {page: flash}, w2: {page: flash}}\n");
  EXPECT_EQ(c.error().message, "");
  EXPECT_EQ(stays_of(c, "w1").home.size(), 1U);  // nothing before it is trained: read forward only
  const Case changed(perceptron(3, adam()), read_only, "tensors: {w1: {page: flash}}\n");
  EXPECT_EQ(
      changed.error().text(),
      "w1: it cannot be paged to flash: nothing leads from main to flash (page it to a memory that can be read and "
      "written)");
  const Case saved(perceptron(3, adam()), read_only, "tensors: {tanh1.out: {page: flash}}\n");
  EXPECT_THAT(saved.error().message, HasSubstr("nothing leads from main to flash"));
}

TEST(EvaluatePagedStates, PagingToWhereCoresWork) {
  const std::string local = "memories:\n  " + memory("dram", "dram", "1 GiB", 4096) + "\ncores:\n" +
                            rate_core("c0", memory("sram", "sram", "1 MiB", 4096) + ", dram: {use: dram}");
  const Case c(perceptron(2, adam()), local, "tensors: {w1: {page: c0/sram}}\n");
  EXPECT_EQ(c.error().text(),
            "w1: it cannot be paged to c0/sram: c0 works in that memory (page it to storage or to off-chip memory)");
  const Case there(perceptron(2, adam()), machine(), "tensors: {w1: {page: main}}\n");
  EXPECT_THAT(there.error().message, HasSubstr("moves nothing"));
}

TEST(EvaluatePagedStates, ANewValueThatIsAViewIsRefused) {
  GraphBuilder b("view");
  const TensorId w = b.parameter("w", {4, 4});
  const TensorId moved = b.add(Op::Neg, "neg", {w});
  b.set_phase(Phase::optimizer);
  b.update(w, b.add(Op::Transpose, "turn", {moved}, {{Attr::perm, std::vector<std::int64_t>{1, 0}}}));
  const Case c(finished(b), machine(), "tensors: {w: {page: flash}}\n");
  EXPECT_THAT(c.error().message, HasSubstr("it cannot be paged: its new value, "));
  EXPECT_EQ(c.error().place, "w");
}

// A schedule that is right, spoiled.
class Spoiled {
 public:
  explicit Spoiled(const std::string& plan) : case_(perceptron(3, adam()), machine(), plan), result_(case_.result()) {}
  Schedule& schedule() { return result_.schedule; }
  TensorId tensor(const std::string& name) const {
    for (std::size_t i = 0; i < case_.graph().tensors().size(); ++i) {
      if (case_.graph().tensors()[i].name == name) return TensorId(i);
    }
    ADD_FAILURE() << name;
    return {};
  }
  void erase(const std::string& name, TransferKind kind) {
    std::erase_if(result_.schedule.transfers, [&](const ScheduledTransfer& t) {
      return t.kind == kind && result_.tiles.buffers[t.buffer.index()].tensor == tensor(name);
    });
  }
  std::vector<TensorStay*> stays(const std::string& name, const std::string& memory) {
    std::vector<TensorStay*> found;
    for (TensorStay& stay : result_.schedule.home) {
      if (stay.tensor == tensor(name) && case_.hardware()[stay.memory].name == memory) found.push_back(&stay);
    }
    return found;
  }
  void expect_found(const std::string& what) {
    const CheckReport report = check(case_.evaluator(), result_);
    const bool found = std::ranges::any_of(report.violations,
                                           [&](const Violation& v) { return v.what.find(what) != std::string::npos; });
    EXPECT_TRUE(found) << what << "; found " << (report.count > 0 ? report.violations.front().what : "nothing");
  }

 private:
  Case case_;
  Evaluated result_;
};

TEST(CheckPagedStates, FindsWhatIsNotWhereItShouldBe) {
  const std::string states = "tensors: {optimizer-state: {page: flash}}\n";
  const std::string weights = "tensors: {weights: {page: flash}}\n";
  Spoiled no_page_in(states);
  no_page_in.erase("w2.m", TransferKind::page_in);
  no_page_in.expect_found("reads buffer 0 of w2.m in main: it is not there in time");

  Spoiled no_page_out(states);
  no_page_out.erase("w2.m.new", TransferKind::page_out);
  no_page_out.expect_found(
      "buffer 0 of w2.m.new is a result of the step, and in flash it is not there in time at the "
      "end");

  Spoiled forgotten(states);
  forgotten.stays("w2.v", "flash").front()->end /= 2;
  forgotten.expect_found("w2.v outlives the step and is not in flash all the time");

  Spoiled lingers(states);
  lingers.stays("w3.v", "main").front()->start = 0;
  lingers.expect_found("w3.v lives in flash and stays in main from 0 to ");

  Spoiled stays_on(weights);
  const auto parts = stays_on.stays("w2", "main");
  ASSERT_EQ(parts.size(), 3U);
  parts[0]->end = parts[1]->end;
  stays_on.expect_found("w2 lives in flash and stays in main from ");
  stays_on.expect_found(", between two parts of the step");

  // Written over in storage before the old value has been read there.
  Spoiled too_early(weights);
  for (ScheduledTransfer& transfer : too_early.schedule().transfers) {
    if (transfer.kind != TransferKind::page_out) continue;
    transfer.end -= transfer.start - 1;
    transfer.start = 1;
  }
  too_early.expect_found("overwritten");
}

}  // namespace
}  // namespace monet

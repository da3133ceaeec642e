// Does a diagnosis say what the numbers of a result say, and nothing where they say nothing?
#include "present/shared/diagnosis.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace monet {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

ResourceResult core(const std::string& name, double compute, double stall, double transfer) {
  ResourceResult result{.name = name, .kind = "core", .type = "pe"};
  result.compute_cycles = compute;
  result.stall_cycles = stall;
  result.busy_cycles = compute + stall;
  result.idle_by = {{"transfer", transfer}, {"nothing to do", 100 - compute - stall - transfer}};
  return result;
}

Evaluation step_of(std::vector<ResourceResult> resources) {
  Evaluation evaluation;
  evaluation.latency_cycles = 100;
  evaluation.resources = std::move(resources);
  return evaluation;
}

TEST(Diagnosis, NothingRan) { EXPECT_THAT(diagnosis_of({}), IsEmpty()); }

TEST(Diagnosis, APortThatIsBusy) {
  Evaluation evaluation = step_of({core("a", 30, 0, 60), core("b", 30, 0, 60)});
  evaluation.resources.push_back({.name = "dram rw", .kind = "port", .busy_cycles = 93, .bytes = 2048});
  EXPECT_THAT(diagnosis_of(evaluation), ElementsAre("port dram rw is busy for 93 % of the step: 2 KiB cross it"));
}

TEST(Diagnosis, CoresThatCompute) {
  EXPECT_THAT(diagnosis_of(step_of({core("a", 80, 0, 10), core("b", 60, 0, 10)})),
              ElementsAre("the 2 cores pe compute for 70 % of the step"));
}

TEST(Diagnosis, CoresThatAreStalled) {
  EXPECT_THAT(diagnosis_of(step_of({core("a", 10, 80, 10)})),
              ElementsAre("core pe runs tiles for 90 % of the step, and is stalled on operands for 80 %"));
}

TEST(Diagnosis, CoresThatWait) {
  EXPECT_THAT(diagnosis_of(step_of({core("a", 20, 0, 70), core("b", 20, 0, 30)})),
              ElementsAre("nothing is busy most of the time: the 2 cores pe compute for 20 % of the step, and wait for "
                          "transfers for 50 %"));
}

TEST(Diagnosis, AnOperatorOnOneOfManyCores) {
  Evaluation evaluation = step_of({core("a", 80, 0, 10), core("b", 60, 0, 10)});
  OperatorResult head{.name = "head.grad", .op = "MatMul", .cores = {"a"}};
  head.busy_cycles = 60;
  head.stall_cycles = 45;
  evaluation.operators = {{.name = "relu", .op = "Relu", .cores = {"a", "b"}}, head};
  evaluation.critical_path = {{.name = "relu", .kind = "compute", .start = 0, .end = 20},
                              {.name = "head.grad", .kind = "compute", .start = 20, .end = 50},
                              {.name = "head.grad", .kind = "wait", .start = 50, .end = 70},
                              {.name = "head.grad", .kind = "compute", .start = 70, .end = 100}};
  EXPECT_THAT(diagnosis_of(evaluation),
              ElementsAre(HasSubstr("70 %"),
                          "head.grad (MatMul) is 60 % of the step, on 1 of 2 cores pe, stalled for 75 % of it"));
}

TEST(Diagnosis, NoOperatorByItself) {
  Evaluation evaluation = step_of({core("a", 80, 0, 10)});
  evaluation.operators = {{.name = "relu", .op = "Relu", .cores = {"a"}}};
  evaluation.critical_path = {{.name = "relu", .kind = "compute", .start = 0, .end = 5}};
  PhaseResult forward{.phase = "forward"}, optimizer{.phase = "optimizer"};
  forward.latency_cycles = 42;
  optimizer.latency_cycles = 58;
  evaluation.phases = {forward, optimizer};
  EXPECT_THAT(diagnosis_of(evaluation),
              ElementsAre(HasSubstr("80 %"),
                          "forward 42 %, optimizer 58 %; no operator by itself holds it up for more than 5 %"));
}

TEST(Diagnosis, WhatABetterPlanCouldDo) {
  Evaluation evaluation = step_of({core("a", 80, 0, 10)});
  evaluation.bound_cycles = 25;
  EXPECT_THAT(diagnosis_of(evaluation).back(), HasSubstr("at most 4x faster"));
  evaluation.bound_cycles = 80;
  EXPECT_EQ(diagnosis_of(evaluation).size(), 1U);
}

TEST(Diagnosis, LaunchesOfAGraphicsProcessor) {
  Evaluation evaluation = step_of({core("sm", 100, 0, 0)});
  evaluation.reach.laws = "measured";
  evaluation.clock_hz = 1e6;
  evaluation.latency_s = 100e-6;
  evaluation.tiles = 10;
  evaluation.utilization = 0.06;
  OperatorResult conv{.name = "conv", .op = "Conv"}, relu{.name = "relu", .op = "Relu"};
  conv.busy_cycles = 75;
  relu.busy_cycles = 25;
  evaluation.operators = {conv, relu};
  EXPECT_THAT(diagnosis_of(evaluation),
              ElementsAre("Conv takes 75 % of the step; 10 launches of 10 us on average, 6 % of the machine's peak"));
}

TEST(Diagnosis, ALaunchOverAListOfTensorsIsNotOneOfThem) {
  Evaluation evaluation = step_of({core("sm", 100, 0, 0)});
  evaluation.reach.laws = "measured";
  OperatorResult first{.name = "a.update", .op = "AdamUpdate", .phase = "optimizer"}, last = first, other = first;
  last.name = "b.update";
  last.busy_cycles = 100;
  other.phase = "backward";
  evaluation.operators = {first, last, other};
  evaluation.critical_path = {{.name = "b.update", .kind = "compute", .start = 0, .end = 100}};
  EXPECT_THAT(diagnosis_of(evaluation).back(), "b.update and 1 more AdamUpdate in its launches are 100 % of the step");
}

}  // namespace
}  // namespace monet

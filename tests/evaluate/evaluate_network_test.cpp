// Can an evaluation be read: as tables, as JSON, in a spreadsheet, in a trace viewer?
#include <monet/evaluate.h>

#include "support/line_with.h"

#include <gmock/gmock.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <map>
#include <set>

namespace monet {
namespace {

using test::line_with;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

constexpr double million = 1e6;
constexpr std::int64_t mebibyte = 1 << 20;

ResourceResult core(const std::string& name, const std::string& type, double busy) {
  ResourceResult result{.name = name, .kind = "core", .type = type};
  result.busy_cycles = busy;
  result.compute_cycles = 0.5 * busy;
  result.stall_cycles = 0.2 * busy;
  result.load_cycles = 0.1 * busy;
  result.fill_cycles = 0.1 * busy;
  result.slowed_cycles = 0.1 * busy;
  result.idle_cycles = million - busy;
  result.idle_by = {{"data", 0.25 * (million - busy)}, {"nothing to do", 0.75 * (million - busy)}};
  result.utilization = busy / million;
  result.energy_pj = 1e9;
  return result;
}

ResourceResult channel(const std::string& name, const std::string& kind, double busy) {
  ResourceResult result{.name = name, .kind = kind, .type = {}};
  result.busy_cycles = busy;
  result.idle_cycles = million - busy;
  result.utilization = busy / million;
  result.bytes = 4.0 * mebibyte;
  result.energy_pj = 5e8;
  return result;
}

OperatorResult convolution(const std::string& name, const std::string& phase, double busy) {
  OperatorResult result{.name = name, .op = "Conv", .phase = phase, .stack = "0", .cores = {"pe0", "pe1"}};
  result.tiles = 4;
  result.macs = 2e9;
  result.end = busy;
  result.busy_cycles = busy;
  result.compute_cycles = 0.5 * busy;
  result.stall_cycles = 0.25 * busy;
  result.slowed_cycles = 0.25 * busy;
  result.wait_cycles = 1000;
  result.energy_pj = 2e9;
  result.compute_pj = 1e9;
  result.memory_pj = 1e9;
  result.bound_cycles = 0.5 * busy;
  return result;
}

MemoryResult memory_result(const std::string& name, const std::string& kind, std::int64_t live, std::int64_t packed) {
  MemoryResult result{.name = name, .kind = kind, .capacity_bytes = 16 * mebibyte, .live_peak_bytes = live};
  result.packed_peak_bytes = packed;
  result.read_bytes = 2.0 * mebibyte;
  result.written_bytes = 1.0 * mebibyte;
  result.energy_pj = 1e9;
  return result;
}

// A step of a millisecond at 1 GHz with 10 mJ, on two equal cores and another.
Evaluation millisecond_step() {
  Evaluation e{.model = "net", .hardware = "machine", .objective = "latency"};
  e.clock_hz = 1e9;
  e.batch = 4;
  e.latency_cycles = million;
  e.latency_s = 1e-3;
  e.energy_pj = 1e10;
  e.energy = {{"compute int8", 4e9}, {"pe0/sram", 1e9}, {"pe1/sram", 1e9}, {"dram", 3e9}, {"static", 1e9}};
  e.latency_by = {{"compute", 9e5}, {"stall", 0}, {"traffic", 1e5}};
  e.energy_by = {{"compute", 4e9}, {"traffic", 5e9}, {"static", 1e9}};
  e.macs = 6e9;
  e.utilization = 0.25;
  e.nodes = 3;
  e.parameters = 1000;
  e.saved_bytes = 4096;
  e.stacks = 2;
  e.tiles = 12;
  e.transfers = 20;
  e.footprint_bytes = {{"weight", 3 * mebibyte}, {"activation", 5 * mebibyte}};
  e.bound_cycles = 8e5;
  e.bound_pj = 5e9;
  e.bound_by = "port dram rw";
  e.wall_s = 0.25;
  e.phases = {{"forward", 0, 3e5, 4e5, 3e5, 3e9, 2e9}, {"backward", 3e5, million, 8e5, 7e5, 7e9, 4e9}};
  e.operators = {convolution("conv1", "forward", 4e5), convolution("conv,\"2\"", "backward", 8e5)};
  e.resources = {core("pe0", "pe", 8e5), core("pe1", "pe", 4e5), core("simd", "simd", 0), channel("bus", "link", 5e5),
                 channel("dram rw", "port", 9e5)};
  MemoryResult dram = memory_result("dram", "dram", 8 * mebibyte, 9 * mebibyte);
  dram.peak_at = 4e5;
  dram.peak_by_role = {{"weight", 2.0 * mebibyte}, {"activation", 6.0 * mebibyte}};
  dram.alive_at_peak = {{"relu1.out", "activation", 6 * mebibyte, 1e5, 9e5},
                        {"conv1.w", "weight", 2 * mebibyte, 0, million}};
  dram.roles = {"weight", "activation"};
  dram.curve_at = {0, 4e5, million};
  dram.curve = {{mebibyte, 0}, {2 * mebibyte, 6 * mebibyte}, {2 * mebibyte, 0}};
  e.memories = {dram, memory_result("pe0/sram", "sram", mebibyte, 0),
                memory_result("pe1/sram", "sram", 2 * mebibyte, 0)};
  e.critical_path = {{"conv1", "compute", 0, 1e5},
                     {"conv1", "compute", 1e5, 3e5},
                     {"fetch w", "transfer", 3e5, 4e5},
                     {"conv,\"2\"", "compute", 4e5, 9e5},
                     {"conv1", "compute", 9e5, million}};
  e.critical_by_kind = {{"compute", 9e5}, {"transfer", 1e5}};
  e.checked = "12 tiles, 20 transfers";
  e.inference_cycles = 2.5e5;
  e.inference_pj = 2e9;
  e.inference_peak_bytes = 2 * mebibyte;
  e.filled = {"stacks: one operator each"};
  e.trace = {{"pe0", "conv1", "compute", 0, 1e5, 0, {}, -1},
             {"bus", "fetch w", "fetch", 3e5, 4e5, 4096, {}, -1},
             {"bus", "fetch v", "fetch", 3.5e5, 4.5e5, 4096, {}, -1},
             {"pe0", "conv,\"2\"", "compute", 4e5, 9e5, 0, EventWait::data, 1},
             {"elsewhere", "odd\xff", "", 1.5, 1.5, 0, {}, -1}};
  e.lifetimes = {{"dram", "conv1.w", "weight", "conv1.w", 0, million, 2 * mebibyte, 64},
                 {"pe0/sram", "a,b", "activation", "a,b", 1, 2.5, 7, -1}};
  return e;
}

void expect_in_order(const std::string& line, const std::vector<std::string>& words) {
  std::size_t at = 0;
  for (const std::string& word : words) {
    const std::size_t found = line.find(word, at);
    ASSERT_NE(found, std::string::npos) << word << " in order in: " << line;
    at = found + word.size();
  }
}

// Text

TEST(EvaluationText, SaysTheMostImportantFirst) {
  const std::string text = to_text(millisecond_step(), {}).plain();
  EXPECT_THAT(text, StartsWith("net on machine: a training step, batch 4, mapped for latency\n"
                               "diagnosis    port dram rw is busy for 90 % of the step: 4 MiB cross it\n"
                               "             conv,\"2\" (Conv) is 50 % of the step\n"
                               "latency      1 ms, 1,000,000 cycles at 1 GHz\n"
                               "energy       10 mJ, 10 W on average\n"
                               "peak memory  dram 9 MiB packed, 8 MiB live, 56.2% of 16 MiB\n"
                               "bound        latency 1.25x of 800 us (port dram rw), energy 2.00x of 5 mJ\n"
                               "work         6 GMAC in 3 operators, 2 stacks, 12 tiles, 20 transfers; 25.0% of the "
                               "machine's peak\n"
                               "checked      12 tiles, 20 transfers\n"));
}

TEST(EvaluationText, PhasesAddUp) {
  const std::string text = to_text(millisecond_step(), {}).plain();
  expect_in_order(line_with(text, "forward"), {"300 us", "30.0%", "400 us", "3 mJ", "30.0%", "2 G"});
  expect_in_order(line_with(text, "backward"), {"700 us", "70.0%", "800 us", "7 mJ", "70.0%", "4 G"});
  expect_in_order(line_with(text, "step"), {"1 ms", "1.2 ms", "10 mJ", "6 G"});
}

TEST(EvaluationText, EqualCoresAreCountedTogether) {
  const std::string text = to_text(millisecond_step(), {}).plain();
  // The mean of 80 % and 40 %; half of it computing, 20 % stalls, 20 % loading and filling, 10 % slowed.
  expect_in_order(line_with(text, "2 x pe "), {"60.0%", "30.0%", "12.0%", "12.0%", "6.0%", "40.0%", "10.0%", "30.0%"});
  expect_in_order(line_with(text, "simd"), {"0.0%", "100.0%", "25.0%", "75.0%"});
  expect_in_order(line_with(text, "pe/sram"), {"2 mJ", "20.0%"});  // energy: of both
  expect_in_order(line_with(text, "2 x pe/sram"), {"sram", "16 MiB", "2 MiB", "12.5%", "4 MiB", "2 MiB", "2 mJ"});
  expect_in_order(line_with(text, "conv1 "), {"Conv", "forward", "2 pe", "4", "2 G", "400 us"});
}

TEST(EvaluationText, TheLargestPartComesFirst) {
  const std::string text = to_text(millisecond_step(), {}).plain();
  expect_in_order(text, {"\nenergy of", "\ncompute int8", "\ndram", "\npe/sram", "\nstatic"});
  expect_in_order(text, {"\nlinks and ports", "\ndram rw", "4 MiB", "900 us", "90.0%", "\nbus", "50.0%"});
  expect_in_order(text, {"\ncostliest operators", "\nconv,\"2\"", "800 us", "66.7%", "25.0%", "25.0%", "1 us", "2.00x",
                         "20.0%", "\nconv1"});
}

TEST(EvaluationText, WhatIsAliveAtThePeak) {
  const std::string text = to_text(millisecond_step(), {.tensors = 1}).plain();
  EXPECT_THAT(text, HasSubstr("dram at its peak, 400 us after the start"));
  expect_in_order(line_with(text, "activation"), {"6 MiB", "75.0%"});
  expect_in_order(line_with(text, "relu1.out"), {"activation", "6 MiB", "75.0%", "100 us", "900 us"});
  EXPECT_THAT(text, HasSubstr("and 1 more; --tensors 0 shows all"));
  EXPECT_THAT(to_text(millisecond_step(), {.tensors = 0}).plain(), HasSubstr("\nconv1.w"));
}

TEST(EvaluationText, StepsOfOneOperatorOnTheCriticalPathAreOneRow) {
  const std::string text = to_text(millisecond_step(), {}).plain();
  const std::string path = text.substr(text.find("\ncritical path"));
  expect_in_order(line_with(path, "conv,\"2\""), {"compute", "1", "400 us", "500 us", "50.0%"});
  expect_in_order(line_with(path, "conv1"), {"compute", "3", "0 us", "400 us", "40.0%"});
  expect_in_order(line_with(path, "fetch w"), {"transfer", "300 us", "100 us", "10.0%"});
  EXPECT_THAT(path, HasSubstr("the path is compute 90.0%, transfer 10.0%\n"));
}

TEST(EvaluationText, AgainstInference) {
  const std::string text = to_text(millisecond_step(), {}).plain();
  const std::string table = text.substr(text.find("\nagainst inference"));
  expect_in_order(line_with(table, "latency"), {"250 us", "1 ms", "4.00x"});
  expect_in_order(line_with(table, "energy"), {"2 mJ", "10 mJ", "5.00x"});
  expect_in_order(line_with(table, "peak of dram"), {"2 MiB", "8 MiB", "4.00x"});
  EXPECT_THAT(table, HasSubstr("filled in:\n  stacks: one operator each\n"));
  Evaluation alone = millisecond_step();
  alone.inference_cycles = 0;
  EXPECT_THAT(to_text(alone, {}).plain(), Not(HasSubstr("against inference")));
}

TEST(EvaluationText, OnlySomeOperatorsUnlessAllAreWanted) {
  const std::string text = to_text(millisecond_step(), {.operators = 1}).plain();
  EXPECT_THAT(text, HasSubstr("and 1 more operators; --operators 0 shows all\n"));
  EXPECT_EQ(line_with(text.substr(0, text.find("\ncritical path")), "conv1 "), "");
  EXPECT_NE(line_with(to_text(millisecond_step(), {.operators = 0}).plain(), "conv1 "), "");
}

TEST(EvaluationText, WithoutAClockInCycles) {
  Evaluation e = millisecond_step();
  e.clock_hz = e.latency_s = 0;
  const std::string text = to_text(e, {}).plain();
  EXPECT_THAT(text, HasSubstr("\nlatency      1,000,000 cycles\nenergy       10 mJ\n"));
  expect_in_order(line_with(text, "forward"), {"300,000 cycles", "30.0%"});
}

TEST(EvaluationText, WhatDoesNotFit) {
  Evaluation e = millisecond_step();
  e.fits = false;
  e.does_not_fit = "dram is too small by 1 MiB";
  e.options = {{"batch 2", true, 6e5, 5e9, 4 * mebibyte, ""},
               {"recompute all saved tensors", false, 0, 0, 0, "weights alone are larger"}};
  const std::string text = to_text(e, {}).plain();
  expect_in_order(text, {"net on machine", "\nDOES NOT FIT dram is too small by 1 MiB\n", "\nwhat could be done",
                         "\nrelu1.out", "\nphase"});
  expect_in_order(line_with(text, "batch 2"), {"yes", "4 MiB", "600 us", "5 mJ"});
  expect_in_order(line_with(text, "recompute all"), {"no", "weights alone are larger"});
}

TEST(EvaluationText, TheMemoryThatIsTooSmallIsTheOneThatIsShown) {
  Evaluation e = millisecond_step();
  e.fits = false;
  e.memories[1].capacity_bytes = mebibyte / 2;
  e.memories[1].peak_by_role = {{"workspace", 1.0 * mebibyte}};
  EXPECT_THAT(to_text(e, {}).plain(), HasSubstr("pe0/sram at its peak"));
}

// Nothing was scheduled, because nothing fits.
TEST(EvaluationText, NothingButTheShortfall) {
  Evaluation e{.model = "net", .hardware = "machine", .objective = "latency"};
  e.fits = false;
  e.does_not_fit = "dram is too small by 1 MiB";
  const std::string text = to_text(e, {}).plain();
  EXPECT_THAT(text, HasSubstr("too small"));
  EXPECT_THAT(text, Not(HasSubstr("latency  ")));
  EXPECT_FALSE(nlohmann::json::parse(to_json(e)).at("fits").get<bool>());
  EXPECT_EQ(nlohmann::json::parse(to_trace(e)).at("traceEvents").size(), 1U);
}

// JSON

TEST(EvaluationJson, HasTheNamesOfTheContract) {
  const nlohmann::json found = nlohmann::json::parse(to_json(millisecond_step()));
  EXPECT_EQ(found.at("schema"), 1);
  EXPECT_EQ(found.at("latency_cycles"), 1e6);
  EXPECT_EQ(found.at("latency_s"), 1e-3);
  EXPECT_EQ(found.at("energy_pj"), 1e10);
  EXPECT_EQ(found.at("energy_breakdown").at("pe1/sram"), 1e9);
  EXPECT_EQ(found.at("latency_by"), nlohmann::json({{"compute", 9e5}, {"stall", 0.0}, {"traffic", 1e5}}));
  EXPECT_EQ(found.at("energy_by").at("static"), 1e9);
  EXPECT_EQ(found.at("peak_bytes"), nlohmann::json({{"dram", 9 * mebibyte}}));
  EXPECT_EQ(found.at("live_peak_bytes"),
            nlohmann::json({{"dram", 8 * mebibyte}, {"pe0/sram", mebibyte}, {"pe1/sram", 2 * mebibyte}}));
  EXPECT_EQ(found.at("footprint_bytes"), nlohmann::json({{"weight", 3 * mebibyte}, {"activation", 5 * mebibyte}}));
  EXPECT_EQ(found.at("macs"), 6e9);
  EXPECT_EQ(found.at("nodes"), 3);
  EXPECT_EQ(found.at("parameters"), 1000);
  EXPECT_EQ(found.at("saved_bytes"), 4096);
  EXPECT_EQ(found.at("stacks"), 2);
  EXPECT_EQ(found.at("tiles"), 12);
  EXPECT_EQ(found.at("bound").at("latency_cycles"), 8e5);
  EXPECT_EQ(found.at("bound").at("energy_pj"), 5e9);
  EXPECT_EQ(found.at("wall_s"), 0.25);
}

TEST(EvaluationJson, HasAllTheRest) {
  const nlohmann::json found = nlohmann::json::parse(to_json(millisecond_step()));
  EXPECT_EQ(found.at("phases").at(1).at("latency_cycles"), 7e5);
  EXPECT_EQ(found.at("operators").at(1).at("name"), "conv,\"2\"");
  EXPECT_EQ(found.at("operators").at(0).at("cores"), nlohmann::json::array({"pe0", "pe1"}));
  EXPECT_EQ(found.at("operators").at(0).at("energy_breakdown").at("memory"), 1e9);
  EXPECT_EQ(found.at("resources").at(0).at("idle_by").at("data"), 5e4);
  EXPECT_FALSE(found.at("resources").at(3).contains("idle_by"));
  EXPECT_EQ(found.at("memories").at(0).at("alive_at_peak").at(0).at("name"), "relu1.out");
  EXPECT_EQ(found.at("memories").at(0).at("curve").at("bytes").at(1),
            nlohmann::json::array({2 * mebibyte, 6 * mebibyte}));
  EXPECT_EQ(found.at("inference").at("latency_cycles"), 2.5e5);
  EXPECT_EQ(found.at("filled"), nlohmann::json::array({"stacks: one operator each"}));
  // Neighbours of one name are one: the first two.
  ASSERT_EQ(found.at("critical_path").size(), 4U);
  EXPECT_EQ(found.at("critical_path").at(0),
            nlohmann::json({{"name", "conv1"}, {"kind", "compute"}, {"start", 0.0}, {"end", 3e5}, {"steps", 2}}));
}

TEST(EvaluationJson, WhatIsNotKnownIsNull) {
  Evaluation e = millisecond_step();
  e.clock_hz = e.latency_s = e.bound_cycles = e.bound_pj = e.inference_cycles = 0;
  const nlohmann::json found = nlohmann::json::parse(to_json(e));
  EXPECT_TRUE(found.at("latency_s").is_null());
  EXPECT_TRUE(found.at("bound").at("energy_pj").is_null());
  EXPECT_TRUE(found.at("inference").is_null());
}

TEST(EvaluationJson, PartsOfOneNameAreAddedUp) {
  Evaluation e = millisecond_step();
  e.energy = {{"dram", 1}, {"static", 2}, {"dram", 4}};
  EXPECT_EQ(nlohmann::json::parse(to_json(e)).at("energy_breakdown"), nlohmann::json({{"dram", 5.0}, {"static", 2.0}}));
}

TEST(EvaluationJson, NamesMayBeAnyBytes) {
  Evaluation e = millisecond_step();
  e.operators[0].name = "a\xff\"\n";
  EXPECT_EQ(nlohmann::json::parse(to_json(e)).at("operators").at(0).at("name"), "a\xef\xbf\xbd\"\n");
}

// CSV

TEST(EvaluationCsv, OneLineAnOperator) {
  const std::string text = to_csv(millisecond_step());
  EXPECT_THAT(text, StartsWith("name,operator,phase,stack,cores,tiles,macs,"));
  EXPECT_EQ(line_with(text, "\"conv"),
            "\"conv,\"\"2\"\"\",Conv,backward,0,pe0;pe1,4,2000000000,0,800000,800000,400000,200000,0,0,200000,1000,"
            "400000,2000000000,1000000000,1000000000,0,0,0,0,0,,0");
  EXPECT_EQ(std::ranges::count(line_with(text, "conv1"), ','), std::ranges::count(line_with(text, "name,"), ','));
}

TEST(EvaluationCsv, Lifetimes) {
  EXPECT_EQ(to_lifetimes_csv(millisecond_step()),
            "memory,name,role,start,end,bytes,address\n"
            "dram,conv1.w,weight,0,1000000,2097152,64\n"
            "pe0/sram,\"a,b\",activation,1,2.5,7,\n");
}

// Trace

std::vector<nlohmann::json> events_of(const nlohmann::json& trace, const std::string& phase) {
  std::vector<nlohmann::json> found;
  std::ranges::copy_if(trace.at("traceEvents"), std::back_inserter(found),
                       [&](const nlohmann::json& event) { return event.at("ph") == phase; });
  return found;
}

std::map<int, std::string> threads_of(const nlohmann::json& trace) {
  std::map<int, std::string> names;
  for (const nlohmann::json& event : events_of(trace, "M"))
    if (event.at("name") == "thread_name") names[event.at("tid")] = event.at("args").at("name");
  return names;
}

// Slices of one thread follow on from each other; time never goes back.
void expect_well_formed_trace(const nlohmann::json& trace) {
  std::map<int, double> end;
  double last = 0;
  for (const nlohmann::json& event : trace.at("traceEvents")) {
    if (event.at("ph") == "M") continue;
    const double at = event.at("ts");
    EXPECT_GE(at, last);
    last = at;
    if (event.at("ph") != "X") continue;
    EXPECT_GE(event.at("dur").get<double>(), 0);
    EXPECT_GE(at, end[event.at("tid")] - 1e-6) << event;
    end[event.at("tid")] = at + event.at("dur").get<double>();
  }
}

TEST(EvaluationTrace, AThreadForEachPart) {
  const nlohmann::json trace = nlohmann::json::parse(to_trace(millisecond_step()));
  expect_well_formed_trace(trace);
  std::vector<std::string> names;
  for (const auto& [thread, name] : threads_of(trace)) names.push_back(name);
  EXPECT_THAT(names, ElementsAre("critical path", "core pe0", "link bus", "link bus (2)", "elsewhere"));
  EXPECT_EQ(trace.at("traceEvents").at(0).at("args").at("name"), "net on machine");
}

// Events name their track with its kind: "core pe0". The order is that of the machine, whatever happens first.
TEST(EvaluationTrace, TracksInTheOrderOfTheMachine) {
  Evaluation e = millisecond_step();
  e.resources.push_back({.name = "mesh", .kind = "bus"});
  e.trace = {{"elsewhere", "x", "", 0, 1, 0, {}, -1},
             {"port dram rw", "x", "fetch", 0, 1, 0, {}, -1},
             {"link mesh", "x", "fetch", 0, 1, 0, {}, -1},
             {"core simd", "x", "forward", 0, 1, 0, {}, -1},
             {"core pe1", "x", "forward", 0, 1, 0, {}, -1}};
  std::vector<std::string> names;
  for (const auto& [thread, name] : threads_of(nlohmann::json::parse(to_trace(e)))) names.push_back(name);
  EXPECT_THAT(names, ElementsAre("critical path", "core pe1", "core simd", "link mesh", "port dram rw", "elsewhere"));
}

TEST(EvaluationTrace, SlicesInMicroseconds) {
  const nlohmann::json trace = nlohmann::json::parse(to_trace(millisecond_step()));
  const auto slices = events_of(trace, "X");
  ASSERT_EQ(slices.size(), 4U + 5U);
  const auto found =
      std::ranges::find_if(slices, [](const nlohmann::json& slice) { return slice.at("name") == "fetch v"; });
  ASSERT_NE(found, slices.end());
  EXPECT_EQ(found->at("ts"), 350);
  EXPECT_EQ(found->at("dur"), 100);
  EXPECT_EQ(found->at("cat"), "fetch");
  EXPECT_EQ(found->at("args"), nlohmann::json({{"start_cycle", 3.5e5}, {"end_cycle", 4.5e5}, {"bytes", 4096}}));
  EXPECT_EQ(threads_of(trace).at(found->at("tid")), "link bus (2)");
}

TEST(EvaluationTrace, FlowsJoinWhatMakesWithWhatReads) {
  const nlohmann::json trace = nlohmann::json::parse(to_trace(millisecond_step()));
  const auto starts = events_of(trace, "s"), ends = events_of(trace, "f");
  ASSERT_EQ(starts.size(), 1U);
  ASSERT_EQ(ends.size(), 1U);
  EXPECT_EQ(starts[0].at("id"), ends[0].at("id"));
  EXPECT_EQ(threads_of(trace).at(starts[0].at("tid")), "link bus");
  EXPECT_EQ(threads_of(trace).at(ends[0].at("tid")), "core pe0");
  EXPECT_EQ(starts[0].at("ts"), 350);  // in the middle of the source
  EXPECT_EQ(ends[0].at("ts"), 400);
  EXPECT_EQ(ends[0].at("bp"), "e");
}

TEST(EvaluationTrace, CountersOfMemories) {
  const auto counters = events_of(nlohmann::json::parse(to_trace(millisecond_step())), "C");
  ASSERT_EQ(counters.size(), 3U);
  EXPECT_EQ(counters[1].at("name"), "dram bytes");
  EXPECT_EQ(counters[1].at("ts"), 400);
  EXPECT_EQ(counters[1].at("args"), nlohmann::json({{"weight", 2 * mebibyte}, {"activation", 6 * mebibyte}}));
}

TEST(EvaluationTrace, WithoutAClockACycleIsAMicrosecond) {
  Evaluation e = millisecond_step();
  e.clock_hz = 0;
  const nlohmann::json trace = nlohmann::json::parse(to_trace(e));
  for (const nlohmann::json& slice : events_of(trace, "X"))
    EXPECT_EQ(slice.at("ts"), slice.at("args").at("start_cycle"));
}

// Neither a clock that divides nothing nor many slices at one time let slices of a thread overlap.
TEST(EvaluationTrace, ManyAtOnceGetLanes) {
  Evaluation e{.model = "net", .hardware = "machine", .objective = "latency"};
  e.clock_hz = 1.7e9;
  for (int i = 0; i < 3000; ++i) {
    e.trace.push_back({"bus", "t", "fetch", i * 1.0, i + 1.0 + i % 7, 1, EventWait::data, i > 10 ? i - 10 : -1});
    e.trace.push_back({"pe", "t", "compute", i * 1.0, i + 1.0, 0, EventWait::data, i});
  }
  const nlohmann::json trace = nlohmann::json::parse(to_trace(e));
  expect_well_formed_trace(trace);
  std::vector<std::string> names;
  for (const auto& [thread, name] : threads_of(trace)) names.push_back(name);
  // 1 + i mod 7 cycles long, one a cycle: at most 4 at a time, which at most 7 ago began.
  EXPECT_EQ(std::ranges::count(names, "pe"), 1);
  EXPECT_LE(names.size(), 1U + 7U);
  std::set<int> ids;
  for (const nlohmann::json& flow : events_of(trace, "s")) EXPECT_TRUE(ids.insert(flow.at("id").get<int>()).second);
}

}  // namespace
}  // namespace monet

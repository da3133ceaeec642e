// Does each mistake in a space get a message that helps, at its place?
#include "explore/space/space.h"
#include "support/expect_error.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace monet::explore {
namespace {

using testing::HasSubstr;

void expect_wrong_text(const std::string& text, const std::vector<std::string>& words, const std::string& place,
                       const std::string& advice = {}) {
  const auto space = Space::read_text(text, "s.yaml");
  ASSERT_FALSE(space.has_value()) << text;
  test::expect_error(space.error(), words, place);
  EXPECT_THAT(space.error().advice, HasSubstr(advice)) << space.error().text();
}

// Lines from the fifth on.
void expect_wrong(const std::string& lines, const std::vector<std::string>& words, const std::string& place,
                  const std::string& advice = {}) {
  expect_wrong_text("space: 1\nname: s\nhardware: edge_tpu\n\n" + lines, words, place, advice);
}

const std::string workload = "workloads: [{network: resnet18-cifar}]\n";

// `value` stands at 5:17.
void expect_wrong_value(const std::string& value, const std::vector<std::string>& words, const std::string& place,
                        const std::string& advice = {}) {
  expect_wrong("parameters: {x: " + value + "}\n" + workload, words, place, advice);
}

void expect_wrong_workload(const std::string& item, const std::vector<std::string>& words, const std::string& place,
                           const std::string& advice = {}) {
  expect_wrong("parameters: {x: [1, 2]}\nworkloads:\n - " + item + "\n", words, place, advice);
}

// `line` is the seventh.
void expect_wrong_line(const std::string& line, const std::vector<std::string>& words, const std::string& place,
                       const std::string& advice = {}) {
  expect_wrong("parameters: {x: [1, 2]}\n" + workload + line + "\n", words, place, advice);
}

TEST(SpaceErrors, OfTheWhole) {
  expect_wrong_text("", {"empty"}, "s.yaml", "docs/explore.md");
  expect_wrong_text("[1]", {"a space is a list"}, "s.yaml:1:1", "parameters");
  expect_wrong_text("a: [", {"not YAML"}, "s.yaml:1");
  expect_wrong_text(std::string((1U << 20U) + 1, ' '), {"larger than 1 MiB"}, "s.yaml");
  expect_wrong_text("name: s\n", {"version of the format is missing"}, "s.yaml:1:1", "space: 1");
  expect_wrong_text("space: 2\n", {"no version '2'"}, "s.yaml:1:8", "space: 1");
  expect_wrong_text("space: 1\nnames: s\n", {"unknown key 'names'"}, "s.yaml:2:1", "did you mean 'name'?");
  expect_wrong_text("space: 1\nname:\n", {"'name' has no value"}, "s.yaml:2:1");
  expect_wrong_text("space: 1\nname: s\n", {"no 'hardware'"}, "s.yaml:1:1", "docs/explore.md");
  expect_wrong_text("space: 1\nname: [s]\nhardware: edge_tpu\nparameters: {x: 1}\n" + workload, {"'name' is a list"},
                    "s.yaml:2:7");
  expect_wrong_text(
      "space: 1\nname: " + std::string(200, 'n') + "\nhardware: edge_tpu\nparameters: {x: 1}\n" + workload,
      {"200 characters"}, "s.yaml:2:7", "at most 100");
  expect_wrong_line("batch: 0", {"'batch' cannot be 0"}, "s.yaml:7:8", "from 1");
  expect_wrong_line("network: [unet]", {"'network' is a list"}, "s.yaml:7:10");
  expect_wrong(workload, {"no 'parameters'"}, "s.yaml:1:1");
  expect_wrong("parameters: {x: [1]}\n", {"no 'workloads'"}, "s.yaml:1:1");
}

TEST(SpaceErrors, OfHardware) {
  const std::string rest = "parameters: {x: [1, 2]}\n" + workload;
  const auto with = [&](const std::string& hardware) { return "space: 1\nname: s\n" + hardware + rest; };
  expect_wrong_text(with("hardware: edge_tpus\n"), {"'edge_tpus'", "no such file or preset"}, "s.yaml:3:11",
                    "did you mean 'edge_tpu'?");
  expect_wrong_text(with("hardware: [a]\n"), {"'hardware' is a list"}, "s.yaml:3:11");
  expect_wrong_text(with("hardware:\n  monet: 1\n  name: own\n  clocks: 1 GHz\n"), {"clocks"}, "s.yaml:6:3", "clock");
  expect_wrong_text(with("hardware: &h\n  monet: 1\n  name: own\n  clock: 1 GHz\n"), {}, "s.yaml:");
  expect_wrong_text("{space: 1, name: s, hardware: {monet: 1}, parameters: {x: 1}, workloads: [{network: resnet18}]}",
                    {"not written as a block of its own"}, "s.yaml:1:21", "lines of their own");
  expect_wrong_text("space: 1\nname: s\nhardware: {monet: 1, name: n, include: edge_tpu, clock: 1}\n" + rest, {},
                    "s.yaml:3:");
}

TEST(SpaceErrors, OfParameters) {
  expect_wrong("parameters: 3\n" + workload, {"'parameters' is one value"}, "s.yaml:5:13", "lanes: [1, 2, 4]");
  expect_wrong("parameters: {}\n" + workload, {"no parameter has values"}, "s.yaml:5:13");
  expect_wrong("parameters: {y: =x * 2}\n" + workload, {"no parameter has values"}, "s.yaml:5:13");
  expect_wrong("parameters: {xx: [1]}\n" + workload, {"'edge_tpu' has no parameter 'xx'"}, "s.yaml:5:19",
               "known: x, y");
  expect_wrong("parameters: {lane: [1]}\n" + workload, {"no parameter 'lane'"}, "s.yaml:5:21", "did you mean 'lanes'?");
  expect_wrong("parameters: {x: [1], z: =x}\n" + workload, {"no parameter 'z'"}, "s.yaml:5:25");
  expect_wrong(fmt::format("parameters: {{{}: [1]}}\n", std::string(101, 'x')) + workload, {"101 characters"},
               "s.yaml:5:14", "at most 100");
  expect_wrong("parameters:\n  x:\n" + workload, {"'x' has no values"}, "s.yaml:6:3", "powers_of_two");
  expect_wrong_value("[]", {"'x' has no values"}, "s.yaml:5:17", "at least one");
  expect_wrong_value("[1, [2]]", {"a value of 'x' is a list"}, "s.yaml:5:21");
  expect_wrong_value("[1, =y]", {"a value of 'x' is an expression"}, "s.yaml:5:21", "follows from others");
  expect_wrong_value("[1, two]", {"'two'"}, "s.yaml:5:21");
  expect_wrong_value("[two, 1]", {"'x' has '1' beside 'two'"}, "s.yaml:5:23", "words alone");
  expect_wrong_value("[two]", {"'two'"}, "s.yaml:5:18");
  expect_wrong("parameters: {arithmetic: [int8, bf17]}\n" + workload, {"'arithmetic' cannot be 'bf17'"}, "s.yaml:5:33",
               "one of: int8, bf16, fp32");
  expect_wrong("parameters: {arithmetic: [int8, int8]}\n" + workload, {"has the value 'int8' twice"}, "s.yaml:5:33");
  expect_wrong("parameters: {x: [1]}\nconstraints: [arithmetic > 1]\n" + workload, {"'arithmetic' is a word"},
               "s.yaml:6:15");
  expect_wrong_value("[1, 2 MiB]", {"'2 MiB' of 'x' has another unit than '1'"}, "s.yaml:5:21");
  expect_wrong_value("[1, 1.0]", {"'x' has the value '1.0' twice"}, "s.yaml:5:21");
  expect_wrong_value("[1 KB]", {"unknown unit 'KB'"}, "s.yaml:5:18", "KiB");
  expect_wrong_value("[1 MiB]", {"another unit"}, "s.yaml:5:18");
  expect_wrong_value("[1, 0]", {"'x' is smaller than 1"}, "s.yaml:5:21", "minimum");
  expect_wrong_value("=simd * 1 MiB, y: [1]", {"another unit"}, "s.yaml:5:17");
  expect_wrong_value("=simds * 2, y: [1]", {"'simds' is no parameter"}, "s.yaml:5:17", "did you mean 'simd'?");
  expect_wrong_value("=y * 2, y: =x, simd: [16]", {"depend on each other"}, "s.yaml:5:");
}

TEST(SpaceErrors, OfRanges) {
  expect_wrong_value("{from: 1}", {"range of 'x' has no 'to'"}, "s.yaml:5:17", "step: 1");
  expect_wrong_value("{to: 1, from: [1]}", {"'from' of 'x' is a list"}, "s.yaml:5:31");
  expect_wrong_value("{from: 1, to: 4, by: 2}", {"unknown key 'by'"}, "s.yaml:5:34", "step");
  expect_wrong_value("{from: 1 MiB, to: 2 MiB}", {"range of 'x' has no 'step'"}, "s.yaml:5:17");
  expect_wrong_value("{from: 1, to: 4 MiB, step: 1}", {"different units"}, "s.yaml:5:17");
  expect_wrong_value("{from: 1, to: 4, step: 0}", {"not above 0"}, "s.yaml:5:17");
  expect_wrong_value("{from: 4, to: 1}", {"ends before it begins"}, "s.yaml:5:17");
  expect_wrong_value("{from: 1, to: 1e30}", {"more than 4096 values"}, "s.yaml:5:17", "larger steps");
  expect_wrong_value("{from: 1, to: 5000}", {"more than 4096 values"}, "s.yaml:5:17");
  expect_wrong_value("{powers_of_two: 16}", {"no two ends"}, "s.yaml:5:33", "16..128");
  expect_wrong_value("{powers_of_two: [1, 2]}", {"no two ends"}, "s.yaml:5:33");
  expect_wrong_value("{powers_of_two: 3..16}", {"3 of 'x' is no power of two"}, "s.yaml:5:33", "list");
  expect_wrong_value("{powers_of_two: 0..16}", {"0 of 'x' is no power of two"}, "s.yaml:5:33");
  expect_wrong_value("{powers_of_two: 16..2}", {"ends before it begins"}, "s.yaml:5:33");
  expect_wrong_value("{powers_of_two: 16 KiB..2 bit/cycle}", {"different units"}, "s.yaml:5:33");
  expect_wrong_value("{powers_of_two: a..2}", {"does not start with a number"}, "s.yaml:5:33");
  expect_wrong_value("{powers_of_two: 1..2, step: 1}", {"unknown key 'step'"}, "s.yaml:5:39");
}

TEST(SpaceErrors, OfSizes) {
  std::string many = "parameters:\n";
  for (int i = 0; i < 65; ++i) many += fmt::format("  p{}: [1]\n", i);
  expect_wrong(many + workload, {"more than 64 parameters"}, "s.yaml:70:3");
  std::string large = "parameters:\n";
  for (int i = 0; i < 5; ++i) large += fmt::format("  p{}: {{from: 1, to: 4096}}\n", i);
  expect_wrong(large + workload, {"more than 2^48 designs"}, "s.yaml:10:3", "fewer values");
  std::string values = "parameters: {x: [";
  for (int i = 1; i <= 4097; ++i) values += fmt::format("{}, ", i);
  expect_wrong(values + "]}\n" + workload, {"'x' has more than 4096 values"}, "s.yaml:5:");
}

TEST(SpaceErrors, OfWorkloads) {
  const std::string parameters = "parameters: {x: [1, 2]}\n";
  expect_wrong(parameters + "workloads: resnet18\n", {"no list of workloads"}, "s.yaml:6:12", "network");
  expect_wrong(parameters + "workloads: []\n", {"no list of workloads"}, "s.yaml:6:12");
  expect_wrong_workload("resnet18", {"a workload is one value"}, "s.yaml:7:4", "network");
  expect_wrong_workload("{batch: 4}", {"a workload without a network"}, "s.yaml:7:4", "ONNX");
  expect_wrong_workload("{network: resnet18, batches: 4}", {"unknown key 'batches'"}, "s.yaml:7:24", "batch");
  expect_wrong_workload("{network: [], batch: 4}", {"'network' of a workload is an empty list"}, "s.yaml:7:14");
  expect_wrong_workload("{network: [[a]]}", {"'network' of a workload is a list"}, "s.yaml:7:15");
  expect_wrong_workload("{network: [unet, unet]}", {"has 'unet' twice"}, "s.yaml:7:21");
  expect_wrong_workload("{network: unet, batch: 0}", {"'batch' of a workload cannot be 0"}, "s.yaml:7:27", "from 1");
  expect_wrong_workload("{network: unet, batch: four}", {"'four' is not a whole number"}, "s.yaml:7:27");
  expect_wrong_workload("{network: unet, batch: {a: 1}}", {"'batch' of a workload is a block"}, "s.yaml:7:27");
  expect_wrong_workload("{network: unet, batch: []}", {"'batch' of a workload is an empty list"}, "s.yaml:7:27");
  expect_wrong_workload("{network: unet, batch: [1, 1]}", {"has 1 twice"}, "s.yaml:7:31");
  expect_wrong_workload("{network: unet, step: train}", {"cannot be 'train'"}, "s.yaml:7:26", "training");
  expect_wrong_workload("{network: unet, lowering: fast}", {"'lowering' of a workload cannot be 'fast'"}, "s.yaml:7:30",
                        "compiled");
  expect_wrong_workload("{network: unet, precision: fp33}", {"fp33"}, "s.yaml:7:31", "");
  expect_wrong_workload("{network: unet, optimizer: adan}", {"adan"}, "s.yaml:7:31", "adam");
  expect_wrong_workload("{network: unet, optimizer_form: split}", {"split"}, "s.yaml:7:36");
  expect_wrong_workload("{network: unet, conv_gradient: fast}", {"fast"}, "s.yaml:7:35");
  expect_wrong_workload("{network: unet, loss: l1}", {"l1"}, "s.yaml:7:26");
  expect_wrong_workload("{network: unet, lora: 0}", {"'lora' of a workload cannot be 0"}, "s.yaml:7:26");
  expect_wrong_workload("{network: unet, dimensions: 3}", {"'dimensions' of a workload is one value"}, "s.yaml:7:32");
  expect_wrong_workload("{network: unet, dimensions: {n: 0}}", {"dimension 'n' cannot be 0"}, "s.yaml:7:36");
  expect_wrong_workload("{network: unet, weight: -1}", {"cannot be -1"}, "s.yaml:7:28", "at least 0");
  expect_wrong_workload("{network: unet, weight: 0}", {"counts for nothing"}, "s.yaml:7:28");
  expect_wrong_workload("{network: unet, weight: 1 s}", {"'1 s' is not a number"}, "s.yaml:7:28");
  expect_wrong_workload("{network: unet, weight: [1]}", {"'weight' of a workload is a list"}, "s.yaml:7:28");
  expect_wrong_workload("{network: unet, name: a@b}", {"'a@b' cannot be the name"}, "s.yaml:7:26", "letters");
  expect_wrong_workload("{network: unet}\n - {network: unet, batch: 2}", {"two workloads have the name 'unet'"},
                        "s.yaml:8:4", "name");
  expect_wrong_workload("{network: unet, batch: [1,2,3,4,5,6,7,8,9], precision: [fp32,bf16,fp16,int8]," +
                            std::string(" step: [training, inference]}"),
                        {"more than 64 workloads"}, "s.yaml:7:4");
  expect_wrong_workload("{network: unet, batch: [1,2,3,4,5,6,7,8], precision: [fp32,bf16,fp16,int8]," +
                            std::string(" step: [training, inference]}\n - {network: resnet18}"),
                        {"more than 64 workloads"}, "s.yaml:8:4");
}

TEST(SpaceErrors, OfConstraints) {
  expect_wrong_line("constraints: [[1]]", {"a constraint is a list"}, "s.yaml:7:15", "area <= 100 mm2");
  expect_wrong_line("constraints: [x <=]", {"column"}, "s.yaml:7:15", "area <= 100 mm2");
  expect_wrong_line("constraints: [areas <= 1 mm2]", {"'areas'"}, "s.yaml:7:15", "did you mean 'area'?");
  expect_wrong_line("constraints: [lane <= 1]", {"'lane'"}, "s.yaml:7:15", "did you mean 'lanes'?");
  expect_wrong_line("constraints: [area <= 1 MiB]", {}, "s.yaml:7:15");
  expect_wrong_line("constraints: [peak <= 4]", {}, "s.yaml:7:15");
  expect_wrong_line("constraints: [static_power <= 4 J]", {}, "s.yaml:7:15");
  std::string many = "constraints: [";
  for (int i = 0; i < 101; ++i) many += "x > 0, ";
  expect_wrong_line(many + "]", {"more than 100 constraints"}, "s.yaml:7:");
}

TEST(SpaceErrors, OfThePlan) {
  expect_wrong_line("plan: best", {"'plan' cannot be 'best'"}, "s.yaml:7:7", "default");
  expect_wrong_line("plan: [fuse]", {"'plan' is a list"}, "s.yaml:7:7");
  expect_wrong_line("plan: checkpoint", {"without a budget"}, "s.yaml:7:7", "memory_budget");
  expect_wrong_line("plan: {fuses: {}}", {"unknown key 'fuses'"}, "s.yaml:7:8", "fuse");
  expect_wrong_line("plan: {fuse: {}, checkpoint: {memory_budget: 1 MiB}}", {"in one way"}, "s.yaml:7:7");
  expect_wrong_line("plan: {fuse: {limit: 0}}", {"cannot be 0"}, "s.yaml:7:22", "from 1 to 16");
  expect_wrong_line("plan: {fuse: {objective: quickly}}", {"cannot be 'quickly'"}, "s.yaml:7:26", "latency");
  expect_wrong_line("plan: {fuse: {improve: maybe}}", {"neither true nor false"}, "s.yaml:7:24");
  expect_wrong_line("plan: {fuse: {improve: [true]}}", {"is a list"}, "s.yaml:7:24", "true or false");
  expect_wrong_line("plan: {checkpoint: {objective: edp}}", {"without a budget"}, "s.yaml:7:20");
  expect_wrong_line("plan: {checkpoint: {memory_budget: much}}", {"'much' is no budget"}, "s.yaml:7:36", "80%");
  expect_wrong_line("plan: {checkpoint: {memory_budget: 2 pJ}}", {"no budget"}, "s.yaml:7:36");
  expect_wrong_line("plan: {checkpoint: {memory_budget: 2 MiB%}}", {"no budget"}, "s.yaml:7:36");
  expect_wrong_line("plan: {checkpoint: {memory_budget: 80%, evaluations: 0}}", {"cannot be 0"}, "s.yaml:7:54");
  expect_wrong_line("plan: {checkpoint: {memory_budget: 80%, objective: sets}}", {"cannot be 'sets'"}, "s.yaml:7:52");
}

TEST(SpaceErrors, OfObjectives) {
  expect_wrong_line("objectives: [latencys]", {"no objective 'latencys'"}, "s.yaml:7:14", "did you mean 'latency'?");
  expect_wrong_line("objectives: []", {"empty list"}, "s.yaml:7:13");
  expect_wrong_line("objectives: [[a]]", {"an objective is a list"}, "s.yaml:7:14");
  expect_wrong_line("objectives: [edp@resnet]", {"no workload 'resnet'"}, "s.yaml:7:14", "resnet18-cifar");
  expect_wrong_line("objectives: [area@resnet18-cifar]", {"that of the machine"}, "s.yaml:7:14");
  expect_wrong_line("objectives: [cost]", {"a cost without prices"}, "s.yaml:7:14", "prices");
  expect_wrong_line("objectives: [edp, edp]", {"'edp' stands twice"}, "s.yaml:7:19");
  std::string item = "{network: unet, batch: [1,2,3,4,5,6,7,8,9]}\nobjectives: [";
  for (int i = 1; i <= 9; ++i) item += fmt::format("edp@unet-b{}, ", i);
  expect_wrong_workload(item + "]", {"more than 8 objectives"}, "s.yaml:8:");
}

TEST(SpaceErrors, OfPricesAndSwitches) {
  expect_wrong_line("prices: 3", {"'prices' is one value"}, "s.yaml:7:9", "per_kwh");
  expect_wrong_line("prices: {per_kw: 3}", {"unknown key 'per_kw'"}, "s.yaml:7:10", "per_kwh");
  expect_wrong_line("prices: {per_kwh: -3}", {"'per_kwh' cannot be -3"}, "s.yaml:7:19");
  expect_wrong_line("prices: {per_mm2: 3}", {"no lifetime"}, "s.yaml:7:9", "lifetime_years");
  expect_wrong_line("off_chip: 1", {"'off_chip': '1' is neither"}, "s.yaml:7:11");
  expect_wrong_line("zigzag: maybe", {"'zigzag': 'maybe' is neither"}, "s.yaml:7:9");
}

}  // namespace
}  // namespace monet::explore

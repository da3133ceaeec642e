// Tin-Tin (arXiv 2504.09405): training in integers against training in fp32 on microcontrollers. Its devices and
// networks are known by kind only, so that what is compared is the size of the effect.
#include "base/try.h"
#include "evaluate/run/evaluate_network.h"
#include "validate/validation.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <string_view>

namespace monet {

namespace {

constexpr double claimed_energy = 82;  // percent saved, at most
constexpr double claimed_memory = 40;  // the same
constexpr double near_percent = 5;     // of a claim: it is reproduced

// A floating-point operation of the Cortex-M0+: POET's 0.167 MFLOPS at 48 MHz, and a fast library.
constexpr double poet_cycles = 288, fast_cycles = 100;

struct TinTinWorkload {
  const char* name;
  const char* model;
};
// LeNet-5 is among its networks; the other two have the kind of its tasks and sizes of ours.
constexpr TinTinWorkload tin_tin_workloads[] = {
    {"LeNet-5", "lenet5"},
    {"perceptron 64-32-4 (bearing faults)", "mlp-robotics:inputs=64,hidden=32,layers=1,outputs=4"},
    {"perceptron 128-16-16-2 (spectrum sensing)", "mlp-robotics:inputs=128,hidden=16,layers=2,outputs=2"}};

struct Device {
  const char* name;
  const char* hardware;
  bool claimed;  // the claim is about its kind
};
constexpr Device devices[] = {{"Cortex-M0+", "poet_mkr1000", true}, {"Cortex-M4F", "poet_m4f", false}};

constexpr const char* plain = "fp32";
constexpr const char* integers = "int8-integer";

struct Cost {
  double pj = 0;
  double bytes = 0;         // of RAM, at most
  double tensor_bytes = 0;  // weights, their gradients, one sample, what the forward part saves
  bool fits = true;
  std::int64_t ram_bytes = 0;
  std::map<std::string, double> pj_by_kind;
};

std::string kind_of(const OperatorResult& result) {
  if (result.macs > 0) return "products";
  if (result.op == "Quantize") return "conversion to 8 bits";
  if (result.phase == "optimizer") return "update of weights";
  return "all other operators";
}

Expected<Cost> cost_of_step(const TinTinWorkload& workload, const Device& device, const char* precision,
                            const ValidateOptions& options) {
  StepRequest how;
  how.train.batch = 1;
  how.train.optimizer = "sgd";
  how.train.precision = precision;
  how.machine = device.hardware;
  how.compare = how.pack = how.advise = false;
  how.jobs = options.jobs;
  how.stop = options.stop;
  MONET_TRY(const Evaluation step, evaluate_network(workload.model, how));
  Cost cost{.pj = step.energy_pj, .fits = step.fits};
  for (const MemoryResult& memory : step.memories) {
    if (memory.kind != "sram") continue;
    cost.bytes = std::max(cost.bytes, static_cast<double>(memory.live_peak_bytes));
    cost.ram_bytes = memory.capacity_bytes;
  }
  MONET_TRY(const Training made, train(workload.model, how.train));
  cost.tensor_bytes = static_cast<double>(made.static_bytes.total() + made.gradient_bytes + made.saved_bytes);
  for (const OperatorResult& result : step.operators) cost.pj_by_kind[kind_of(result)] += result.energy_pj;
  return cost;
}

std::string breakdown(const Cost& cost) {
  std::string text;
  for (const auto& [kind, pj] : cost.pj_by_kind) {
    text += fmt::format("{}{} {:.1f} %", text.empty() ? "" : ", ", kind, 100 * pj / cost.pj);
  }
  return text;
}

constexpr const char* energy_saved = "% energy saved";
constexpr const char* memory_saved = "% memory saved";

// What is said of a network's savings: whether they are among those whose largest is compared.
std::string reason_of(const Device& device, const Cost& before, const Cost& after) {
  if (!before.fits || !after.fits) {
    const char* which = before.fits ? "in integers" : after.fits ? "in fp32" : "in fp32 and in integers";
    return fmt::format("does not fit into {} bytes {}; evaluated as if it did, and not compared", before.ram_bytes,
                       which);
  }
  return device.claimed ? "one of ours; the claim is the largest saving" : "";
}

// The largest savings of the networks that fit.
struct Largest {
  int networks = 0;
  double energy = std::numeric_limits<double>::lowest(), memory = energy, tensors = energy;
  double energy_if_fast = energy;  // at least, were floating point in software faster
};

ValidationRow compared(const Device& device, const char* quantity, double claimed, double found) {
  ValidationRow row{fmt::format("largest of the networks that fit on {}", device.name), quantity, claimed, found, ""};
  if (std::abs(row.error_percent()) <= near_percent) return row;
  row.name += found < claimed ? ": claim not reproduced, less is saved" : ": claim not reproduced, more is saved";
  return row;
}

void add_compared(const Device& device, const Largest& largest, Validation& validation) {
  if (largest.networks == 0) {
    validation.notes.push_back(fmt::format("no network fits on {}: nothing is compared", device.name));
    return;
  }
  validation.rows.push_back(compared(device, energy_saved, claimed_energy, largest.energy));
  validation.rows.push_back(compared(device, memory_saved, claimed_memory, largest.memory));
  validation.notes.push_back(fmt::format(
      "energy on {0}: {1:.1f} % against up to {2} %; one reason: a floating-point operation takes {3} cycles there "
      "(POET: 0.167 MFLOPS at 48 MHz) and a MAC two of them, against less than 8 for a MAC of integers: a "
      "faster software library would save less, though one of {4} cycles still {5:.0f} % or more",
      device.name, largest.energy, claimed_energy, poet_cycles, fast_cycles, largest.energy_if_fast));
  const bool reproduced = std::abs(largest.memory - claimed_memory) <= near_percent / 100 * claimed_memory;
  validation.notes.push_back(fmt::format(
      "memory on {}: the peak of RAM is up to {:.1f} % smaller, up to {} % is claimed: {}; tensors alone are "
      "up to {:.1f} % smaller",
      device.name, largest.memory, claimed_memory,
      reproduced ? fmt::format("the claim is reproduced to {} % of it", near_percent)
                 : std::string("the claim is not reproduced"),
      largest.tensors));
}

// Rows and the largest savings of a device.
Status add_device(const Device& device, const ValidateOptions& options, Validation& validation) {
  Largest largest;
  std::vector<ValidationRow> rows;
  std::vector<std::string> notes;
  for (const TinTinWorkload& workload : tin_tin_workloads) {
    const std::string name = fmt::format("{} on {}", workload.name, device.name);
    MONET_TRY(const Cost before, cost_of_step(workload, device, plain, options));
    MONET_TRY(const Cost after, cost_of_step(workload, device, integers, options));
    const double energy = 100 * (1 - after.pj / before.pj);
    const double memory = 100 * (1 - after.bytes / before.bytes);
    const double tensors = 100 * (1 - after.tensor_bytes / before.tensor_bytes);
    if (before.fits && after.fits) {
      ++largest.networks;
      largest.energy = std::max(largest.energy, energy);
      largest.memory = std::max(largest.memory, memory);
      largest.tensors = std::max(largest.tensors, tensors);
      // The step in fp32 is floating point throughout; of that in integers nothing gets cheaper here.
      largest.energy_if_fast =
          std::max(largest.energy_if_fast, 100 * (1 - after.pj / (before.pj * fast_cycles / poet_cycles)));
    }
    const std::string reason = reason_of(device, before, after);
    rows.push_back(prediction(name, energy_saved, energy, reason));
    rows.push_back(prediction(name, memory_saved, memory, reason));
    rows.push_back(prediction(name, "% memory saved, tensors alone", tensors,
                              "weights, gradients and saved activations, whatever the order and the workspaces"));
    for (const auto& [precision, cost] : {std::pair{plain, &before}, {integers, &after}}) {
      rows.push_back(
          prediction(fmt::format("{}, {}", name, precision), "bytes of RAM", cost->bytes,
                     cost->fits ? fmt::format("fits into {} bytes", cost->ram_bytes)
                                : fmt::format("does not fit into {} bytes; evaluated as if it did", cost->ram_bytes)));
      rows.push_back(prediction(fmt::format("{}, {}", name, precision), "mJ a step", 1e-9 * cost->pj));
    }
    notes.push_back(fmt::format("{}: energy in fp32 is {}; in integers {}, in all {:.1f} % of that in fp32", name,
                                breakdown(before), breakdown(after), 100 * after.pj / before.pj));
  }
  if (device.claimed) add_compared(device, largest, validation);
  std::ranges::move(rows, std::back_inserter(validation.rows));
  std::ranges::move(notes, std::back_inserter(validation.notes));
  return Done{};
}

}  // namespace

Expected<Validation> validate_tin_tin(const ValidateOptions& options) {
  Validation validation{.name = "tin-tin", .rows = {}, .notes = {}, .label = "a claim examined on other devices"};
  validation.notes = {
      "published: up to 82 % energy and up to 40 % memory saved against training in floating point on a device "
      "without a floating-point unit; on one that has it, integers need not win",
      "here: a step of batch 1, SGD in fp32 against the recipe int8-integer; devices are POET's, as measured in fp32, "
      "with integer rates from the processors' manuals; networks but LeNet-5 have sizes of ours; nothing is tuned",
      "memory: the peak of RAM with each operator by itself; weights are updated in place; sums of products and "
      "gradients of weights are 32 bits wide in both; at the peak the largest gradient is there and most others are "
      "not yet or no longer, so that it shrinks by more than all tensors together",
  };
  for (const Device& device : devices) MONET_RETURN_IF_ERROR(add_device(device, options, validation));
  MONET_RETURN_IF_ERROR(keep_wanted(validation, options));
  return validation;
}

}  // namespace monet

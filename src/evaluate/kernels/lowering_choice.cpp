#include "evaluate/kernels/lowering_choice.h"

#include "base/try.h"
#include "kernels/law_values.h"

#include <fmt/format.h>

#include <algorithm>

namespace monet {

namespace {

constexpr const char* as_nests = "--lowering nests takes the machine as arrays, of which nothing was compared";

// Beside kernels; null: nothing that has no meaning there.
const char* asked_beside(const StepRequest& options) {
  if (options.zigzag) return "--zigzag";
  if (options.off_chip) return "--off-chip";
  if (!options.home.empty() || !options.plan.home.empty()) return "--home";
  if (options.custom_costs || !options.custom_file.empty()) return "a cost of your own for operators";
  if (!options.order.empty()) return "--order";
  if (!options.transfers.empty()) return "--transfers";
  if (!options.page.empty()) return "--page";
  return nullptr;
}

bool has_kernels(const Format& format) {
  if (format.is_scaled()) return false;
  return format.element == ElementType::float32 || format.element == ElementType::tfloat32 ||
         format.element == ElementType::bfloat16 || format.element == ElementType::float16;
}

bool is_of_kernels(std::string_view lowering) { return lowering == eager_lowering || lowering == compiled_lowering; }

bool multiplies(const Node& node) {
  return family_of(node.op) == OpFamily::contraction || family_of(node.op) == OpFamily::convolution;
}

}  // namespace

bool runs_kernels(const Hardware& hardware, std::string_view lowering) {
  return lowering != nests_lowering && kernel_core(hardware).valid();
}

bool runs_kernels(const Hardware& hardware, const StepRequest& options) {
  return (!options.zigzag || is_of_kernels(options.lowering)) && runs_kernels(hardware, options.lowering);
}

Expected<std::string> lowering_of(const Hardware& hardware, const StepRequest& options) {
  const std::string& asked = options.lowering;
  if (!asked.empty() && asked != nests_lowering && !is_of_kernels(asked)) {
    return Error{.message = fmt::format("there is no lowering '{}'", asked),
                 .place = "--lowering",
                 .advice = fmt::format("{}, {} or {}", eager_lowering, compiled_lowering, nests_lowering)};
  }
  if (is_of_kernels(asked) && !kernel_core(hardware).valid()) {
    return Error{.message = fmt::format("no core of {} is a graphics processor", hardware.name),
                 .place = "--lowering",
                 .advice = "leave it out; a core is one whose file gives it 'kernels'"};
  }
  if (!runs_kernels(hardware, options)) return std::string(nests_lowering);
  if (const char* beside = asked_beside(options); beside != nullptr) {
    return Error{
        .message = fmt::format("{} has no meaning on {}, where kernels run one after the other", beside, hardware.name),
        .place = "--lowering",
        .advice = fmt::format("leave it out; {}", as_nests)};
  }
  return asked.empty() ? std::string(eager_lowering) : asked;
}

Status settle_lowering(const Hardware& hardware, StepRequest& options, Plan& plan) {
  if (options.lowering.empty()) options.lowering = plan.lowering;
  MONET_TRY(options.lowering, lowering_of(hardware, options));
  plan.lowering = kernel_core(hardware).valid() ? options.lowering : std::string();
  return Done{};
}

Reach reach_of(const Hardware& hardware, std::string_view lowering) {
  Reach reach{.lowering = std::string(lowering)};
  if (runs_kernels(hardware, lowering)) {
    reach.laws = hardware[kernel_core(hardware)].kernels->source;
    if (reach.laws.empty()) reach.laws = "the data sheet";
  }
  if (const Validated* validated = validated_by(hardware, lowering)) {
    reach.latency_percent = validated->latency_percent;
    reach.energy_percent = validated->energy_percent;
    reach.memory_percent = validated->memory_percent;
    reach.source = validated->source;
  }
  return reach;
}

Reach reach_of(const Hardware& hardware) {
  return reach_of(hardware, kernel_core(hardware).valid() ? eager_lowering : nests_lowering);
}

Status check_kernel_numbers(const Graph& graph, const Hardware& hardware, const std::string& recipe,
                            std::string_view products) {
  const auto refuse = [&](const std::string& numbers) -> Status {
    return Error{.message = fmt::format("no laws of kernels of {} are known for {} (numbers of {})", hardware.name,
                                        numbers, recipe),
                 .place = "--precision",
                 .advice = fmt::format("fp32, tf32, bf16, fp16 and recipes of them; {}", as_nests)};
  };
  if (!products.empty() && products != "fp32" && products != "tf32") return refuse(std::string(products));
  for (const Node& node : graph.nodes()) {
    for (const TensorId id : node.inputs) {
      if (!id.valid() || graph[id].role == Role::constant) continue;
      const Format& format = graph[id].type.format;
      const bool number = multiplies(node) || format.is_real();
      if (number && !has_kernels(format)) return refuse(to_string(format));
    }
  }
  return Done{};
}

}  // namespace monet

// How operators become what a core runs: plain loop nests on arrays, or the launches of a framework on a kernel core.
#pragma once

#include "graph/graph.h"
#include "hardware/hardware.h"

#include <monet/evaluate.h>
#include <monet/expected.h>

#include <string>
#include <string_view>

namespace monet {

inline constexpr std::string_view nests_lowering = "nests";
inline constexpr std::string_view eager_lowering = "eager";
inline constexpr std::string_view compiled_lowering = "compiled";

// Whether steps run kernel by kernel: there is a kernel core, and nobody asks for nests.
bool runs_kernels(const Hardware& hardware, std::string_view lowering);
bool runs_kernels(const Hardware& hardware, const StepRequest& options);

// The word for what a request comes to. Fails for a word that is none, for kernels on a machine without a kernel core,
// and where something is asked for beside kernels that they do not have.
Expected<std::string> lowering_of(const Hardware& hardware, const StepRequest& options);

// The same, into both: what the plan says holds where the options say nothing, and a plan for a kernel core says it.
Status settle_lowering(const Hardware& hardware, StepRequest& options, Plan& plan);

Reach reach_of(const Hardware& hardware, std::string_view lowering);
// Of results on it, where nothing else is asked for.
Reach reach_of(const Hardware& hardware);

// Fails where tensors are in numbers of which no laws of kernels are known. `products`: the rate of fp32 products.
Status check_kernel_numbers(const Graph& graph, const Hardware& hardware, const std::string& recipe,
                            std::string_view products);

}  // namespace monet

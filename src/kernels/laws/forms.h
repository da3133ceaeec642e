// Laws by class of kernels: what coefficients they have, and the time that follows from them.
#pragma once

#include "kernels/law_values.h"

#include <span>
#include <string_view>

namespace monet {

// What the value that a coefficient has without measurements is proportional to.
enum class Scale : std::uint8_t { none, ceiling, multiprocessors, memory };

struct Coefficient {
  std::string_view name;
  double start = 1;  // without measurements, times its scale
  double least = 0;
  double most = 0;  // both times its scale
  Scale scale = Scale::none;
  std::string_view meaning;
};

using Coefficients = std::array<double, max_coefficients>;

struct LawForm {
  std::string_view name;
  std::span<const Coefficient> coefficients;
  double (*us)(const KernelLaws& laws, const Kernel& kernel, const Coefficients& c);
};

const LawForm& form_of(const KernelClass& kernel_class);
// As a machine has them of which nothing was measured.
Coefficients default_coefficients(const KernelLaws& laws, const KernelClass& kernel_class);
// The law by which a class is priced: its own, that of a near class which was measured, or null: the defaults.
const ClassLaw* applied_law(const KernelLaws& laws, KernelClass kernel_class);
// Of one coefficient: what `start`, `least` and `most` are times.
double scale_of(const KernelLaws& laws, const KernelClass& kernel_class, Scale scale);

// What a number in a machine's file is times, by the scale of its coefficient: TFLOP/s, TB/s, elements/ns.
double file_unit(Scale scale);
std::span<const LawForm* const> all_forms();

// Bytes through the last cache, or memory where they do not fit.
double memory_us(const MemoryLaw& law, double bytes);
// All of them through memory.
double cold_memory_us(const MemoryLaw& law, double bytes);

// Share of the multiprocessors that hold blocks of threads.
double busy_share(const KernelLaws& laws, const Kernel& kernel);

// Whether kernels on cold operands have laws of their own.
bool has_cold_class(const Kernel& kernel);
// By how much a product or a convolution that is far from the ceiling takes longer on cold operands.
double cold_slowdown(const KernelLaws& laws, const Kernel& kernel);

extern const LawForm product_form, windows_form, pointwise_form, last_form, winograd_form;
extern const LawForm depthwise_form, channel_form, stream_form, cold_stream_form, rows_form, cold_rows_form,
    norm_gradient_form, sums_form, cold_sums_form, depthwise_weight_form, optimizer_form, attention_form;

}  // namespace monet

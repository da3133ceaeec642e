// Device time of profiled steps by class of operator, against the launches of these classes.
#include "base/csv_records.h"
#include "base/try.h"
#include "validate/kernel_steps.h"
#include "validate/validation.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

namespace monet {

namespace {

enum class TimeClass : std::uint8_t {
  products,
  convolutions,
  convolution_gradients,
  batch_norms,
  batch_norm_gradients,
  layer_norms,
  copies,
  sums,
  pools,
  attention,
  optimizer,
  others,
};
constexpr std::array<const char*, 12> class_names = {"products",
                                                     "convolutions",
                                                     "gradients of convolutions",
                                                     "batch norms",
                                                     "gradients of batch norms",
                                                     "layer norms",
                                                     "copies",
                                                     "sums",
                                                     "pools",
                                                     "attention",
                                                     "optimizer",
                                                     "all others"};

// Parts of names of PyTorch's operators, the first that fits.
constexpr std::array<std::pair<std::string_view, TimeClass>, 18> operator_classes = {{
    {"convolution_backward", TimeClass::convolution_gradients},
    {"conv", TimeClass::convolutions},
    {"batch_norm_backward", TimeClass::batch_norm_gradients},
    {"batch_norm", TimeClass::batch_norms},
    {"layer_norm", TimeClass::layer_norms},
    {"attention", TimeClass::attention},
    {"fused_adam", TimeClass::optimizer},
    {"foreach", TimeClass::optimizer},
    {"addmm", TimeClass::products},
    {"bmm", TimeClass::products},
    {"::mm", TimeClass::products},
    {"copy_", TimeClass::copies},
    {"::cat", TimeClass::copies},
    {"pool", TimeClass::pools},
    {"softmax", TimeClass::others},
    {"nll_loss", TimeClass::others},
    {"::sum", TimeClass::sums},
    {"::mean", TimeClass::sums},
}};

TimeClass class_of_operator(std::string_view name) {
  for (const auto& [part, of] : operator_classes) {
    if (name.find(part) != std::string_view::npos) return of;
  }
  return TimeClass::others;
}

TimeClass class_of_element_wise(KernelOp op) {
  switch (op) {
    case KernelOp::cast:
    case KernelOp::copy:
    case KernelOp::nchw_to_nhwc:
    case KernelOp::nhwc_to_nchw:
    case KernelOp::bshd_to_bhsd:
    case KernelOp::bhds_to_bhsd:
    case KernelOp::qkv_slice_to_bhsd:
    case KernelOp::cat_channels:
    case KernelOp::cat_qkv: return TimeClass::copies;
    case KernelOp::sum:
    case KernelOp::sum_023:
    case KernelOp::mean_23:
    case KernelOp::sum_rows: return TimeClass::sums;
    case KernelOp::max_pool_2:
    case KernelOp::max_pool_2_backward:
    case KernelOp::max_pool_3s2:
    case KernelOp::max_pool_3s2_backward:
    case KernelOp::max_pool_3s1:
    case KernelOp::max_pool_3s1_backward:
    case KernelOp::avg_pool_2:
    case KernelOp::avg_pool_2_backward:
    case KernelOp::avg_pool_3s1:
    case KernelOp::avg_pool_3s1_backward:
    case KernelOp::adaptive_avg_pool_7: return TimeClass::pools;
    default: return TimeClass::others;
  }
}

TimeClass class_of_kernel(const Kernel& kernel) {
  const bool forward = kernel.part == KernelPart::forward;
  switch (kernel.kind) {
    case KernelKind::product: return TimeClass::products;
    case KernelKind::convolution: return forward ? TimeClass::convolutions : TimeClass::convolution_gradients;
    case KernelKind::batch_norm: return forward ? TimeClass::batch_norms : TimeClass::batch_norm_gradients;
    case KernelKind::layer_norm: return TimeClass::layer_norms;
    case KernelKind::attention: return TimeClass::attention;
    case KernelKind::optimizer: return TimeClass::optimizer;
    case KernelKind::elementwise: return class_of_element_wise(kernel.op);
    default: return TimeClass::others;
  }
}

using Times = std::array<double, class_names.size()>;

struct ProfiledStep {
  MeasuredStep step;
  Times us = {};
};

Expected<std::vector<ProfiledStep>> read_profiles(const std::string& path) {
  MONET_TRY(const std::vector<CsvRecord> records,
            read_csv(path, "give the folder that has groundtruth/ and models/ with --data"));
  std::vector<ProfiledStep> steps;
  for (const CsvRecord& record : records) {
    MeasuredStep step;
    MONET_TRY(step.network, record.text("network"));
    MONET_TRY(step.batch, record.integer("batch"));
    MONET_TRY(step.precision, record.text("precision"));
    step.optimizer = "adam";
    MONET_TRY(const std::string op, record.text("operator"));
    MONET_TRY(const double us, record.number("device_us"));
    auto found = std::ranges::find_if(steps, [&](const ProfiledStep& each) { return each.step.name() == step.name(); });
    if (found == steps.end()) found = steps.insert(steps.end(), {std::move(step), {}});
    found->us[static_cast<std::size_t>(class_of_operator(op))] += us;
  }
  return steps;
}

Times times_of(const KernelStep& step) {
  Times times = {};
  for (std::size_t i = 0; i < step.lowered.launches.size(); ++i) {
    times[static_cast<std::size_t>(class_of_kernel(step.lowered.launches[i].kernel))] += step.costs.us[i];
  }
  return times;
}

void add_rows(Validation& validation, const ProfiledStep& profiled, const Times& modelled) {
  constexpr double small = 0.01;
  double all = 0;
  for (double us : profiled.us) all += us;
  for (std::size_t i = 0; i < modelled.size(); ++i) {
    if (profiled.us[i] == 0 && modelled[i] == 0) continue;
    const bool counts = profiled.us[i] > small * all;
    validation.rows.push_back({fmt::format("{}: {}", profiled.step.name(), class_names[i]), "us", profiled.us[i],
                               modelled[i], counts ? "" : "at most 1 % of the step"});
  }
}

}  // namespace

Expected<Validation> validate_h200_operators(const std::string& data, const ValidateOptions& options) {
  MONET_TRY(const std::vector<ProfiledStep> steps, read_profiles(data + "/groundtruth/h200_operators.csv"));
  MONET_TRY(const KernelMachine machine, KernelMachine::open("h200"));
  Validation validation{.name = "h200-operators", .rows = {}, .notes = {}};
  for (const ProfiledStep& profiled : steps) {
    if (options.stop && options.stop()) break;
    MONET_TRY(const KernelStep step, machine.step(profiled.step, data));
    add_rows(validation, profiled, times_of(step));
  }
  MONET_RETURN_IF_ERROR(keep_wanted(validation, options));
  validation.notes = {
      "us: device time that the profiler gives for operators of one step, against the launches of these operators",
      "all others: element-wise operators, softmax, losses, embeddings, fills"};
  return validation;
}

}  // namespace monet

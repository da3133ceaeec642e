#include "kernels/laws/forms.h"

#include <algorithm>

namespace monet {

namespace {

const LawForm& convolution_form(const KernelClass& of) {
  switch (of.variant) {
    case KernelVariant::pointwise: return pointwise_form;
    case KernelVariant::channels_last: return last_form;
    case KernelVariant::depthwise:
      return of.part == KernelPart::weight_gradient ? depthwise_weight_form : depthwise_form;
    case KernelVariant::depthwise_last: return depthwise_form;
    default:
      return of.part == KernelPart::weight_gradient && of.precision == KernelPrecision::fp32 ? winograd_form
                                                                                             : windows_form;
  }
}

}  // namespace

const LawForm& form_of(const KernelClass& of) {
  const bool cold = of.variant == KernelVariant::cold;
  switch (of.kind) {
    case KernelKind::product: return product_form;
    case KernelKind::convolution: return convolution_form(of);
    case KernelKind::batch_norm: return of.variant == KernelVariant::channels_last ? stream_form : channel_form;
    case KernelKind::layer_norm:
      if (of.part == KernelPart::backward) return norm_gradient_form;
      [[fallthrough]];
    case KernelKind::softmax:
    case KernelKind::log_softmax:
    case KernelKind::nll: return cold ? cold_rows_form : rows_form;
    case KernelKind::attention: return attention_form;
    case KernelKind::optimizer: return optimizer_form;
    case KernelKind::elementwise:
      if (of.op == KernelOp::sum_rows || of.op == KernelOp::mean_23) return cold ? cold_sums_form : sums_form;
      return cold ? cold_stream_form : stream_form;
  }
  return stream_form;
}

double scale_of(const KernelLaws& laws, const KernelClass& of, Scale scale) {
  switch (scale) {
    case Scale::none: return 1;
    case Scale::ceiling: return laws.ceiling[static_cast<std::size_t>(of.precision)];
    case Scale::multiprocessors: return laws.multiprocessors;
    case Scale::memory: return laws.memory.memory_rate;
  }
  return 1;
}

double file_unit(Scale scale) {
  switch (scale) {
    case Scale::none: return 1;
    case Scale::multiprocessors: return 1e3;
    case Scale::ceiling:
    case Scale::memory: return 1e6;
  }
  return 1;
}

std::span<const LawForm* const> all_forms() {
  static constexpr std::array forms = {&product_form,       &windows_form,   &pointwise_form, &last_form,
                                       &winograd_form,      &depthwise_form, &channel_form,   &stream_form,
                                       &cold_stream_form,   &rows_form,      &cold_rows_form, &optimizer_form,
                                       &norm_gradient_form, &sums_form,      &cold_sums_form, &depthwise_weight_form,
                                       &attention_form};
  return forms;
}

Coefficients default_coefficients(const KernelLaws& laws, const KernelClass& of) {
  Coefficients result{};
  const auto names = form_of(of).coefficients;
  for (std::size_t i = 0; i < names.size(); ++i) result[i] = names[i].start * scale_of(laws, of, names[i].scale);
  return result;
}

}  // namespace monet

#include "kernels/calibrate/fit.h"

#include "base/parallel.h"
#include "kernels/calibrate/minimize.h"
#include "kernels/laws.h"
#include "kernels/laws/tiles.h"

#include <algorithm>
#include <cmath>
#include <map>

namespace monet {

namespace {

constexpr int fit_rounds = 12;
constexpr std::array reaches = {0.5, 1.0, 2.0, 4.0, 8.0};
constexpr std::array noises = {0.03, 0.1, 0.3, 1.0};

// On tensor cores a convolution in large tiles is a product of as many: where measurements end before such tiles, its
// rate in them is at least that of a large product, whose law was fitted before.
class LargeTiles {
 public:
  LargeTiles(const KernelLaws& laws, const KernelClass& of) {
    const LawForm& form = form_of(of);
    if (of.precision == KernelPrecision::fp32 || (&form != &windows_form && &form != &last_form)) return;
    constexpr std::int64_t large = 8192;
    Kernel product{.kind = KernelKind::product, .part = of.part, .precision = of.precision};
    product.m = product.n = product.k = large;
    derive_sizes(product);
    if (laws.find(class_of(product)) != nullptr) least_ = product.flops / microseconds(laws, product);
  }

  void bound(Coefficients& c) const { c[tile_rate] = std::max(c[tile_rate], least_ * loss(c)); }

 private:
  static double loss(const Coefficients& c) { return 1 + c[tile_edge] * 2 / 256; }  // of the largest tiles
  double least_ = 0;
};

std::vector<MeasuredKernel> without_fold(const std::vector<MeasuredKernel>& all, std::size_t fold, std::size_t folds) {
  std::vector<MeasuredKernel> kept;
  for (std::size_t i = 0; i < all.size(); ++i)
    if (i % folds != fold) kept.push_back(all[i]);
  return kept;
}

// The residual whose parts predict each other best; empty where none helps.
Residual best_residual(const std::vector<KernelShape>& shapes, const std::vector<double>& logs) {
  double least = 0;
  for (const double value : logs) least += std::abs(value);
  Residual best;
  if (logs.size() < 4) return best;
  for (const double reach : reaches) {
    for (const double noise : noises) {
      Residual residual(shapes, logs, {reach, noise});
      const std::vector<double> predicted = residual.left_out();
      double sum = 0;
      for (std::size_t i = 0; i < logs.size(); ++i) sum += std::abs(logs[i] - predicted[i]);
      if (sum >= least) continue;
      least = sum;
      best = std::move(residual);
    }
  }
  return best;
}

struct Fitted {
  Coefficients coefficients{};
  Residual residual;
  double law_error = 0;
};

Fitted fit(const KernelLaws& laws, const KernelClass& of, const std::vector<MeasuredKernel>& kernels) {
  Fitted result;
  result.coefficients = fit_coefficients(laws, of, kernels);
  std::vector<KernelShape> shapes;
  std::vector<double> logs;
  const LawForm& form = form_of(of);
  for (const MeasuredKernel& point : kernels) {
    const double law = form.us(laws, point.kernel, result.coefficients);
    shapes.push_back(shape_of(point.kernel));
    logs.push_back(std::log(point.us / law));
    result.law_error += std::abs(law / point.us - 1) / static_cast<double>(kernels.size());
  }
  result.residual = best_residual(shapes, logs);
  return result;
}

// The gradient of a batch norm, by blocks that wait for memory, reads two tensors where the forward pass reads one: it
// is at most half as fast, also where measurements leave that open since all of them were bound by something else.
void bound_streaming_gradients(std::vector<ClassLaw>& fitted) {
  constexpr std::size_t alone = 1;
  for (ClassLaw& law : fitted) {
    if (&form_of(law.kernel_class) != &channel_form || law.kernel_class.part != KernelPart::backward) continue;
    KernelClass of = law.kernel_class;
    of.part = KernelPart::forward;
    const auto forward = std::ranges::find(fitted, of, &ClassLaw::kernel_class);
    if (forward == fitted.end()) continue;
    law.coefficients[alone] = std::min(law.coefficients[alone], forward->coefficients[alone] / 2);
  }
}

}  // namespace

void fit_memory(KernelLaws& laws, const std::vector<MeasuredKernel>& kernels) {
  std::vector<const MeasuredKernel*> plain;
  for (const MeasuredKernel& point : kernels) {
    const KernelOp op = point.kernel.op;
    if (point.kernel.cold_share == 0 && (op == KernelOp::add || op == KernelOp::copy || op == KernelOp::mul_scalar))
      plain.push_back(&point);
  }
  if (plain.size() < 8) return;
  MemoryLaw& memory = laws.memory;
  double start = 1.2;
  std::array<double, 5> x = {memory.cache_rate, memory.memory_rate, memory.cache_until,
                             memory.memory_from / memory.cache_until, start};
  const std::array<SearchRange, 5> ranges = {SearchRange{x[0] / 3, x[0] * 3}, SearchRange{x[1] / 3, x[1] * 1.2},
                                             SearchRange{x[2] / 3, x[2] * 3}, SearchRange{1.05, 4},
                                             SearchRange{0.2, 10}};
  minimize(x, ranges, fit_rounds, [&](std::span<const double> v) {
    const MemoryLaw tried{v[0], v[1], v[2], v[2] * v[3], 0};
    double sum = 0;
    for (const MeasuredKernel* point : plain)
      sum += std::abs(std::log((v[4] + memory_us(tried, point->kernel.bytes)) / point->us));
    return sum;
  });
  memory.cache_rate = x[0];
  memory.memory_rate = x[1];
  memory.cache_until = x[2];
  memory.memory_from = x[2] * x[3];
}

Coefficients fit_coefficients(const KernelLaws& laws, const KernelClass& of,
                              const std::vector<MeasuredKernel>& kernels) {
  const LawForm& form = form_of(of);
  Coefficients result = default_coefficients(laws, of);
  std::vector<SearchRange> ranges;
  for (const Coefficient& c : form.coefficients) {
    const double scale = scale_of(laws, of, c.scale);
    ranges.push_back({c.least * scale, c.most * scale});
  }
  const LargeTiles large_tiles(laws, of);
  minimize(std::span(result).first(ranges.size()), ranges, fit_rounds, [&](std::span<const double> x) {
    Coefficients tried = result;
    std::copy(x.begin(), x.end(), tried.begin());
    large_tiles.bound(tried);
    double sum = 0;
    for (const MeasuredKernel& point : kernels)
      sum += std::abs(std::log(form.us(laws, point.kernel, tried) / point.us));
    return sum;
  });
  large_tiles.bound(result);
  return result;
}

namespace {

// Coefficients and nearness of each, and how well they do.
std::vector<ClassError> fit_laws(const KernelLaws& laws, std::vector<ClassLaw>& fitted, int folds, std::size_t jobs) {
  std::vector<ClassError> errors(fitted.size());
  for_each_index(fitted.size(), jobs, [&](std::size_t i) {
    ClassLaw& law = fitted[i];
    Fitted whole = fit(laws, law.kernel_class, law.measured);
    law.coefficients = whole.coefficients;
    law.nearness = whole.residual.empty() ? Nearness{1, 1e6} : whole.residual.nearness();
    ClassError& error = errors[i];
    error = {law.kernel_class, law.measured.size(), whole.law_error, 0};
    const auto parts = std::min<std::size_t>(static_cast<std::size_t>(folds), law.measured.size());
    for (std::size_t fold = 0; parts > 1 && fold < parts; ++fold) {
      const Fitted others = fit(laws, law.kernel_class, without_fold(law.measured, fold, parts));
      for (std::size_t j = fold; j < law.measured.size(); j += parts) {
        const MeasuredKernel& point = law.measured[j];
        const double predicted = form_of(law.kernel_class).us(laws, point.kernel, others.coefficients) *
                                 others.residual.factor(shape_of(point.kernel));
        error.left_out += std::abs(predicted / point.us - 1) / static_cast<double>(law.measured.size());
      }
    }
  });
  return errors;
}

}  // namespace

std::vector<ClassError> fit_classes(KernelLaws& laws, const std::vector<MeasuredKernel>& kernels, int folds,
                                    std::size_t jobs) {
  std::map<KernelClass, std::vector<MeasuredKernel>> by_class;
  for (const MeasuredKernel& point : kernels) {
    KernelClass of = class_of(point.kernel);
    if (point.kernel.cold_share > 0) {
      if (!has_cold_class(point.kernel)) continue;
      of.variant = KernelVariant::cold;
    }
    by_class[of].push_back(point);
  }
  std::vector<ClassError> errors;
  for (const bool products : {true, false}) {
    std::vector<ClassLaw> fitted;
    for (auto& [of, points] : by_class) {
      if ((of.kind == KernelKind::product) == products) fitted.push_back({of, {}, points, {}, {}});
    }
    const std::vector<ClassError> found = fit_laws(laws, fitted, folds, jobs);
    errors.insert(errors.end(), found.begin(), found.end());
    bound_streaming_gradients(fitted);
    for (ClassLaw& law : fitted) {
      std::erase_if(laws.classes, [&](const ClassLaw& old) { return old.kernel_class == law.kernel_class; });
      laws.classes.push_back(std::move(law));
    }
    complete(laws);
  }
  return errors;
}

}  // namespace monet

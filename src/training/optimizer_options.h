// Which optimizer, with which hyper-parameters: options that describe themselves, and their check.
#pragma once

#include <monet/expected.h>

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace monet::training {

enum class OptimizerKind : std::uint8_t { sgd, momentum, nesterov, adam, adamw, adafactor, lion, adam8bit };

struct OptimizerInfo {
  OptimizerKind kind;
  std::string name;
  std::string description;
};

// All of them, in the order in which help shows them.
std::span<const OptimizerInfo> optimizers();
std::string_view name_of(OptimizerKind kind);
// Fails with the nearest name and a list of all.
Expected<OptimizerKind> optimizer_named(std::string_view name);

// A hyper-parameter that is not given has the default of torch.optim for that kind (of the paper for Lion, of
// bitsandbytes for Adam with 8 bits). One that the kind does not have must not be given.
struct OptimizerOptions {
  OptimizerKind kind = OptimizerKind::adam;
  std::optional<double> momentum;      // momentum, nesterov: 0.9
  std::optional<double> beta1;         // adam, adamw, adam8bit, lion: 0.9
  std::optional<double> beta2;         // adam, adamw, adam8bit: 0.999; lion: 0.99
  std::optional<double> beta2_decay;   // adafactor: -0.8, the exponent of t in 1 - beta2
  std::optional<double> epsilon;       // adam, adamw, adam8bit: 1e-8; adafactor: the parameter type's machine epsilon
  std::optional<double> least_scale;   // adafactor: 1e-3, the least root mean square of a parameter
  std::optional<double> weight_decay;  // adamw: 0.01; others: 0
  std::int64_t min_8bit_size = 4096;   // adam8bit: parameters with fewer elements have moments of their own type
  std::optional<double> clip_norm;     // the largest norm of all gradients together; none: no clipping
  std::int64_t micro_batches = 1;      // gradients are summed over so many
  double loss_scale = 1;               // the gradients arrive multiplied by it
  bool elementwise = false;            // the form: see elementwise_optimizer()
};

// The options with every hyper-parameter that the kind has filled in, epsilon of Adafactor excepted.
OptimizerOptions with_defaults(OptimizerOptions options);

// Whether every option can be; the error says which range it has.
Status check(const OptimizerOptions& options);

}  // namespace monet::training

#include "kernels/calibrate/row.h"

#include "base/suggest.h"
#include "base/try.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace monet {

namespace {

constexpr std::int64_t max_size = std::int64_t{1} << 40;
constexpr std::int64_t max_tensors = 1 << 20;

// Sizes of a line; the first that is wrong is remembered.
class Sizes {
 public:
  explicit Sizes(const CsvRecord& record) : record_(record) {}

  std::int64_t operator()(const char* column, std::int64_t least = 1, std::int64_t most = max_size) {
    if (problem_) return least;
    const auto value = record_.integer(column);
    if (!value) {
      problem_ = value.error();
    } else if (*value < least || *value > most) {
      problem_ = record_.error(fmt::format("{} = {} is not from {} to {}", column, *value, least, most));
    }
    return problem_ ? least : *value;
  }
  // Where the line may leave it out.
  std::int64_t or_else(const char* column, std::int64_t value, std::int64_t least = 1) {
    return record_.has(column) ? (*this)(column, least) : value;
  }
  bool flag(const char* column) { return record_.has(column) && (*this)(column, 0, 1) == 1; }
  const std::optional<Error>& problem() const { return problem_; }

 private:
  const CsvRecord& record_;
  std::optional<Error> problem_;
};

Expected<double> positive(const CsvRecord& record, const char* column) {
  MONET_TRY(const double value, record.number(column));
  if (std::isfinite(value) && value > 0 && value < 1e15) return value;
  return record.error(fmt::format("{} = {} is not a number above 0", column, value));
}

Expected<KernelPrecision> precision_in(const CsvRecord& record) {
  if (!record.has("precision")) return KernelPrecision::fp32;
  MONET_TRY(const std::string text, record.text("precision"));
  if (const auto precision = kernel_precision_named(text)) return *precision;
  return record.error(fmt::format("there is no precision '{}': write fp32, tf32 or bf16", text));
}

// Which part and kind a word of the table stands for.
struct Word {
  const char* kind;
  const char* part;
  KernelKind kernel;
  KernelPart kernel_part;
};
constexpr std::array kernel_words = {
    Word{"gemm", "", KernelKind::product, KernelPart::forward},
    Word{"linear", "forward", KernelKind::product, KernelPart::forward},
    Word{"linear", "forward_nobias", KernelKind::product, KernelPart::forward},
    Word{"linear", "input_gradient", KernelKind::product, KernelPart::input_gradient},
    Word{"linear", "weight_gradient", KernelKind::product, KernelPart::weight_gradient},
    Word{"bmm", "", KernelKind::product, KernelPart::forward},
    Word{"bmm", "qk", KernelKind::product, KernelPart::forward},
    Word{"bmm", "pv", KernelKind::product, KernelPart::input_gradient},
    Word{"bmm", "ptv", KernelKind::product, KernelPart::weight_gradient},
    Word{"conv", "forward", KernelKind::convolution, KernelPart::forward},
    Word{"conv", "input_gradient", KernelKind::convolution, KernelPart::input_gradient},
    Word{"conv", "weight_gradient", KernelKind::convolution, KernelPart::weight_gradient},
    Word{"conv_forward", "", KernelKind::convolution, KernelPart::forward},
    Word{"conv_input_gradient", "", KernelKind::convolution, KernelPart::input_gradient},
    Word{"conv_weight_gradient", "", KernelKind::convolution, KernelPart::weight_gradient},
    Word{"batch_norm", "", KernelKind::batch_norm, KernelPart::forward},
    Word{"batch_norm", "forward", KernelKind::batch_norm, KernelPart::forward},
    Word{"batch_norm", "backward", KernelKind::batch_norm, KernelPart::backward},
    Word{"layer_norm", "", KernelKind::layer_norm, KernelPart::forward},
    Word{"layer_norm", "forward", KernelKind::layer_norm, KernelPart::forward},
    Word{"layer_norm", "backward", KernelKind::layer_norm, KernelPart::backward},
    Word{"softmax", "", KernelKind::softmax, KernelPart::forward},
    Word{"softmax", "forward", KernelKind::softmax, KernelPart::forward},
    Word{"softmax", "backward", KernelKind::softmax, KernelPart::backward},
    Word{"log_softmax", "forward", KernelKind::log_softmax, KernelPart::forward},
    Word{"log_softmax", "backward", KernelKind::log_softmax, KernelPart::backward},
    Word{"nll", "forward", KernelKind::nll, KernelPart::forward},
    Word{"nll", "backward", KernelKind::nll, KernelPart::backward},
    Word{"attention", "forward", KernelKind::attention, KernelPart::forward},
    Word{"attention", "forward_backward", KernelKind::attention, KernelPart::backward},
    Word{"optimizer", "", KernelKind::optimizer, KernelPart::forward},
    Word{"elementwise", "", KernelKind::elementwise, KernelPart::forward},
    Word{"shaped", "", KernelKind::elementwise, KernelPart::forward},
    Word{"copy", "", KernelKind::elementwise, KernelPart::forward},
    Word{"add", "", KernelKind::elementwise, KernelPart::forward},
    Word{"relu", "", KernelKind::elementwise, KernelPart::forward},
    Word{"gelu", "", KernelKind::elementwise, KernelPart::forward},
    Word{"sum", "", KernelKind::elementwise, KernelPart::forward},
};

Error unknown_kind(const CsvRecord& record, const std::string& kind, const std::string& part) {
  std::vector<std::string> known;
  for (const Word& word : kernel_words) {
    if (kind == word.kind) return record.error(fmt::format("'{}' has no part '{}'", kind, part));
    if (known.empty() || known.back() != word.kind) known.emplace_back(word.kind);
  }
  Error error = record.error(fmt::format("there is no kind of kernels '{}'", kind));
  if (const std::string near = nearest(kind, known); !near.empty())
    error.advice = fmt::format("did you mean {}?", near);
  return error;
}

void read_product(Sizes& size, const std::string& kind, const std::string& part, Kernel& k) {
  if (kind == "bmm" && !part.empty()) {
    const std::int64_t s = size("s"), d = size("d");
    k.batch = size("b");
    k.m = s;
    k.n = part == "qk" ? s : d;
    k.k = part == "qk" ? d : s;
    const auto vector = static_cast<std::int64_t>(16 / bytes_of(k.precision));
    k.aligned = s % vector == 0 && d % vector == 0;
  } else {
    const std::int64_t m = size("m"), n = size("n"), depth = size("k");
    k.batch = size.or_else("b", 1);
    k.m = part == "weight_gradient" ? n : m;
    k.n = part == "forward" || part == "forward_nobias" || part.empty() ? n : depth;
    k.k = part == "input_gradient" ? n : part == "weight_gradient" ? m : depth;
    k.bias = part == "forward";
    const auto vector = static_cast<std::int64_t>(16 / bytes_of(k.precision));
    k.aligned = n % vector == 0 && depth % vector == 0;
  }
  if (k.precision == KernelPrecision::fp32) k.aligned = true;
}

void read_convolution(Sizes& size, Kernel& k) {
  k.batch = size("b");
  k.c = size("c");
  k.o = size("o");
  k.h = k.w = size("h", 1, 1 << 20);
  k.kernel_h = k.kernel_w = size("kernel", 1, 1 << 12);
  k.stride = size.or_else("stride", 1);
  k.groups = size.or_else("groups", 1);
  k.channels_last = size.flag("channels_last");
  set_same_padding(k);
}

void read_elementwise(const CsvRecord& record, Sizes& size, Kernel& k) {
  k.elements = size("elements");
  if (record.has("c")) {
    k.c = size("c");
    k.h = k.w = size("h", 1, 1 << 20);
    k.batch = size.or_else("b", 1);
  } else if (record.has("s") && record.has("d")) {
    k.columns = size("d") * size.or_else("heads", 1);
    k.rows = k.elements / std::max<std::int64_t>(1, k.columns);
  }
  if (k.op == KernelOp::cat_channels) k.elements *= 2;
  if (k.op == KernelOp::cat_qkv) k.elements *= 3;
  if (k.op == KernelOp::embedding || k.op == KernelOp::embedding_backward)
    k.vocabulary = size.or_else("vocabulary", 0, 0);
}

Expected<KernelOp> op_in(const CsvRecord& record, const std::string& kind) {
  const bool named = kind == "elementwise" || kind == "shaped" || kind == "optimizer";
  MONET_TRY(const std::string text, named ? record.text("op") : Expected<std::string>(kind));
  const auto op = kernel_op_named(text);
  if (op && *op != KernelOp::none && (*op >= KernelOp::sgd) == (kind == "optimizer")) return *op;
  return record.error(fmt::format("there is no op '{}' of the kind '{}'", text, kind));
}

}  // namespace

Expected<MeasuredKernel> kernel_of(const CsvRecord& record, const std::string& kind) {
  std::string part;
  if (record.has("part")) {
    MONET_TRY(part, record.text("part"));
  }
  const auto word = std::find_if(kernel_words.begin(), kernel_words.end(),
                                 [&](const Word& w) { return kind == w.kind && part == w.part; });
  if (word == kernel_words.end()) return unknown_kind(record, kind, part);
  MeasuredKernel result;
  Kernel& k = result.kernel;
  k.kind = word->kernel;
  k.part = word->kernel_part;
  MONET_TRY(k.precision, precision_in(record));
  MONET_TRY(result.us, positive(record, "us"));
  Sizes size(record);
  switch (k.kind) {
    case KernelKind::product: read_product(size, kind, part, k); break;
    case KernelKind::convolution: read_convolution(size, k); break;
    case KernelKind::batch_norm:
      k.batch = size("b");
      k.c = size("c");
      k.h = k.w = size("h", 1, 1 << 20);
      k.channels_last = size.flag("channels_last");
      break;
    case KernelKind::layer_norm:
    case KernelKind::softmax:
    case KernelKind::log_softmax:
    case KernelKind::nll:
      k.rows = size("rows");
      k.columns = size("cols");
      break;
    case KernelKind::attention:
      k.batch = size("b");
      k.heads = size("heads");
      k.s = k.keys = size("s");
      k.d = size("d");
      k.causal = size.flag("causal");
      break;
    case KernelKind::optimizer: {
      MONET_TRY(k.op, op_in(record, kind));
      const std::int64_t tensors = size("tensors", 1, max_tensors);
      k.tensors.assign(static_cast<std::size_t>(tensors), size("elements"));
      break;
    }
    case KernelKind::elementwise: {
      MONET_TRY(k.op, op_in(record, kind));
      read_elementwise(record, size, k);
      break;
    }
  }
  if (size.flag("cold")) k.cold_share = 1;
  if (size.problem()) return *size.problem();
  derive_sizes(k);
  return result;
}

Expected<MeasuredEnergy> energy_of(const CsvRecord& record) {
  MONET_TRY(const std::string op, record.text("op"));
  MeasuredEnergy result;
  MONET_TRY(result.watts, positive(record, "power_w"));
  if (op == "idle") {
    result.idle = true;
    return result;
  }
  result.tiny = op == "tiny_kernels";
  if (result.tiny) return result;
  const std::string kind = op == "conv" ? "conv_forward" : op;
  MONET_TRY(MeasuredKernel row, kernel_of(record, kind));
  result.kernel = row.kernel;
  result.us = row.us;
  MONET_TRY(result.mj, positive(record, "mj"));
  if (record.has("clock_mhz")) {
    MONET_TRY(result.clock_mhz, positive(record, "clock_mhz"));
  }
  if (record.has("data")) {
    MONET_TRY(const std::string data, record.text("data"));
    result.zeros = data == "zero";
  }
  return result;
}

}  // namespace monet

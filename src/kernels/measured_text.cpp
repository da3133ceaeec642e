#include "kernels/measured_text.h"

#include "base/try.h"

#include <fmt/format.h>

#include <charconv>
#include <cmath>
#include <span>

namespace monet {

namespace {

constexpr std::size_t max_measured = 20000;
constexpr std::int64_t largest_size = std::int64_t{1} << 40;
constexpr std::int64_t most_tensors = 1 << 20;

struct Column {
  std::string_view name;
  std::int64_t (*get)(const Kernel& kernel);
  void (*set)(Kernel& kernel, std::int64_t value);
};

template <auto... members>
constexpr Column column(std::string_view name) {
  constexpr auto first = std::get<0>(std::tuple(members...));
  return {name, [](const Kernel& k) { return static_cast<std::int64_t>(k.*first); },
          [](Kernel& k, std::int64_t value) {
            ((k.*members = static_cast<std::remove_reference_t<decltype(k.*members)>>(value)), ...);
          }};
}

constexpr std::array product_columns = {column<&Kernel::batch>("batch"), column<&Kernel::m>("m"),
                                        column<&Kernel::n>("n"), column<&Kernel::k>("k"),
                                        column<&Kernel::bias>("bias")};
constexpr std::array convolution_columns = {column<&Kernel::batch>("batch"),
                                            column<&Kernel::c>("c"),
                                            column<&Kernel::o>("o"),
                                            column<&Kernel::h, &Kernel::w>("h"),
                                            column<&Kernel::kernel_h, &Kernel::kernel_w>("kernel"),
                                            column<&Kernel::stride>("stride"),
                                            column<&Kernel::groups>("groups")};
constexpr std::array channel_columns = {column<&Kernel::batch>("batch"), column<&Kernel::c>("c"),
                                        column<&Kernel::h, &Kernel::w>("h")};
constexpr std::array row_columns = {column<&Kernel::rows>("rows"), column<&Kernel::columns>("columns")};
constexpr std::array attention_columns = {column<&Kernel::batch>("batch"), column<&Kernel::heads>("heads"),
                                          column<&Kernel::s, &Kernel::keys>("s"), column<&Kernel::d>("d"),
                                          column<&Kernel::causal>("causal")};
constexpr std::array optimizer_columns = {
    Column{"tensors", [](const Kernel& k) { return static_cast<std::int64_t>(k.tensors.size()); },
           [](Kernel& k, std::int64_t value) {
             k.tensors.resize(static_cast<std::size_t>(std::min(value, most_tensors)));
           }},
    Column{"elements", [](const Kernel& k) { return k.tensors.empty() ? 0 : k.tensors.front(); },
           [](Kernel& k, std::int64_t value) { k.tensors.assign(k.tensors.size(), value); }}};
constexpr std::array element_columns = {column<&Kernel::elements>("elements"), column<&Kernel::batch>("batch"),
                                        column<&Kernel::c>("c"), column<&Kernel::h, &Kernel::w>("h"),
                                        column<&Kernel::columns>("columns")};

std::span<const Column> columns_of(KernelKind kind) {
  switch (kind) {
    case KernelKind::product: return product_columns;
    case KernelKind::convolution: return convolution_columns;
    case KernelKind::batch_norm: return channel_columns;
    case KernelKind::layer_norm:
    case KernelKind::softmax:
    case KernelKind::log_softmax:
    case KernelKind::nll: return row_columns;
    case KernelKind::attention: return attention_columns;
    case KernelKind::optimizer: return optimizer_columns;
    case KernelKind::elementwise: return element_columns;
  }
  return {};
}

Error malformed(std::string_view kernel, KernelKind kind) {
  constexpr std::size_t shown_length = 60;
  return {.message = fmt::format("'{}' is no measured kernel", kernel.substr(0, shown_length)),
          .place = {},
          .advice = fmt::format("write {}", measured_columns(kind))};
}

Expected<MeasuredKernel> parse_one(const KernelClass& of, std::string_view text) {
  MeasuredKernel result;
  Kernel& k = result.kernel;
  k.kind = of.kind;
  k.part = of.part;
  k.precision = of.precision;
  k.op = of.op;
  k.aligned = of.variant != KernelVariant::unaligned;
  k.channels_last = of.variant == KernelVariant::channels_last || of.variant == KernelVariant::depthwise_last;
  k.cold_share = of.variant == KernelVariant::cold ? 1 : 0;
  const char* at = text.data();
  const char* const end = at + text.size();
  const auto skip = [&] {
    while (at != end && (*at == ' ' || *at == '\n')) ++at;
  };
  for (const Column& column : columns_of(of.kind)) {
    skip();
    std::int64_t value = 0;
    const auto [stop, problem] = std::from_chars(at, end, value);
    const bool ends = stop != end && (*stop == ' ' || *stop == '\n');
    if (problem != std::errc() || !ends || value < 0 || value > largest_size) return malformed(text, of.kind);
    column.set(k, value);
    at = stop;
  }
  skip();
  const auto [stop, problem] = std::from_chars(at, end, result.us);
  at = stop;
  skip();
  if (problem != std::errc() || at != end || !std::isfinite(result.us) || !(result.us > 0))
    return malformed(text, of.kind);
  if (k.kind == KernelKind::convolution) {
    if (k.stride < 1 || k.groups < 1 || k.kernel_h < 1) return malformed(text, of.kind);
    set_same_padding(k);
  }
  derive_sizes(k);
  return result;
}

}  // namespace

std::string measured_columns(KernelKind kind) {
  std::string names;
  for (const Column& column : columns_of(kind)) names += fmt::format("{} ", column.name);
  return names + "us";
}

std::string measured_text(const MeasuredKernel& measured) {
  std::string text;
  for (const Column& column : columns_of(measured.kernel.kind)) text += fmt::format("{} ", column.get(measured.kernel));
  return text + fmt::format("{:.4g}", measured.us);
}

Expected<std::vector<MeasuredKernel>> parse_measured(const KernelClass& of, std::string_view text) {
  std::vector<MeasuredKernel> result;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find(','), text.size());
    MONET_TRY(MeasuredKernel one, parse_one(of, text.substr(0, end)));
    result.push_back(std::move(one));
    if (result.size() > max_measured)
      return Error{
          .message = fmt::format("more than {} measured kernels of a class", max_measured), .place = {}, .advice = {}};
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return result;
}

}  // namespace monet

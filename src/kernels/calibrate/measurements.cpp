#include "kernels/calibrate/measurements.h"

#include "base/csv_records.h"
#include "base/try.h"
#include "kernels/calibrate/row.h"

#include <fmt/format.h>

#include <cmath>
#include <map>

namespace monet {

namespace {

// The backward pass of attention is measured together with the forward pass before it.
struct Attention {
  std::vector<std::pair<std::string, MeasuredKernel>> both;
  std::map<std::string, double> forward;
};

std::string attention_key(const Kernel& k) {
  return fmt::format("{} {} {} {} {} {}", name_of(k.precision), k.batch, k.heads, k.s, k.d, k.causal);
}

Status add_row(const CsvRecord& record, Measurements& result, Attention& attention) {
  MONET_TRY(const std::string kind, record.text("kind"));
  if (kind == "energy") {
    MONET_TRY(result.energies.emplace_back(), energy_of(record));
    return Done{};
  }
  MONET_TRY(const MeasuredKernel row, kernel_of(record, kind));
  if (row.kernel.kind != KernelKind::attention) {
    result.kernels.push_back(row);
    return Done{};
  }
  if (row.kernel.part == KernelPart::forward) {
    attention.forward[attention_key(row.kernel)] = row.us;
    result.kernels.push_back(row);
  } else {
    attention.both.emplace_back(record.place(), row);
  }
  return Done{};
}

}  // namespace

Expected<Measurements> read_measurements(const std::vector<std::string>& files) {
  Measurements result;
  Attention attention;
  for (const std::string& file : files) {
    MONET_TRY(const auto records, read_csv(file, "give the table that `python -m monet.measure_gpu` writes"));
    for (const CsvRecord& record : records) MONET_RETURN_IF_ERROR(add_row(record, result, attention));
  }
  for (auto& [place, row] : attention.both) {
    const auto forward = attention.forward.find(attention_key(row.kernel));
    if (forward == attention.forward.end() || forward->second >= row.us) {
      result.notes.push_back(
          fmt::format("{}: left out, since no shorter forward pass of its shape was measured", place));
      continue;
    }
    row.us -= forward->second;
    result.kernels.push_back(row);
  }
  if (result.kernels.empty() && result.energies.empty())
    return Error{.message = "no kernel was measured",
                 .place = files.empty() ? std::string() : files.front(),
                 .advice = "give the table that `python -m monet.measure_gpu` writes"};
  return result;
}

}  // namespace monet

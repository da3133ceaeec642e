#include "validate/parallel_cases.h"

#include "base/csv_records.h"
#include "base/glob.h"
#include "base/try.h"

#include <fmt/format.h>

#include <algorithm>

namespace monet {

namespace {

Expected<std::string> text_or(const CsvRecord& row, const char* column, const std::string& otherwise) {
  if (!row.has(column)) return otherwise;
  return row.text(column);
}

Expected<std::int64_t> count_or(const CsvRecord& row, const char* column, std::int64_t otherwise) {
  if (!row.has(column)) return otherwise;
  MONET_TRY(const std::int64_t value, row.integer(column));
  if (value < 0 || value > (std::int64_t{1} << 40)) return row.error(fmt::format("{} cannot be {}", column, value));
  return value;
}

Expected<bool> switch_of(const CsvRecord& row, const char* column) {
  MONET_TRY(const std::string text, row.text(column));
  if (text == "yes") return true;
  if (text == "no") return false;
  return row.error(fmt::format("{} is yes or no, not '{}'", column, text));
}

Expected<ParallelSource> source_of(const CsvRecord& row) {
  ParallelSource source;
  MONET_TRY(source.pattern, row.text("source"));
  MONET_TRY(source.machine, row.text("machine"));
  MONET_TRY(source.network, row.text("network"));
  MONET_TRY(source.precision, row.text("precision"));
  MONET_TRY(source.fused, switch_of(row, "fused"));
  MONET_TRY(source.host_us, row.number("host_us"));
  MONET_TRY(source.flash, switch_of(row, "flash"));
  MONET_TRY(source.dropout, row.integer("dropout"));
  MONET_TRY(source.vocabulary_multiple, row.integer("vocabulary_multiple"));
  MONET_TRY(source.scatter, switch_of(row, "scatter"));
  MONET_TRY(source.overlap, switch_of(row, "overlap"));
  MONET_TRY(source.tp_overlap, row.text("tp_overlap"));
  MONET_TRY(source.gradient_bytes, row.number("gradient_bytes"));
  MONET_TRY(source.recompute, row.text("recompute"));
  MONET_TRY(source.schedule, text_or(row, "schedule", ""));
  MONET_TRY(source.sequence, switch_of(row, "sequence"));
  MONET_TRY(const std::int64_t zero, row.integer("zero"));
  source.zero = static_cast<int>(zero);
  MONET_TRY(source.chunks, row.integer("chunks"));
  MONET_TRY(source.micro_batch, row.integer("micro_batch"));
  return source;
}

Status set_sizes(ParallelCase& result, const CsvRecord& row) {
  MONET_TRY(result.layers, count_or(row, "layers", 0));
  MONET_TRY(result.hidden, count_or(row, "hidden", 0));
  MONET_TRY(result.heads, count_or(row, "heads", 0));
  MONET_TRY(result.kv_heads, count_or(row, "kv_heads", result.heads));
  MONET_TRY(result.ffn, count_or(row, "ffn", 0));
  MONET_TRY(result.tokens, count_or(row, "seq", 0));
  MONET_TRY(result.vocabulary, count_or(row, "vocab", 0));
  MONET_TRY(result.chips, count_or(row, "gpus", 0));
  MONET_TRY(result.tp, count_or(row, "tp", 1));
  MONET_TRY(result.pp, count_or(row, "pp", 1));
  MONET_TRY(result.dp, count_or(row, "dp", 1));
  MONET_TRY(result.cp, count_or(row, "cp", 1));
  MONET_TRY(result.ep, count_or(row, "ep", 1));
  MONET_TRY(result.batch, count_or(row, "global_batch", 0));
  return Done{};
}

Expected<ParallelCase> case_of(const CsvRecord& row, const std::vector<ParallelSource>& sources) {
  ParallelCase result;
  MONET_TRY(result.id, row.text("id"));
  MONET_TRY(result.source, row.text("source"));
  MONET_TRY(result.model, row.text("model"));
  MONET_RETURN_IF_ERROR(set_sizes(result, row));
  const auto source =
      std::ranges::find_if(sources, [&](const ParallelSource& each) { return matches(each.pattern, result.source); });
  const ParallelSource none;
  result.from = source == sources.end() ? nullptr : &*source;
  const ParallelSource& otherwise = result.from == nullptr ? none : *result.from;
  MONET_TRY(result.precision, text_or(row, "precision", ""));
  MONET_TRY(result.recompute, text_or(row, "recompute", otherwise.recompute));
  MONET_TRY(result.chunks, count_or(row, "interleave", otherwise.chunks));
  MONET_TRY(result.micro_batch, count_or(row, "micro_batch", otherwise.micro_batch));
  MONET_TRY(const std::int64_t zero, count_or(row, "zero_stage", otherwise.zero));
  result.zero = static_cast<int>(zero);
  MONET_TRY(const std::string sequence, text_or(row, "sequence_parallel", otherwise.sequence ? "yes" : "no"));
  result.sequence = sequence == "yes";
  result.derived = !row.has("measured_s_per_iter") && row.has("derived_s_per_iter");
  if (row.has("measured_s_per_iter") || result.derived) {
    MONET_TRY(result.seconds, row.number(result.derived ? "derived_s_per_iter" : "measured_s_per_iter"));
  }
  result.name = fmt::format("{}, {}, {} on {}{}", result.id, result.source, result.model, result.chips,
                            result.derived ? ", derived" : "");
  return result;
}

}  // namespace

std::string family_of_source(const std::string& source) {
  std::string name = source.substr(0, source.find_first_of("(,@"));
  while (!name.empty() && name.back() == ' ') name.pop_back();
  return name;
}

std::string ParallelCase::series() const {
  return fmt::format("{}|{}|{}|{}|{}|{}|{}|{}|{}|{}|{}|{}|{}",
                     family_of_source(source) + (from == nullptr ? "" : from->machine), model, layers, hidden, tokens,
                     tp, pp, cp, ep, chunks, micro_batch, precision, recompute);
}

std::string ParallelCase::group() const { return fmt::format("{} on {}, batch {}", model, chips, batch); }

Expected<ParallelTable> read_parallel_table(const std::string& points, const std::string& sources) {
  ParallelTable table;
  MONET_TRY(const auto lines, read_csv(sources, "it is part of the project"));
  for (const CsvRecord& line : lines) {
    MONET_TRY(ParallelSource source, source_of(line));
    table.sources.push_back(std::move(source));
  }
  MONET_TRY(const auto rows, read_csv(points, "give the folder with it: --data DIR"));
  for (const CsvRecord& row : rows) {
    MONET_TRY(ParallelCase each, case_of(row, table.sources));
    table.cases.push_back(std::move(each));
  }
  return table;
}

}  // namespace monet

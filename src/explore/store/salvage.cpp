#include "explore/store/salvage.h"

#include "explore/store/parameters_json.h"
#include "explore/store/rows.h"

#include <limits>
#include <set>

namespace monet::explore {

namespace {

// Columns of the tables, by which their rows are told from each other.
constexpr std::size_t meta_columns = 2, workload_columns = 7, design_columns = 9, result_columns = 14;

// The values of a row in the order of its columns; `good` says whether all were of the kind that was asked for.
class RowValues {
 public:
  explicit RowValues(const FoundRow& row) : values_(row.values) {}

  std::string text() {
    const FoundValue& value = next();
    if (const auto* text = std::get_if<std::string>(&value)) return *text;
    return fail<std::string>();
  }
  std::string text_or_null() {
    if (!std::holds_alternative<std::monostate>(values_[at_])) return text();
    ++at_;
    return {};
  }
  std::int64_t integer() {
    const FoundValue& value = next();
    if (const auto* number = std::get_if<std::int64_t>(&value)) return *number;
    return fail<std::int64_t>();
  }
  // A file has whole ones as integers.
  double real() {
    const FoundValue& value = next();
    if (const auto* number = std::get_if<double>(&value)) return *number;
    if (const auto* number = std::get_if<std::int64_t>(&value)) return static_cast<double>(*number);
    if (std::holds_alternative<std::monostate>(value)) return std::numeric_limits<double>::quiet_NaN();
    return fail<double>();
  }
  void read(std::int64_t& value) { value = integer(); }
  void read(double& value) { value = real(); }
  // Where the number of the row stands in its place.
  void nothing() {
    if (!std::holds_alternative<std::monostate>(next())) good_ = false;
  }
  bool good() const { return good_; }

 private:
  const FoundValue& next() { return values_[at_++]; }
  template <class T>
  T fail() {
    good_ = false;
    return T{};
  }

  const std::vector<FoundValue>& values_;
  std::size_t at_ = 0;
  bool good_ = true;
};

bool is_row(const FoundRow& row, bool has_rowid, std::size_t width) {
  return row.has_rowid == has_rowid && row.values.size() == width;
}

// Rows of one key are equal, wherever they were found, since none is ever changed; where they are not, neither counts.
template <class Key, class Row>
class Found {
 public:
  void add(const Key& key, Row row) {
    const auto [place, added] = rows_.emplace(key, std::move(row));
    if (!added && place->second != row) doubtful_.insert(key);
  }
  const Row* find(const Key& key) const {
    const auto found = rows_.find(key);
    return found == rows_.end() || doubtful_.contains(key) ? nullptr : &found->second;
  }
  const std::map<Key, Row>& all() const { return rows_; }

 private:
  std::map<Key, Row> rows_;
  std::set<Key> doubtful_;
};

using ResultKey = std::pair<Design, std::int64_t>;

bool read_design(const FoundRow& row, const Space& space, Outcome& outcome) {
  if (row.rowid < 0 || static_cast<Design>(row.rowid) >= space.size()) return false;
  RowValues values(row);
  outcome.design = static_cast<Design>(row.rowid);
  values.nothing();
  const std::string parameters = values.text();
  outcome.failure = values.text_or_null();
  const std::int64_t excluded = values.integer();
  outcome.excluded = excluded == 1;
  outcome.hardware_hash = values.text();
  outcome.area_mm2 = values.real();
  outcome.static_w = values.real();
  outcome.macs_per_cycle = values.real();
  outcome.on_chip_bits = values.integer();
  return values.good() && (excluded == 0 || excluded == 1) &&
         parameters == parameters_json(space.chosen(outcome.design));
}

bool read_result(const FoundRow& row, const Space& space, ResultKey& key, WorkloadOutcome& result) {
  RowValues values(row);
  const std::int64_t design = values.integer();
  key = {static_cast<Design>(design), values.integer()};
  result.failure = values.text_or_null();
  for_each_number(result, [&](const char*, auto& value) { values.read(value); });
  result.recipe = values.text();
  const auto workloads = static_cast<std::int64_t>(space.workloads.size());
  return values.good() && design >= 0 && key.first < space.size() && key.second >= 0 && key.second < workloads;
}

}  // namespace

StoreIdentity salvage_identity(const PageReader& pages) {
  StoreIdentity identity;
  const std::map<std::string, std::string*> entries = {{"version", &identity.version},
                                                       {"fingerprint", &identity.fingerprint},
                                                       {"space_text", &identity.space_text},
                                                       {"space_path", &identity.space_path}};
  std::map<std::int64_t, StoredWorkload> workloads;
  pages.for_each_row([&](const FoundRow& row) {
    RowValues values(row);
    if (is_row(row, false, meta_columns)) {
      const std::string key = values.text(), value = values.text();
      const auto entry = entries.find(key);
      if (values.good() && entry != entries.end() && entry->second->empty()) *entry->second = value;
    } else if (is_row(row, true, workload_columns)) {
      StoredWorkload workload;
      values.nothing();
      workload.name = values.text();
      values.text();  // its network and weight are those of the space
      values.real();
      workload.graph_hash = values.text();
      workload.nodes = values.integer();
      workload.parameters = values.integer();
      if (values.good()) workloads.emplace(row.rowid, workload);
    }
  });
  for (const auto& [number, workload] : workloads) {
    if (number != static_cast<std::int64_t>(identity.workloads.size())) break;
    identity.workloads.push_back(workload);
  }
  return identity;
}

Salvaged salvage_outcomes(const PageReader& pages, const Space& space) {
  Found<Design, Outcome> designs;
  Found<ResultKey, WorkloadOutcome> results;
  pages.for_each_row([&](const FoundRow& row) {
    if (is_row(row, true, design_columns)) {
      Outcome outcome;
      if (read_design(row, space, outcome)) designs.add(outcome.design, outcome);
    } else if (is_row(row, false, result_columns)) {
      ResultKey key;
      WorkloadOutcome result;
      if (read_result(row, space, key, result)) results.add(key, result);
    }
  });
  Salvaged salvaged;
  std::set<Design> touched;
  for (const auto& [key, result] : results.all()) touched.insert(key.first);
  for (const auto& [design, row] : designs.all()) {
    touched.insert(design);
    const Outcome* const found = designs.find(design);
    if (found == nullptr) continue;
    Outcome outcome = *found;
    for (std::size_t i = 0; outcome.failure.empty() && i < space.workloads.size(); ++i) {
      const WorkloadOutcome* const result = results.find({design, static_cast<std::int64_t>(i)});
      if (result == nullptr) break;
      outcome.workloads.push_back(*result);
    }
    if (outcome.failure.empty() && !fault_of(outcome, space).empty()) continue;
    salvaged.outcomes.emplace(design, std::move(outcome));
  }
  salvaged.broken = touched.size() - salvaged.outcomes.size();
  return salvaged;
}

}  // namespace monet::explore

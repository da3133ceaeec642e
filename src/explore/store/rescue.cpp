#include "explore/store/rescue.h"

#include "base/try.h"
#include "explore/store/pages.h"
#include "explore/store/parameters_json.h"
#include "explore/store/rows.h"
#include "explore/store/schema.h"

#include <fmt/format.h>

#include <unistd.h>

#include <filesystem>
#include <limits>
#include <map>
#include <set>

namespace monet::explore {

namespace {

struct Salvaged {
  std::map<Design, Outcome> outcomes;
  std::uint64_t broken = 0;  // designs of which a part was found
};

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

// What it says of itself; what it does not say any more is empty.
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

// Designs of `space` of which every part is there, and is what a store has: parameters that are those of the design's
// number, results of all workloads, numbers. A number inside that is another one than was written cannot be told.
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

Status write_rows(Database& database, const Space& space, const std::map<Design, Outcome>& outcomes) {
  MONET_TRY(OutcomeRows rows, OutcomeRows::open(database, space));
  MONET_TRY(Transaction transaction, Transaction::begin(database, true));
  for (const auto& [design, outcome] : outcomes) MONET_RETURN_IF_ERROR(rows.write(outcome));
  return transaction.commit();
}

Expected<std::string> new_store(const std::string& target, const StoreContent& content,
                                const std::map<Design, Outcome>& outcomes) {
  bool exists = false;
  MONET_RETURN_IF_ERROR(make_store_file(
      target, content, exists, [&](Database& database) { return write_rows(database, content.space, outcomes); }));
  if (!exists) return target;
  return Error{.message = "there is such a file already", .place = target, .advice = "name another one with --store"};
}

Error needs_space(const std::string& path, const std::string& why) {
  return {.message = "the store does not say any more what it is of: " + why,
          .place = path,
          .advice = "give the space again: `monet explore SPACE --rescue " + path + "`"};
}

// As the store says it. What it does not say follows from the space, if that can be opened here.
Expected<StoreContent> content_in(const StoreIdentity& identity, const std::string& path) {
  if (identity.space_text.empty()) return needs_space(path, "its space is lost");
  auto space = Space::read_alone(identity.space_text, identity.space_path);
  if (!space) return needs_space(path, "its space cannot be read: " + space.error().message);
  const bool complete = !identity.version.empty() && !identity.fingerprint.empty() &&
                        identity.workloads.size() == space->workloads.size();
  if (complete) return StoreContent{*std::move(space), identity.fingerprint, identity.workloads, identity.version};
  space = Space::read_text(identity.space_text, identity.space_path);
  if (!space) return needs_space(path, space.error().message);
  const auto pricer = DesignPricer::open(*space);
  if (!pricer) return needs_space(path, pricer.error().message);
  return content_of(**pricer);
}

Expected<StoreContent> agreed(const StoreIdentity& identity, StoreContent given, const std::string& path) {
  const bool same_version = identity.version.empty() || identity.version == given.version;
  const bool same_text = identity.space_text.empty() || identity.space_text == given.space.text;
  const bool same = identity.fingerprint.empty() || !same_version || identity.fingerprint == given.fingerprint;
  if (!same_text || !same)
    return Error{.message = fmt::format("the store is not of {}", given.space.path),
                 .place = path,
                 .advice = "give the space that it was filled with, as it was then, or none"};
  if (!same_version) {  // fingerprints of two versions differ
    given.version = identity.version;
    if (!identity.fingerprint.empty()) given.fingerprint = identity.fingerprint;
  }
  return given;
}

std::vector<std::string> places_for(const std::string& path) {
  const std::string name = std::filesystem::path(path).filename();
  std::error_code ignored;
  const std::filesystem::path temporary = std::filesystem::temp_directory_path(ignored);
  return {path, name, temporary / name};
}

// What the connection has, which no process fills any more.
Status copy_whole(Database& from, Database& to, const Space& space, const std::map<Design, Outcome>& pending) {
  MONET_RETURN_IF_ERROR(from.copy_to(to));
  MONET_RETURN_IF_ERROR(to.execute("DELETE FROM claims; DELETE FROM owners"));
  return write_rows(to, space, pending);
}

// Of the file that was filled: another store that was written over it has nothing of it.
Salvaged salvaged_from(const std::string& path, const StoreContent& content) {
  auto pages = PageReader::open(path);
  if (!pages) return {};
  const std::string fingerprint = salvage_identity(*pages).fingerprint;
  if (!fingerprint.empty() && fingerprint != content.fingerprint) pages->journal_alone();
  return salvage_outcomes(*pages, content.space);
}

}  // namespace

std::string name_for_rescued(const std::string& path) {
  constexpr std::string_view extension = ".sqlite";
  const std::string stem = path.ends_with(extension) ? path.substr(0, path.size() - extension.size()) : path;
  const auto is_taken = [](const std::string& name) {
    return access(name.c_str(), F_OK) == 0 || access((name + "-wal").c_str(), F_OK) == 0;
  };
  std::string name = stem + ".rescued.sqlite";
  for (int i = 2; is_taken(name); ++i) name = fmt::format("{}.rescued-{}.sqlite", stem, i);
  return name;
}

Expected<RescuedStore> rescue(const std::string& damaged, const std::optional<StoreContent>& given,
                              const std::string& target) {
  MONET_TRY(PageReader pages, PageReader::open(damaged));
  const StoreIdentity identity = salvage_identity(pages);
  MONET_TRY(const StoreContent content, given ? agreed(identity, *given, damaged) : content_in(identity, damaged));
  const Salvaged salvaged = salvage_outcomes(pages, content.space);
  if (salvaged.outcomes.empty())
    return Error{.message = "no design can be read any more",
                 .place = damaged,
                 .advice = given ? "is this the store, and the space that it was filled with? Else begin a new store"
                                 : "begin a new store with --store"};
  MONET_TRY(const std::string path,
            new_store(target.empty() ? name_for_rescued(damaged) : target, content, salvaged.outcomes));
  return RescuedStore{path, salvaged.outcomes.size(), salvaged.broken};
}

Expected<RescuedStore> rescue_open(Database& database, bool whole, const StoreContent& content,
                                   std::span<const Outcome> pending) {
  Salvaged found = whole ? Salvaged{} : salvaged_from(database.path(), content);
  for (const Outcome& outcome : pending) found.outcomes.emplace(outcome.design, outcome);
  if (!whole && found.outcomes.empty())
    return Error{.message = "no design can be read any more", .place = database.path(), .advice = ""};
  Error last;
  for (const std::string& place : places_for(database.path())) {
    const std::string target = name_for_rescued(place);
    bool exists = false;
    std::uint64_t designs = 0;
    const Status made = make_file(target, exists, [&](Database& made_here) -> Status {
      if (whole) {
        MONET_RETURN_IF_ERROR(copy_whole(database, made_here, content.space, found.outcomes));
      } else {
        MONET_RETURN_IF_ERROR(make_tables(made_here, content));
        MONET_RETURN_IF_ERROR(write_rows(made_here, content.space, found.outcomes));
      }
      MONET_TRY(const std::int64_t count, made_here.integer("SELECT count(*) FROM designs"));
      designs = static_cast<std::uint64_t>(count);
      return Done{};
    });
    if (made && !exists) return RescuedStore{target, designs, found.broken};
    last = made ? Error{.message = "there is such a file already", .place = target, .advice = ""} : made.error();
  }
  return last;
}

}  // namespace monet::explore

// How far the model is from reference measurements.
#pragma once

#include <monet/expected.h>
#include <monet/text.h>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace monet {

struct ValidationRow {
  std::string name;  // "resnet18, batch 8, fp32, adam"
  std::string quantity;
  double measured = 0;  // or published; not a number: nothing is, and `aside` says so
  double modelled = 0;
  // Why the row does not count (the measurement holds something that is not part of the network); empty: it counts.
  std::string aside;

  double error_percent() const { return measured == 0 ? 0 : 100 * (modelled - measured) / measured; }
};

// Rows that have something in common: means of absolute errors, and how many pairs of cases come in the right order.
struct ValidationGroup {
  std::string by, name;                               // "network", "resnet18"
  std::vector<std::pair<std::string, double>> means;  // by quantity, in per cent
  std::size_t cases = 0;
  std::size_t pairs = 0, pairs_in_order = 0;  // by the first quantity; none: not asked
};

struct Validation {
  std::string name;
  std::vector<ValidationRow> rows;
  std::vector<std::string> notes;  // what had to be assumed
  std::string label = {};          // what kind of comparison it is, where not one with measurements
  std::vector<ValidationGroup> groups = {};
  bool brief = false;  // very many rows: text shows those set aside, and of the others each quantity
  // Over the rows that count; of one quantity, or of all.
  double mean_absolute_percent(const std::string& quantity = {}) const;
  double worst_percent(const std::string& quantity = {}) const;
};

struct ValidationInfo {
  std::string name;
  std::string description;
  bool slow = false;  // takes minutes: only when it is asked for
};
const std::vector<ValidationInfo>& validations();

struct ValidateOptions {
  // The folder with models/, groundtruth/ and validation/, or with the tables of others; empty: the project's own.
  std::string data;
  std::string only;            // rows whose case matches this pattern; empty: all
  std::int64_t jobs = 0;       // threads; 0: as many as there are processors
  std::function<bool()> stop;  // true: the rows so far are the answer
  std::function<void(const std::string& what, std::size_t done, std::size_t all)> progress;
};

// Why a validation cannot run here: it needs files that are not part of the project, and they are absent. None: it can.
std::optional<Error> missing_data(const std::string& name, const ValidateOptions& options = {});

// Rows come in the order of the measurements.
Expected<Validation> validate(const std::string& name, const ValidateOptions& options = {});

std::string to_json(const std::vector<Validation>& validations);
Text to_text(const Validation& validation);

}  // namespace monet

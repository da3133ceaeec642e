// How far the model is from reference measurements.
#pragma once

#include <monet/expected.h>

#include <string>
#include <vector>

namespace monet {

struct ValidationRow {
  std::string name;  // "resnet18, batch 8, fp32, adam"
  std::string quantity;
  double measured = 0;
  double modelled = 0;
  // Why the row does not count (the measurement holds something that is not part of the network); empty: it counts.
  std::string aside;

  double error_percent() const { return measured == 0 ? 0 : 100 * (modelled - measured) / measured; }
};

struct Validation {
  std::string name;
  std::vector<ValidationRow> rows;
  // Over the rows that count.
  double mean_absolute_percent() const;
  double worst_percent() const;
};

struct ValidationInfo {
  std::string name;
  std::string description;
};
const std::vector<ValidationInfo>& validations();

// `data` is the folder with models/ and groundtruth/; empty: the project's own. Rows come in the order of the
// measurements.
Expected<Validation> validate(const std::string& name, const std::string& data = {});

std::string to_json(const std::vector<Validation>& validations);
std::string to_text(const Validation& validation);

}  // namespace monet

// Steps on 4 to 16,384 chips as others have published them. The table belongs to others and is no part of the project.
#include "base/try.h"
#include "validate/parallel_cases.h"
#include "validate/parallel_steps.h"
#include "validate/validation.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <numeric>

namespace monet {

namespace {

struct Modelled {
  const ParallelCase* of = nullptr;
  double seconds = 0;   // 0: not modelled
  std::string problem;  // why
};

double median_of(std::vector<double> values) {
  if (values.empty()) return 0;
  std::ranges::sort(values);
  const std::size_t half = values.size() / 2;
  return values.size() % 2 == 1 ? values[half] : (values[half - 1] + values[half]) / 2;
}

double mean_of(const std::vector<double>& values) {
  return values.empty() ? 0 : std::accumulate(values.begin(), values.end(), 0.0) / static_cast<double>(values.size());
}

double error_of(const Modelled& row) { return 100 * std::abs(row.seconds - row.of->seconds) / row.of->seconds; }

ValidationRow step_row(const Modelled& row) {
  const double measured = row.of->seconds > 0 ? row.of->seconds : std::numeric_limits<double>::quiet_NaN();
  return {row.of->name, "step s", measured, row.seconds, row.problem};
}

// Against the smallest of its series: what the chip's own model misses cancels.
void add_scaling(Validation& validation, const std::vector<Modelled>& all) {
  std::map<std::string, const Modelled*> smallest;
  for (const Modelled& row : all) {
    if (row.seconds <= 0) continue;
    const Modelled*& least = smallest[row.of->series()];
    if (least == nullptr || row.of->chips < least->of->chips) least = &row;
  }
  for (const Modelled& row : all) {
    if (row.seconds <= 0) continue;
    const Modelled& least = *smallest[row.of->series()];
    if (least.of->chips == row.of->chips) continue;
    validation.rows.push_back({fmt::format("{}, against {} on {}", row.of->name, least.of->id, least.of->chips),
                               "scaling", row.of->seconds / least.of->seconds, row.seconds / least.seconds, ""});
  }
}

// Places from 1 on, those of equals shared.
std::vector<double> ranks_of(const std::vector<double>& values) {
  std::vector<double> ranks;
  for (double value : values) {
    const auto less = std::ranges::count_if(values, [&](double other) { return other < value; });
    const auto same = std::ranges::count(values, value);
    ranks.push_back(static_cast<double>(less) + (static_cast<double>(same) + 1) / 2);
  }
  return ranks;
}

double correlation(const std::vector<double>& a, const std::vector<double>& b) {
  const double mean_a = mean_of(a), mean_b = mean_of(b);
  double ab = 0, aa = 0, bb = 0;
  for (std::size_t i = 0; i < a.size(); ++i) {
    ab += (a[i] - mean_a) * (b[i] - mean_b);
    aa += (a[i] - mean_a) * (a[i] - mean_a);
    bb += (b[i] - mean_b) * (b[i] - mean_b);
  }
  return aa > 0 && bb > 0 ? ab / std::sqrt(aa * bb) : 0;
}

// Ways to do the same work on as many chips: which is best, and in what order they come.
void add_ranks(Validation& validation, const std::vector<Modelled>& all) {
  std::map<std::string, std::vector<const Modelled*>> groups;
  for (const Modelled& row : all) {
    if (row.seconds > 0 && row.of->source.starts_with("vTrain")) groups[row.of->group()].push_back(&row);
  }
  for (const auto& [name, rows] : groups) {
    if (rows.size() < 3) continue;
    std::vector<double> measured, modelled;
    for (const Modelled* row : rows) {
      measured.push_back(row->of->seconds);
      modelled.push_back(row->seconds);
    }
    const std::vector<double> measured_ranks = ranks_of(measured), modelled_ranks = ranks_of(modelled);
    for (std::size_t i = 0; i < rows.size(); ++i)
      validation.rows.push_back({rows[i]->of->name, "rank", measured_ranks[i], modelled_ranks[i], ""});
    const auto best = static_cast<std::size_t>(std::ranges::min_element(modelled) - modelled.begin());
    const double least = *std::ranges::min_element(measured);
    ValidationGroup group{.by = "rank", .name = name, .means = {}, .cases = rows.size()};
    group.means.emplace_back("regret", 100 * (measured[best] / least - 1));
    for (std::size_t i = 0; i < rows.size(); ++i) {
      for (std::size_t j = i + 1; j < rows.size(); ++j) {
        if (measured[i] == measured[j]) continue;
        ++group.pairs;
        if ((measured[i] < measured[j]) == (modelled[i] < modelled[j])) ++group.pairs_in_order;
      }
    }
    validation.groups.push_back(std::move(group));
    validation.notes.push_back(fmt::format("{}: Spearman {:.2f}", name, correlation(measured_ranks, modelled_ranks)));
  }
}

void add_sources(Validation& validation, const std::vector<Modelled>& all) {
  std::vector<std::string> names;
  std::map<std::string, std::vector<double>> errors;
  std::map<std::string, std::vector<double>> scaling;
  for (const Modelled& row : all) {
    const std::string name = family_of_source(row.of->source);
    if (std::ranges::find(names, name) == names.end()) names.push_back(name);
    if (row.seconds > 0) errors[name].push_back(error_of(row));
  }
  for (const ValidationRow& row : validation.rows) {
    if (row.quantity != "scaling") continue;
    const std::size_t begin = row.name.find(", ") + 2;
    scaling[family_of_source(row.name.substr(begin))].push_back(std::abs(row.error_percent()));
  }
  for (const std::string& name : names) {
    ValidationGroup group{.by = "source", .name = name, .means = {}, .cases = errors[name].size()};
    if (!errors[name].empty()) {
      group.means.emplace_back("step s", mean_of(errors[name]));
      group.means.emplace_back("median", median_of(errors[name]));
    }
    if (!scaling[name].empty()) group.means.emplace_back("scaling", mean_of(scaling[name]));
    validation.groups.push_back(std::move(group));
  }
}

}  // namespace

const std::vector<std::string>& parallel_point_files() {
  static const std::vector<std::string> files = {"measured_points.csv"};
  return files;
}

Expected<Validation> validate_parallel(const std::string& folder, const ValidateOptions& options) {
  const std::string own = data_folder() + "/validation";
  MONET_TRY(const ParallelTable table,
            read_parallel_table(folder + "/" + parallel_point_files().front(), own + "/parallel_sources.csv"));
  Validation validation{.name = "parallel", .rows = {}, .notes = {}};
  validation.brief = true;
  ParallelSteps steps(own);
  std::vector<Modelled> all;
  for (const ParallelCase& each : table.cases) {
    if (options.stop && options.stop()) break;
    if (options.progress) options.progress("steps of others", all.size(), table.cases.size());
    const auto step = steps.step(each);
    all.push_back({&each, step ? step->seconds : 0, step ? "" : step.error().text()});
  }
  for (const Modelled& row : all) validation.rows.push_back(step_row(row));
  add_scaling(validation, all);
  add_sources(validation, all);
  add_ranks(validation, all);
  validation.notes.emplace_back(
      "nothing is fitted to these rows; what a source leaves out is in data/validation/parallel_sources.csv, the same "
      "for all its rows");
  validation.notes.emplace_back("derived: the time follows from a rate of operations that its source publishes");
  MONET_RETURN_IF_ERROR(keep_wanted(validation, options));
  return validation;
}

}  // namespace monet

#include "validate/step_groups.h"

#include <algorithm>
#include <cmath>
#include <functional>

namespace monet {

namespace {

class StepGrouping {
 public:
  StepGrouping(const std::vector<MeasuredStep>& steps, const Validation& validation)
      : steps_(steps), rows_(validation.rows), quantities_(steps.empty() ? 0 : rows_.size() / steps.size()) {}

  void add(const char* by, const std::function<std::string(const MeasuredStep&)>& name_of, bool ranked,
           std::vector<ValidationGroup>& groups) const {
    std::vector<std::string> names;
    for (const MeasuredStep& step : steps_) {
      if (std::ranges::find(names, name_of(step)) == names.end()) names.push_back(name_of(step));
    }
    for (const std::string& name : names) {
      std::vector<std::size_t> members;
      for (std::size_t i = 0; i < steps_.size(); ++i) {
        if (name_of(steps_[i]) == name) members.push_back(i);
      }
      ValidationGroup& group = groups.emplace_back(ValidationGroup{.by = by, .name = name, .means = means_of(members)});
      group.cases = members.size();
      if (ranked) rank(members, group);
    }
  }

 private:
  const ValidationRow& row(std::size_t step, std::size_t quantity) const {
    return rows_[step * quantities_ + quantity];
  }

  std::vector<std::pair<std::string, double>> means_of(const std::vector<std::size_t>& members) const {
    std::vector<std::pair<std::string, double>> means;
    for (std::size_t q = 0; q < quantities_; ++q) {
      double sum = 0, count = 0;
      for (const std::size_t step : members) {
        if (!row(step, q).aside.empty()) continue;
        sum += std::abs(row(step, q).error_percent());
        ++count;
      }
      means.emplace_back(row(members.front(), q).quantity, count > 0 ? sum / count : 0);
    }
    return means;
  }

  void rank(const std::vector<std::size_t>& members, ValidationGroup& group) const {
    for (std::size_t i = 0; i < members.size(); ++i) {
      for (std::size_t k = 0; k < i; ++k) {
        const ValidationRow &a = row(members[i], 0), &b = row(members[k], 0);
        if (!a.aside.empty() || !b.aside.empty() || a.measured == b.measured) continue;
        ++group.pairs;
        group.pairs_in_order += (a.measured > b.measured) == (a.modelled > b.modelled) ? 1 : 0;
      }
    }
  }

  const std::vector<MeasuredStep>& steps_;
  const std::vector<ValidationRow>& rows_;
  std::size_t quantities_;
};

}  // namespace

std::vector<ValidationGroup> groups_of(const std::vector<MeasuredStep>& steps, const Validation& validation) {
  std::vector<ValidationGroup> groups;
  const StepGrouping grouping(steps, validation);
  grouping.add("network", [](const MeasuredStep& step) { return step.network; }, true, groups);
  grouping.add("precision", [](const MeasuredStep& step) { return step.precision; }, false, groups);
  return groups;
}

}  // namespace monet

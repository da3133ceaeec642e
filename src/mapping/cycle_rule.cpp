#include "mapping/cycle_rule.h"

#include <string>
#include <vector>

namespace monet {

double rule_cycles(const Problem& problem, const Expression& rule, double rate) {
  double rows = 1, columns = 1, depth = 1, groups = 1;
  std::uint32_t read_by[2] = {0, 0};
  std::uint32_t written = 0;
  for (const ProblemOperand& operand : problem.operands) {
    if (operand.written) {
      written |= operand.relevant();
    } else {
      read_by[operand.path == Path::weight ? 1 : 0] |= operand.relevant();
    }
  }
  for (std::size_t i = 0; i < problem.loops.size(); ++i) {
    const auto size = static_cast<double>(problem.loops[i].size);
    const bool out = (written >> i & 1U) != 0;
    const bool first = (read_by[0] >> i & 1U) != 0;
    const bool second = (read_by[1] >> i & 1U) != 0;
    (!out ? depth : first && second ? groups : first ? rows : columns) *= size;
  }
  std::vector<double> values;
  for (const std::string& name : rule.names()) {
    double value = 1;
    if (name == "rows") value = rows;
    if (name == "columns") value = columns;
    if (name == "depth") value = depth;
    if (name == "batch" || name == "groups") value = groups;
    if (name == "rate") value = rate;
    for (const Loop& loop : problem.loops) {
      if (name == name_of(loop.name)) value = static_cast<double>(loop.size);
    }
    values.push_back(value);
  }
  return rule.evaluate(values);
}

}  // namespace monet

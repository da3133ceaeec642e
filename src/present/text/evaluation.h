// The tables of `monet evaluate`, each with a heading and a line between it and the next; empty where there is nothing
// to show.
#pragma once

#include "present/shared/critical_runs.h"

#include <monet/evaluate.h>
#include <monet/text.h>

#include <map>
#include <string>
#include <vector>

namespace monet {

// Durations as people read them: at a clock in seconds, otherwise in cycles.
class TimeText {
 public:
  explicit TimeText(double clock_hz) : clock_hz_(clock_hz) {}
  std::string operator()(double cycles) const;

 private:
  double clock_hz_;
};

// "12.5%"; empty where the whole is 0.
std::string share_text(double part, double whole);
// "1.25x"; empty where there is nothing to compare with.
std::string ratio_text(double value, double reference);

// Equal cores are counted together: what belongs to one of them gets the name of its type.
class CoreTypes {
 public:
  explicit CoreTypes(const Evaluation& evaluation);
  // "pe0_0/sram" gives "pe/sram" where there are several cores of type pe; other names stay.
  std::string group_of(const std::string& name) const;
  // "pe0_0", "16 pe", "pe0_0 and 3 more"
  std::string text_of(const std::vector<std::string>& cores) const;

 private:
  std::map<std::string, std::string, std::less<>> type_of_;
};

Text phases_text(const Evaluation& evaluation);
// The largest first.
Text energy_table(const Evaluation& evaluation);
Text cores_text(const Evaluation& evaluation);
Text links_text(const Evaluation& evaluation);
Text memories_text(const Evaluation& evaluation);
// What a memory holds when most is in it: one that is too small, or the outer one with most in it.
Text peak_text(const Evaluation& evaluation, const EvaluateView& view);
Text operators_text(const Evaluation& evaluation, const EvaluateView& view);
Text critical_path_text(const Evaluation& evaluation);

// Memories that hold the step as a whole: DRAM and storage in use; where there is none, the fullest.
std::vector<const MemoryResult*> outer_memories(const Evaluation& evaluation);

}  // namespace monet

// Tables of measured kernels (docs/calibrate.md).
#pragma once

#include "kernels/law_values.h"

#include <monet/expected.h>

#include <string>
#include <vector>

namespace monet {

struct MeasuredEnergy {
  Kernel kernel;
  double us = 0;
  double mj = 0;         // of one call; 0 where nothing ran
  double watts = 0;      // mean
  double clock_mhz = 0;  // meanwhile; 0: not known
  bool idle = false;
  bool tiny = false;   // kernels that do nothing: what flows whenever any runs
  bool zeros = false;  // operands are all 0
};

struct Measurements {
  std::vector<MeasuredKernel> kernels;  // cold ones have a cold_share of 1
  std::vector<MeasuredEnergy> energies;
  std::vector<std::string> notes;  // rows that were left out, and why
};

// Several files are read as one. Errors name file and line.
Expected<Measurements> read_measurements(const std::vector<std::string>& files);

}  // namespace monet

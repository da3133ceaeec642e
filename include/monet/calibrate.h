// Laws of a graphics processor's kernels, fitted to measurements: a machine file from tables of measured kernels.
#pragma once

#include <monet/expected.h>
#include <monet/machine.h>
#include <monet/text.h>

#include <cstddef>
#include <string>
#include <vector>

namespace monet {

struct CalibrateOptions {
  Machine base;              // what the measurements do not say stays as it is there
  std::string core;          // of the base; empty: its only one
  std::string name;          // of the new machine; empty: that of the base, calibrated
  std::string source, date;  // of the measurements, as the file states them; source empty: names of the tables
  double power_limit_w = 0;  // of the board; 0: as the base has it
  std::string output;        // where the file will be: what it includes is found from there; may be empty
  int folds = 5;             // of cross-validation
  std::size_t jobs = 0;      // threads; 0: as many as there are processors
};

// Kernels that share coefficients. Errors are means of |predicted / measured − 1|.
struct CalibratedClass {
  std::string name;  // "product.forward.bf16"; "energy"
  std::size_t measured = 0;
  double law_error = 0;       // of the law, on what it was fitted to
  double left_out_error = 0;  // of law and residual that were fitted without the kernel itself
};

struct Calibration {
  std::vector<CalibratedClass> classes;
  std::string machine;  // the file
  std::vector<std::string> notes;
  double wall_s = 0;
};

// Tables as docs/calibrate.md describes them; several are one.
Expected<Calibration> calibrate(const std::vector<std::string>& tables, const CalibrateOptions& options);

Text to_text(const Calibration& calibration);
std::string to_json(const Calibration& calibration);

}  // namespace monet

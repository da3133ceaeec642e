// The commands and what they share. Arguments are parsed in main.cpp, the one file that knows the parser.
#pragma once

#include <monet/hardware.h>
#include <monet/inspect.h>
#include <monet/map.h>
#include <monet/train.h>
#include <monet/validate.h>

#include <string>
#include <vector>

namespace monet::cli {

struct CommonOptions {
  bool json = false;
  bool quiet = false;
  bool verbose = false;
};

struct InspectCommand {
  CommonOptions common;
  std::string model;
  InspectOptions options;
  bool layers = false;
};

struct TrainCommand {
  CommonOptions common;
  std::string model;
  TrainOptions options;
  TrainView view;
  std::string output;  // the ONNX file to write, or empty
};

struct HardwareListCommand {
  CommonOptions common;
};

struct HardwareShowCommand {
  CommonOptions common;
  std::string name;  // a preset or a file
  HardwareParameters parameters;
  HardwareView view;
  std::string svg;  // the picture to write, or empty
};

struct HardwareCheckCommand {
  CommonOptions common;
  std::string file;  // empty with `schema`
  HardwareParameters parameters;
  bool schema = false;
};

struct HardwareImportCommand {
  CommonOptions common;
  std::string file;
  std::string mapping;  // or empty
  std::string output;   // empty: standard output
};

struct MapCommand {
  CommonOptions common;
  std::string model;
  MapOptions options;
  MapView view;
  std::string csv;  // the file to write, or empty
};

struct ValidateCommand {
  CommonOptions common;
  std::string name;  // empty: all
  std::string data;
};

// Each command gives the exit status: 0 done, 1 the user's input is wrong, 2 no feasible answer, 3 a defect of ours.
int run(const InspectCommand& command);
int run(const TrainCommand& command);
int run(const HardwareListCommand& command);
int run(const HardwareShowCommand& command);
int run(const HardwareCheckCommand& command);
int run(const HardwareImportCommand& command);
int run(const MapCommand& command);
int run(const ValidateCommand& command);

// Prints the error on standard error and gives the exit status for it.
int report(const Error& error);
// Warnings and notes, on standard error; quiet drops the notes.
void report(const std::vector<std::string>& warnings, const std::vector<std::string>& notes,
            const CommonOptions& options);
// On standard output. Fails, with a message, when it cannot be written (a full disk).
int print(const std::string& text);
// The built-in networks and their options, for help.
std::string network_help();

}  // namespace monet::cli

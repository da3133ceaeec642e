// The commands and what they share. Arguments are parsed in arguments*.cpp.
#pragma once

#include <monet/calibrate.h>
#include <monet/checkpoint.h>
#include <monet/collective.h>
#include <monet/compare.h>
#include <monet/evaluate.h>
#include <monet/explore.h>
#include <monet/fuse.h>
#include <monet/hardware.h>
#include <monet/inspect.h>
#include <monet/map.h>
#include <monet/optimize.h>
#include <monet/pack.h>
#include <monet/parallel.h>
#include <monet/precision.h>
#include <monet/remat.h>
#include <monet/report.h>
#include <monet/serve.h>
#include <monet/simulate.h>
#include <monet/train.h>
#include <monet/validate.h>

#include <optional>
#include <string>
#include <vector>

namespace monet::cli {

struct CommonOptions {
  bool json = false;
  bool quiet = false;
  bool verbose = false;
};

// A machine and a plan as a command line names them.
struct MachineNames {
  std::string hardware;  // a preset or a file
  HardwareParameters parameters;
  std::string plan;  // a file; empty: none

  // Fails where the plan cannot be read.
  Status put_into(StepRequest& request) const;
};

struct InspectCommand {
  CommonOptions common;
  std::string model;
  NetworkOptions options;
  bool layers = false;
};

struct NetworksCommand {
  CommonOptions common;
  std::string name;  // empty: all
};

struct TrainCommand {
  CommonOptions common;
  std::string model;
  TrainOptions options;
  RecomputeOptions recompute;
  std::string plan;  // a file for `recompute`, or empty
  TrainView view;
  std::string output;  // the ONNX file to write, or empty
  // Training for real; its `train` is not looked at: `options` above is.
  bool simulates = false;
  SimulateOptions simulate;
  std::vector<std::string> compare;  // precisions to compare with; none: fp32
  std::string csv;                   // the curves to write, or empty
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
  std::string network;     // empty: the machine alone
  StepRequest as;          // how the network is trained
  bool inference = false;  // the status is that of the forward part alone
};

struct HardwareImportCommand {
  CommonOptions common;
  std::string file;
  std::string mapping;  // or empty
  std::string output;   // empty: standard output
};

struct HardwareCommands {
  enum class Chosen { list, show, check, import } chosen = Chosen::list;
  HardwareListCommand list;
  HardwareShowCommand show;
  HardwareCheckCommand check;
  HardwareImportCommand import;
};

struct MapCommand {
  CommonOptions common;
  std::string model;
  MachineNames on;
  MapOptions options;
  MapView view;
  std::string csv;  // the file to write, or empty
};

struct EvaluateCommand {
  CommonOptions common;
  std::string model;
  MachineNames on;
  StepRequest options;
  EvaluateView view;
  std::string folder;                               // of all files, with names of their own; or empty
  std::string csv, trace, chakra, lifetimes, plan;  // files to write, or empty
  bool suggest = false;                             // however large the step is, and for JSON too
};

struct CheckpointCommand {
  CommonOptions common;
  std::string model;
  MachineNames on;
  CheckpointOptions options;
  std::string output, csv, points;  // to write, or empty
};

struct OptimizeCommand {
  CommonOptions common;
  std::string model;
  MachineNames on;
  OptimizeOptions options;
  std::string output;  // the folder to write to, or empty
};

struct CollectiveCommand {
  CommonOptions common;
  std::string hardware;
  HardwareParameters parameters;
  std::string bytes;          // a size with its unit
  CollectiveOptions options;  // the rest
};

struct ParallelCommand {
  CommonOptions common;
  std::string model;
  MachineNames on;
  std::string deadline, memory;
  ParallelSearchOptions options;  // the rest
  std::string output, rejected;   // files, or empty
};

struct CalibrateCommand {
  CommonOptions common;
  std::vector<std::string> tables;
  std::string hardware;
  HardwareParameters parameters;
  CalibrateOptions options;  // the rest
  std::string output;        // the machine file, or empty
};

struct PackCommand {
  CommonOptions common;
  std::string file;
  std::string capacity;  // bytes or a size with its unit; empty: as small as can be found
  std::optional<double> time_limit_s;
  std::string output;  // the file to write, or empty
};

struct PrecisionListCommand {
  CommonOptions common;
};

struct PrecisionShowCommand {
  CommonOptions common;
  std::string name;  // a recipe, a format or a file
};

struct PrecisionCompareCommand {
  CommonOptions common;
  std::string model;
  MachineNames on;
  PrecisionComparisonOptions options;  // the loss, the optimizer and what is trained stand in `evaluate`
  std::optional<std::int64_t> simulate_batch;
  std::string csv, folder;  // to write, or empty
};

struct PrecisionCommands {
  enum class Chosen { list, show, compare } chosen = Chosen::list;
  PrecisionListCommand list;
  PrecisionShowCommand show;
  PrecisionCompareCommand compare;
};

struct FuseCommand {
  CommonOptions common;
  std::string model;
  MachineNames on;
  FuseOptions options;
  std::size_t show = 15;  // stacks in the table; 0: all
  std::string output;     // the plan to write, or empty
};

struct ExploreCommand {
  CommonOptions common;
  ExploreOptions options;  // with a store of its own where none is named
  std::string method;      // empty: by the size of the space
  bool all = false;        // every design
  bool list = false;       // the spaces that come with the program
  std::string show;        // a store to look at; empty: explore
  std::string rescue;      // a damaged store to read what is left of; empty: explore
  double tolerance_percent = 0.5;
  ExplorationView view;
  std::string csv, lines, output;  // files to write, or empty; `output` may be a folder
};

struct RematCommand {
  CommonOptions common;
  std::string file;
  std::string budget;       // a part of the peak, or bytes with a unit
  std::string deadline;     // "2x", or a time; empty: none
  std::string fixed, page;  // sizes; empty: none
  RematOptions options;     // the rest
  std::string output;       // the file to write, or empty
};

struct ServeCommand {
  ServeOptions options;
  std::string most_upload = "256MiB";
};

struct ReportCommand {
  CommonOptions common;
  std::string input, second;  // the second may be empty
  ReportOptions options;      // the rest
  std::string output;         // the page to write; "-": standard output; empty: a name of its own
};

struct CompareCommand {
  CommonOptions common;
  std::string a, b;
  std::string csv, output;  // to write, or empty
};

struct ValidateCommand {
  CommonOptions common;
  std::string name;  // empty: all that are quick
  ValidateOptions options;
};

// Each command gives the exit status: 0 done, 1 the user's input is wrong, 2 no feasible answer, 3 a defect of ours.
int run(const InspectCommand& command);
int run(const NetworksCommand& command);
int run(const TrainCommand& command);
int run(const HardwareCommands& commands);
int run(const HardwareListCommand& command);
int run(const HardwareShowCommand& command);
int run(const HardwareCheckCommand& command);
int run(const HardwareImportCommand& command);
int run(const MapCommand& command);
int run(const EvaluateCommand& command);
int run(const CheckpointCommand& command);
int run(const OptimizeCommand& command);
int run(const CalibrateCommand& command);
int run(const CollectiveCommand& command);
int run(const ParallelCommand& command);
int run(const PackCommand& command);
int run(const PrecisionCommands& commands);
int run(const PrecisionListCommand& command);
int run(const PrecisionShowCommand& command);
int run(const PrecisionCompareCommand& command);
int run(const FuseCommand& command);
int run(const ExploreCommand& command);
int run(const RematCommand& command);
int run(const ReportCommand& command);
int run(const ServeCommand& command);
int run(const CompareCommand& command);
int run(const ValidateCommand& command);

// On standard error, as it is; never fails.
void write_message(const std::string& text);
// "monet: message" on standard error.
void complain(const std::string& message);
// Prints the error on standard error and gives the exit status for it.
int report(const Error& error);
// Warnings and notes, on standard error; quiet drops the notes.
void report(const std::vector<std::string>& warnings, const std::vector<std::string>& notes,
            const CommonOptions& options);
// On standard output: text for people, laid out and coloured where that is a terminal; or one JSON object, as it is.
// Fails, with a message, when it cannot be written (a full disk).
int print(const Text& text);
int print_json(const std::string& json);
int print_help(const std::string& text);
// As it is: what another program reads.
int print_file(const std::string& text);
// Where help is about networks: which are built in.
std::string network_help();

}  // namespace monet::cli

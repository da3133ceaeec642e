#include "cli/arguments.h"

namespace monet::cli {

void add_calibrate(CLI::App& app, CalibrateCommand& command) {
  CLI::App* calibrate =
      app.add_subcommand("calibrate", "a machine file of a graphics processor, from kernels measured on it");
  calibrate->add_option("MEASUREMENTS", command.tables, "tables of measured kernels (docs/calibrate.md)")
      ->type_name("FILE.csv")
      ->required();
  calibrate
      ->add_option("--hardware", command.hardware,
                   "a preset or file of the same machine by its data sheet: what was not measured stays as it is there")
      ->type_name("NAME")
      ->required();
  add_parameters(*calibrate, command.parameters);
  calibrate->add_option("-o,--output", command.output, "the machine file")->type_name("FILE.yaml");
  calibrate->add_option("--core", command.options.core, "which core's kernels these are; its only one by default")
      ->type_name("NAME");
  calibrate->add_option("--name", command.options.name, "of the machine")->type_name("NAME");
  calibrate->add_option("--source", command.options.source, "of the measurements, as the file will say")
      ->type_name("TEXT");
  calibrate->add_option("--date", command.options.date, "of the measurements; today by default")->type_name("TEXT");
  calibrate->add_option("--power-limit", command.options.power_limit_w, "of the board, in watts")
      ->type_name("WATTS")
      ->check(CLI::Range(1.0, 1e6));
  calibrate->add_option("--folds", command.options.folds, "parts that are left out in turn, for the errors")
      ->type_name("N")
      ->check(CLI::Range(2, 100))
      ->capture_default_str();
  calibrate->add_option("--jobs", command.options.jobs, "threads; all processors by default")
      ->check(CLI::Range(0, 1024))
      ->type_name("N");
  add_common(*calibrate, command.common);
  calibrate->footer(
      "For each class of kernels: how many were measured, the mean error of its law, and that of law and nearby\n"
      "measurements on kernels that were left out.\n\n"
      "Examples:\n"
      "  python -m monet.measure_gpu -o kernels.csv\n"
      "  monet calibrate kernels.csv --hardware h100 --name mine -o mine.yaml\n"
      "  monet calibrate kernels.csv power.csv --hardware h100 --power-limit 700 --json\n\n"
      "A table:\n"
      "  kind,part,op,precision,m,n,k,elements,us\n"
      "  linear,forward,,bf16,1024,768,768,,8.1\n"
      "  elementwise,,add,fp32,,,,1048576,3.9\n");
}

}  // namespace monet::cli

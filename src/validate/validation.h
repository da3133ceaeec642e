// The validations that `validate` puts together.
#pragma once

#include "validate/groundtruth.h"

#include <monet/train.h>
#include <monet/validate.h>

#include <string>
#include <vector>

namespace monet {

// Reference measurements, where the program was built; src/CMakeLists.txt writes it.
std::string data_folder();

// The network of a measured step, in the folder with models/, and how the step was made.
std::string model_of(const MeasuredStep& measured, const std::string& data);
TrainOptions train_options_of(const MeasuredStep& measured);
// What to say when no row is asked for.
Error nothing_matches(const ValidateOptions& options, const std::string& example);
// The measurements that are asked for; fails when there is none.
Expected<std::vector<MeasuredStep>> wanted_steps(const std::string& data, const ValidateOptions& options);

// Cycles of chips that were measured, on machines in data/validation/.
Expected<Validation> validate_silicon(const std::string& data, const ValidateOptions& options);
// Saved bytes and backward operations of the steps whose blocks are recomputed.
Expected<Validation> validate_checkpoint(const std::string& data, const ValidateOptions& options);
// Latency, energy and memory of every measured step on the preset h200.
Expected<Validation> validate_h200(const std::string& data, const ValidateOptions& options);
// Time of profiled steps by class of operator, likewise.
// The same of steps whose network a compiler fused.
Expected<Validation> validate_h200_compiled(const std::string& data, const ValidateOptions& options);
Expected<Validation> validate_h200_operators(const std::string& data, const ValidateOptions& options);
// The tables of DaCapo's simulator against the cycle rule of the preset dacapo. `folder`: what dacapo_tables_folder
// gives.
Expected<Validation> validate_dacapo(const std::string& folder, const ValidateOptions& options);
// Footprint and throughput that are claimed for square groups, on the models of four robots.
Expected<Validation> validate_robotics(const ValidateOptions& options);
// Rates of the preset snax_mx, and what it makes of whole training steps.
Expected<Validation> validate_snax_mx(const ValidateOptions& options);
// What integer training saves on a microcontroller.
Expected<Validation> validate_tin_tin(const ValidateOptions& options);

// A figure beside which nothing was measured or published.
ValidationRow prediction(std::string name, std::string quantity, double modelled, const std::string& reason = {});
// Prices of collectives against a simulator and measurements of others. `folder`: what parallel_folder gives.
Expected<Validation> validate_collectives(const std::string& folder, const ValidateOptions& options);
// The folder with those files, of others, about steps on many chips: in `data`, then where MONET_SHARED says or else a
// folder `shared` beside the project; each with or without parallel or reference/parallel. Fails, naming the files,
// when there is none. `own`: the project's data/.
Expected<std::string> parallel_folder(const std::string& data, const std::string& own,
                                      const std::vector<std::string>& files);
// Those that validate_collectives reads.
const std::vector<std::string>& collective_files();

// Published steps on many chips. `folder`: what parallel_folder gives.
Expected<Validation> validate_parallel(const std::string& folder, const ValidateOptions& options);
const std::vector<std::string>& parallel_point_files();

// Leaves the rows that `options` asks for; fails when there is none.
Status keep_wanted(Validation& validation, const ValidateOptions& options);

}  // namespace monet

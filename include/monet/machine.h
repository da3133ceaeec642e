// A machine as a value: opened once, used as often as one likes.
#pragma once

#include <monet/expected.h>

#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace monet {

struct Hardware;

// Values of a family's parameters, as a file writes them: {"x", "8"}, {"pe_memory", "4 MiB"}.
using HardwareParameters = std::vector<std::pair<std::string, std::string>>;

// The name of a preset, or a file: one of ours, ZigZag's or Stream's. It is read when it is first needed; copies share
// what was read, and may be used by several threads.
class Machine {
 public:
  Machine() = default;
  // NOLINTBEGIN(google-explicit-constructor): a name stands for its machine
  Machine(std::string name, HardwareParameters parameters = {});
  Machine(const char* name) : Machine(std::string(name)) {}
  // NOLINTEND(google-explicit-constructor)

  // Read at once: fails where there is no such machine, or it cannot be read.
  static Expected<Machine> open(std::string name, HardwareParameters parameters = {});

  const std::string& name() const { return name_; }
  const HardwareParameters& parameters() const { return parameters_; }

  // For the library itself.
  Expected<std::shared_ptr<const Hardware>> hardware() const;

 private:
  struct Read;
  std::string name_;
  HardwareParameters parameters_;
  std::shared_ptr<Read> read_;
};

}  // namespace monet

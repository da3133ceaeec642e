#include "base/try.h"
#include "evaluate/open/hardware.h"

#include <monet/machine.h>

#include <mutex>

namespace monet {

struct Machine::Read {
  std::mutex mutex;
  std::shared_ptr<const Hardware> hardware;
};

Machine::Machine(std::string name, HardwareParameters parameters)
    : name_(std::move(name)), parameters_(std::move(parameters)), read_(std::make_shared<Read>()) {}

Expected<Machine> Machine::open(std::string name, HardwareParameters parameters) {
  Machine machine(std::move(name), std::move(parameters));
  MONET_RETURN_IF_ERROR(machine.hardware());
  return machine;
}

Expected<std::shared_ptr<const Hardware>> Machine::hardware() const {
  if (!read_) return Error{.message = "no machine is given", .place = {}, .advice = "give a preset's name or a file"};
  const std::lock_guard lock(read_->mutex);
  if (!read_->hardware) {
    MONET_TRY(Hardware opened, open_hardware(name_, {.parameters = parameters_}));
    read_->hardware = std::make_shared<const Hardware>(std::move(opened));
  }
  return read_->hardware;
}

}  // namespace monet

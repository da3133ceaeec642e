// Machines of one file for many values of its parameters: the file is read once.
#pragma once

#include "hardware/reader.h"

namespace monet {

class HardwareFamily {
 public:
  // As open_hardware(). Fails when that fails whatever the parameters are because the file cannot be read; all else
  // that is wrong is said by with().
  static Expected<HardwareFamily> open(const std::string& name);
  // As read_hardware_text().
  static Expected<HardwareFamily> of_text(const std::string& text, const std::string& path);

  // The same machine, or the same error, as open_hardware() gives with these parameters, as the file was when the
  // family was opened. Several threads may ask at once.
  Expected<Hardware> with(const HardwareOptions& options) const;

 private:
  HardwareFamily(std::string path, YamlPtr root) : path_(std::move(path)), root_(std::move(root)) {}

  std::string path_;  // for messages
  YamlPtr root_;      // null: another tool's file
};

}  // namespace monet

#pragma once

#include "evaluate/open/hardware.h"

#include <gtest/gtest.h>

#include <string>

namespace monet::test {

inline Hardware preset(const std::string& name, const HardwareOptions& options = {}) {
  auto hardware = open_hardware(name, options);
  if (!hardware) {
    ADD_FAILURE() << name << ": " << hardware.error().text();
    return {};
  }
  return *std::move(hardware);
}

}  // namespace monet::test

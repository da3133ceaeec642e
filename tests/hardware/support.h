// A small machine as text, to be changed in one place, and the messages that reading it gives.
#pragma once

#include "hardware/reader.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

namespace monet::test {

inline const std::string small_machine = R"(monet: 1
name: small
clock: 500 MHz
technology: 22 nm
memories:
  dram:
    kind: dram
    size: 1 GiB
    ports: {rw: {width: 64 bit/cycle}}
    read_energy: 700 pJ
    write_energy: 750 pJ
cores:
  pe:
    array:
      dimensions: {K: 4, C: {size: 2, loops: [C, FX]}}
      operations: {mac: {energy: 0.5 pJ}}
    memories:
      registers:
        kind: registers
        size: 8 B
        paths: weight
        ports:
          r: {kind: read, width: 8 bit/cycle}
          w: {kind: write, width: 8 bit/cycle}
        read_energy: 0.1 pJ
        write_energy: 0.2 pJ
      sram:
        size: 64 KiB
        ports: {rw: {width: 32..256 bit/cycle}}
        read_energy: 20 pJ
        write_energy: 25 pJ
      dram: {use: dram}
)";

// The text with `from`, which must be there, replaced by `to`.
inline std::string with(std::string text, const std::string& from, const std::string& to) {
  const std::size_t at = text.find(from);
  EXPECT_NE(at, std::string::npos) << from;
  return at == std::string::npos ? text : text.replace(at, from.size(), to);
}

// The small machine with a replacement.
inline std::string changed(const std::string& from, const std::string& to) { return with(small_machine, from, to); }

inline Expected<Hardware> read(const std::string& text, const HardwareOptions& options = {}) {
  return read_hardware_text(text, "m.yaml", options);
}

inline Hardware must_read(const std::string& text, const HardwareOptions& options = {}) {
  auto hardware = read(text, options);
  if (!hardware) {
    ADD_FAILURE() << hardware.error().text();
    return {};
  }
  return *std::move(hardware);
}

// "place: message (advice)" of what must fail.
inline std::string message_of(const std::string& text, const HardwareOptions& options = {}) {
  const auto hardware = read(text, options);
  return hardware ? "no error" : hardware.error().text();
}

inline const Memory& memory_named(const Hardware& hardware, const std::string& name) {
  for (const Memory& memory : hardware.memories) {
    if (memory.name == name) return memory;
  }
  ADD_FAILURE() << "no memory " << name;
  static const Memory none;
  return none;
}

inline const Origin* origin_of(const Hardware& hardware, const std::string& part, const std::string& quantity) {
  const Origin* found = nullptr;  // the last: a value that was scaled is noted after the stated one
  for (const Origin& origin : hardware.origins) {
    if (origin.part == part && origin.quantity == quantity) found = &origin;
  }
  return found;
}

}  // namespace monet::test

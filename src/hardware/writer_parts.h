// The text of a hardware file's parts (hardware/writer.h).
#pragma once

#include "hardware/hardware.h"

#include <fmt/format.h>

#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace monet::hardware_text {

// As a key or a value: in quotes where it must be.
std::string yaml_quoted(std::string_view text);
std::string list_of(const std::vector<std::string>& items);
std::string quoted_list(const std::vector<std::string>& items);
std::string join_fields(const std::vector<std::string>& fields);  // {a: 1, b: 2}

// Lines of a block; `at` indents them.
class Lines {
 public:
  void add(int at, std::string_view text) { text_ += fmt::format("{:{}}{}\n", "", 2 * at, text); }
  void field(int at, std::string_view key, std::string_view value) { add(at, fmt::format("{}: {}", key, value)); }
  // Left out where it is 0.
  void quantity(int at, std::string_view key, double value, std::string_view unit) {
    if (value != 0) field(at, key, fmt::format("{} {}", value, unit));
  }
  std::string text() && { return std::move(text_); }

 private:
  std::string text_;
};

// Ports of a memory, with their widths if asked, and where a core uses it with what moves there.
void write_ports(Lines& out, int at, const Memory& memory, const Level* level, bool widths);
void write_memory(Lines& out, int at, const Memory& memory, const Level* level);
void write_unit(Lines& out, const Unit& unit);
void write_rate(Lines& out, const Rate& rate);
void write_kernels(Lines& out, int at, const KernelLaws& laws);
void write_fabric(Lines& out, const Fabric& fabric);

}  // namespace monet::hardware_text

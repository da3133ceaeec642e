// Puts core files together to one Hardware.
#pragma once

#include "compat/import/zigzag.h"

#include <set>

namespace monet {

class ForeignSystem {
 public:
  // Hardware without effects, of which the parts have yet to be added.
  explicit ForeignSystem(std::string name);

  // A core with memories of its own, but for the levels of which `shared` names a memory of the system.
  CoreId add_core(const ZigzagCore& file, const std::string& name, const std::string& type,
                  const std::vector<MemoryId>& shared);
  // A memory of the system, named after `name` or, if that is taken, `name` and a number.
  MemoryId add_memory(const Memory& memory, const std::string& name);
  void add_notes(const std::string& about, const std::vector<std::string>& notes);
  // `name`, or `name` and a number, which nothing else has; letters that a name may not have become '_'.
  std::string unique(const std::string& name);

  Hardware hardware;

 private:
  std::set<std::string> names_;
};

// Letters that a name may not have become '_'.
std::string foreign_name(std::string_view name);

}  // namespace monet

// Whatever the text, reading it as a space ends with a space or an error; designs and choices are then the same thing,
// and any machine of it is one or says why not.
#include "explore/space/family.h"
#include "explore/space/space.h"

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>

namespace {

using namespace monet;
using namespace monet::explore;

void fail(const std::string& message) {
  std::fprintf(stderr, "%s\n", message.c_str());
  std::abort();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string text(reinterpret_cast<const char*>(data), size);
  const auto alone = Space::read_alone(text, "fuzz.yaml");
  const auto space = Space::read_text(text, "fuzz.yaml");
  for (const auto* read : {&alone, &space}) {
    if (!*read && read->error().kind == ErrorKind::defect) fail(read->error().text());
    if (!*read && read->error().place.empty()) fail("an error without a place: " + read->error().text());
  }
  if (space && !alone) fail("with its files it can be read, without it cannot: " + alone.error().text());
  if (!space) return 0;
  if (space->size() == 0 || space->size() > std::uint64_t{1} << 48U) fail("a space without a size");
  for (const Design design : {Design{0}, space->size() / 3, space->size() - 1}) {
    if (space->design(space->choice(design)) != design) fail("a design is another one's choice");
    const auto machine = machine_of(*space, space->parameters(design));
    if (!machine && machine.error().kind == ErrorKind::defect) fail(machine.error().text());
  }
  for (const Objective& objective : space->objectives) {
    if (!space->objective_named(name_of(objective, space->workloads))) fail("an objective without a name");
  }
  return 0;
}

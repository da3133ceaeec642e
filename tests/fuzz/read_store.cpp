// Whatever a store's file holds, opening it ends with a store or an error; and every outcome that it gives has numbers,
// and is found by its design too; what is rescued of it is a store. An input that is no SQLite file is taken for
// changes of values in a good store: plain mutants seldom come past the checks of SQLite itself.
#include "explore/store/database.h"
#include "explore/store/rescue.h"
#include "explore/store/store.h"

#include <unistd.h>

#include <fmt/format.h>

#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string_view>

namespace {

using namespace monet;
using namespace monet::explore;

void fail(const std::string& message) {
  std::fprintf(stderr, "%s\n", message.c_str());
  std::abort();
}

void fail_on_defect(const Error& error) {
  if (error.kind == ErrorKind::defect) fail(error.text());
}

constexpr std::string_view space_text = R"yaml(space: 1
name: toy
hardware: edge_tpu
parameters:
  x: [1, 2, 4, 8]
  lanes: [1, 2, 4]
workloads: [{name: step, network: mlp-robotics}]
objectives: [latency, energy]
)yaml";

// SQLite waits for the disk after each change.
std::filesystem::path memory_or_temporary() {
  const std::filesystem::path memory = "/dev/shm";
  return access(memory.c_str(), W_OK) == 0 ? memory : std::filesystem::temp_directory_path();
}

const std::string& path() {
  static const std::string name = (memory_or_temporary() / fmt::format("fuzz_store_{}.sqlite", getpid())).string();
  return name;
}

void write(const std::string& bytes) {
  for (const char* ending : {"-wal", "-shm", "-journal"}) std::filesystem::remove(path() + ending);
  std::ofstream(path(), std::ios::binary | std::ios::trunc) << bytes;
}

std::string make_good_store() {
  std::filesystem::remove(path());
  {
    const Space space = *Space::read_text(std::string(space_text), "toy.yaml");
    auto store = Store::open_to_fill(path(), {space, "fingerprint", {{"step", "hash", 3, 4}}}, true);
    if (!store) fail(store.error().text());
    for (Design design = 0; design < 4; ++design) {
      Outcome outcome{.design = design, .failure = design == 1 ? "too small" : ""};
      outcome.area_mm2 = outcome.static_w = outcome.macs_per_cycle = 1.5;
      if (design != 1) outcome.workloads.push_back({.latency_cycles = 10, .latency_s = 1, .energy_pj = 2});
      if (!store->put(outcome)) fail("a good outcome is refused");
    }
    if (!store->flush()) fail("a good store cannot be written");
  }
  // All in one file, and small.
  auto database = Database::open(path(), Database::Mode::write);
  if (!database || !database->execute("PRAGMA journal_mode = DELETE; PRAGMA page_size = 512; VACUUM"))
    fail("a good store cannot be made small");
  database = Error{};
  std::ifstream file(path(), std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

constexpr std::array<std::string_view, 26> places = {
    "designs.design",      "designs.failure",   "designs.excluded",       "designs.hardware_hash",
    "designs.area_mm2",    "designs.static_w",  "designs.macs_per_cycle", "designs.on_chip_bits",
    "results.design",      "results.workload",  "results.failure",        "results.latency_cycles",
    "results.latency_s",   "results.energy_pj", "results.peak_bytes",     "results.macs",
    "results.utilization", "results.stacks",    "results.tiles",          "results.recipe",
    "workloads.workload",  "workloads.name",    "workloads.weight",       "meta.value",
    "claims.design",       "owners.pid"};
constexpr std::array<std::string_view, 14> values = {
    "NULL",  "0",      "-1",     "1",      "2",       "9223372036854775807", "-9223372036854775808",
    "9e999", "-9e999", "1e-320", "'text'", "x'00ff'", "zeroblob(100000)",    "replace(hex(zeroblob(5000)), '0', 'a')"};

// Three bytes a change: where, in which row, what.
void change(const std::uint8_t* data, std::size_t size) {
  auto database = Database::open(path(), Database::Mode::write);
  if (!database) fail(database.error().text());
  (void)database->execute("PRAGMA synchronous = OFF; BEGIN");
  for (std::size_t i = 0; i + 2 < size && i < 48; i += 3) {
    const std::string_view place = places[data[i] % places.size()];
    const std::string table(place.substr(0, place.find('.'))), column(place.substr(place.find('.') + 1));
    // By its place in the table: some have no row numbers.
    const std::string key = table == "meta"                            ? "key"
                            : table == "results" || table == "designs" ? "design"
                            : table == "workloads"                     ? "workload"
                            : table == "claims"                        ? "design"
                                                                       : "owner";
    (void)database->execute(
        fmt::format("UPDATE OR IGNORE {0} SET {1} = {2} WHERE {3} = (SELECT {3} FROM {0} LIMIT 1 OFFSET {4})", table,
                    column, values[data[i + 2] % values.size()], key, data[i + 1] % 5));
  }
  (void)database->execute("COMMIT");
}

// What can still be read of a damaged store is a store.
void rescue_all() {
  const std::string rescued = path() + ".rescued";
  for (const char* ending : {"", "-wal", "-shm", "-journal"}) std::filesystem::remove(rescued + ending);
  const auto saved = rescue(path(), std::nullopt, rescued);
  if (!saved) return fail_on_defect(saved.error());
  auto store = Store::open_to_read(rescued);
  if (!store) fail("what was rescued is no store: " + store.error().text());
  const Status looked = store->for_each([&](const Outcome& outcome) -> Status {
    if (outcome.design >= store->space().size()) fail("a design of another space is rescued");
    return Done{};
  });
  if (!looked) fail("what was rescued cannot be read: " + looked.error().text());
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const std::string good = make_good_store();
  const std::string bytes(reinterpret_cast<const char*>(data), size);
  const bool is_file = bytes.starts_with("SQLite format 3");
  write(is_file ? bytes : good);
  if (!is_file) change(data, size);
  rescue_all();
  auto store = Store::open_to_read(path());
  if (!store) {
    fail_on_defect(store.error());
    return 0;
  }
  std::vector<Outcome> outcomes;
  const Status looked = store->for_each([&](const Outcome& outcome) -> Status {
    outcomes.push_back(outcome);
    return Done{};
  });
  if (!looked) fail_on_defect(looked.error());
  for (const Outcome& outcome : outcomes) {
    if (outcome.design >= store->space().size()) fail("a design of another space");
    if (!outcome.workloads.empty() && !std::isfinite(outcome.static_w)) fail("a power that is no number");
    for (const WorkloadOutcome& one : outcome.workloads) {
      if (one.failure.empty() && !(std::isfinite(one.latency_s) && std::isfinite(one.energy_pj))) fail("no number");
    }
    const auto found = store->find(outcome.design);
    if (!found) fail_on_defect(found.error());
    if (looked && found && !*found) fail("a design that is there is not found");
  }
  (void)store->size();
  return 0;
}

// The history: what was asked and what came out, in an SQLite file that survives the server.
#pragma once

#include "explore/store/database.h"

#include <monet/expected.h>

#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

namespace monet::serving {

struct Run {
  std::int64_t id = 0;
  std::string at;  // "2026-11-18 21:30:00", UTC
  std::string command, title, words;
  std::string question;  // as it was asked: asked again, it gives the same answer
  double latency_s = 0, energy_pj = 0;
  std::int64_t peak_bytes = 0;
  std::string result, plan;  // JSON; YAML, or empty
  std::string page;          // of a search; evaluations are made again for theirs
};

// A job that has not ended.
struct BegunJob {
  std::int64_t id = 0;
  std::string title, words, question;
};

// May be used by several threads.
class Runs {
 public:
  static Expected<Runs> open(const std::string& path);

  Expected<std::int64_t> add(const Run& run);
  // The latest first, without results and plans.
  Expected<std::vector<Run>> list(std::int64_t most);
  Expected<std::optional<Run>> find(std::int64_t id);

  Status begin_job(const BegunJob& job);
  Status end_job(std::int64_t id);
  Expected<std::vector<BegunJob>> begun_jobs();  // in the order of their numbers

 private:
  explicit Runs(explore::Database database)
      : database_(std::make_unique<explore::Database>(std::move(database))), mutex_(std::make_unique<std::mutex>()) {}
  std::unique_ptr<explore::Database> database_;
  std::unique_ptr<std::mutex> mutex_;
};

}  // namespace monet::serving

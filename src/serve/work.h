// What questions come to: evaluated at once, or searched for in the background.
#pragma once

#include "mapping/cache.h"
#include "serve/question.h"
#include "serve/runs.h"

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

namespace monet::serving {

struct FoundPlan {
  double latency_s = 0, energy_pj = 0;
  std::int64_t peak_bytes = 0;
};

// Asked often while something runs; and told how far it is.
struct Watch {
  std::function<bool()> stop;
  std::function<void(const std::string& what, std::size_t done, std::size_t all)> progress;
  std::function<void(const FoundPlan& plan)> found;  // no other one so far beats it
};

// Answers a question with all but the id and the time of a run.
Expected<Run> answer(const Question& question, const ServeFolder& folder, const Watch& watch, MappingCache& cache);
// The page of a run that keeps none.
Expected<std::string> page_of(const Question& question, const Run& run, const ServeFolder& folder, MappingCache& cache);

// The result, as JSON, of the plan of a run: of an evaluation its own, of a search evaluated here.
Expected<std::string> evaluated_plan(const Question& question, const Run& run, MappingCache& cache);
// What changed between two results, as `monet compare --json` has it.
Expected<std::string> compared(const std::string& a, const std::string& a_name, const std::string& b,
                               const std::string& b_name);

// Interrupted: the server ended before it did.
enum class JobState { waiting, running, paused, done, failed, stopped, interrupted };
std::string_view name_of(JobState state);

struct JobReport {
  std::int64_t id = 0, run = 0;  // run: of the history, 0 before the end
  JobState state = JobState::waiting;
  std::string title, words, what;
  std::size_t done = 0, all = 0;
  Error error;  // of one that failed
  std::string asked;
  std::vector<FoundPlan> front;  // so far, in the order of latency; of an exploration its store has it
  std::string store;             // of an exploration
};

// Searches in the background, `most_running` at a time. Ends them all when it goes; what had not ended is there again
// as interrupted when the next one begins.
class Jobs {
 public:
  Jobs(std::size_t most_running, const ServeFolder& folder, Runs& runs, MappingCache& cache);
  ~Jobs();

  // Fails where too many wait already.
  Expected<std::int64_t> add(Question question, std::string asked);
  std::vector<JobReport> list() const;  // the latest first
  std::optional<JobReport> find(std::int64_t id) const;
  // A search that is stopped ends with the best so far. False: there is no such job.
  bool stop(std::int64_t id);
  // One that runs stays where it is, and lets others run. False: there is none of that number that runs.
  bool pause(std::int64_t id);
  // One that was paused goes on; one that was stopped or interrupted is asked again, as a new job, whose number this
  // is: an exploration then goes on with what its store has.
  Expected<std::int64_t> resume(std::int64_t id);

 private:
  struct Job {
    JobReport report;
    Question question;
    std::atomic<bool> stop = false, pause = false;
    std::mutex gate;  // held while it is paused
  };
  Expected<std::int64_t> add_locked(Question question, std::string asked);
  std::shared_ptr<Job> job_of(std::int64_t id) const;
  void work();
  bool stops(Job& job);  // waits while it is paused
  void take_found(Job& job, const FoundPlan& plan);
  void carry_out(Job& job);

  const ServeFolder& folder_;
  Runs& runs_;
  MappingCache& cache_;
  mutable std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<std::shared_ptr<Job>> waiting_;
  std::vector<std::shared_ptr<Job>> all_;
  std::size_t most_running_ = 1, running_ = 0;
  std::atomic<bool> ends_ = false;
  struct Workers;
  std::unique_ptr<Workers> workers_;
};

}  // namespace monet::serving

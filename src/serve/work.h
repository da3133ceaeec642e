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
#include <string>
#include <vector>

namespace monet::serving {

// Asked often while something runs; and told how far it is.
struct Watch {
  std::function<bool()> stop;
  std::function<void(const std::string& what, std::size_t done, std::size_t all)> progress;
};

// Answers a question with all but the id and the time of a run.
Expected<Run> answer(const Question& question, const ServeFolder& folder, const Watch& watch, MappingCache& cache);
// The page of a run that keeps none.
Expected<std::string> page_of(const Question& question, const Run& run, const ServeFolder& folder, MappingCache& cache);

enum class JobState { waiting, running, done, failed, stopped };
std::string_view name_of(JobState state);

struct JobReport {
  std::int64_t id = 0, run = 0;  // run: of the history, 0 before the end
  JobState state = JobState::waiting;
  std::string title, words, what;
  std::size_t done = 0, all = 0;
  Error error;  // of one that failed
};

// Searches in the background, one after the other in `workers` threads. Ends them all when it goes.
class Jobs {
 public:
  Jobs(std::size_t workers, const ServeFolder& folder, Runs& runs, MappingCache& cache);
  ~Jobs();

  // Fails where too many wait already.
  Expected<std::int64_t> add(Question question, std::string asked);
  std::vector<JobReport> list() const;  // the latest first
  // A search that is stopped ends with the best so far. False: there is no such job.
  bool stop(std::int64_t id);

 private:
  struct Job {
    JobReport report;
    Question question;
    std::string asked;
    std::atomic<bool> stop = false;
  };
  void work();
  void carry_out(Job& job);

  const ServeFolder& folder_;
  Runs& runs_;
  MappingCache& cache_;
  mutable std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<std::shared_ptr<Job>> waiting_;
  std::vector<std::shared_ptr<Job>> all_;
  bool ends_ = false;
  struct Workers;
  std::unique_ptr<Workers> workers_;
};

}  // namespace monet::serving

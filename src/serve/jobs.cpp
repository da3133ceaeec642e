#include "serve/work.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <thread>

namespace monet::serving {

namespace {

constexpr std::size_t most_waiting = 50;
constexpr std::size_t most_remembered = 200;

}  // namespace

std::string_view name_of(JobState state) {
  constexpr std::array<std::string_view, 5> names = {"waiting", "running", "done", "failed", "stopped"};
  return names[static_cast<std::size_t>(state)];
}

struct Jobs::Workers {
  std::vector<std::thread> threads;
};

Jobs::Jobs(std::size_t workers, const ServeFolder& folder, Runs& runs, MappingCache& cache)
    : folder_(folder), runs_(runs), cache_(cache), workers_(std::make_unique<Workers>()) {
  for (std::size_t i = 0; i < workers; ++i) workers_->threads.emplace_back([this] { work(); });
}

Jobs::~Jobs() {
  {
    const std::lock_guard lock(mutex_);
    ends_ = true;
    for (const auto& job : all_) job->stop = true;
  }
  changed_.notify_all();
  for (std::thread& worker : workers_->threads) worker.join();
}

Expected<std::int64_t> Jobs::add(Question question, std::string asked) {
  const std::lock_guard lock(mutex_);
  if (waiting_.size() >= most_waiting)
    return Error{.message = fmt::format("{} jobs wait already", waiting_.size()),
                 .place = "jobs",
                 .advice = "stop some, or come back later"};
  auto job = std::make_shared<Job>();
  job->report.id = all_.empty() ? 1 : all_.back()->report.id + 1;
  job->report.title = question.title;
  job->report.words = question.words;
  job->question = std::move(question);
  job->asked = std::move(asked);
  waiting_.push_back(job);
  all_.push_back(job);
  if (all_.size() > most_remembered) all_.erase(all_.begin());
  changed_.notify_one();
  return job->report.id;
}

std::vector<JobReport> Jobs::list() const {
  const std::lock_guard lock(mutex_);
  std::vector<JobReport> reports;
  for (auto job = all_.rbegin(); job != all_.rend(); ++job) reports.push_back((*job)->report);
  return reports;
}

bool Jobs::stop(std::int64_t id) {
  const std::lock_guard lock(mutex_);
  const auto found = std::ranges::find_if(all_, [&](const auto& job) { return job->report.id == id; });
  if (found == all_.end()) return false;
  (*found)->stop = true;
  if ((*found)->report.state != JobState::waiting) return true;
  (*found)->report.state = JobState::stopped;
  std::erase(waiting_, *found);
  return true;
}

void Jobs::work() {
  for (;;) {
    std::shared_ptr<Job> job;
    {
      std::unique_lock lock(mutex_);
      changed_.wait(lock, [&] { return ends_ || !waiting_.empty(); });
      if (ends_) return;
      job = waiting_.front();
      waiting_.pop_front();
      job->report.state = JobState::running;
    }
    carry_out(*job);
  }
}

void Jobs::carry_out(Job& job) {
  const Watch watch{.stop = [&job] { return job.stop.load(); },
                    .progress =
                        [&](const std::string& what, std::size_t done, std::size_t all) {
                          const std::lock_guard lock(mutex_);
                          job.report.what = what;
                          job.report.done = done;
                          job.report.all = all;
                        }};
  auto run = answer(job.question, folder_, watch, cache_);
  Expected<std::int64_t> kept = std::int64_t{0};
  if (run) {
    run->question = job.asked;
    kept = runs_.add(*run);
  }
  const std::lock_guard lock(mutex_);
  if (run && kept) {
    job.report.run = *kept;
    job.report.state = job.stop ? JobState::stopped : JobState::done;
    return;
  }
  job.report.state = job.stop ? JobState::stopped : JobState::failed;
  job.report.error = run ? kept.error() : run.error();
}

}  // namespace monet::serving

#include "base/try.h"
#include "serve/work.h"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <array>
#include <thread>

namespace monet::serving {

namespace {

constexpr std::size_t most_waiting = 50;
constexpr std::size_t most_remembered = 200;
constexpr std::size_t threads = 8;  // those that are paused keep theirs

bool has_ended(JobState state) {
  return state != JobState::waiting && state != JobState::running && state != JobState::paused;
}

bool no_worse(const FoundPlan& a, const FoundPlan& b) {
  return a.latency_s <= b.latency_s && a.energy_pj <= b.energy_pj && a.peak_bytes <= b.peak_bytes;
}

}  // namespace

std::string_view name_of(JobState state) {
  constexpr std::array<std::string_view, 7> names = {"waiting", "running", "paused",     "done",
                                                     "failed",  "stopped", "interrupted"};
  return names[static_cast<std::size_t>(state)];
}

struct Jobs::Workers {
  std::vector<std::thread> threads;
};

Jobs::Jobs(std::size_t most_running, const ServeFolder& folder, Runs& runs, MappingCache& cache)
    : folder_(folder), runs_(runs), cache_(cache), most_running_(most_running), workers_(std::make_unique<Workers>()) {
  if (const auto begun = runs_.begun_jobs()) {
    for (const BegunJob& each : *begun) {
      auto job = std::make_shared<Job>();
      job->report = {.id = each.id, .state = JobState::interrupted, .title = each.title, .words = each.words};
      job->report.asked = each.question;
      all_.push_back(std::move(job));
    }
  }
  for (std::size_t i = 0; i < threads; ++i) workers_->threads.emplace_back([this] { work(); });
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
  return add_locked(std::move(question), std::move(asked));
}

Expected<std::int64_t> Jobs::add_locked(Question question, std::string asked) {
  if (waiting_.size() >= most_waiting)
    return Error{.message = fmt::format("{} jobs wait already", waiting_.size()),
                 .place = "jobs",
                 .advice = "stop some, or come back later"};
  auto job = std::make_shared<Job>();
  job->report.id = all_.empty() ? 1 : all_.back()->report.id + 1;
  job->report.title = question.title;
  job->report.words = question.words;
  job->report.asked = std::move(asked);
  if (question.command == "explore") job->report.store = folder_.store(question.store_key);
  MONET_RETURN_IF_ERROR(runs_.begin_job({job->report.id, job->report.title, job->report.words, job->report.asked}));
  job->question = std::move(question);
  waiting_.push_back(job);
  all_.push_back(job);
  if (all_.size() > most_remembered) {
    const auto old = std::ranges::find_if(all_, [](const auto& each) { return has_ended(each->report.state); });
    if (old != all_.end()) all_.erase(old);
  }
  changed_.notify_all();
  return job->report.id;
}

std::vector<JobReport> Jobs::list() const {
  const std::lock_guard lock(mutex_);
  std::vector<JobReport> reports;
  for (auto job = all_.rbegin(); job != all_.rend(); ++job) reports.push_back((*job)->report);
  return reports;
}

std::shared_ptr<Jobs::Job> Jobs::job_of(std::int64_t id) const {
  const auto found = std::ranges::find_if(all_, [&](const auto& job) { return job->report.id == id; });
  return found == all_.end() ? nullptr : *found;
}

std::optional<JobReport> Jobs::find(std::int64_t id) const {
  const std::lock_guard lock(mutex_);
  const std::shared_ptr<Job> job = job_of(id);
  return job ? std::optional(job->report) : std::nullopt;
}

bool Jobs::stop(std::int64_t id) {
  const std::lock_guard lock(mutex_);
  const std::shared_ptr<Job> job = job_of(id);
  if (!job) return false;
  job->stop = true;
  changed_.notify_all();
  if (job->report.state != JobState::waiting) return true;
  job->report.state = JobState::stopped;
  std::erase(waiting_, job);
  static_cast<void>(runs_.end_job(id));
  return true;
}

bool Jobs::pause(std::int64_t id) {
  const std::lock_guard lock(mutex_);
  const std::shared_ptr<Job> job = job_of(id);
  if (!job || job->report.state != JobState::running) return false;
  job->pause = true;
  return true;
}

Expected<std::int64_t> Jobs::resume(std::int64_t id) {
  const std::lock_guard lock(mutex_);
  const std::shared_ptr<Job> job = job_of(id);
  if (!job) return Error{.message = "there is no job of that number", .place = "not found", .advice = "see /api/jobs"};
  if (!has_ended(job->report.state)) {
    job->pause = false;
    changed_.notify_all();
    return id;
  }
  if (job->report.state != JobState::stopped && job->report.state != JobState::interrupted)
    return Error{.message = fmt::format("job {} is {}", id, name_of(job->report.state)),
                 .place = "jobs",
                 .advice = "what was stopped or interrupted can go on"};
  MONET_TRY(Question question,
            question_from(nlohmann::ordered_json::parse(job->report.asked, nullptr, false), folder_));
  MONET_TRY(const std::int64_t next, add_locked(std::move(question), job->report.asked));
  static_cast<void>(runs_.end_job(id));
  std::erase(all_, job);
  return next;
}

void Jobs::work() {
  for (;;) {
    std::shared_ptr<Job> job;
    {
      std::unique_lock lock(mutex_);
      changed_.wait(lock, [&] { return ends_ || (!waiting_.empty() && running_ < most_running_); });
      if (ends_) return;
      ++running_;
      job = waiting_.front();
      waiting_.pop_front();
      job->report.state = JobState::running;
    }
    carry_out(*job);
    const std::lock_guard lock(mutex_);
    --running_;
    changed_.notify_all();
  }
}

// All threads of a search ask: the first that sees the pause gives the turn away and waits, the others wait for it.
bool Jobs::stops(Job& job) {
  if (!job.pause || job.stop) return job.stop;
  const std::lock_guard gate(job.gate);
  if (!job.pause || job.stop) return job.stop;
  std::unique_lock lock(mutex_);
  --running_;
  job.report.state = JobState::paused;
  changed_.notify_all();
  changed_.wait(lock, [&] { return job.stop || (!job.pause && running_ < most_running_); });
  ++running_;
  job.pause = false;
  job.report.state = JobState::running;
  return job.stop;
}

void Jobs::take_found(Job& job, const FoundPlan& plan) {
  const std::lock_guard lock(mutex_);
  std::vector<FoundPlan>& front = job.report.front;
  if (std::ranges::any_of(front, [&](const FoundPlan& known) { return no_worse(known, plan); })) return;
  std::erase_if(front, [&](const FoundPlan& known) { return no_worse(plan, known); });
  front.insert(std::ranges::upper_bound(front, plan.latency_s, {}, &FoundPlan::latency_s), plan);
}

void Jobs::carry_out(Job& job) {
  const Watch watch{.stop = [this, &job] { return stops(job); },
                    .progress =
                        [&](const std::string& what, std::size_t done, std::size_t all) {
                          const std::lock_guard lock(mutex_);
                          job.report.what = what;
                          job.report.done = done;
                          job.report.all = all;
                        },
                    .found = [&](const FoundPlan& plan) { take_found(job, plan); }};
  auto run = answer(job.question, folder_, watch, cache_);
  Expected<std::int64_t> kept = std::int64_t{0};
  if (run) {
    run->question = job.report.asked;
    kept = runs_.add(*run);
  }
  const std::lock_guard lock(mutex_);
  if (!ends_) static_cast<void>(runs_.end_job(job.report.id));  // else it is there again next time
  if (run && kept) {
    job.report.run = *kept;
    job.report.state = job.stop ? JobState::stopped : JobState::done;
    return;
  }
  job.report.state = job.stop ? JobState::stopped : JobState::failed;
  job.report.error = run ? kept.error() : run.error();
}

}  // namespace monet::serving

#include "python/call.h"

#include <nanobind/stl/string.h>

#include <chrono>

namespace nb = nanobind;

namespace monet::python {

std::function<bool()> Call::stop() {
  return [this] { return stopped_.load(); };
}

std::function<void(const std::string&, std::size_t, std::size_t)> Call::progress() {
  if (progress_.is_none()) return nullptr;
  return [this](const std::string& what, std::size_t done, std::size_t all) {
    const std::scoped_lock lock(mutex_);
    moment_ = {.what = what, .done = done, .all = all};
  };
}

void Call::wait() {
  constexpr auto between = std::chrono::milliseconds(50);
  for (bool finished = false; !finished;) {
    {
      const nb::gil_scoped_release unlocked;
      std::unique_lock lock(mutex_);
      finished = changed_.wait_for(lock, between, [this] { return finished_; });
    }
    look();
  }
}

void Call::look() {
  if (stopped_) return;
  try {
    if (PyErr_CheckSignals() != 0) throw nb::python_error();
    std::optional<Moment> moment;
    {
      const std::scoped_lock lock(mutex_);
      moment.swap(moment_);
    }
    if (moment) progress_(moment->what, moment->done, moment->all);
  } catch (...) {
    fail(std::current_exception());
  }
}

void Call::finish() {
  const std::scoped_lock lock(mutex_);
  finished_ = true;
  changed_.notify_all();
}

void Call::fail(std::exception_ptr failure) {
  const std::scoped_lock lock(mutex_);
  if (!failure_) failure_ = std::move(failure);
  stopped_ = true;
}

void Call::raise_failure() {
  if (failure_) std::rethrow_exception(failure_);
}

}  // namespace monet::python

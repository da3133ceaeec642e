// A long call into the library: other threads of Python run meanwhile, Ctrl-C ends it, and functions of the user's own
// may be asked from within.
#pragma once

#include "python/bindings.h"

#include <atomic>
#include <condition_variable>
#include <cstddef>
#include <exception>
#include <functional>
#include <mutex>
#include <optional>
#include <string>
#include <thread>

namespace monet::python {

class Call {
 public:
  // `progress`: None, or what is called now and then with (what, done, all), by the thread that called.
  explicit Call(nanobind::object progress) : progress_(std::move(progress)) {}

  // Both for the options of the library. The work must end soon after `stop` says so.
  std::function<bool()> stop();
  std::function<void(const std::string& what, std::size_t done, std::size_t all)> progress();

  // The value of work(), which runs on a thread of its own. Raises what the user's function raised, or
  // KeyboardInterrupt, or else the error of the work.
  template <class Work>
  auto run(const Work& work) {
    std::optional<decltype(work())> result;
    std::thread thread([&] {
      try {
        result.emplace(work());
      } catch (...) {
        fail(std::current_exception());
      }
      finish();
    });
    wait();
    {
      const nanobind::gil_scoped_release unlocked;
      thread.join();
    }
    raise_failure();
    if (!*result) raise(result->error());
    return **std::move(result);
  }

  // The answer of a function of the user's own, called with the interpreter's lock; `otherwise` once something failed.
  template <class Answer, class Function>
  Answer ask(Answer otherwise, const Function& function) {
    const nanobind::gil_scoped_acquire locked;
    if (stopped_) return otherwise;
    try {
      return function();
    } catch (...) {
      fail(std::current_exception());
    }
    return otherwise;
  }

 private:
  void wait();
  void look();  // for signals and progress
  void finish();
  void fail(std::exception_ptr failure);
  void raise_failure();

  nanobind::object progress_;
  std::atomic<bool> stopped_ = false;
  std::mutex mutex_;
  std::condition_variable changed_;
  bool finished_ = false;
  std::exception_ptr failure_;
  struct Moment {
    std::string what;
    std::size_t done = 0, all = 0;
  };
  std::optional<Moment> moment_;  // not told yet
};

}  // namespace monet::python

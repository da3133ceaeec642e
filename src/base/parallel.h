// Independent pieces of work on all processors.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <exception>
#include <mutex>
#include <thread>
#include <vector>

namespace monet {

// How many threads `jobs` means; 0: as many as there are processors.
inline std::size_t threads_for(std::size_t jobs) {
  return jobs > 0 ? jobs : std::max(1U, std::thread::hardware_concurrency());
}

// Calls work(i) for every i below count, each once, on `jobs` threads (0: as many as there are processors). What the
// calls write must not overlap. An exception is passed on after all threads have stopped.
template <class Work>
void for_each_index(std::size_t count, std::size_t jobs, const Work& work) {
  jobs = std::min(threads_for(jobs), count);
  if (jobs <= 1) {
    for (std::size_t i = 0; i < count; ++i) work(i);
    return;
  }
  std::atomic<std::size_t> next = 0;
  std::exception_ptr failure;
  std::mutex mutex;
  const auto loop = [&] {
    try {
      for (std::size_t i = next++; i < count; i = next++) work(i);
    } catch (...) {
      const std::scoped_lock lock(mutex);
      failure = std::current_exception();
      next = count;
    }
  };
  {
    std::vector<std::jthread> threads;
    for (std::size_t i = 1; i < jobs; ++i) threads.emplace_back(loop);
    loop();
  }
  if (failure) std::rethrow_exception(failure);
}

}  // namespace monet

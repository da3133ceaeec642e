// When a search must end.
#pragma once

#include <monet/error.h>

#include <atomic>
#include <chrono>
#include <functional>
#include <memory>
#include <utility>

namespace monet {

// True as soon as `asked`, which may be empty, says so, or so many seconds from now have passed.
inline std::function<bool()> stop_after(double seconds, std::function<bool()> asked) {
  const auto start = std::chrono::steady_clock::now();
  return [start, seconds, asked = std::move(asked)] {
    return (asked && asked()) ||
           std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count() >= seconds;
  };
}

// For a search whose first evaluation may take long: that one ends half a second after the time that the search has, or
// when it is asked to stop. After it there is an answer, and what is begun goes to its end.
class UntilFirst {
 public:
  UntilFirst(double seconds, std::function<bool()> asked) : over_(stop_after(seconds + 0.5, std::move(asked))) {}

  std::function<bool()> stop() const {
    return [over = over_, found = found_] { return !*found && over && over(); };
  }
  void found() { *found_ = true; }

 private:
  std::function<bool()> over_;
  std::shared_ptr<std::atomic<bool>> found_ = std::make_shared<std::atomic<bool>>(false);
};

// What a call gives that was asked to stop.
inline Error stopped_error() {
  return {.kind = ErrorKind::user,
          .message = "stopped before there was an answer",
          .place = {},
          .advice = "give it more time"};
}

}  // namespace monet

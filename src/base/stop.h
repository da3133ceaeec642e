// When a search must end.
#pragma once

#include <monet/error.h>

#include <chrono>
#include <functional>
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

// What a call gives that was asked to stop.
inline Error stopped_error() { return {.kind = ErrorKind::user, .message = "stopped", .place = {}, .advice = {}}; }

}  // namespace monet

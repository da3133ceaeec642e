#include "base/mapping_guard.h"

#include <signal.h>
#include <sys/mman.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cerrno>
#include <cstdint>
#include <mutex>

namespace monet {

namespace {

// The handler reads these at any moment: a range counts while its end is not 0, which is written last and erased first.
struct GuardedRange {
  std::atomic<bool> taken = false;
  std::atomic<std::uintptr_t> begin = 0;
  std::atomic<std::uintptr_t> end = 0;
  std::atomic<bool> cut = false;
};
static_assert(std::atomic<std::uintptr_t>::is_always_lock_free);

std::array<GuardedRange, 256> guarded;
struct sigaction handler_before;
std::uintptr_t page_bytes = 4096;

// Only what may be called in a handler: mmap is a bare system call.
bool put_zeros_at(std::uintptr_t address) {
  for (GuardedRange& range : guarded) {
    const std::uintptr_t end = range.end.load();
    if (address < range.begin.load() || address >= end) continue;
    const std::uintptr_t from = address / page_bytes * page_bytes;
    range.cut.store(true);
    // NOLINTNEXTLINE(performance-no-int-to-ptr): an address that the kernel gave
    return ::mmap(reinterpret_cast<void*>(from), end - from, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1,
                  0) != MAP_FAILED;
  }
  return false;
}

void handle_bus_error(int signal, siginfo_t* information, void* context) {
  const int saved = errno;
  const bool of_memory = information->si_code > 0;
  if (of_memory && put_zeros_at(reinterpret_cast<std::uintptr_t>(information->si_addr))) {
    errno = saved;
    return;
  }
  if ((handler_before.sa_flags & SA_SIGINFO) != 0) return handler_before.sa_sigaction(signal, information, context);
  if (handler_before.sa_handler == SIG_IGN && !of_memory) return;
  if (handler_before.sa_handler != SIG_DFL && handler_before.sa_handler != SIG_IGN)
    return handler_before.sa_handler(signal);
  // What would have happened without us: it comes once more, and nobody handles it.
  ::signal(signal, SIG_DFL);
  ::raise(signal);
}

void put_handler_in_place() {
  static std::once_flag once;
  std::call_once(once, [] {
    page_bytes = static_cast<std::uintptr_t>(::sysconf(_SC_PAGESIZE));
    struct sigaction ours{};
    ours.sa_sigaction = handle_bus_error;
    ours.sa_flags = SA_SIGINFO | SA_ONSTACK;
    ::sigemptyset(&ours.sa_mask);
    // Known before ours can run.
    ::sigaction(SIGBUS, nullptr, &handler_before);
    ::sigaction(SIGBUS, &ours, nullptr);
  });
}

}  // namespace

std::optional<std::size_t> guard_mapping(const void* begin, std::size_t size) {
  put_handler_in_place();
  for (std::size_t i = 0; i < guarded.size(); ++i) {
    if (guarded[i].taken.exchange(true)) continue;
    guarded[i].cut.store(false);
    guarded[i].begin.store(reinterpret_cast<std::uintptr_t>(begin));
    guarded[i].end.store(reinterpret_cast<std::uintptr_t>(begin) + size);
    return i;
  }
  return std::nullopt;
}

bool was_cut(std::size_t guard) { return guarded[guard].cut.load(); }

void release_guard(std::size_t guard) {
  guarded[guard].end.store(0);
  guarded[guard].taken.store(false);
}

}  // namespace monet

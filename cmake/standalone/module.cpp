// For Python modules that any Linux since glibc 2.28 loads: what the objects they are linked of ask of newer ones, and
// the streams of C, which Debian's static libraries reach as programs do. All of it is known in the module alone.
#include <dlfcn.h>
#include <elf.h>
#include <fcntl.h>
#include <link.h>
#include <pthread.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <ctime>

namespace {

int kernel_stat(int folder, const char* path, struct stat* result, int flags) {
  return static_cast<int>(syscall(SYS_newfstatat, folder, path, result, flags));
}

struct Wanted {
  std::uintptr_t place;
  dl_find_object* result;
};

// Whether this object holds the place; then where its table of frames is.
int look_into(dl_phdr_info* object, size_t, void* data) {
  const auto& wanted = *static_cast<Wanted*>(data);
  bool holds = false;
  std::uintptr_t frames = 0;
  for (int i = 0; i < object->dlpi_phnum; ++i) {
    const ElfW(Phdr)& part = object->dlpi_phdr[i];
    const std::uintptr_t begin = object->dlpi_addr + part.p_vaddr;
    if (part.p_type == PT_GNU_EH_FRAME) frames = begin;
    if (part.p_type != PT_LOAD || wanted.place < begin || wanted.place >= begin + part.p_memsz) continue;
    holds = true;
    wanted.result->dlfo_map_start = reinterpret_cast<void*>(begin);
    wanted.result->dlfo_map_end = reinterpret_cast<void*>(begin + part.p_memsz);
  }
  if (!holds || frames == 0) return 0;
  wanted.result->dlfo_flags = 0;
  wanted.result->dlfo_eh_frame = reinterpret_cast<void*>(frames);
  return 1;
}

}  // namespace

extern "C" {

FILE *monet_stdin, *monet_stdout, *monet_stderr;

// Before anything is written by what is linked here.
__attribute__((constructor(101))) static void take_streams() {
  monet_stdin = *static_cast<FILE**>(dlsym(RTLD_DEFAULT, "stdin"));
  monet_stdout = *static_cast<FILE**>(dlsym(RTLD_DEFAULT, "stdout"));
  monet_stderr = *static_cast<FILE**>(dlsym(RTLD_DEFAULT, "stderr"));
}

char __libc_single_threaded = 0;  // 2.32

int stat(const char* path, struct stat* result) { return kernel_stat(AT_FDCWD, path, result, 0); }  // 2.33
int lstat(const char* path, struct stat* result) { return kernel_stat(AT_FDCWD, path, result, AT_SYMLINK_NOFOLLOW); }
int fstat(int file, struct stat* result) { return static_cast<int>(syscall(SYS_fstat, file, result)); }
int stat64(const char* path, struct stat64* result) { return stat(path, reinterpret_cast<struct stat*>(result)); }
int lstat64(const char* path, struct stat64* result) { return lstat(path, reinterpret_cast<struct stat*>(result)); }
int fstat64(int file, struct stat64* result) { return fstat(file, reinterpret_cast<struct stat*>(result)); }

// 2.30. The library of C++ waits by the steady clock; older ones know the other clock alone.
int pthread_cond_clockwait(pthread_cond_t* condition, pthread_mutex_t* mutex, clockid_t clock, const timespec* until) {
  constexpr long second = 1000000000;
  timespec now{}, real{};
  clock_gettime(clock, &now);
  clock_gettime(CLOCK_REALTIME, &real);
  real.tv_sec += until->tv_sec - now.tv_sec;
  real.tv_nsec += until->tv_nsec - now.tv_nsec;
  if (real.tv_nsec >= second) {
    real.tv_nsec -= second;
    ++real.tv_sec;
  }
  if (real.tv_nsec < 0) {
    real.tv_nsec += second;
    --real.tv_sec;
  }
  return pthread_cond_timedwait(condition, mutex, &real);
}

std::uint32_t arc4random() {  // 2.36
  std::uint32_t value = 0;
  if (getentropy(&value, sizeof(value)) != 0) std::abort();
  return value;
}

// 2.35: where exceptions find the frames of a function. Older ones are asked object by object.
int _dl_find_object(void* place, dl_find_object* result) {
  Wanted wanted{reinterpret_cast<std::uintptr_t>(place), result};
  return dl_iterate_phdr(look_into, &wanted) == 1 ? 0 : -1;
}
}

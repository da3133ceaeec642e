// What LAPACK calls when it was called wrongly; its own needs the library of Fortran, and nothing else does.
#include <cstdio>
#include <cstdlib>
#include <string>

extern "C" {
void xerbla_(const char* routine, const int* argument, std::size_t length);

void xerbla_(const char* routine, const int* argument, std::size_t length) {
  std::fprintf(stderr, "internal error, please report it: argument %d of %s is wrong\n", *argument,
               std::string(routine, length).c_str());
  std::abort();
}
}

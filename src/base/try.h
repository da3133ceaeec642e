// Early return of an Error: MONET_TRY(auto x, f()) binds x to the value or returns the error of f().
#pragma once

#include <monet/expected.h>

#define MONET_TRY_JOIN_(a, b) a##b
#define MONET_TRY_NAME_(a, b) MONET_TRY_JOIN_(a, b)
#define MONET_TRY_IMPL_(result, declaration, ...)            \
  auto result = (__VA_ARGS__);                               \
  if (!result.has_value()) return std::move(result).error(); \
  declaration = *std::move(result)

#define MONET_TRY(declaration, ...) MONET_TRY_IMPL_(MONET_TRY_NAME_(monet_try_, __LINE__), declaration, __VA_ARGS__)

#define MONET_RETURN_IF_ERROR(...)                                    \
  if (auto monet_status = (__VA_ARGS__); !monet_status.has_value()) { \
    return std::move(monet_status).error();                           \
  }

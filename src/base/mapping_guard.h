// What a process sees of a mapped file whose end others cut off: zeros and a mark, instead of its own end by SIGBUS.
#pragma once

#include <cstddef>
#include <optional>

namespace monet {

// Guards a mapping until it is released; the first one in a process puts a handler of SIGBUS before the one that is
// there, which keeps getting what is not about a guarded mapping. From any thread, any number at once; nothing: all
// places are taken, and the mapping is not guarded.
std::optional<std::size_t> guard_mapping(const void* begin, std::size_t size);

// Whether a page was looked at that the file no longer had: it, and all after it, are zeros since.
bool was_cut(std::size_t guard);

// Before the memory is unmapped.
void release_guard(std::size_t guard);

}  // namespace monet

// Work in a process of its own, which can be ended whatever it is doing.
#pragma once

#include <cstddef>
#include <functional>
#include <memory>

namespace monet {

// Zeros that processes apart write into as well; null where there is no memory.
std::shared_ptr<std::byte> shared_memory(std::size_t bytes);

// Calls `work` in a copy of this process and waits for it. `over` is asked every few milliseconds, and once it says so
// the copy is gone. Of what `work` does only what it writes into shared memory remains; it may die of anything.
// False: no process could be made, and nothing was done.
bool run_apart(const std::function<void()>& work, const std::function<bool()>& over);

}  // namespace monet

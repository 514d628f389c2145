// A clock for benchmarks: counts cycles without a hardware counter.
#pragma once

namespace rhythm {

// Runs `count` additions; each depends on the previous one.
void dependent_adds(int count);

}  // namespace rhythm

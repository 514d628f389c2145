// Measures the clock rate for benchmarks, without a hardware counter: each addition waits for the previous one and takes one
// cycle, so the time of `count` additions gives the length of a cycle.
#pragma once

namespace rhythm {

// Runs `count` additions; each depends on the previous one.
void dependent_adds(int count);

}  // namespace rhythm

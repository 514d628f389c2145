// A clock for benches that counts cycles where no counter may be read.
#pragma once

namespace rhythm {

// Runs `count` additions of which each needs the one before it.
void dependent_adds(int count);

}  // namespace rhythm

// The work that measures a core: operations of the kinds that the rules of the world use, and writes and copies of memory.
#pragma once
#include <cstddef>

namespace rhythm {

// The numbers of operations in one pass. Each operation is on registers of `lanes` numbers.
struct Mix {
  int arithmetic;  // + and * of floats
  int choices;     // minimum and maximum of floats
  int words;       // +, rotation and ^ of words (32-bit integers)
};

// The proportions of a step (operations.ts): given actions and several episodes in a register; random actions; one episode.
constexpr Mix kMixes[] = {{32, 4, 42}, {32, 4, 63}, {32, 4, 87}};
constexpr int kMixCount = sizeof kMixes / sizeof *kMixes;

// A probe for one width of registers.
struct Probe {
  const char* name;  // the kernel with these registers
  int lanes;
  // Runs `count` passes of a mix.
  void (*pass[kMixCount])(int count);
  // Write or copy `bytes` bytes, a multiple of 256, `times` times.
  void (*fill)(void* to, size_t bytes, int times);
  void (*copy)(void* to, const void* from, size_t bytes, int times);
};

}  // namespace rhythm

// The N-API addon of the bench: the work with which core.ts measures the speed of a processor core. core.ts takes the times.
#include <napi.h>

#include <cstdint>

#include "inline.h"
#include "probe.h"

namespace rhythm {

#define RHYTHM_DECLARE(kernel) namespace kernel { extern const Probe probe; }
#if defined(RHYTHM_X64)
RHYTHM_DECLARE(avx512)
RHYTHM_DECLARE(avx2)
#endif
RHYTHM_DECLARE(portable)
RHYTHM_DECLARE(scalar)

namespace {

struct Entry {
  const Probe& probe;
  bool supported;
};

// The work, compiled for each register width (probe.h). The first argument of `pass`, `fill` and `copy` is an index of this
// array.
const Entry kProbes[] = {
#if defined(RHYTHM_X64)
    {avx512::probe, __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
                        __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl")},
    {avx2::probe, __builtin_cpu_supports("avx2") != 0},
#endif
    {portable::probe, true},
    {scalar::probe, true},
};

int integer(const Napi::CallbackInfo& info, size_t k) { return info[k].As<Napi::Number>().Int32Value(); }

const Probe& probe_of(const Napi::CallbackInfo& info) { return kProbes[integer(info, 0)].probe; }

// (probe, mix, count): runs `count` passes of a mix.
void Pass(const Napi::CallbackInfo& info) { probe_of(info).pass[integer(info, 1)](integer(info, 2)); }

// (probe, array, times): writes the whole array `times` times. Its length in bytes is a multiple of 256, which is four
// registers of AVX-512.
void Fill(const Napi::CallbackInfo& info) {
  auto to = info[1].As<Napi::Uint8Array>();
  probe_of(info).fill(to.Data(), to.ByteLength(), integer(info, 2));
}

// (probe, to, from, times): copies `from` to `to`, `times` times. Both have the same length, a multiple of 256 bytes.
void Copy(const Napi::CallbackInfo& info) {
  auto to = info[1].As<Napi::Uint8Array>(), from = info[2].As<Napi::Uint8Array>();
  probe_of(info).copy(to.Data(), from.Data(), to.ByteLength(), integer(info, 3));
}

// (count): runs `count` additions, each of which waits for the previous one and takes one cycle. `count` is a multiple of 16.
void DependentAdds(const Napi::CallbackInfo& info) {
  constexpr int unroll = 16;
  const int count = integer(info, 0);
  unsigned long sum = 1, step = 3;
  for (int i = 0; i < count; i += unroll) {
    RHYTHM_UNROLL for (int k = 0; k < unroll; k++) {
      sum += step;
      // Hides the values from the optimiser, and keeps `step` in a register: some processors merge additions of constants.
      asm volatile("" : "+r"(sum), "+r"(step));
    }
  }
}

Napi::Object Init(Napi::Env env, Napi::Object exports) {
  // The name and lanes of each probe, and whether this processor has its instructions.
  auto probes = Napi::Array::New(env);
  for (const auto& [probe, supported] : kProbes) {
    auto row = Napi::Object::New(env);
    row.Set("name", probe.name);
    row.Set("lanes", probe.lanes);
    row.Set("supported", supported);
    probes.Set(probes.Length(), row);
  }
  // For each mix of operations, how many operations of each kind one pass has.
  auto mixes = Napi::Array::New(env);
  for (const Mix& mix : kMixes) {
    auto row = Napi::Object::New(env);
    row.Set("arithmetic", mix.arithmetic);
    row.Set("choices", mix.choices);
    row.Set("words", mix.words);
    mixes.Set(mixes.Length(), row);
  }
  exports.Set("probes", probes);
  exports.Set("mixes", mixes);
  exports.Set("pass", Napi::Function::New(env, Pass));
  exports.Set("fill", Napi::Function::New(env, Fill));
  exports.Set("copy", Napi::Function::New(env, Copy));
  exports.Set("dependentAdds", Napi::Function::New(env, DependentAdds));
  return exports;
}

NODE_API_MODULE(core, Init)

}  // namespace
}  // namespace rhythm

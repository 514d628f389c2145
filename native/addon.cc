// The N-API module: exports the kernels, bytesToCacheLine, the Batch class, the computations on
// arrays and the digest of the layout (src/world/block.ts).
// TypeScript compares this digest with its own. The module has no global state, so any number of worker threads may load it.
#include <napi.h>

#include "arguments.h"
#include "array_functions.h"
#include "batch_object.h"

namespace rhythm {
namespace {

Napi::Value ListKernels(const Napi::CallbackInfo& info) {
  auto list = Napi::Array::New(info.Env());
  for (int k = 0; k < kKernelCount; k++) {
    auto row = Napi::Object::New(info.Env());
    row.Set("name", kKernels[k].kernel->name);
    row.Set("lanes", kKernels[k].kernel->lanes);
    row.Set("supported", kKernels[k].supported());
    list.Set(static_cast<uint32_t>(k), row);
  }
  return list;
}

// (buffer): returns the number of bytes from its start to the next cache line.
Napi::Value BytesToCacheLine(const Napi::CallbackInfo& info) {
  constexpr uintptr_t line = 64;  // bytes
  void* data = nullptr;
  napi_get_arraybuffer_info(info.Env(), info[0], &data, nullptr);
  return Napi::Number::New(info.Env(), static_cast<double>(-reinterpret_cast<uintptr_t>(data) % line));
}

Napi::Object Init(Napi::Env env, Napi::Object exports) {
  catch_bad_alloc(env, [&] {
    exports.Set("layoutDigest", world::kLayoutDigest);
    exports.Set("kernels", Napi::Function::New(env, ListKernels));
    exports.Set("bytesToCacheLine", Napi::Function::New(env, BytesToCacheLine));
    exports.Set("Batch", BatchObject::Define(env));
    exports.Set("encode", Napi::Function::New<Encode>(env));
    exports.Set("pushHistory", Napi::Function::New<PushHistory>(env));
    exports.Set("stackRewards", Napi::Function::New<StackRewards>(env));
    exports.Set("observe", Napi::Function::New<Observe>(env));
    exports.Set("forward", Napi::Function::New<Forward>(env));
  });
  return exports;
}

NODE_API_MODULE(rhythm, Init)

}  // namespace
}  // namespace rhythm

// The output arrays of a batch. JavaScript owns them and may detach a buffer, so every call looks up the addresses again.
#pragma once
#include <napi.h>

#include <algorithm>
#include <cstdint>

#include "arguments.h"
#include "kernel.h"

namespace rhythm {

class OutputArrays {
 public:
  // Keeps the arrays of `outputs`, an Outputs of src/engine/backends/backend.ts, for `num_envs` environments. Runs the
  // object's getters. Returns false after a refusal.
  bool read(Arguments& args, Napi::Object outputs, size_t num_envs) {
    stride_ = args.column_stride(outputs.Get("columnStride"), num_envs);
    if (!args.ok()) return false;
    for (int k = 0; k < kArrays; k++) {
      const Napi::Value value = outputs.Get(kKinds[k].name);
      if (args.env().IsExceptionPending()) return args.refuse(kKinds[k].name, "an array");
      if (value.IsNull() && kKinds[k].optional) continue;
      if (!read_array(args, k, value, num_envs)) return false;
    }
    return true;
  }

  // Finds the arrays for a call that writes them, and records their memory, so that overlapping arguments are refused.
  bool find(Arguments& args, Outputs& out) const {
    return find_each(args, out, [&](void* data, size_t bytes, const char* name) {
      // `read` has checked that the arrays do not overlap.
      return args.record_checked_write(data, bytes, name);
    });
  }
  // Finds the arrays for a call of another batch, which reads them.
  bool find_source(Arguments& args, Outputs& out) const {
    return find_each(args, out, [&](void* data, size_t bytes, const char* name) {
      return args.record_read(data, bytes, name);
    });
  }

  // Does the same as `find` for a call that also reads `length` bytes at `read`. Returns false, and throws nothing, if the memory
  // overlaps or a buffer was detached.
  bool find_apart(napi_env env, const void* read, size_t length, Outputs& out) const {
    if (buffers_ != 1) return false;
    size_t bytes = 0;
    napi_value buffer;
    void *data = nullptr;
    napi_get_reference_value(env, buffer_[0], &buffer);
    napi_get_arraybuffer_info(env, buffer, &data, &bytes);
    const char* base = static_cast<char*>(data);
    const char* first = static_cast<const char*>(read);
    if (bytes < end_[0] || (first < base + end_[0] && base + begin_[0] < first + length)) return false;
    out = arrays_at(&data);
    return true;
  }

  // Releases the arrays, so that they can be collected before the batch object.
  void release() {
    for (Napi::Reference<Napi::ArrayBuffer>& buffer : buffer_) buffer.Reset();
    buffers_ = 0;
  }

 private:
  struct Kind {
    const char* name;
    napi_typedarray_type type;
    size_t size;   // bytes per element
    size_t width;  // elements per environment
    bool optional;
  };
  // In the order of the struct Outputs of kernel.h.
  static constexpr int kArrays = 12;
  static constexpr Kind kKinds[kArrays] = {
      {"observations", napi_float32_array, 4, world::count::ObservationFloats, false},
      {"finalObservations", napi_float32_array, 4, world::count::ObservationFloats, true},
      {"components", napi_float32_array, 4, world::count::Components, false},
      {"rewards", napi_float32_array, 4, 1, false},
      {"finalScores", napi_float32_array, 4, 1, false},
      {"beliefMae", napi_float32_array, 4, 1, false},
      {"firstHalfMeans", napi_float32_array, 4, 1, false},
      {"secondHalfMeans", napi_float32_array, 4, 1, false},
      {"episodeReturns", napi_float32_array, 4, 1, false},
      {"episodeLengths", napi_int32_array, 4, 1, false},
      {"terminated", napi_uint8_array, 1, 1, false},
      {"finalMask", napi_uint8_array, 1, 1, false},
  };
  struct Array {
    bool present = false;
    int buffer = 0;
    size_t offset = 0;
  };

  // Calls use(data, bytes, name) for each buffer, with the memory from its first to its last array: checking each array would
  // take too long for a step. Then sets `out` to the arrays. Returns false if `use` does, or if a buffer was detached.
  template <class Use>
  bool find_each(Arguments& args, Outputs& out, const Use& use) const {
    void* data[kArrays] = {};
    for (int b = 0; b < buffers_; b++) {
      size_t length = 0;
      data[b] = data_of(args.env(), buffer_[b].Value(), length);
      if (length < end_[b]) return args.refuse("outputs", "arrays that were not detached");
      if (!use(static_cast<char*>(data[b]) + begin_[b], end_[b] - begin_[b], "outputs")) return false;
    }
    out = arrays_at(data);
    return true;
  }

  // Returns the arrays in buffers at these addresses.
  Outputs arrays_at(void* const* data) const {
    const auto at = [&](int k) {
      return array_[k].present ? static_cast<char*>(data[array_[k].buffer]) + array_[k].offset : nullptr;
    };
    const auto floats = [&](int k) { return reinterpret_cast<float*>(at(k)); };
    const auto bytes = [&](int k) { return reinterpret_cast<uint8_t*>(at(k)); };
    return {floats(0), floats(1), floats(2), floats(3), floats(4),  floats(5),  floats(6),
            floats(7), floats(8), reinterpret_cast<int32_t*>(at(9)), bytes(10), bytes(11), stride_};
  }

  static char* data_of(Napi::Env env, Napi::Value buffer, size_t& length) {
    void* data = nullptr;
    napi_get_arraybuffer_info(env, buffer, &data, &length);
    return static_cast<char*>(data);
  }

  bool read_array(Arguments& args, int k, const Napi::Value& value, size_t num_envs) {
    const Kind& kind = kKinds[k];
    const size_t rows = kind.width > 1 && stride_ != 0 ? stride_ : num_envs;
    const size_t bytes = rows * kind.width * kind.size;
    const void* data = args.unrecorded(value, kind.type, rows * kind.width, kind.name);
    if (data == nullptr) return false;
    napi_value buffer;
    size_t offset;
    napi_get_typedarray_info(args.env(), value, nullptr, nullptr, nullptr, &buffer, &offset);
    const int b = buffer_of(Napi::ArrayBuffer(args.env(), buffer));
    array_[k] = {true, b, offset};
    begin_[b] = std::min(begin_[b], offset);
    end_[b] = std::max(end_[b], offset + bytes);
    return args.record_write(data, bytes, kind.name);
  }

  int buffer_of(Napi::ArrayBuffer buffer) {
    for (int b = 0; b < buffers_; b++) {
      if (buffer_[b].Value().StrictEquals(buffer)) return b;
    }
    buffer_[buffers_] = Napi::Persistent(buffer);
    begin_[buffers_] = SIZE_MAX;
    return buffers_++;
  }

  Array array_[kArrays];
  Napi::Reference<Napi::ArrayBuffer> buffer_[kArrays];
  size_t begin_[kArrays] = {}, end_[kArrays] = {};  // per buffer: the range of all its arrays
  int buffers_ = 0;
  size_t stride_ = 0;  // columnStride of the outputs; 0: row-major
};

}  // namespace rhythm

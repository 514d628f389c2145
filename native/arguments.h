// Unwraps and checks the arguments of a call from JavaScript.
#pragma once
#include <napi.h>

#include <cstdint>
#include <string>
#include <type_traits>

namespace rhythm {

// The memory ranges of a call's arrays.
class MemoryRanges {
 public:
  // Returns whether [data, data + bytes) overlaps one of the ranges.
  bool overlaps(const void* data, size_t bytes) const {
    const auto begin = reinterpret_cast<uintptr_t>(data);
    bool found = false;
    for (int k = 0; k < count_; k++) found |= (begin < end_[k]) & (begin_[k] < begin + bytes);
    return found;
  }
  // Adds a range. Returns false if there is no room for another.
  bool add(const void* data, size_t bytes) {
    if (bytes == 0) return true;
    if (count_ == kCapacity) return false;
    begin_[count_] = reinterpret_cast<uintptr_t>(data);
    end_[count_++] = reinterpret_cast<uintptr_t>(data) + bytes;
    return true;
  }

 private:
  static constexpr int kCapacity = 24;  // of each kind a call has at most 19
  uintptr_t begin_[kCapacity], end_[kCapacity];
  int count_ = 0;
};

// The arguments of one call. A TypeError reports a bug of the caller (src/engine/backends/native.ts) before anything changes:
// an array of a wrong type or size; an array that the call both reads and writes, or writes twice; an array that other
// threads could change after the check.
class Arguments {
 public:
  explicit Arguments(const Napi::CallbackInfo& info) : info_(info) {}

  bool ok() const { return ok_; }
  Napi::Env env() const { return info_.Env(); }
  Napi::Value value(size_t at) const { return info_[at]; }
  size_t count() const { return info_.Length(); }

  // Returns the data of argument `at`, a typed array of exactly `length` elements. With a const T the call may only read it.
  template <class T>
  T* array(size_t at, napi_typedarray_type type, size_t length, const char* name) {
    return elements<T>(info_[at], type, length, name);
  }
  // The same; returns null if the argument is null.
  template <class T>
  T* array_or_null(size_t at, napi_typedarray_type type, size_t length, const char* name) {
    return info_[at].IsNull() ? nullptr : array<T>(at, type, length, name);
  }
  // The same for any value.
  template <class T>
  T* elements(const Napi::Value& value, napi_typedarray_type type, size_t length, const char* name) {
    void* data = typed(value, type, length, name);
    if (data == nullptr) return nullptr;
    const size_t bytes = length * sizeof(T);
    const bool disjoint = std::is_const_v<T> ? record_read(data, bytes, name) : record_write(data, bytes, name);
    return disjoint ? static_cast<T*>(data) : nullptr;
  }
  // The same for any type; does not record whether the call reads or writes the memory.
  void* typed(const Napi::Value& value, napi_typedarray_type type, size_t length, const char* name) {
    if (!ok_) return nullptr;
    napi_typedarray_type got_type;
    size_t got_length = 0;
    void* data = nullptr;  // also for a SharedArrayBuffer, which Napi::TypedArray does not support
    napi_value buffer;
    const napi_status got =
        napi_get_typedarray_info(env(), value, &got_type, &got_length, &data, &buffer, nullptr);
    if (got != napi_ok) return fail<void>(name, "a typed array");
    if (got_type != type) return fail<void>(name, "the right element type");
    if (got_length != length) return fail<void>(name, (std::to_string(length) + " elements").c_str());
    bool own = false;
    if (napi_is_arraybuffer(env(), buffer, &own) != napi_ok || !own) {
      return fail<void>(name, "memory that is not shared with other threads");
    }
    return data;
  }
  // Records memory that the call reads. Fails and returns false if the call also writes it.
  bool record_read(const void* data, size_t bytes, const char* name) {
    if (!ok_) return false;
    if (written_.overlaps(data, bytes)) return fail<int>(name, "memory that the call does not write") != nullptr;
    return record(read_, data, bytes, name);
  }
  // Records memory that the call writes. Fails and returns false if the call also reads it or writes it as another array.
  bool record_write(const void* data, size_t bytes, const char* name) {
    if (!ok_) return false;
    if (read_.overlaps(data, bytes) || written_.overlaps(data, bytes)) {
      return fail<int>(name, "memory that no other array of the call uses") != nullptr;
    }
    return record(written_, data, bytes, name);
  }
  // Records memory that the call writes, without a check: the caller knows that it overlaps no other.
  bool record_checked_write(const void* data, size_t bytes, const char* name) {
    return ok_ && record(written_, data, bytes, name);
  }
  // Throws a TypeError, unless an error is pending: a second one would be fatal.
  template <class T>
  T* fail(const char* name, const char* expected) {
    if (ok_ && !env().IsExceptionPending()) {
      Napi::TypeError::New(env(), std::string("Expected ") + expected + " for " + name + ".").ThrowAsJavaScriptException();
    }
    ok_ = false;
    return nullptr;
  }
  // Returns argument `at`, an integer in [low, high].
  int integer(size_t at, int low, int high, const char* name) {
    if (!ok_) return low;
    if (info_[at].IsNumber()) {
      const double value = info_[at].As<Napi::Number>().DoubleValue();
      if (value >= low && value <= high && value == static_cast<int>(value)) return static_cast<int>(value);
    }
    fail<int>(name, ("an integer from " + std::to_string(low) + " to " + std::to_string(high)).c_str());
    return low;
  }

 private:
  bool record(MemoryRanges& ranges, const void* data, size_t bytes, const char* name) {
    return ranges.add(data, bytes) || fail<int>(name, "fewer arrays") != nullptr;
  }

  const Napi::CallbackInfo& info_;
  bool ok_ = true;
  MemoryRanges read_, written_;
};

}  // namespace rhythm

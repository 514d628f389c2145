// Unwraps and checks the arguments of a call from JavaScript.
#pragma once
#include <napi.h>

#include <cstdint>
#include <string>
#include <type_traits>

#include "generated/world.h"

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
  static constexpr int kCapacity = 24;  // more than any call reads or writes
  uintptr_t begin_[kCapacity], end_[kCapacity];
  int count_ = 0;
};

// The arguments of one call. A TypeError reports a bug of the caller (src/engine/backends/native.ts) before anything changes:
// an array of a wrong type or size; an array that the call both reads and writes, or writes twice; an array that other
// threads could change after the check; a number outside its range; a value that is not an object.
class Arguments {
 public:
  explicit Arguments(const Napi::CallbackInfo& info) : info_(info) {}

  bool ok() const { return ok_; }
  Napi::Env env() const { return info_.Env(); }
  Napi::Value value(size_t at) const { return info_[at]; }

  // Returns the data of argument `at`, a typed array of exactly `length` elements. With a const T the call may only read it.
  template <class T>
  T* array(size_t at, napi_typedarray_type type, size_t length, const char* name) {
    return elements<T>(info_[at], type, length, name);
  }
  // Does the same as `array`, but returns null for an argument that is null or undefined.
  template <class T>
  T* array_or_null(size_t at, napi_typedarray_type type, size_t length, const char* name) {
    return elements_or_null<T>(info_[at], type, length, name);
  }
  // Does the same as `array`, for any value.
  template <class T>
  T* elements(const Napi::Value& value, napi_typedarray_type type, size_t length, const char* name) {
    void* data = unrecorded(value, type, length, name);
    if (data == nullptr) return nullptr;
    const size_t bytes = length * sizeof(T);
    const bool disjoint = std::is_const_v<T> ? record_read(data, bytes, name) : record_write(data, bytes, name);
    return disjoint ? static_cast<T*>(data) : nullptr;
  }
  // Does the same as `elements`, but returns null for a value that is null or undefined.
  template <class T>
  T* elements_or_null(const Napi::Value& value, napi_typedarray_type type, size_t length, const char* name) {
    return is_absent(value) ? nullptr : elements<T>(value, type, length, name);
  }
  static bool is_absent(const Napi::Value& value) {
    const napi_valuetype type = value.Type();
    return type == napi_null || type == napi_undefined;
  }
  // Returns the data like `elements`, but does not record the memory as read or written.
  void* unrecorded(const Napi::Value& value, napi_typedarray_type type, size_t length, const char* name) {
    if (!ok_) return nullptr;
    napi_typedarray_type got_type;
    size_t got_length = 0;
    void* data = nullptr;
    napi_value buffer;
    // A C function, because Napi::TypedArray does not support shared memory, which is refused below.
    const napi_status status =
        napi_get_typedarray_info(env(), value, &got_type, &got_length, &data, &buffer, nullptr);
    if (status != napi_ok) return fail<void>(name, "a typed array");
    if (got_type != type) return fail<void>(name, "the right element type");
    if (got_length != length) return fail<void>(name, (std::to_string(length) + " elements").c_str());
    bool is_array_buffer = false;
    if (napi_is_arraybuffer(env(), buffer, &is_array_buffer) != napi_ok || !is_array_buffer) {
      return fail<void>(name, "memory that is not shared with other threads");
    }
    return data;
  }
  // Returns the bytes of a Uint8Array of `length` elements outside shared memory, else null. Throws nothing.
  static const uint8_t* bytes_outside(napi_env env, napi_value value, size_t length) {
    napi_typedarray_type type;
    size_t got = 0;
    void* data = nullptr;
    napi_value buffer;
    bool is_array_buffer = false;
    const bool is_legal =
        napi_get_typedarray_info(env, value, &type, &got, &data, &buffer, nullptr) == napi_ok && type == napi_uint8_array &&
        got == length && napi_is_arraybuffer(env, buffer, &is_array_buffer) == napi_ok && is_array_buffer;
    return is_legal ? static_cast<const uint8_t*>(data) : nullptr;
  }
  // Records memory that the call reads. Fails and returns false if the call also writes it.
  bool record_read(const void* data, size_t bytes, const char* name) {
    if (!ok_) return false;
    if (written_.overlaps(data, bytes)) return refuse(name, "memory that the call does not write");
    return record(read_, data, bytes, name);
  }
  // Records memory that the call writes. Fails and returns false if the call also reads it or writes it as another array.
  bool record_write(const void* data, size_t bytes, const char* name) {
    if (!ok_) return false;
    if (read_.overlaps(data, bytes) || written_.overlaps(data, bytes)) {
      return refuse(name, "memory that no other array of the call uses");
    }
    return record(written_, data, bytes, name);
  }
  // Records memory that the call writes. The caller has already checked that it overlaps no other memory of the call.
  bool record_checked_write(const void* data, size_t bytes, const char* name) {
    return ok_ && record(written_, data, bytes, name);
  }
  // Makes the arguments invalid and returns null. Throws a TypeError, unless an error is pending: a second would be fatal.
  template <class T>
  T* fail(const char* name, const char* expected) {
    if (ok_ && !env().IsExceptionPending()) {
      Napi::TypeError::New(env(), std::string("Expected ") + expected + " for " + name + ".").ThrowAsJavaScriptException();
    }
    ok_ = false;
    return nullptr;
  }
  // Does the same, and returns false.
  bool refuse(const char* name, const char* expected) { return fail<char>(name, expected) != nullptr; }
  // Returns a value as an integer in [low, high]. Fails and returns `low` for any other value.
  int integer(const Napi::Value& value, int low, int high, const char* name) {
    if (!ok_) return low;
    if (value.IsNumber()) {
      const double number = value.As<Napi::Number>().DoubleValue();
      if (number >= low && number <= high && number == static_cast<int>(number)) return static_cast<int>(number);
    }
    fail<int>(name, ("an integer from " + std::to_string(low) + " to " + std::to_string(high)).c_str());
    return low;
  }
  // Returns the column stride of `num_envs` environments: the distance between columns in elements; 0 for row-major.
  // The upper limit is generous: strideOf of src/engine/backends/outputs.ts pads a column by at most 31 elements.
  size_t column_stride(const Napi::Value& value, size_t num_envs) {
    const double stride = !env().IsExceptionPending() && value.IsNumber() ? value.As<Napi::Number>().DoubleValue() : -1;
    const bool fits = stride >= static_cast<double>(num_envs) && stride <= 2.0 * world::count::MaxEnvs;
    if (stride == 0 || (fits && stride == static_cast<double>(static_cast<size_t>(stride)))) {
      return static_cast<size_t>(stride);
    }
    fail<int>("columnStride", "0, or an integer from numEnvs to twice the maximum of numEnvs");
    return 0;
  }

 private:
  bool record(MemoryRanges& ranges, const void* data, size_t bytes, const char* name) {
    return ranges.add(data, bytes) || refuse(name, "fewer arrays");
  }

  const Napi::CallbackInfo& info_;
  bool ok_ = true;
  MemoryRanges read_, written_;
};

// The properties of an object argument, by position in a list of names. The constructor reads them all. It may run getters,
// which could detach memory, so it must run before any address is read.
template <size_t Count>
class Properties {
 public:
  // Reads the properties of `object`. `name` names it in errors.
  Properties(Arguments& args, const Napi::Value& object, const char* name, const char* const (&names)[Count])
      : args_(args), names_(names) {
    if (args.ok() && !object.IsObject()) args.fail<int>(name, "an object");
    for (size_t k = 0; args.ok() && k < Count; k++) {
      values_[k] = object.As<Napi::Object>().Get(names[k]);
      if (args.env().IsExceptionPending()) args.fail<int>(names[k], "a value");
    }
  }

  const Napi::Value& value(size_t at) const { return values_[at]; }
  // The methods of Arguments for the property at a position.
  template <class T>
  T* array(size_t at, napi_typedarray_type type, size_t length) const {
    return args_.ok() ? args_.template elements<T>(values_[at], type, length, names_[at]) : nullptr;
  }
  template <class T>
  T* array_or_null(size_t at, napi_typedarray_type type, size_t length) const {
    return args_.ok() ? args_.template elements_or_null<T>(values_[at], type, length, names_[at]) : nullptr;
  }
  size_t column_stride(size_t at, size_t num_envs) const { return args_.column_stride(values_[at], num_envs); }
  int integer(size_t at, int low, int high) const { return args_.integer(values_[at], low, high, names_[at]); }
  // Returns the length of the property if it is a typed array, else 0.
  size_t length(size_t at) const {
    return args_.ok() && values_[at].IsTypedArray() ? values_[at].template As<Napi::TypedArray>().ElementLength() : 0;
  }

 private:
  Arguments& args_;
  const char* const (&names_)[Count];
  Napi::Value values_[Count];
};

}  // namespace rhythm

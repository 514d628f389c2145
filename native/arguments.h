// The arguments of a call from JavaScript, unwrapped and checked.
#pragma once
#include <napi.h>

#include <string>

namespace rhythm {

// A wrong type or size is a bug of the caller, src/backends/native.ts: it throws a TypeError and changes nothing.
class Arguments {
 public:
  explicit Arguments(const Napi::CallbackInfo& info) : info_(info) {}

  bool ok() const { return ok_; }
  Napi::Env env() const { return info_.Env(); }
  Napi::Value value(size_t at) const { return info_[at]; }
  size_t count() const { return info_.Length(); }

  // The data of typed array `at` of exactly `length` elements.
  template <class T>
  T* array(size_t at, napi_typedarray_type type, size_t length, const char* name) {
    return elements<T>(info_[at], type, length, name);
  }
  // The same, or null for null.
  template <class T>
  T* array_or_null(size_t at, napi_typedarray_type type, size_t length, const char* name) {
    return info_[at].IsNull() ? nullptr : array<T>(at, type, length, name);
  }
  template <class T>
  T* elements(const Napi::Value& value, napi_typedarray_type type, size_t length, const char* name) {
    if (!ok_) return nullptr;
    napi_typedarray_type got_type;
    size_t got_length = 0;
    void* data = nullptr;  // also of a SharedArrayBuffer, which Napi::TypedArray cannot say
    const napi_status got =
        napi_get_typedarray_info(env(), value, &got_type, &got_length, &data, nullptr, nullptr);
    if (got != napi_ok) return fail<T>(name, "a typed array");
    if (got_type != type) return fail<T>(name, "another element type");
    if (got_length != length) return fail<T>(name, (std::to_string(length) + " elements").c_str());
    return static_cast<T*>(data);
  }
  // A second error, or one on top of a getter's, would be fatal.
  template <class T>
  T* fail(const char* name, const char* expected) {
    if (ok_ && !env().IsExceptionPending()) {
      Napi::TypeError::New(env(), std::string("Expected ") + expected + " for " + name + ".").ThrowAsJavaScriptException();
    }
    ok_ = false;
    return nullptr;
  }
  // An integer in [low, high].
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
  const Napi::CallbackInfo& info_;
  bool ok_ = true;
};

}  // namespace rhythm

// Reads the arguments of a step into memory of the batch, which no other thread can change.
#pragma once
#include <algorithm>
#include <cmath>
#include <limits>

#include "arrays.h"
#include "generated/world.h"

namespace rhythm::python {

class StepArguments {
 public:
  explicit StepArguments(size_t num_envs) : num_envs_(num_envs), actions_(num_envs) {}

  // Reads codes of any integer type and any strides. Codes of environments outside `mask` (null: all step) are ignored.
  const uint8_t* actions(const py::handle& value, const uint8_t* mask) {
    if (copy_plain_bytes(value)) return actions_.data();
    const py::array array = in_native_order(as_array(value, "actions", "integers"));
    if (array.ndim() != 1 || static_cast<size_t>(array.shape(0)) != num_envs_) refuse_actions(array);
    const char kind = array.dtype().kind();
    const ssize_t size = array.itemsize();
    if (kind == 'u' && size == 1) {
      copy_bytes(array);
    } else if (kind == 'i' && size == 8) {
      copy_codes<int64_t>(array, mask);
    } else if (kind == 'i' && size == 4) {
      copy_codes<int32_t>(array, mask);
    } else if (kind == 'i' && size == 2) {
      copy_codes<int16_t>(array, mask);
    } else if (kind == 'i' && size == 1) {
      copy_codes<int8_t>(array, mask);
    } else if (kind == 'u' && size == 8) {
      copy_codes<uint64_t>(array, mask);
    } else if (kind == 'u' && size == 4) {
      copy_codes<uint32_t>(array, mask);
    } else if (kind == 'u' && size == 2) {
      copy_codes<uint16_t>(array, mask);
    } else {
      refuse_actions(array);
    }
    return actions_.data();
  }

  // Reads beliefs, [num_envs, 3] or flat, or [3] for all environments, of any integer or float type. Finds which rows hold a
  // belief. Returns null for None.
  const float* beliefs(const py::handle& value, const uint8_t* mask) {
    if (value.is_none()) return nullptr;
    const size_t length = num_envs_ * world::count::Beliefs;
    const py::array array = as_array(value, "beliefs", "numbers");
    const char kind = array.dtype().kind();
    const bool is_for_all = array.ndim() == 1 && array.size() == world::count::Beliefs;
    const bool is_flat = array.ndim() == 1 && static_cast<size_t>(array.size()) == length;
    const bool is_rows = array.ndim() == 2 && static_cast<size_t>(array.shape(0)) == num_envs_ &&
                         array.shape(1) == world::count::Beliefs;
    if (kind != 'f' && kind != 'i' && kind != 'u') refuse_type("beliefs", "numbers", array, ". Pass three numbers per environment.");
    if (!is_for_all && !is_flat && !is_rows) refuse_length(std::to_string(length) + " numbers in beliefs (num_envs x 3)", array, length);
    const auto floats = py::array_t<float, py::array::c_style | py::array::forcecast>::ensure(array);
    if (!floats) throw py::error_already_set();
    beliefs_.resize(length);
    for (size_t k = 0; k < length; k++) beliefs_[k] = floats.data()[is_for_all ? k % world::count::Beliefs : k];
    given_.resize(num_envs_);
    for (size_t row = 0; row < num_envs_; row++) given_[row] = is_given(row, mask);
    return beliefs_.data();
  }
  // u8 [num_envs]: which rows of `beliefs` hold a belief.
  const uint8_t* given() const { return given_.data(); }

 private:
  static py::array as_array(const py::handle& value, const char* name, const char* what) {
    if (py::isinstance<py::array>(value)) return py::reinterpret_borrow<py::array>(value);
    py::array array = py::array::ensure(value);
    if (!array) {
      PyErr_Clear();
      refuse_type(name, what, value, ". Pass a NumPy array.");
    }
    return array;
  }

  [[noreturn]] static void refuse_type(const char* name, const char* what, const py::handle& value, const char* remedy) {
    raise_input("wrong_type", std::string("Expected ") + name + " to be an array of " + what + ", got " + describe(value) + remedy,
                name);
  }

  [[noreturn]] static void refuse_length(const std::string& expected, const py::array& array, size_t length) {
    raise_input("wrong_length", "Expected " + expected + ", got " + describe(array) + ". Pass exactly " + std::to_string(length) + ".");
  }

  // Returns integers in the byte order of this machine.
  static py::array in_native_order(const py::array& array) {
    const char order = array.dtype().byteorder();
    const char kind = array.dtype().kind();
    if ((order != '<' && order != '>') || (kind != 'i' && kind != 'u')) return array;
    return array.attr("astype")(array.dtype().attr("newbyteorder")("="));
  }

  [[noreturn]] void refuse_actions(const py::array& array) const {
    const char kind = array.dtype().kind();
    if (kind != 'i' && kind != 'u') refuse_type("actions", "integers", array, ". Pass one code per environment.");
    refuse_length(std::to_string(num_envs_) + " actions (num_envs)", array, num_envs_);
  }

  // Copies the codes of a contiguous u8 [num_envs], in a fraction of the time that other arrays take. Returns false for any other
  // value.
  bool copy_plain_bytes(const py::handle& value) {
    if (!py::isinstance<py::array>(value)) return false;
    const auto array = py::reinterpret_borrow<py::array>(value);
    if (array.ndim() != 1 || static_cast<size_t>(array.shape(0)) != num_envs_ || array.strides(0) != 1) return false;
    if (array.dtype().num() != py::detail::npy_api::NPY_UBYTE_) return false;
    std::memcpy(actions_.data(), array.data(), num_envs_);
    return true;
  }

  void copy_bytes(const py::array& array) {
    const auto codes = array.unchecked<uint8_t, 1>();
    if (array.strides(0) == 1) {
      std::memcpy(actions_.data(), array.data(), num_envs_);
    } else {
      for (size_t env = 0; env < num_envs_; env++) actions_[env] = codes(static_cast<ssize_t>(env));
    }
  }

  // Copies codes. Refuses those that do not fit in a byte, unless they are ignored. The engine refuses the other illegal ones.
  template <class T>
  void copy_codes(const py::array& array, const uint8_t* mask) {
    const auto* data = static_cast<const char*>(array.data());
    const ssize_t stride = array.strides(0);
    bool fits = true;
    for (size_t env = 0; env < num_envs_; env++) {
      T code;
      std::memcpy(&code, data + static_cast<ssize_t>(env) * stride, sizeof(T));
      actions_[env] = static_cast<uint8_t>(code);
      fits &= code >= 0 && static_cast<uint64_t>(code) < 256;
    }
    if (fits) return;
    for (size_t env = 0; env < num_envs_; env++) {
      T code;
      std::memcpy(&code, data + static_cast<ssize_t>(env) * stride, sizeof(T));
      if (code >= 0 && static_cast<uint64_t>(code) < 256) continue;
      if (mask == nullptr || mask[env] != 0) raise_illegal_action(std::to_string(code), env);
      actions_[env] = 0;
    }
  }

  // Returns whether a row is a belief. Refuses a row that is neither three finite numbers nor three NaN, unless it is ignored.
  uint8_t is_given(size_t row, const uint8_t* mask) const {
    const float* belief = beliefs_.data() + row * world::count::Beliefs;
    // A sum of three float32s cannot overflow a double, so it is finite if and only if its terms are.
    if (std::isfinite(static_cast<double>(belief[0]) + belief[1] + belief[2])) return 1;
    const bool is_absent = std::isnan(belief[0]) && std::isnan(belief[1]) && std::isnan(belief[2]);
    if (is_absent || (mask != nullptr && mask[row] == 0)) return 0;
    raise_input("bad_belief", "Expected three finite numbers or three NaN (no belief) in beliefs row " + std::to_string(row) + ", got [" +
                                  std::to_string(belief[0]) + ", " + std::to_string(belief[1]) + ", " + std::to_string(belief[2]) +
                                  "]. No episode was stepped. Pass three finite numbers or three NaN.",
                "beliefs", row);
  }

 public:
  [[noreturn]] static void raise_illegal_action(const std::string& code, size_t env) {
    raise_input("illegal_action",
                "Expected an action code from 0 to " + std::to_string(world::count::Actions - 1) + " at actions[" +
                    std::to_string(env) + "], got " + code + ". No episode was stepped. Pass a code in that range.",
                "actions", env);
  }

 private:
  size_t num_envs_;
  std::vector<uint8_t> actions_, given_;
  std::vector<float> beliefs_;
};

}  // namespace rhythm::python

// Raises the errors of rhythm_vec.errors.
#pragma once
#include <pybind11/pybind11.h>

#include <string>

namespace rhythm::python {

namespace py = pybind11;

template <class... More>
[[noreturn]] void raise(const char* type, const char* code, const std::string& message, const More&... more) {
  const py::object error = py::module_::import("rhythm_vec.errors").attr(type);
  PyErr_SetObject(error.ptr(), error(code, message, more...).ptr());
  throw py::error_already_set();
}

// Raises InputError. `place`: the field of the error, and its row.
template <class... Place>
[[noreturn]] void raise_input(const char* code, const std::string& message, const Place&... place) {
  raise("InputError", code, message, place...);
}

[[noreturn]] inline void raise_state(const char* code, const std::string& message) { raise("StateError", code, message); }

// Describes a value in errors: the dtype and shape of an array, such as "float64 [3]", or the name of another value's type.
inline std::string describe(const py::handle& value) {
  if (!py::hasattr(value, "dtype") || !py::hasattr(value, "shape")) {
    return py::str(py::type::of(value).attr("__name__")).cast<std::string>();
  }
  return py::str(value.attr("dtype")).cast<std::string>() + " " + py::str(py::list(value.attr("shape"))).cast<std::string>();
}

}  // namespace rhythm::python

// Checks NumPy arrays and returns their data. step_arguments.h and the package's Python code copy every array whose
// values index memory, because other threads may change the caller's array while the engine computes without the
// interpreter's lock.
#pragma once
#include <pybind11/numpy.h>

#include <cmath>
#include <cstring>
#include <string>
#include <vector>

#include "errors.h"

namespace rhythm::python {

template <class T>
using Array = py::array_t<T, py::array::c_style>;

// Returns the data of a C-contiguous array of type T with `length` elements. Raises InputError `wrong_type` for any other
// value; rhythm_vec converts its arguments before it calls.
template <class T>
const T* data_of(const py::handle& value, size_t length, const char* name) {
  if (!Array<T>::check_(value) || static_cast<size_t>(py::cast<py::array>(value).size()) != length) {
    raise_input("wrong_type", std::string("Expected ") + name + " to be a C-contiguous " + py::str(py::dtype::of<T>()).cast<std::string>() +
                                  " array of " + std::to_string(length) + " elements, got " + describe(value) + ". Convert it with numpy.ascontiguousarray.");
  }
  return py::cast<py::array>(value).unchecked<T>().data();
}

// Returns the data as `data_of` does; null for None.
template <class T>
const T* data_or_null(const py::handle& value, size_t length, const char* name) {
  return value.is_none() ? nullptr : data_of<T>(value, length, name);
}

// Returns the data as `data_of` does, of an array that the call writes.
template <class T>
T* writable_data(const py::handle& value, size_t length, const char* name) {
  const T* data = data_of<T>(value, length, name);
  if (!py::cast<py::array>(value).writeable()) {
    raise_input("wrong_type", std::string("Expected ") + name + " to be writable, got a read-only array. Pass a copy.");
  }
  return const_cast<T*>(data);
}

// Returns the data as `writable_data` does; null for None.
template <class T>
T* writable_data_or_null(const py::handle& value, size_t length, const char* name) {
  return value.is_none() ? nullptr : writable_data<T>(value, length, name);
}

}  // namespace rhythm::python

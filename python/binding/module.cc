// The Python module rhythm_vec._native: lists the kernels, and defines the class Batch, reward_sums
// and the computations on arrays.
#include <pybind11/pybind11.h>

#include "array_functions.h"
#include "batch_class.h"
#include "reward_sums.h"

namespace rhythm::python {
namespace {

// Returns a tuple for each kernel: its name, its number of lanes, and whether the processor supports it.
py::list list_kernels() {
  py::list list;
  for (int k = 0; k < kKernelCount; k++) {
    list.append(py::make_tuple(kKernels[k].kernel->name, kKernels[k].kernel->lanes, kKernels[k].supported()));
  }
  return list;
}

PYBIND11_MODULE(_native, module) {
  module.attr("LAYOUT_DIGEST") = world::kLayoutDigest;
  module.def("kernels", &list_kernels);
  module.def("reward_sums", &reward_sums);
  module.def("stack_rewards", &stack_rewards);
  module.def("observe", &observe);
  module.def("forward", &forward);
  py::class_<BatchClass>(module, "Batch")
      .def(py::init<const std::string&, const py::object&, bool, size_t, int, const py::dict&, size_t>())
      .def("reset", &BatchClass::reset)
      .def("step", &BatchClass::step)
      .def("run", &BatchClass::run)
      .def("gather", &BatchClass::gather)
      .def("save", &BatchClass::save)
      .def("load", &BatchClass::load)
      .def("hash", &BatchClass::hash)
      .def("targets", &BatchClass::targets)
      .def("replay", &BatchClass::replay)
      .def("encode", &BatchClass::encode)
      .def("push_history", &BatchClass::push_history)
      .def("close", &BatchClass::close)
      .def_property_readonly("is_open", &BatchClass::is_open);
}

}  // namespace
}  // namespace rhythm::python

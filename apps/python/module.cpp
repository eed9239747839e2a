// The Python module holdall._core: start at holdall/__init__.py.
#include "apps/embedding/error.hpp"
#include "apps/python/bindings.hpp"
#include "policies/registry.hpp"

PYBIND11_MODULE(_core, module) {
  using namespace holdall;
  namespace py = pybind11;
  // The last that is registered is tried first: the family's head, then its members.
  auto& error = py::register_exception<Error>(module, "Error", PyExc_RuntimeError);
  py::register_exception<WorkingSetTooLarge>(module, "WorkingSetTooLarge", error.ptr());
  py::register_exception<OutOfHostMemory>(module, "OutOfHostMemory", error.ptr());
  py::register_exception<WouldDeadlock>(module, "WouldDeadlock", error.ptr());
  py::register_exception<RangeDropped>(module, "RangeDropped", error.ptr());
  py::register_exception<InvalidAccess>(module, "InvalidAccess", error.ptr());
  py::register_exception<BackingError>(module, "BackingError", error.ptr());
  py::register_exception<ChunkPoisoned>(module, "ChunkPoisoned", error.ptr());
  py::register_exception<DriverError>(module, "DriverError", error.ptr());
  py::register_exception<NoDevice>(module, "NoDevice", error.ptr());
  py::register_exception<embedding::EmbeddingError>(module, "EmbeddingError", error.ptr());
  py::register_exception<PolicyError>(module, "PolicyError", PyExc_ValueError);
  python::add_engine(module);
  python::add_table(module);
  python::add_buffer(module);
}

// What the parts of the Python module `holdall._core` share. It deals in addresses; holdall/*.py
// make arrays of them.
#pragma once

#include <pybind11/pybind11.h>
#include <pybind11/stl.h>

#include <cstdint>
#include <memory>
#include <string>

#include "engine/engine.hpp"

namespace holdall::python {

namespace py = pybind11;

// An engine, alive as long as anything of it is; the stream that calls use which name none.
struct SharedEngine {
  explicit SharedEngine(const Config& config) : engine(config), stream(engine.stream()) {}
  bool on_host() const { return engine.driver().name() == "host"; }
  // 0: its own. On CUDA otherwise a cudaStream_t.
  Stream stream_of(std::uintptr_t handle) const {
    if (handle == 0) return stream;
    if (on_host()) throw InvalidAccess("streams of a caller's own are for the cuda driver");
    return Stream(reinterpret_cast<CUstream_st*>(handle));
  }

  Engine engine;
  const Stream stream;
};

void add_engine(py::module_& module);
void add_table(py::module_& module);
void add_buffer(py::module_& module);

}  // namespace holdall::python

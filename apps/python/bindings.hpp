// What the parts of the Python module `holdall._core` share. It deals in addresses; holdall/*.py
// make arrays of them.
#pragma once

#include <pybind11/pybind11.h>
#include <pybind11/stl.h>

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "engine/engine.hpp"

namespace holdall::python {

namespace py = pybind11;

// An engine, alive as long as anything of it is; the stream that calls use which name none.
struct SharedEngine {
  explicit SharedEngine(const Config& config) : engine(config), stream(engine.stream()) {
    for (int device = 1; device < engine.devices(); ++device)
      of_others.push_back(engine.stream(device));
  }
  bool on_host() const { return engine.driver().name() == "host"; }
  // 0: its own. On CUDA otherwise a cudaStream_t.
  Stream stream_of(std::uintptr_t handle) const {
    if (handle == 0) return stream;
    if (on_host()) throw InvalidAccess("streams of a caller's own are for the cuda driver");
    return Stream(reinterpret_cast<CUstream_st*>(handle));
  }

  // Its own of a device, as `stream_of` takes it; 0: the first device's.
  std::uintptr_t own_of(int device) const {
    if (device < 0 || device >= engine.devices())
      throw InvalidAccess("the engine has no device " + std::to_string(device) +
                          ": make it with devices= more, or move the tensors");
    if (device == 0 || on_host()) return 0;
    return reinterpret_cast<std::uintptr_t>(of_others[static_cast<std::size_t>(device - 1)].cuda());
  }

  Engine engine;
  const Stream stream;
  std::vector<Stream> of_others;  // from device 1 on
};

void add_engine(py::module_& module);
void add_table(py::module_& module);
void add_buffer(py::module_& module);

}  // namespace holdall::python

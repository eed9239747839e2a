// Buffer: an array of fp32 in the memory of a device, given to others by DLPack and by
// __cuda_array_interface__; and the reading of a DLPack capsule.
// The structures are DLPack's of version 0: https://dmlc.github.io/dlpack/latest/c_api.html
#include "apps/python/bindings.hpp"
#include "kernels/device_array.hpp"

namespace holdall::python {

namespace {

using namespace py::literals;

struct DlDevice {
  std::int32_t type;  // 1: CPU, 2: CUDA
  std::int32_t id;
};
struct DlType {
  std::uint8_t code;  // 0: signed, 1: unsigned, 2: float
  std::uint8_t bits;
  std::uint16_t lanes;
};
struct DlTensor {
  void* data;
  DlDevice device;
  std::int32_t dimensions;
  DlType type;
  std::int64_t* shape;
  std::int64_t* strides;  // of elements; nullptr: dense
  std::uint64_t byte_offset;
};
struct DlManagedTensor {
  DlTensor tensor;
  void* context;
  void (*deleter)(DlManagedTensor*);
};

struct Buffer {
  Buffer(std::shared_ptr<SharedEngine> engine, std::vector<std::int64_t> of)
      : owner(std::move(engine)), shape(std::move(of)) {
    std::uint64_t count = 1;
    for (const std::int64_t length : shape) count *= static_cast<std::uint64_t>(length);
    values = kernels::DeviceArray<float>(count, owner->stream);
    owner->engine.synchronize(owner->stream);
  }
  std::shared_ptr<SharedEngine> owner;
  std::vector<std::int64_t> shape;
  kernels::DeviceArray<float> values;

  std::uintptr_t address() const { return reinterpret_cast<std::uintptr_t>(values.data()); }
};

struct Lent {
  DlManagedTensor managed;
  std::shared_ptr<Buffer> buffer;
};

py::capsule lend(const std::shared_ptr<Buffer>& buffer) {
  auto* const lent = new Lent{{}, buffer};
  const bool host = buffer->owner->on_host();
  lent->managed = {{buffer->values.data(),
                    {host ? 1 : 2, 0},
                    static_cast<std::int32_t>(buffer->shape.size()),
                    {2, 32, 1},
                    buffer->shape.data(),
                    nullptr,
                    0},
                   lent,
                   [](DlManagedTensor* tensor) { delete static_cast<Lent*>(tensor->context); }};
  return py::capsule(&lent->managed, "dltensor", [](PyObject* capsule) {
    if (PyCapsule_IsValid(capsule, "dltensor") == 0) return;  // taken: its taker frees it
    auto* const tensor = static_cast<DlManagedTensor*>(PyCapsule_GetPointer(capsule, "dltensor"));
    tensor->deleter(tensor);
  });
}

// Address, shape, and numpy's type of a capsule that lives on. Throws ValueError unless it is
// dense.
py::tuple read_capsule(const py::capsule& capsule) {
  const auto* const managed =
      static_cast<DlManagedTensor*>(PyCapsule_GetPointer(capsule.ptr(), "dltensor"));
  if (managed == nullptr) throw py::error_already_set();
  const DlTensor& tensor = managed->tensor;
  py::tuple shape(tensor.dimensions);
  std::int64_t dense = 1;
  for (int i = tensor.dimensions - 1; i >= 0; --i) {
    if (tensor.strides != nullptr && tensor.shape[i] > 1 && tensor.strides[i] != dense)
      throw py::value_error("the tensor is not contiguous");
    dense *= tensor.shape[i];
    shape[static_cast<std::size_t>(i)] = tensor.shape[i];
  }
  if (tensor.type.code > 2 || tensor.type.lanes != 1)
    throw py::value_error("the tensor's elements are neither whole numbers nor floats");
  const std::string type =
      std::string("<") + "iuf"[tensor.type.code] + std::to_string(tensor.type.bits / 8);
  return py::make_tuple(reinterpret_cast<std::uintptr_t>(tensor.data) + tensor.byte_offset, shape,
                        type);
}

}  // namespace

void add_buffer(py::module_& module) {
  py::class_<Buffer, std::shared_ptr<Buffer>>(module, "Buffer")
      .def(py::init<std::shared_ptr<SharedEngine>, std::vector<std::int64_t>>())
      .def_property_readonly("address", &Buffer::address)
      .def_property_readonly("shape",
                             [](const Buffer& buffer) { return py::tuple(py::cast(buffer.shape)); })
      .def_property_readonly(
          "__cuda_array_interface__",
          [](const Buffer& buffer) {
            if (buffer.owner->on_host()) throw py::attribute_error("the buffer is in host memory");
            return py::dict("shape"_a = py::tuple(py::cast(buffer.shape)), "typestr"_a = "<f4",
                            "data"_a = py::make_tuple(buffer.address(), false), "version"_a = 3);
          })
      .def("__dlpack__",
           [](const std::shared_ptr<Buffer>& buffer, const py::kwargs&) { return lend(buffer); })
      .def("__dlpack_device__",
           [](const Buffer& buffer) { return py::make_tuple(buffer.owner->on_host() ? 1 : 2, 0); });
  module.def("_read_capsule", &read_capsule);
}

}  // namespace holdall::python

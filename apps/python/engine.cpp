// Engine, Array, Part and Lease.
#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "apps/python/bindings.hpp"

namespace holdall::python {

namespace {

using namespace py::literals;

Bytes bytes_of(const py::object& value) {
  if (py::isinstance<py::str>(value)) return parse_bytes(value.cast<std::string>());
  return value.cast<Bytes>();
}

struct Array {
  std::shared_ptr<SharedEngine> owner;
  Range<std::byte> range;
  std::string typestr;  // numpy's: "<f4"
  std::uint64_t item = 1;

  std::uint64_t size() const { return range.size() / item; }
};

struct Part {
  std::shared_ptr<Array> array;
  std::uint64_t first = 0;
  std::uint64_t count = 0;
};

Part part_of(const py::handle& what) {
  if (py::isinstance<Part>(what)) return what.cast<Part>();
  const auto array = what.cast<std::shared_ptr<Array>>();
  return {array, 0, array->size()};
}

py::dict interface_of(const Part& part) {
  const Array& array = *part.array;
  const auto address =
      reinterpret_cast<std::uintptr_t>(array.range.data()) + part.first * array.item;
  return py::dict("shape"_a = py::make_tuple(part.count), "typestr"_a = array.typestr,
                  "data"_a = py::make_tuple(address, false), "version"_a = 3);
}

// numpy asks for the one, libraries on the GPU for the other; each only where it can be read there.
py::dict interface_on(const Part& part, bool host) {
  if (part.array->owner->on_host() != host)
    throw py::attribute_error(host ? "the array is in device memory: see __cuda_array_interface__"
                                   : "the array is in host memory: see __array_interface__");
  return interface_of(part);
}

struct HeldLease {
  std::vector<Part> parts;  // keeps the arrays
  std::shared_ptr<SharedEngine> owner;
  Lease lease;
};

void add(std::vector<Access>& accesses, std::vector<Part>& parts, Access::Kind kind,
         const py::iterable& list, const SharedEngine& owner) {
  for (const py::handle& what : list) {
    const Part part = part_of(what);
    if (part.array->owner.get() != &owner)
      throw InvalidAccess(fmt::format("'{}' is of another engine", part.array->range.name()));
    accesses.push_back({&part.array->range.state(), kind, part.first * part.array->item,
                        part.count * part.array->item, nullptr});
    parts.push_back(part);
  }
}

std::shared_ptr<HeldLease> acquire(const std::shared_ptr<SharedEngine>& owner,
                                   const py::iterable& read, const py::iterable& write,
                                   const py::iterable& overwrite, std::uintptr_t stream) {
  std::vector<Access> accesses;
  auto held = std::make_shared<HeldLease>();
  held->owner = owner;
  add(accesses, held->parts, Access::read, read, *owner);
  add(accesses, held->parts, Access::write, write, *owner);
  add(accesses, held->parts, Access::overwrite, overwrite, *owner);
  const Stream on = owner->stream_of(stream);
  const py::gil_scoped_release others;
  held->lease = owner->engine.acquire(on, accesses);
  held->lease.hand_over();  // another thread's collector may end it
  // On the host Python itself touches the chunks, so the copies have to have arrived.
  if (owner->on_host()) owner->engine.synchronize(on);
  return held;
}

py::dict to_dict(const Traffic& t) {
  return py::dict("hits"_a = t.hits, "faults"_a = t.faults, "prefetched"_a = t.prefetched,
                  "evictions"_a = t.evictions, "write_backs"_a = t.write_backs,
                  "bytes_in"_a = t.bytes_in, "bytes_out"_a = t.bytes_out);
}

py::dict stats(SharedEngine& owner) {
  const Stats stats = owner.engine.stats();
  py::dict all = to_dict(stats);
  py::list ranges, devices;
  for (const RangeStats& range : stats.ranges) {
    py::dict one = to_dict(range);
    one["name"] = range.name;
    one["bytes"] = range.bytes;
    one["resident"] = range.resident;
    ranges.append(one);
  }
  for (const DeviceStats& device : stats.devices)
    devices.append(py::dict("name"_a = device.name, "policy"_a = device.policy,
                            "budget"_a = device.budget, "allocated"_a = device.allocated,
                            "resident"_a = device.resident, "pinned"_a = device.pinned));
  all["ranges"] = ranges;
  all["devices"] = devices;
  all["host_budget"] = stats.host_budget;
  all["host_pinned"] = stats.host_pinned;
  return all;
}

}  // namespace

void add_engine(py::module_& module) {
  py::class_<Array, std::shared_ptr<Array>>(module, "Array")
      .def_property_readonly("name", [](const Array& a) { return a.range.name(); })
      .def_property_readonly("size", &Array::size)
      .def_property_readonly("nbytes", [](const Array& a) { return a.size() * a.item; })
      .def_property_readonly("chunk_bytes", [](const Array& a) { return a.range.chunk_bytes(); })
      .def_property_readonly("typestr", [](const Array& a) { return a.typestr; })
      .def("__len__", &Array::size)
      .def("__getitem__",
           [](const std::shared_ptr<Array>& array, const py::slice& slice) {
             std::size_t first = 0, stop = 0, step = 0, count = 0;
             if (!slice.compute(array->size(), &first, &stop, &step, &count))
               throw py::error_already_set();
             if (step != 1) throw py::value_error("a part of an array has no step");
             return Part{array, first, count};
           })
      .def_property_readonly("__array_interface__",
                             [](const std::shared_ptr<Array>& a) {
                               return interface_on({a, 0, a->size()}, true);
                             })
      .def_property_readonly("__cuda_array_interface__", [](const std::shared_ptr<Array>& a) {
        return interface_on({a, 0, a->size()}, false);
      });
  py::class_<Part>(module, "Part")
      .def("__len__", [](const Part& p) { return p.count; })
      .def_property_readonly("__array_interface__",
                             [](const Part& p) { return interface_on(p, true); })
      .def_property_readonly("__cuda_array_interface__",
                             [](const Part& p) { return interface_on(p, false); });
  py::class_<HeldLease, std::shared_ptr<HeldLease>>(module, "Lease")
      .def("release", [](HeldLease& held) { held.lease.release(); })
      .def("__enter__", [](const std::shared_ptr<HeldLease>& held) { return held; })
      .def("__exit__", [](HeldLease& held, const py::args&) { held.lease.release(); });

  py::class_<SharedEngine, std::shared_ptr<SharedEngine>>(module, "Engine")
      .def(py::init([](const py::object& memory, const py::object& host_memory,
                       const std::string& policy, const std::string& driver, int devices,
                       const py::object& chunk) {
             Config config;
             config.memory = bytes_of(memory);
             config.host_memory = bytes_of(host_memory);
             config.policy = policy;
             config.driver = driver;
             config.devices = devices;
             config.chunk = bytes_of(chunk);
             const py::gil_scoped_release others;
             return std::make_shared<SharedEngine>(config);
           }),
           "memory"_a = 0, "host_memory"_a = 0, "policy"_a = "lru", "driver"_a = "",
           "devices"_a = 1, "chunk"_a = "8MiB")
      .def(
          "_reserve",
          [](const std::shared_ptr<SharedEngine>& owner, std::uint64_t count,
             const std::string& typestr, std::uint64_t item, const std::string& name,
             const py::object& chunk, const std::optional<std::string>& path, Bytes offset) {
            if (count > all / item) throw InvalidAccess("an array of more than 2^64 bytes");
            RangeOptions options{.name = name};
            options.chunk = bytes_of(chunk);
            if (path) options.backing = file(*path, offset);
            return std::make_shared<Array>(Array{
                owner, owner->engine.reserve<std::byte>(count * item, options), typestr, item});
          },
          "count"_a, "typestr"_a, "item"_a, "name"_a, "chunk"_a, "path"_a, "offset"_a)
      .def("acquire", &acquire, "read"_a = py::tuple(), "write"_a = py::tuple(),
           "overwrite"_a = py::tuple(), py::kw_only(), "stream"_a = 0)
      .def("prefetch",
           [](const std::shared_ptr<SharedEngine>& owner, const py::args& what) {
             std::vector<Access> accesses;
             std::vector<Part> parts;
             add(accesses, parts, Access::read, what, *owner);
             for (const Access& access : accesses) owner->engine.prefetch({access});
           })
      .def("flush",
           [](SharedEngine& owner, Array& array) {
             const py::gil_scoped_release others;
             owner.engine.flush(array.range);
           })
      .def(
          "synchronize",
          [](SharedEngine& owner, std::uintptr_t stream) {
            const Stream on = owner.stream_of(stream);
            const py::gil_scoped_release others;
            owner.engine.synchronize(on);
          },
          "stream"_a = 0)
      .def("_own_stream", &SharedEngine::own_of)
      .def("stats", &stats)
      .def(
          "set_memory",
          [](SharedEngine& owner, const py::object& memory, int device) {
            const Bytes bytes = bytes_of(memory);
            const py::gil_scoped_release others;
            owner.engine.set_memory(device, bytes);
          },
          "memory"_a, "device"_a = 0)
      .def_property_readonly("memory",
                             [](const SharedEngine& owner) { return owner.engine.memory(); })
      .def_property_readonly("devices",
                             [](const SharedEngine& owner) { return owner.engine.devices(); })
      .def_property_readonly("driver", [](const SharedEngine& owner) {
        return std::string(owner.engine.driver().name());
      });
}

}  // namespace holdall::python

// Table: an EmbeddingTable by addresses.
#include <cstring>

#include "apps/embedding/table.hpp"
#include "apps/python/bindings.hpp"

namespace holdall::python {

namespace {

using namespace py::literals;
using namespace embedding;  // NOLINT: this file is about tables

const std::map<std::string, RowType> row_types = {{"float32", RowType::fp32},
                                                  {"float16", RowType::fp16},
                                                  {"bfloat16", RowType::bf16},
                                                  {"int8", RowType::int8}};

RowType row_type(const std::string& name) {
  const auto found = row_types.find(name);
  if (found == row_types.end())
    throw EmbeddingError("'" + name +
                         "' is no type of rows: use float32, float16, bfloat16 or int8");
  return found->second;
}

template <class T>
T* at(std::uintptr_t address) {
  return reinterpret_cast<T*>(address);  // NOLINT: addresses are what this module deals in
}

class Table {
 public:
  Table(std::shared_ptr<SharedEngine> owner, const TableSpec& spec, const Source& source)
      : owner_(std::move(owner)), table_(EmbeddingTable::open(owner_->engine, spec, source)) {}

  void lookup(std::uintptr_t keys, std::uint64_t n, std::uintptr_t out, std::uintptr_t found,
              std::uintptr_t stream) {
    table_.lookup(at<const std::uint64_t>(keys), n, rows_out(out), owner_->stream_of(stream),
                  {at<std::uint8_t>(found), nullptr});
  }
  void bag(const Bags& bags, std::uintptr_t out, std::uintptr_t stream) {
    table_.bag(bags, rows_out(out), owner_->stream_of(stream));
  }
  void update(std::uintptr_t keys, std::uint64_t n, std::uintptr_t rows, bool insert,
              std::uintptr_t stream) {
    const kernels::RowsIn in{at<const void>(rows), RowType::fp32, table_.dim() * std::uint64_t{4}};
    const Stream on = owner_->stream_of(stream);
    if (insert)
      table_.insert_or_assign(at<const std::uint64_t>(keys), n, in, on);
    else
      table_.update(at<const std::uint64_t>(keys), n, in, on);
  }
  void erase(std::uintptr_t keys, std::uint64_t n, std::uintptr_t stream) {
    table_.erase(at<const std::uint64_t>(keys), n, owner_->stream_of(stream));
  }
  void prefetch(std::uintptr_t keys, std::uint64_t n, std::uintptr_t stream) {
    table_.prefetch(at<const std::uint64_t>(keys), n, owner_->stream_of(stream));
  }
  void check(std::uintptr_t stream) { table_.check(owner_->stream_of(stream)); }
  EmbeddingTable& table() { return table_; }

 private:
  RowsOut rows_out(std::uintptr_t out) const {
    return {at<void>(out), RowType::fp32, table_.dim() * std::uint64_t{4}};
  }

  std::shared_ptr<SharedEngine> owner_;
  EmbeddingTable table_;
};

TableSpec spec_of(const std::string& name, const std::string& type, const std::string& cold_type,
                  Bytes memory, bool hashed, std::uint64_t capacity, const std::string& unknown,
                  std::vector<std::uint64_t> frequencies, bool learn) {
  TableSpec spec;
  spec.name = name;
  spec.type = row_type(type);
  if (!cold_type.empty()) spec.cold_type = row_type(cold_type);
  spec.memory = memory;
  spec.keys = hashed ? Keys::hashed : Keys::dense;
  spec.capacity = capacity;
  if (unknown != "zeros" && unknown != "error")
    throw EmbeddingError("unknown='" + unknown + "' is neither 'zeros' nor 'error'");
  spec.unknown = unknown == "zeros" ? Unknown::zeros : Unknown::error;
  spec.frequencies = std::move(frequencies);
  spec.learning.on = learn;
  return spec;
}

Bags bags_of(std::uintptr_t indices, std::uint64_t count, std::uintptr_t offsets,
             std::uint64_t bags, bool include_last_offset, const std::string& mode,
             std::uintptr_t weights, std::int64_t padding) {
  static const std::map<std::string, Pooling> modes = {
      {"sum", Pooling::sum}, {"mean", Pooling::mean}, {"max", Pooling::max}};
  const auto found = modes.find(mode);
  if (found == modes.end())
    throw EmbeddingError("mode '" + mode + "' is none of sum, mean and max");
  return {at<const std::uint64_t>(indices),
          count,
          at<const std::uint64_t>(offsets),
          bags,
          include_last_offset,
          found->second,
          at<const float>(weights),
          padding};
}

py::dict stats(Table& table) {
  const TableStats s = table.table().stats();
  return py::dict("rows"_a = s.rows, "capacity"_a = s.capacity, "keys"_a = s.keys,
                  "cold"_a = s.cold, "missing"_a = s.missing, "duplicates"_a = s.duplicates,
                  "refused"_a = s.refused, "moved"_a = s.moved, "versions"_a = s.versions,
                  "device_bytes"_a = s.device_bytes, "host_bytes"_a = s.host_bytes,
                  "overhead_bytes"_a = s.overhead_bytes, "hit_rate"_a = s.hit_rate(),
                  "predicted_hit_rate"_a = s.predicted_hit_rate);
}

}  // namespace

void add_table(py::module_& module) {
  using Release = py::call_guard<py::gil_scoped_release>;
  py::class_<Table, std::shared_ptr<Table>>(module, "Table")
      .def(py::init([](std::shared_ptr<SharedEngine> owner, const std::string& path,
                       const std::string& name, const std::string& type,
                       const std::string& cold_type, Bytes memory, bool hashed,
                       std::uint64_t capacity, const std::string& unknown,
                       std::vector<std::uint64_t> frequencies, bool learn, std::uint32_t dim,
                       const std::string& tensor) {
             return std::make_shared<Table>(std::move(owner),
                                            spec_of(name, type, cold_type, memory, hashed, capacity, unknown,
                                                    std::move(frequencies), learn),
                                            *open_source(path, {.dim = dim, .tensor = tensor}));
           }),
           "engine"_a, "path"_a, "name"_a, "type"_a, "cold_type"_a, "memory"_a, "hashed"_a, "capacity"_a,
           "unknown"_a, "frequencies"_a, "learn"_a, "dim"_a, "tensor"_a, Release())
      .def(
          py::init([](std::shared_ptr<SharedEngine> owner, std::uintptr_t rows, std::uint64_t count,
                      std::uint32_t dim, const std::string& from, std::uintptr_t keys,
                      const std::string& name, const std::string& type, const std::string& cold_type,
                      Bytes memory, bool hashed, std::uint64_t capacity, const std::string& unknown,
                      std::vector<std::uint64_t> frequencies, bool learn) {
            const RowType given = row_type(from);
            const std::uint64_t bytes = kernels::row_bytes(given, dim);
            FillKeys fill_keys;
            if (keys != 0)
              fill_keys = [=](std::uint64_t first, std::uint64_t n, std::uint64_t* to) {
                std::memcpy(to, at<const std::uint64_t>(keys) + first, n * 8);
              };
            const auto source = from_function(
                {name, count, dim, given, keys != 0},
                [=](std::uint64_t first, std::uint64_t n, std::byte* to) {
                  std::memcpy(to, at<const std::byte>(rows) + first * bytes, n * bytes);
                },
                fill_keys);
            return std::make_shared<Table>(std::move(owner),
                                           spec_of(name, type, cold_type, memory, hashed, capacity, unknown,
                                                   std::move(frequencies), learn),
                                           *source);
          }),
          "engine"_a, "rows"_a, "count"_a, "dim"_a, "row_type"_a, "keys"_a, "name"_a, "type"_a,
          "cold_type"_a, "memory"_a, "hashed"_a, "capacity"_a, "unknown"_a, "frequencies"_a, "learn"_a, Release())
      .def("lookup", &Table::lookup, Release())
      .def(
          "bag",
          [](Table& table, std::uintptr_t indices, std::uint64_t count, std::uintptr_t offsets,
             std::uint64_t bags, bool include_last_offset, const std::string& mode,
             std::uintptr_t weights, std::int64_t padding, std::uintptr_t out,
             std::uintptr_t stream) {
            table.bag(
                bags_of(indices, count, offsets, bags, include_last_offset, mode, weights, padding),
                out, stream);
          },
          Release())
      .def("update", &Table::update, Release())
      .def("erase", &Table::erase, Release())
      .def("prefetch", &Table::prefetch, Release())
      .def("check", &Table::check, Release())
      .def(
          "load_version",
          [](Table& table, const std::string& path) { table.table().load_version(path); },
          Release())
      .def(
          "save", [](Table& table, const std::string& path) { table.table().save(path); },
          Release())
      .def(
          "set_budget", [](Table& table, Bytes memory) { return table.table().set_budget(memory); },
          Release())
      .def(
          "learn", [](Table& table) { return table.table().learn(); }, Release())
      .def("stats", &stats)
      .def_property_readonly("dim", [](Table& table) { return table.table().dim(); });
}

}  // namespace holdall::python

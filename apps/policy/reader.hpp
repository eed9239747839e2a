// Reading traces of every format, as one stream of requests. Start here for formats: open_trace
// finds out by content which one it is, unpacking what is packed.
//
//   const auto reader = open_trace("trace.oracleGeneral.bin.zst");
//   std::vector<TraceRecord> some(1024);
//   while (const std::size_t n = reader->read(some)) use(std::span(some).first(n));
//
// A request is a TraceRecord (engine/trace.hpp): its `chunk` is the format's name of the object, 64
// bits, a hash where the format has words; what a format does not have stays at its default, and
// `bytes` at 1.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <vector>

#include "apps/policy/input.hpp"
#include "engine/trace.hpp"

namespace holdall::lab {

struct ReadOptions {
  std::string format = {};     // one of formats(); empty: by content
  std::string columns = {};    // of csv: "time=1,key=lbn,size=5,op=op", a name or a number from 1
  std::uint64_t block = 4096;  // bytes of a chunk, where a format has addresses
};

class Reader {
 public:
  Reader(std::unique_ptr<Input> input, std::string format)
      : in_(std::move(input)), format_(std::move(format)) {}
  virtual ~Reader() = default;

  // The next requests, 0 at the end. Throws LabError with file, record and offset.
  virtual std::size_t read(std::span<TraceRecord> records) = 0;

  const std::string& format() const { return format_; }
  const Input& input() const { return *in_; }

 protected:
  // "FILE: record 7 at byte 168: WHAT"
  [[noreturn]] void fail(std::uint64_t record, std::uint64_t offset, const std::string& what) const;

  std::unique_ptr<Input> in_;

 private:
  const std::string format_;
};

// Throws LabError if the file cannot be read, is empty, or is of no known format.
std::unique_ptr<Reader> open_trace(const std::string& path, const ReadOptions& options = {});

const std::vector<std::string>& formats();

}  // namespace holdall::lab

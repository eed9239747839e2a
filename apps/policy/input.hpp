// The bytes of a file or of standard input ("-"), unpacked if they are zstd, gzip or xz.
//
//   Input in("trace.bin.zst");
//   while (!in.peek(24).empty()) { use(in.peek(24)); in.skip(24); }
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "apps/packed/unpack.hpp"

namespace holdall::lab {

class Input {
 public:
  // Throws LabError if the file cannot be opened, or is packed in a way that this build cannot
  // unpack.
  explicit Input(const std::string& path);

  const std::string& name() const { return name_; }    // for messages
  std::uint64_t offset() const { return offset_; }     // of what peek shows, in the unpacked bytes
  std::uint64_t file_bytes() const { return bytes_; }  // packed; 0 if unknown
  std::uint64_t file_offset() const { return *taken_; }  // read so far, packed

  // The next bytes, at least `want` of them unless the input ends before; valid until the next
  // call.
  std::string_view peek(std::size_t want) {
    if (end_ - begin_ < want) fill(want);
    return {buffer_.data() + begin_, end_ - begin_};
  }
  void skip(std::size_t bytes) {  // no more than peek has shown
    begin_ += bytes;
    offset_ += bytes;
  }
  // The next line without its end; false at the end of the input. Throws LabError for one longer
  // than 1 MiB.
  bool line(std::string_view& text);

 private:
  void fill(std::size_t want);
  std::size_t read(char* to, std::size_t size);

  std::string name_;
  std::uint64_t bytes_ = 0, offset_ = 0;
  std::shared_ptr<std::uint64_t> taken_;  // also held by the file's source
  std::unique_ptr<packed::Source> source_;
  std::vector<char> buffer_;
  std::size_t begin_ = 0, end_ = 0;
  bool ended_ = false;
};

}  // namespace holdall::lab

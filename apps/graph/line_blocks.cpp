#include "apps/graph/line_blocks.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "apps/graph/error.hpp"

namespace holdall::graph {

namespace {

constexpr Bytes block_bytes = Bytes{256} << 10;
constexpr Bytes most_line_bytes = Bytes{64} << 20;
constexpr std::string_view line_ends = "\n\r";

// The byte after the line end that begins at `end`.
std::size_t after(std::string_view text, std::size_t end) {
  return end + (text.compare(end, 2, "\r\n") == 0 ? 2 : 1);
}

}  // namespace

std::uint64_t LineBlocks::size() const {
  const Bytes bytes = file_.bytes() > begin_ ? file_.bytes() - begin_ : 0;
  return (bytes + block_bytes - 1) / block_bytes;
}

// From after the first line end at or past the block's first byte - 1 to the first at or past its
// last byte: so each line is in the block where it begins.
std::string_view LineBlocks::read(std::uint64_t block, std::vector<char>& buffer,
                                  Bytes& first_byte) const {
  const Bytes start = begin_ + block * block_bytes;
  const Bytes from = start == begin_ ? start : start - 1;
  const Bytes stop = std::min(start + block_bytes, file_.bytes());
  const auto last =
      static_cast<std::size_t>(stop - 1 - from);  // where the end may be, at the least
  std::size_t wanted = last + 1 + 256;
  for (;; wanted *= 2) {
    buffer.resize(wanted + 1);
    const std::size_t got = file_.read_some(from, buffer.data(), wanted);
    const bool whole = got < wanted;  // the file ends here
    std::string_view text(buffer.data(), got);
    std::size_t first = 0;
    if (start != begin_) {
      const std::size_t before = text.find_first_of(line_ends);
      if (before == text.npos) return {};
      first = after(text, before);
      if (first > last) return {};  // no line begins here
    }
    std::size_t end = text.find_first_of(line_ends, last);
    if (end == text.npos && whole) {  // the last line of the file has no end
      buffer[got] = '\n';
      end = got;
      text = {buffer.data(), got + 1};
    }
    if (end != text.npos && (end + 1 < got || whole)) {
      first_byte = from + first;
      return text.substr(first, after(text, end) - first);
    }
    if (wanted > most_line_bytes)
      throw GraphError(file_.path(), Byte{from + first},
                       fmt::format("a line of more than {}; expected two ids a line",
                                   holdall::to_string(most_line_bytes)));
  }
}

void LineBlocks::fail(Bytes at, const std::string& problem) const {
  std::uint64_t line = 1;
  std::vector<char> text(block_bytes);
  char before = 0;
  for (Bytes from = 0; from < at;) {
    const std::size_t got =
        file_.read_some(from, text.data(), std::min<Bytes>(text.size(), at - from));
    if (got == 0) break;
    line += count_lines({text.data(), got});
    if (before == '\r' && text[0] == '\n') --line;  // one end in two pieces
    before = text[got - 1];
    from += got;
  }
  throw GraphError(file_.path(), Line{line}, problem);
}

std::uint64_t count_lines(std::string_view text) {
  std::uint64_t lines = 0;
  for (std::size_t i = 0; i < text.size(); ++i)
    if (text[i] == '\n' || (text[i] == '\r' && (i + 1 == text.size() || text[i + 1] != '\n')))
      ++lines;
  return lines;
}

}  // namespace holdall::graph

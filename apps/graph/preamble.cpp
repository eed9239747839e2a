#include "apps/graph/preamble.hpp"

#include <algorithm>
#include <cctype>
#include <charconv>
#include <string_view>
#include <vector>

#include "apps/graph/error.hpp"

namespace holdall::graph {

namespace {

constexpr Bytes most_bytes = Bytes{64} << 10;
constexpr std::string_view blanks = " \t\v\f,;";

std::vector<std::string_view> words_of(std::string_view line) {
  std::vector<std::string_view> words;
  for (std::size_t at = 0; (at = line.find_first_not_of(blanks, at)) != line.npos;) {
    const std::size_t end = std::min(line.find_first_of(blanks, at), line.size());
    words.push_back(line.substr(at, end - at));
    at = end;
  }
  return words;
}

std::optional<std::uint64_t> number(std::string_view word) {
  std::uint64_t value = 0;
  const char* const end = word.data() + word.size();
  const auto [rest, error] = std::from_chars(word.data(), end, value);
  if (error != std::errc() || rest != end) return {};
  return value;
}

// `# name n m k`, `# Nodes: n Edges: m` (SNAP), `% sym unweighted` (KONECT).
void read_comment(const File& file, std::string_view line, std::uint64_t line_number,
                  Preamble& preamble) {
  const auto words = words_of(line.substr(1));
  if (words.size() == 4 && !number(words[0]) && number(words[1]) && number(words[2]) &&
      number(words[3])) {
    preamble.vertices = number(words[1]);
    preamble.edges = number(words[2]);
  }
  for (std::size_t i = 0; i + 1 < words.size(); ++i)
    if (words[i] == "Edges:") preamble.edges = number(words[i + 1]);
  if (line[0] == '%' && !words.empty() && words[0] == "sym") preamble.undirected = true;
  if (line[0] == '%' && words.size() > 1 && (words[0] == "sym" || words[0] == "asym"))
    preamble.unweighted = words[1] == "unweighted" || words[1] == "dynamic";
  if (line[0] == '%' && !words.empty() && words[0] == "bip")
    throw GraphError(file.path(), Line{line_number},
                     "a KONECT file of two kinds of vertices, numbered from 1 each, so that their "
                     "ids overlap",
                     "add the number of left vertices to the second column and drop this line");
}

}  // namespace

Preamble read_preamble(const File& file) {
  std::string text(std::min(file.bytes(), most_bytes), '\0');
  text.resize(file.read_some(0, text.data(), text.size()));
  Preamble preamble;
  std::uint64_t line_number = 1;
  std::size_t at = text.starts_with("\xef\xbb\xbf") ? 3 : 0;  // the byte order mark of UTF-8
  while (at < text.size()) {
    const std::size_t end = std::min(text.find_first_of("\n\r", at), text.size());
    if (end == text.size() && text.size() < file.bytes()) break;  // a line that goes on
    const std::string_view line = std::string_view(text).substr(at, end - at);
    const auto all = words_of(line);
    const bool comment = !all.empty() && (all[0][0] == '#' || all[0][0] == '%');
    const auto words = words_of(line.substr(0, line.find_first_of("#%")));
    const bool names = preamble.columns == 0 && preamble.skipped_header.empty() &&
                       words.size() > 1 && std::ranges::all_of(words, [](std::string_view word) {
                         return std::isalpha(static_cast<unsigned char>(word[0])) != 0 ||
                                word[0] == '"' || word[0] == '_';
                       });
    if (comment && preamble.columns == 0)
      read_comment(file, line.substr(line.find_first_of("#%")), line_number, preamble);
    else if (names)
      preamble.skipped_header = line;
    else if (!words.empty() && preamble.columns > 0) {
      preamble.below = at;
      preamble.columns_below = words.size();
      return preamble;
    } else if (!words.empty()) {
      preamble.columns = words.size();
      preamble.begin = at;
      preamble.line = line_number;
      for (std::size_t i = 0; i < std::min<std::size_t>(words.size(), 2); ++i)
        preamble.first[i] = number(words[i]);
    }
    at = std::min(end + (text.compare(end, 2, "\r\n") == 0 ? 2 : 1), text.size());
    ++line_number;
  }
  if (preamble.columns == 0) preamble.begin = at;
  return preamble;
}

}  // namespace holdall::graph

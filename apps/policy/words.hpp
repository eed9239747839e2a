// The words of a line, cut at a delimiter; at runs of blanks where the delimiter is ' '.
#pragma once

#include <string_view>
#include <vector>

namespace holdall::lab {

inline void split(std::string_view line, char delimiter, std::vector<std::string_view>& words) {
  words.clear();
  if (delimiter != ' ') {
    for (std::size_t end; (end = line.find(delimiter)) != line.npos; line.remove_prefix(end + 1))
      words.push_back(line.substr(0, end));
    words.push_back(line);
    return;
  }
  while (true) {
    const std::size_t begin = line.find_first_not_of(" \t");
    if (begin == line.npos) return;
    line.remove_prefix(begin);
    const std::size_t end = line.find_first_of(" \t");
    words.push_back(line.substr(0, end));
    if (end == line.npos) return;
    line.remove_prefix(end);
  }
}

inline std::string_view trimmed(std::string_view word) {
  while (!word.empty() && (word.front() == ' ' || word.front() == '"')) word.remove_prefix(1);
  while (!word.empty() && (word.back() == ' ' || word.back() == '"' || word.back() == '\r'))
    word.remove_suffix(1);
  return word;
}

}  // namespace holdall::lab

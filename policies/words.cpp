#include "policies/words.hpp"

#include <algorithm>
#include <cctype>
#include <vector>

namespace holdall::policies {

namespace {

bool same(char a, char b) {
  return std::tolower(static_cast<unsigned char>(a)) == std::tolower(static_cast<unsigned char>(b));
}

// Damerau, "A technique for computer detection and correction of spelling errors", CACM 7(3), 1964.
std::size_t edits(std::string_view a, std::string_view b) {
  std::vector<std::vector<std::size_t>> d(a.size() + 1, std::vector<std::size_t>(b.size() + 1));
  for (std::size_t i = 0; i <= a.size(); ++i)
    for (std::size_t j = 0; j <= b.size(); ++j) {
      if (i == 0 || j == 0) {
        d[i][j] = i + j;
        continue;
      }
      d[i][j] = std::min(
          {d[i - 1][j] + 1, d[i][j - 1] + 1, d[i - 1][j - 1] + (same(a[i - 1], b[j - 1]) ? 0 : 1)});
      if (i > 1 && j > 1 && same(a[i - 1], b[j - 2]) && same(a[i - 2], b[j - 1]))
        d[i][j] = std::min(d[i][j], d[i - 2][j - 2] + 1);
    }
  return d[a.size()][b.size()];
}

}  // namespace

std::string nearest(std::string_view word, std::span<const std::string> words) {
  std::string best;
  std::size_t fewest = (word.size() + 3) / 3 + 1;
  for (const std::string& candidate : words)
    if (const std::size_t n = edits(word.substr(0, 64), candidate);
        n < fewest && n < candidate.size()) {
      fewest = n;
      best = candidate;
    }
  return best;
}

std::string list_of(std::span<const std::string> words) {
  std::string text;
  for (const std::string& word : words) text += (text.empty() ? "" : ", ") + word;
  return words.empty() ? "none" : text;
}

std::string in_quotes(std::string_view word) {
  std::string text = "'";
  return text.append(word).append("'");
}

std::string unknown(std::string_view kind, std::string_view word,
                    std::span<const std::string> words, std::string_view there_are) {
  std::string text = "no " + std::string(kind) + " " + in_quotes(word) + ".";
  if (const std::string near = nearest(word, words); !near.empty())
    text += " Did you mean " + in_quotes(near) + "?";
  return text + " " + std::string(there_are) + " " + list_of(words);
}

}  // namespace holdall::policies

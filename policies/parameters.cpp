#include <algorithm>
#include <array>
#include <charconv>
#include <sstream>
#include <system_error>

#include "policies/registry.hpp"
#include "policies/words.hpp"

namespace holdall {

namespace {

// The whole of `text` as a T, or false.
template <class T>
bool parse(std::string_view text, T& value) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  return error == std::errc() && end == text.data() + text.size();
}

// Where the first `mark` outside parentheses is, npos if nowhere.
std::size_t find_outside(std::string_view text, char mark) {
  int depth = 0;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] == mark && depth == 0) return i;
    depth += text[i] == '(' ? 1 : text[i] == ')' ? -1 : 0;
  }
  return text.npos;
}

template <class... Parts>
[[noreturn]] void refuse(const Parts&... parts) {
  std::ostringstream text;
  (text << ... << parts);
  throw PolicyError(text.str());
}

}  // namespace

Parameters::Parameters(std::string_view spec) {
  if (spec.empty()) return;
  for (;;) {
    const std::string_view item = spec.substr(0, find_outside(spec, ','));
    const std::size_t equals = item.find('=');
    if (equals == 0 || equals == item.npos || equals + 1 == item.size())
      refuse("'", item, "' is no parameter: write key=value,key=value");
    const std::string_view key = item.substr(0, equals);
    if (!values_.emplace(key, item.substr(equals + 1)).second) refuse(key, " is given twice");
    if (item.size() == spec.size()) return;
    spec.remove_prefix(item.size() + 1);
  }
}

const std::string* Parameters::read(std::string_view key) {
  if (std::find(known_.begin(), known_.end(), key) == known_.end()) known_.emplace_back(key);
  const auto value = values_.find(key);
  return value == values_.end() ? nullptr : &value->second;
}

double Parameters::number(std::string_view key, double otherwise, double least, double most) {
  const std::string* text = read(key);
  if (text == nullptr) return otherwise;
  double value = 0;
  if (parse(*text, value) && least <= value && value <= most) return value;
  refuse(key, " is a number from ", least, " to ", most, ", not '", *text, "'");
}

std::uint64_t Parameters::count(std::string_view key, std::uint64_t otherwise, std::uint64_t least,
                                std::uint64_t most) {
  const std::string* text = read(key);
  if (text == nullptr) return otherwise;
  std::uint64_t value = 0;
  if (parse(*text, value) && least <= value && value <= most) return value;
  refuse(key, " is a whole number from ", least, " to ", most, ", not '", *text, "'");
}

std::string Parameters::choice(std::string_view key, std::string_view otherwise,
                               std::span<const std::string_view> choices) {
  const std::string* text = read(key);
  if (text == nullptr) return std::string(otherwise);
  if (std::find(choices.begin(), choices.end(), *text) != choices.end()) return *text;
  refuse(key, " is one of ",
         policies::list_of(std::vector<std::string>(choices.begin(), choices.end())), ", not '",
         *text, "'");
}

bool Parameters::flag(std::string_view key, bool otherwise) {
  constexpr std::array<std::string_view, 2> choices = {"false", "true"};
  return choice(key, choices[otherwise], choices) == "true";
}

std::string Parameters::text(std::string_view key, std::string_view otherwise) {
  const std::string* text = read(key);
  if (text == nullptr) return std::string(otherwise);
  if (text->front() != '(') return *text;
  if (text->size() < 3 || text->back() != ')')
    refuse(key, " has a parenthesis that is not closed: '", *text, "'");
  return text->substr(1, text->size() - 2);
}

std::string Parameters::rest() {
  std::string all;
  for (const auto& [key, value] : values_) {
    read(key);
    all += (all.empty() ? "" : ",") + key + "=" + value;
  }
  return all;
}

std::vector<std::string> Parameters::unread() const {
  std::vector<std::string> keys;
  for (const auto& [key, value] : values_)
    if (std::find(known_.begin(), known_.end(), key) == known_.end()) keys.push_back(key);
  return keys;
}

}  // namespace holdall

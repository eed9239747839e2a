#include "apps/policy/table.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <fstream>
#include <iterator>

#include "apps/policy/error.hpp"
#include "apps/policy/words.hpp"
#include "engine/new_file.hpp"
#include "engine/vmm/bytes.hpp"

namespace holdall::lab {

namespace {

constexpr std::string_view header =
    "trace,policy,size,unit,requests,hits,misses,refused,prefetched,removed,bytes_in,bytes_out,"
    "chunks_in,evictions,"
    "write_backs,seconds,modelled_seconds\n";

// A policy's parameters have commas, a file's name may have anything.
std::string quoted(const std::string& text) {
  if (text.find_first_of(",\"\n") == text.npos) return text;
  std::string out = "\"";
  for (const char c : text) out.append(c == '"' ? 2 : 1, c);
  out += '"';
  return out;
}

// The fields of a line, quotes taken off.
std::vector<std::string> fields(std::string_view line) {
  std::vector<std::string> all(1);
  bool inside = false;
  for (std::size_t i = 0; i < line.size(); ++i) {
    const char c = line[i];
    if (c == '"' && inside && i + 1 < line.size() && line[i + 1] == '"')
      all.back() += line[++i];
    else if (c == '"')
      inside = !inside;
    else if (c == ',' && !inside)
      all.emplace_back();
    else
      all.back() += c;
  }
  return all;
}

template <class Number>
Number parse(const std::string& path, std::size_t line, const std::string& word) {
  Number n{};
  const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), n);
  if (error != std::errc() || end != word.data() + word.size())
    throw LabError(fmt::format("{}: line {}: '{}' is no number", path, line, word));
  return n;
}

}  // namespace

nlohmann::json to_json(const Result& r) {
  nlohmann::json json{{"policy", r.policy},
                      {"size", r.capacity},
                      {"unit", r.sizes ? "bytes" : "chunks"},
                      {"requests", r.counts.requests},
                      {"hits", r.counts.hits},
                      {"misses", r.counts.misses},
                      {"refused", r.counts.refused},
                      {"prefetched", r.counts.prefetched},
                      {"removed", r.counts.removed},
                      {"bytes_in", r.counts.bytes_in},
                      {"bytes_out", r.counts.bytes_out},
                      {"chunks_in", r.counts.chunks_in},
                      {"evictions", r.counts.evictions},
                      {"write_backs", r.counts.write_backs},
                      {"seconds", r.seconds},
                      {"modelled_seconds", r.modelled}};
  if (!r.trace.empty()) json["trace"] = r.trace;
  return json;
}

std::string csv_header() { return std::string(header); }

std::string to_csv(const Result& r) {
  const Counts& c = r.counts;
  return fmt::format("{},{},{},{},{},{},{},{},{},{},{},{},{},{},{},{:.6g},{:.6g}\n",
                     quoted(r.trace), quoted(r.policy), r.capacity, r.sizes ? "bytes" : "chunks",
                     c.requests, c.hits, c.misses, c.refused, c.prefetched, c.removed, c.bytes_in,
                     c.bytes_out, c.chunks_in, c.evictions, c.write_backs, r.seconds, r.modelled);
}

std::string to_text(const std::vector<Result>& results) {
  std::size_t width = 6;
  for (const Result& r : results) width = std::max(width, r.policy.size());
  std::string text =
      fmt::format("{:<{}}  {:>12}  {:>12}  {:>12}  {:>7}  {:>11}  {:>11}  {:>12}  {:>11}  {:>10}\n",
                  "policy", width, "size", "requests", "misses", "miss", "bytes in", "bytes out",
                  "evictions", "write-backs", "modelled");
  for (const Result& r : results) {
    const Counts& c = r.counts;
    text += fmt::format(
        "{:<{}}  {:>12}  {:>12}  {:>12}  {:>6.2f}%  {:>11}  {:>11}  {:>12}  {:>11}  {:>8.3f} s\n",
        r.policy, width, r.sizes ? to_string(r.capacity) : std::to_string(r.capacity), c.requests,
        c.misses,
        c.requests ? 100.0 * static_cast<double>(c.misses) / static_cast<double>(c.requests) : 0,
        to_string(c.bytes_in), to_string(c.bytes_out), c.evictions, c.write_backs, r.modelled);
  }
  return text;
}

std::vector<Result> read_results(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  if (!in) throw LabError(fmt::format("{}: cannot be opened: {}", path, why(errno)));
  const std::string text{std::istreambuf_iterator<char>(in), {}};
  if (text.empty()) return {};
  if (!text.starts_with(header))
    throw LabError(fmt::format("{}: line 1: not a table of results: its first line is not '{}'",
                               path, header.substr(0, header.size() - 1)));
  std::vector<Result> results;
  std::size_t number = 1;
  for (std::string_view rest = std::string_view(text).substr(header.size());
       rest.find('\n') != rest.npos;) {
    const std::size_t end = rest.find('\n');
    ++number;
    const auto f = fields(rest.substr(0, end));
    rest.remove_prefix(end + 1);
    if (f.size() != 17)
      throw LabError(fmt::format("{}: line {}: {} columns, not 17", path, number, f.size()));
    const auto whole = [&](std::size_t i) { return parse<std::uint64_t>(path, number, f[i]); };
    Result r{f[0], f[1], whole(2), f[3] == "bytes", {}};
    r.counts = {.requests = whole(4),
                .hits = whole(5),
                .misses = whole(6),
                .refused = whole(7),
                .prefetched = whole(8),
                .removed = whole(9),
                .bytes_in = whole(10),
                .bytes_out = whole(11),
                .chunks_in = whole(12),
                .evictions = whole(13),
                .write_backs = whole(14)};
    r.seconds = parse<double>(path, number, f[15]);
    r.modelled = parse<double>(path, number, f[16]);
    results.push_back(r);
  }
  return results;
}

}  // namespace holdall::lab

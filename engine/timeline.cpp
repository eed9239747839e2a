#include "engine/timeline.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fstream>
#include <map>
#include <nlohmann/json.hpp>

#include "engine/error.hpp"

namespace holdall {

namespace {

[[noreturn]] void fail(const std::filesystem::path& path) {
  throw BackingError(
      fmt::format("cannot write the timeline '{}': {}", path.string(), std::strerror(errno)));
}

}  // namespace

Timeline::Timeline(std::filesystem::path path) : path_(std::move(path)) {
  if (!std::ofstream(path_)) fail(path_);
}

void Timeline::add(const char* what, std::string track, const std::string& range,
                   std::uint64_t chunks, std::int64_t begin, std::int64_t end) {
  const std::scoped_lock hold(lock_);
  events_.push_back({what, std::move(track), range, chunks, begin, end});
}

void Timeline::write() const {
  const std::scoped_lock hold(lock_);
  std::ofstream out(path_);
  std::map<std::string, int> tracks;
  const std::int64_t zero =
      events_.empty() ? 0
                      : std::ranges::min(events_, {}, [](const Event& e) { return e.begin; }).begin;
  out << "[";
  const char* comma = "\n";
  for (const Event& e : events_) {
    const auto [track, is_new] = tracks.try_emplace(e.track, static_cast<int>(tracks.size()));
    if (is_new) {
      out << comma << nlohmann::json{{"ph", "M"}, {"pid", 0}, {"tid", track->second},
                                     {"name", "thread_name"}, {"args", {{"name", e.track}}}};
      comma = ",\n";
    }
    out << comma << nlohmann::json{{"ph", "X"}, {"pid", 0}, {"tid", track->second}, {"name", e.what},
                                   {"ts", static_cast<double>(e.begin - zero) / 1e3},
                                   {"dur", static_cast<double>(e.end - e.begin) / 1e3},
                                   {"args", {{"range", e.range}, {"chunks", e.chunks}}}};
    comma = ",\n";
  }
  out << "\n]\n";
  out.close();
  if (!out) fail(path_);
}

}  // namespace holdall

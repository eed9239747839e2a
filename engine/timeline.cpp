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

Timeline::Timeline(const std::filesystem::path& path) : path_(path), out_(path) {
  if (!out_)
    throw BackingError(
        fmt::format("cannot write the timeline '{}': {}", path.string(), std::strerror(errno)));
}

void Timeline::add(const char* what, std::string track, const std::string& range,
                   std::uint64_t chunks, std::int64_t begin, std::int64_t end) {
  const std::scoped_lock hold(lock_);
  events_.push_back({what, std::move(track), range, chunks, begin, end});
}

void Timeline::write() {
  const std::scoped_lock hold(lock_);
  std::map<std::string, int> tracks;
  const std::int64_t zero =
      events_.empty() ? 0
                      : std::ranges::min(events_, {}, [](const Event& e) { return e.begin; }).begin;
  out_ << "[";
  const char* comma = "\n";
  for (const Event& e : events_) {
    const auto [track, is_new] = tracks.try_emplace(e.track, static_cast<int>(tracks.size()));
    if (is_new) {
      out_ << comma << nlohmann::json{{"ph", "M"}, {"pid", 0}, {"tid", track->second},
                                     {"name", "thread_name"}, {"args", {{"name", e.track}}}};
      comma = ",\n";
    }
    out_ << comma << nlohmann::json{{"ph", "X"}, {"pid", 0}, {"tid", track->second}, {"name", e.what},
                                   {"ts", static_cast<double>(e.begin - zero) / 1e3},
                                   {"dur", static_cast<double>(e.end - e.begin) / 1e3},
                                   {"args", {{"range", e.range}, {"chunks", e.chunks}}}};
    comma = ",\n";
  }
  out_ << "\n]\n";
  out_.close();
  if (!out_)
    throw BackingError(
        fmt::format("the timeline '{}' is not whole: {}", path_.string(), std::strerror(errno)));
}

}  // namespace holdall

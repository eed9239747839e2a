#include "engine/timeline.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>
#include <system_error>

#include "engine/error.hpp"

namespace holdall {

Timeline::Timeline(const std::filesystem::path& path) : path_(path) {
  try {
    file_.emplace(path);
  } catch (const std::system_error& e) {
    throw BackingError(
        fmt::format("cannot write the timeline '{}': {}", path.string(), why(e.code().value())));
  }
}

void Timeline::add(const char* what, std::string track, const std::string& range,
                   std::uint64_t chunks, std::int64_t begin, std::int64_t end) {
  const std::scoped_lock hold(lock_);
  events_.push_back({what, std::move(track), range, chunks, begin, end});
}

void Timeline::write() {
  const std::scoped_lock hold(lock_);
  if (!file_) return;
  if (std::uncaught_exceptions() > exceptions_) return file_.reset();
  std::map<std::string, int> tracks;
  const std::int64_t zero =
      events_.empty() ? 0
                      : std::ranges::min(events_, {}, [](const Event& e) { return e.begin; }).begin;
  try {
    std::FILE* const file = file_->stream();
    const char* comma = "[\n";
    const auto put = [&](const nlohmann::json& event) {
      fmt::print(file, "{}{}", comma, event.dump());
      comma = ",\n";
    };
    for (const Event& e : events_) {
      const auto [track, is_new] = tracks.try_emplace(e.track, static_cast<int>(tracks.size()));
      if (is_new)
        put({{"ph", "M"},
             {"pid", 0},
             {"tid", track->second},
             {"name", "thread_name"},
             {"args", {{"name", e.track}}}});
      put({{"ph", "X"},
           {"pid", 0},
           {"tid", track->second},
           {"name", e.what},
           {"ts", static_cast<double>(e.begin - zero) / 1e3},
           {"dur", static_cast<double>(e.end - e.begin) / 1e3},
           {"args", {{"range", e.range}, {"chunks", e.chunks}}}});
    }
    fmt::print(file, "{}\n]\n", events_.empty() ? "[" : "");
    file_->finish();
    file_.reset();
  } catch (const std::system_error& e) {
    file_.reset();
    throw BackingError(
        fmt::format("the timeline '{}' is not whole: {}", path_.string(), why(e.code().value())));
  }
}

}  // namespace holdall

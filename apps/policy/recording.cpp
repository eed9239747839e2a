#include "apps/policy/recording.hpp"

#include <fmt/format.h>

#include <cstring>

#include "apps/policy/error.hpp"
#include "engine/trace.hpp"

namespace holdall::lab {

std::optional<Recording> read_header(Input& input) {
  constexpr std::size_t magic = 8, fixed = magic + sizeof(RecordingHeader), most = 1 << 20;
  if (!input.peek(fixed).starts_with(recording_magic)) return std::nullopt;
  const auto cut_short = [&](std::size_t want) {
    return LabError(fmt::format("{}: the header is cut short: {} of {} bytes", input.name(),
                                input.peek(want).size(), want));
  };
  if (input.peek(fixed).size() < fixed) throw cut_short(fixed);
  RecordingHeader header;
  std::memcpy(&header, input.peek(fixed).data() + magic, sizeof header);
  if (header.devices == 0 || header.devices > most || header.policy_bytes > most)
    throw LabError(
        fmt::format("{}: the header is wrong: {} devices, {} bytes of policy; each is at most {}",
                    input.name(), header.devices, header.policy_bytes, most));
  const std::size_t whole = fixed + header.policy_bytes + header.devices * sizeof(std::uint64_t);
  const std::string_view bytes = input.peek(whole);
  if (bytes.size() < whole) throw cut_short(whole);
  Recording recording;
  recording.policy = bytes.substr(fixed, header.policy_bytes);
  recording.budgets.resize(header.devices);
  std::memcpy(recording.budgets.data(), bytes.data() + fixed + header.policy_bytes,
              header.devices * sizeof(std::uint64_t));
  input.skip(whole);
  return recording;
}

std::optional<Recording> recording_of(const std::string& path) {
  Input input(path);
  return read_header(input);
}

}  // namespace holdall::lab

#include "apps/command.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>

#include "policies/registry.hpp"

namespace holdall::apps {

CLI::Option* add_bytes(CLI::App& command, const std::string& name, Bytes& bytes,
                       const std::string& help) {
  return command.add_option_function<std::string>(
      name,
      [&bytes, name](const std::string& text) {
        try {
          bytes = parse_bytes(text);
        } catch (const std::invalid_argument& e) {
          throw CLI::ValidationError(name, e.what());
        }
      },
      help)->type_name("SIZE");
}

void add_engine_options(CLI::App& command, Config& config) {
  add_bytes(command, "--memory", config.memory,
            "budget of each device, vertex data included (default: nine tenths of what is free)");
  add_bytes(command, "--host-memory", config.host_memory,
            "budget of pinned host memory (default: half of the machine's)");
  add_bytes(command, "--chunk", config.chunk, "unit of paging, 2MiB times a power of two")
      ->default_str("8MiB");
  command
      .add_option_function<std::string>(
          "--policy",
          [&config](const std::string& text) {
            try {
              (void)make_policy(text);
            } catch (const PolicyError& e) {
              throw CLI::ValidationError("--policy", e.what());
            }
            config.policy = text;
          },
          "who is evicted: see `holdall policy list`")
      ->type_name("NAME")
      ->default_str(config.policy);
  command.add_option("--driver", config.driver, "cuda or host (default: the GPU if there is one)")
      ->check(CLI::IsMember({"cuda", "host"}));
  command.add_option("--devices", config.devices, "how many devices; 0: all")
      ->check(CLI::Range(0, 256))
      ->capture_default_str();
  command.add_option("--trace", config.trace, "record every access of a chunk to this file");
  command.add_option("--timeline", config.timeline,
                     "write paging events to this file, in the Chrome trace format");
}

nlohmann::json to_json(const Traffic& traffic) {
  return {{"hits", traffic.hits},           {"faults", traffic.faults},
          {"prefetched", traffic.prefetched}, {"bytes_in", traffic.bytes_in},
          {"bytes_out", traffic.bytes_out}, {"evictions", traffic.evictions},
          {"write_backs", traffic.write_backs}};
}

Progress::Progress() : terminal_(isatty(STDERR_FILENO)), began_(std::chrono::steady_clock::now()) {}

Progress::~Progress() {
  if (shown_) std::fputs("\r\033[K", stderr);
}

void Progress::show(const std::string& text, std::uint64_t done, std::uint64_t whole) {
  if (!terminal_ || std::chrono::steady_clock::now() - began_ < std::chrono::seconds(2)) return;
  constexpr std::uint64_t width = 24;
  std::string bar;
  if (whole > 0) {
    const std::uint64_t full = std::min(width, done * width / whole);
    bar = fmt::format("[{:#<{}}{:.<{}}] ", "", full, "", width - full);
  }
  fmt::print(stderr, "\r\033[K{}{}", bar, text);
  std::fflush(stderr);
  shown_ = true;
}

}  // namespace holdall::apps

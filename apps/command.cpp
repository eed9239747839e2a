#include "apps/command.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <bit>
#include <charconv>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstdlib>

#include "policies/plugin.hpp"
#include "policies/prefetch.hpp"
#include "policies/registry.hpp"

namespace holdall::apps {

CLI::Option* add_bytes(CLI::App& command, const std::string& name, Bytes& bytes,
                       const std::string& help) {
  return command
      .add_option_function<std::string>(
          name,
          [&bytes, name](const std::string& text) {
            try {
              bytes = parse_bytes(text);
            } catch (const std::invalid_argument& e) {
              throw CLI::ValidationError(name, e.what());
            }
            if (bytes == 0)
              throw CLI::ValidationError(name,
                                         "no bytes will not do; leave it out for the default");
          },
          help)
      ->type_name("SIZE");
}

CLI::Option* add_count(CLI::App& command, const std::string& name, std::uint64_t& number,
                       const std::string& help) {
  return command
      .add_option_function<std::string>(
          name,
          [&number, name](const std::string& text) {
            const char* const end = text.data() + text.size();
            const auto [rest, error] = std::from_chars(text.data(), end, number);
            if (error != std::errc() || rest != end)
              throw CLI::ValidationError(
                  name, fmt::format("'{}' is no whole number from 0 to 2^64 - 1", text));
          },
          help)
      ->type_name("N")
      ->default_str(std::to_string(number));
}

namespace {

CLI::Validator number_that(bool (*is_one)(double), const std::string& what) {
  return {[is_one, what](const std::string& text) {
            char* end = nullptr;
            const double number = std::strtod(text.c_str(), &end);
            if (end != text.c_str() && *end == '\0' && std::isfinite(number) && is_one(number))
              return std::string();
            return fmt::format("'{}' is no number {}", text, what);
          },
          ""};
}

}  // namespace

const CLI::Validator is_positive = number_that([](double x) { return x > 0; }, "above 0");
const CLI::Validator is_not_negative = number_that([](double x) { return x >= 0; }, "from 0 on");

CLI::Validator between(double least, double most) {
  return {[=](const std::string& text) {
            double number = 0;
            if (CLI::detail::lexical_cast(text, number) && number >= least && number <= most)
              return std::string();
            return fmt::format("'{}' is no number from {} to {}", text, least, most);
          },
          fmt::format("FLOAT in [{} - {}]", least, most)};
}

CLI::Validator at_least(std::uint64_t least) {
  return {[=](const std::string& text) {
            std::uint64_t number = 0;
            const char* const end = text.data() + text.size();
            const auto [rest, error] = std::from_chars(text.data(), end, number);
            if (error == std::errc() && rest == end && number >= least) return std::string();
            return fmt::format("'{}' is no whole number from {} to 2^64 - 1", text, least);
          },
          fmt::format("from {}", least)};
}

void add_plugin_option(CLI::App& command, std::vector<std::string>* files) {
  command
      .add_option_function<std::vector<std::string>>(
          "--plugin",
          [files](const std::vector<std::string>& names) {
            for (const std::string& name : names) try {
                load_plugin(name);
              } catch (const PluginError& e) {
                throw CLI::ValidationError("--plugin", e.what());
              }
            if (files) *files = names;
          },
          "load policies from this shared library; docs/plugin tells how to write one")
      ->type_name("FILE")
      ->allow_extra_args(false);
}

void add_engine_options(CLI::App& command, Config& config) {
  add_plugin_option(command);
  add_bytes(command, "--memory", config.memory,
            "budget of each device, vertex data included (default: nine tenths of what is free)");
  add_bytes(command, "--host-memory", config.host_memory,
            "budget of pinned host memory (default: half of the machine's)");
  add_bytes(command, "--chunk", config.chunk, "unit of paging, 2 MiB times a power of two")
      ->default_str("8MiB")
      ->check([](const std::string& text) {
        try {
          const Bytes chunk = parse_bytes(text);
          if (chunk >= Bytes{2} << 20 && std::has_single_bit(chunk)) return std::string();
        } catch (const std::invalid_argument&) {
          return std::string();  // said where it is read
        }
        return fmt::format("'{}' is not 2 MiB times a power of two, such as 2MiB, 8MiB or 64MiB",
                           text);
      });
  // `make` throws PolicyError for what there is not.
  const auto add_spec = [&](const std::string& name, std::string& spec, auto make,
                            const std::string& help) {
    return command.add_option_function<std::string>(
        name,
        [name, &spec, make](const std::string& text) {
          try {
            make(text);
          } catch (const PolicyError& e) {
            throw CLI::ValidationError(name, e.what());
          }
          spec = text;
        },
        help);
  };
  add_spec(
      "--policy", config.policy, [](const std::string& text) { (void)make_policy(text); },
      "who is evicted: see `holdall policy list`")
      ->type_name("NAME")
      ->default_str(config.policy);
  add_spec(
      "--prefetch", config.prefetch, [](const std::string& text) { (void)make_prefetch(text); },
      "what else comes in with a chunk: none, next:n=4, stride:ahead=4, tree:density=51")
      ->type_name("NAME")
      ->default_str(config.prefetch);
  add_spec(
      "--shadow", config.shadow,
      [](const std::string& list) {
        for (const std::string& policy : split_policies(list)) (void)make_policy(policy);
      },
      "also tell what these policies, by commas, would have hit and faulted, from a sample")
      ->type_name("LIST");
  command.add_option("--driver", config.driver, "cuda or host (default: the GPU if there is one)")
      ->type_name("NAME")
      ->check(CLI::IsMember({"cuda", "host"}));
  command.add_option("--devices", config.devices, "how many devices; 0: all")
      ->type_name("N")
      ->check(is_not_negative)
      ->capture_default_str();
  command.add_option("--trace", config.trace, "record every access of a chunk to this file")
      ->type_name("FILE");
  command
      .add_option("--timeline", config.timeline,
                  "write paging events to this file, in the Chrome trace format")
      ->type_name("FILE");
}

nlohmann::json to_json(const Traffic& traffic) {
  return {{"hits", traffic.hits},
          {"faults", traffic.faults},
          {"prefetched", traffic.prefetched},
          {"bytes_in", traffic.bytes_in},
          {"bytes_out", traffic.bytes_out},
          {"evictions", traffic.evictions},
          {"write_backs", traffic.write_backs}};
}

namespace {
bool notes_left_out = false;
}  // namespace

void note(const std::string& text) {
  if (!notes_left_out) tell("holdall: note: {}\n", text);
}

void note_memory(Engine& engine, const Config& config) {
  const bool host = std::string_view(engine.driver().name()) == "host";
  const Bytes there = host ? static_cast<Bytes>(::sysconf(_SC_PHYS_PAGES)) *
                                 static_cast<Bytes>(::sysconf(_SC_PAGESIZE))
                           : engine.driver().info(0).total;
  if (config.memory > there)
    note(fmt::format("--memory {} is more than the {} that {}", to_string(config.memory),
                     to_string(there), host ? "this machine has" : "device 0 has"));
}

void leave_notes_out() { notes_left_out = true; }

Progress::Progress(const std::string& text) : text_(text) {
  if (isatty(STDERR_FILENO)) thread_ = std::jthread([this] { draw(); });
}

Progress::~Progress() {
  {
    const std::scoped_lock hold(lock_);
    stopping_ = true;
  }
  stop_.notify_all();
}

void Progress::show(std::uint64_t done, std::uint64_t whole) {
  const std::scoped_lock hold(lock_);
  count(done, whole);
}

void Progress::show(const std::string& text, std::uint64_t done, std::uint64_t whole) {
  const std::scoped_lock hold(lock_);
  text_ = text;
  count(done, whole);
}

void Progress::count(std::uint64_t done, std::uint64_t whole) {
  if (done < done_ || whole != whole_) {
    first_done_ = done;
    counts_since_ = Clock::now();
  }
  done_ = done;
  whole_ = whole;
}

void Progress::draw() {
  using namespace std::chrono_literals;
  constexpr std::uint64_t width = 24;
  const auto since = [](Clock::time_point then) {
    return std::chrono::duration<double>(Clock::now() - then).count();
  };
  const auto began = Clock::now();
  std::unique_lock hold(lock_);
  const auto stopped = [this] { return stopping_; };
  if (stop_.wait_for(hold, 2s, stopped)) return;
  do {
    std::string bar;
    if (whole_ > 0) {
      const std::uint64_t full = std::min(width, done_ * width / whole_);
      bar = fmt::format("[{:#<{}}{:.<{}}] ", "", full, "", width - full);
    }
    std::string left;
    if (done_ > first_done_ && whole_ > done_)
      left = fmt::format(", {:.0f} s to go", since(counts_since_) *
                                                 static_cast<double>(whole_ - done_) /
                                                 static_cast<double>(done_ - first_done_));
    tell("\r\033[K{}{}, {:.0f} s{}", bar, text_, since(began), left);
    std::fflush(stderr);
  } while (!stop_.wait_for(hold, 200ms, stopped));
  std::fputs("\r\033[K", stderr);
}

}  // namespace holdall::apps

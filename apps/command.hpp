// What the sub-commands of `holdall` share: options, exit statuses, messages, progress.
#pragma once

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <cstdio>
#include <mutex>
#include <nlohmann/json.hpp>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "engine/config.hpp"
#include "engine/engine.hpp"
#include "engine/stats.hpp"
#include "engine/vmm/driver.hpp"

namespace holdall::apps {

constexpr int failed = 1;  // the exit status; what is wrong with the command line itself is 2
constexpr int usage = 2;

// Adds --plugin, which loads policies from a shared library; to stand before the options that name
// policies. `files`: also told its name.
void add_plugin_option(CLI::App& command, std::vector<std::string>* files = nullptr);

// Adds --plugin, --memory, --host-memory, --policy, --chunk, --driver, --devices, --trace and
// --timeline, read into `config`.
void add_engine_options(CLI::App& command, Config& config);

// Accepts "8MiB" and the like for `bytes`, but not 0.
CLI::Option* add_bytes(CLI::App& command, const std::string& name, Bytes& bytes,
                       const std::string& help);

// Accepts whole numbers from 0 on for `number`.
CLI::Option* add_count(CLI::App& command, const std::string& name, std::uint64_t& number,
                       const std::string& help);

// Checks of numbers. "inf" and "nan" are none.
extern const CLI::Validator is_positive, is_not_negative;  // above 0, from 0 on
CLI::Validator between(double least, double most);
CLI::Validator at_least(std::uint64_t least);  // for whole numbers

// The counters under the names that every --json has.
nlohmann::json to_json(const Traffic& traffic);

// Bytes a second that copies from pinned host memory to a device reach, measured now: a second or
// so. Throws what the driver throws.
double measured_link(vmm::Driver& driver, int device);

// Runs a Python script that is installed with the program, or lies in `folder` of its source tree;
// the environment variable `named` may name another. Answers its exit status. Throws
// std::runtime_error where it or Python is not to be found.
int run_script(const std::string& script, const std::string& folder, const char* named,
               const std::vector<std::string>& arguments);

// To standard error, whatever becomes of it there: it may be closed, or on a full disk.
template <typename... Values>
void tell(fmt::format_string<Values...> text, Values&&... values) {
  std::fputs(fmt::format(text, std::forward<Values>(values)...).c_str(), stderr);
}
// "holdall: note: ..." there.
void note(const std::string& text);
// Where --memory is more than there is.
void note_memory(Engine& engine, const Config& config);
// No notes from here on: another process of the same run tells them.
void leave_notes_out();

// A line on standard error, where that is a terminal: what a job does that takes longer than two
// seconds.
class Progress {
 public:
  explicit Progress(const std::string& text);
  ~Progress();  // takes the line away
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;

  // A bar of `done` out of `whole`, and about how many seconds are left; 0: unknown, seconds alone.
  // Thread-safe.
  void show(std::uint64_t done, std::uint64_t whole);
  void show(const std::string& text, std::uint64_t done, std::uint64_t whole);

 private:
  void draw();
  void count(std::uint64_t done, std::uint64_t whole);

  using Clock = std::chrono::steady_clock;
  std::mutex lock_;
  std::condition_variable stop_;
  bool stopping_ = false;
  std::string text_;
  std::uint64_t done_ = 0, whole_ = 0;
  std::uint64_t first_done_ = 0;  // of what is counted now, which began then
  Clock::time_point counts_since_ = Clock::now();
  std::jthread thread_;  // runs on a terminal only
};

// Add a sub-command; what it exits with goes to `status`.
void add_graph(CLI::App& app, int& status);
void add_embed(CLI::App& app, int& status);
void add_policy(CLI::App& app, int& status);
void add_doctor(CLI::App& app, int& status);

}  // namespace holdall::apps

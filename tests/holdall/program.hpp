// The program, run as people run it.
#pragma once

#include <fcntl.h>
#include <gtest/gtest.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <nlohmann/json.hpp>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

namespace holdall::apps {

struct Outcome {
  int status = -1;  // -1: it crashed
  std::string out, err;

  nlohmann::json json() const { return nlohmann::json::parse(out); }
};

// A folder of its own, with the files that a test makes.
class Program : public testing::Test {
 protected:
  Program() {
    std::string pattern = (std::filesystem::temp_directory_path() / "holdall-XXXXXX").string();
    EXPECT_NE(::mkdtemp(pattern.data()), nullptr);
    folder_ = pattern;
  }
  ~Program() override {
    std::error_code ignored;
    std::filesystem::remove_all(folder_, ignored);
  }

  std::string path(const std::string& name) const { return folder_ / name; }
  std::string file(const std::string& name, const std::string& contents) const {
    std::ofstream(folder_ / name, std::ios::binary) << contents;
    return path(name);
  }
  static std::string contents(const std::string& path) {
    std::ifstream in(path, std::ios::binary);
    return {std::istreambuf_iterator<char>(in), {}};
  }

  // Runs `holdall` with the words of `line`; `out`, `err`: where its standard output and error go instead.
  Outcome holdall(const std::string& line, const std::string& out = {}, const std::string& err = {}) const {
    return start(std::string(HOLDALL_PROGRAM) + " " + line, out, err);
  }

  // Starts the words of `line`, the first being a program's path.
  pid_t spawn(const std::string& line, const std::string& out, const std::string& err) const {
    std::istringstream words(line);
    std::vector<std::string> arguments;
    for (std::string word; words >> word;) arguments.push_back(word);
    std::vector<char*> raw;
    for (std::string& argument : arguments) raw.push_back(argument.data());
    raw.push_back(nullptr);

    const auto [to, messages] = outputs(out, err);
    constexpr int flags = O_WRONLY | O_CREAT | O_TRUNC;
    posix_spawn_file_actions_t actions;
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
    posix_spawn_file_actions_addopen(&actions, STDOUT_FILENO, to.c_str(), flags, 0600);
    posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, messages.c_str(), flags, 0600);
    pid_t child = 0;
    EXPECT_EQ(::posix_spawnp(&child, raw[0], &actions, nullptr, raw.data(), environ), 0);
    posix_spawn_file_actions_destroy(&actions);
    return child;
  }

  // Runs them.
  Outcome start(const std::string& line, const std::string& out = {}, const std::string& err = {}) const {
    const pid_t child = spawn(line, out, err);
    int status = 0;
    EXPECT_EQ(::waitpid(child, &status, 0), child);

    Outcome outcome;
    if (WIFEXITED(status)) outcome.status = WEXITSTATUS(status);
    const auto [to, messages] = outputs(out, err);
    if (out.empty()) outcome.out = contents(to);
    if (err.empty()) outcome.err = contents(messages);
    return outcome;
  }
  std::pair<std::string, std::string> outputs(const std::string& out, const std::string& err) const {
    return {out.empty() ? path("stdout") : out, err.empty() ? path("stderr") : err};
  }

  // A run that works: no message, no bar.
  Outcome works(const std::string& line) const {
    Outcome outcome = holdall(line);
    EXPECT_EQ(outcome.status, 0) << line << "\n" << outcome.err;
    EXPECT_EQ(outcome.err, "") << line;
    return outcome;
  }

  // A run that is refused: nothing on standard output, and a message that has all of `parts`.
  void refused(const std::string& line, int status, const std::vector<std::string>& parts) const {
    const Outcome outcome = holdall(line);
    EXPECT_EQ(outcome.status, status) << line << "\n" << outcome.err;
    EXPECT_EQ(outcome.out, "") << line;
    EXPECT_TRUE(outcome.err.starts_with("holdall: ")) << line << "\n" << outcome.err;
    for (const std::string& part : parts)
      EXPECT_NE(outcome.err.find(part), std::string::npos)
          << line << "\nsays '" << outcome.err << "', without '" << part << "'";
  }

  std::filesystem::path folder_;
};

inline void expect_keys(const nlohmann::json& object, const std::vector<const char*>& keys) {
  for (const char* const key : keys) EXPECT_TRUE(object.contains(key)) << key;
}

}  // namespace holdall::apps

#include "apps/child.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <stdexcept>
#include <system_error>

#include "apps/ending.hpp"

namespace holdall::apps {

namespace {

UnfinishedFile make_temporary() {
  std::error_code error;
  const auto folder = std::filesystem::temp_directory_path(error);
  int reason = error.value();
  if (!error) try {
      return UnfinishedFile::temporary(folder / "holdall-");
    } catch (const std::system_error& e) {
      reason = e.code().value();
    }
  const char* const named = std::getenv("TMPDIR");
  throw std::runtime_error(
      fmt::format("no temporary file can be made in '{}': {}; set TMPDIR to a folder with room",
                  error && named != nullptr ? named : folder.string(), std::strerror(reason)));
}

// Its exit status; 128 and more: the signal that ended it.
int run(const std::vector<std::string>& words, const posix_spawn_file_actions_t* actions) {
  std::vector<std::string> arguments = words;
  std::vector<char*> raw;
  for (std::string& argument : arguments) raw.push_back(argument.data());
  raw.push_back(nullptr);

  // Signals are to it what they were to this program when it began.
  posix_spawnattr_t attributes;
  posix_spawnattr_init(&attributes);
  posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF);
  sigset_t signals;
  sigemptyset(&signals);
  posix_spawnattr_setsigmask(&attributes, &signals);
  sigaddset(&signals, SIGPIPE);
  posix_spawnattr_setsigdefault(&attributes, &signals);
  pid_t child = 0;
  const int error = ::posix_spawnp(&child, raw[0], actions, &attributes, raw.data(), environ);
  posix_spawnattr_destroy(&attributes);
  if (error) throw std::system_error(error, std::generic_category(), words.front());
  const RunningChild running(child);
  int status = 0;
  while (::waitpid(child, &status, 0) < 0)
    if (errno != EINTR) throw std::system_error(errno, std::generic_category(), words.front());
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

}  // namespace

TemporaryPath::TemporaryPath() : file_(make_temporary()) {}

std::string TemporaryPath::contents() const {
  std::ifstream in(path(), std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

Child run_child(const std::vector<std::string>& given) {
  std::vector<std::string> words = given;
  if (words.front() == "holdall")
    words.front() = std::filesystem::read_symlink("/proc/self/exe").string();
  const TemporaryPath out, err;
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
  posix_spawn_file_actions_addopen(&actions, STDOUT_FILENO, out.path().c_str(), O_WRONLY, 0);
  posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, err.path().c_str(), O_WRONLY, 0);
  Child child;
  try {
    child.status = run(words, &actions);
  } catch (const std::system_error& e) {
    posix_spawn_file_actions_destroy(&actions);
    throw std::runtime_error(
        fmt::format("cannot run '{}': {}: name a program, by its path or along "
                    "PATH",
                    given.front(), std::strerror(e.code().value())));
  }
  posix_spawn_file_actions_destroy(&actions);
  child.out = out.contents();
  child.err = err.contents();
  return child;
}

int run_aloud(const std::vector<std::string>& words) { return run(words, nullptr); }

}  // namespace holdall::apps

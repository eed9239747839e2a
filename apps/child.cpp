#include "apps/child.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <stdexcept>

namespace holdall::apps {

TemporaryPath::TemporaryPath() {
  path_ = (std::filesystem::temp_directory_path() / "holdall-XXXXXX").string();
  const int handle = ::mkstemp(path_.data());
  if (handle < 0)
    throw std::runtime_error(fmt::format("cannot make a file in '{}': {}: set TMPDIR",
                                         std::filesystem::temp_directory_path().string(),
                                         std::strerror(errno)));
  ::close(handle);
}

TemporaryPath::~TemporaryPath() {
  std::error_code ignored;
  std::filesystem::remove(path_, ignored);
}

std::string TemporaryPath::contents() const {
  std::ifstream in(path_, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

Child run_child(const std::vector<std::string>& words) {
  const std::string program = words.front() == "holdall"
                                  ? std::filesystem::read_symlink("/proc/self/exe").string()
                                  : words.front();
  std::vector<std::string> arguments = words;
  std::vector<char*> raw;
  for (std::string& argument : arguments) raw.push_back(argument.data());
  raw.push_back(nullptr);

  const TemporaryPath out, err;
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
  posix_spawn_file_actions_addopen(&actions, STDOUT_FILENO, out.path().c_str(), O_WRONLY, 0);
  posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, err.path().c_str(), O_WRONLY, 0);
  pid_t child = 0;
  const int error = ::posix_spawnp(&child, program.c_str(), &actions, nullptr, raw.data(), environ);
  posix_spawn_file_actions_destroy(&actions);
  if (error)
    throw std::runtime_error(
        fmt::format("cannot run '{}': {}", words.front(), std::strerror(error)));
  int status = 0;
  while (::waitpid(child, &status, 0) < 0)
    if (errno != EINTR)
      throw std::runtime_error(
          fmt::format("cannot wait for '{}': {}", words.front(), std::strerror(errno)));
  return {WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status), out.contents(),
          err.contents()};
}

}  // namespace holdall::apps

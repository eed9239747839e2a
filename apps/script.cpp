#include <fmt/format.h>

#include <cstdlib>
#include <filesystem>
#include <stdexcept>
#include <system_error>

#include "apps/child.hpp"
#include "apps/command.hpp"

namespace holdall::apps {

namespace {

std::string find_script(const std::string& script, const std::string& folder, const char* named) {
  if (const char* const given = std::getenv(named)) return given;
  std::error_code error;
  const auto program = std::filesystem::read_symlink("/proc/self/exe", error);
  for (const std::string& place :
       {"../share/holdall/" + script, "../../" + folder + "/" + script}) {
    const auto file = program.parent_path() / place;
    if (std::filesystem::exists(file)) return file.lexically_normal().string();
  }
  throw std::runtime_error(fmt::format(
      "{} is not where this program was installed to; name it with {}=FILE", script, named));
}

}  // namespace

int run_script(const std::string& script, const std::string& folder, const char* named,
               const std::vector<std::string>& arguments) {
  std::vector<std::string> words{"python3", find_script(script, folder, named)};
  words.insert(words.end(), arguments.begin(), arguments.end());
  try {
    return run_aloud(words) == 0 ? 0 : failed;
  } catch (const std::system_error&) {
    throw std::runtime_error(
        "python3 cannot be run: charts need it, and matplotlib: apt-get install "
        "python3-matplotlib");
  }
}

}  // namespace holdall::apps

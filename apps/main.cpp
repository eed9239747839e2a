// holdall: one program, a sub-command for each library.
#include <fmt/format.h>

#include <csignal>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <filesystem>

#include "apps/command.hpp"
#include "apps/ending.hpp"
#include "policies/plugin.hpp"

namespace {

using namespace holdall::apps;

// The innermost sub-command that was named.
const CLI::App& chosen(const CLI::App& app) {
  for (const CLI::App* const sub : app.get_subcommands()) return chosen(*sub);
  return app;
}

std::string path_of(const CLI::App& app) {
  return app.get_parent() ? path_of(*app.get_parent()) + " " + app.get_name() : "holdall";
}

std::string usage_message(const CLI::App* app, const CLI::Error& error) {
  const CLI::App& command = chosen(*app);
  const auto rest = app->remaining(true);
  std::string what = error.what();
  if (dynamic_cast<const CLI::RequiredError*>(&error) && command.get_require_subcommand_min() > 0) {
    std::string known;
    for (const CLI::App* const sub : command.get_subcommands([](const CLI::App*) { return true; }))
      known += (known.empty() ? "" : ", ") + sub->get_name();
    what = rest.empty() ? "a sub-command is missing" : "'" + rest.front() + "' is no sub-command";
    what += "; there are " + known;
  }
  return fmt::format("holdall: {}\nRun `{} --help` for more.\n", what, path_of(command));
}

// Of a folder for temporary files that is none, say.
std::string said_of(const std::filesystem::filesystem_error& e) {
  std::error_code none;
  const char* const temporary = std::getenv("TMPDIR");
  if (temporary != nullptr && !std::filesystem::is_directory(temporary, none))
    return fmt::format("TMPDIR is '{}', which is no folder: set it to one for temporary files",
                       temporary);
  return e.what();
}

// Results are lost if standard output cannot take them: a full disk, a closed pipe.
int flushed(int status) {
  if (std::fflush(stdout) == 0 && std::ferror(stdout) == 0) return status;
  tell("holdall: cannot write to standard output: {}\n", std::strerror(errno));
  return failed;
}

}  // namespace

int main(int argc, char** argv) {
  std::signal(SIGPIPE, SIG_IGN);
  const Ending ending;
  CLI::App app{"Holdall: GPU data bigger than the GPU", "holdall"};
  app.require_subcommand(1);
  app.failure_message(usage_message);
  app.set_version_flag("--version", "holdall " HOLDALL_VERSION, "print the version");
  int status = 0;
  add_graph(app, status);
  add_embed(app, status);
  add_policy(app, status);
  add_doctor(app, status);
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& e) {
    return flushed(app.exit(e) == 0 ? 0 : usage);
  } catch (const std::bad_alloc&) {
    tell("holdall: out of memory: use a smaller graph, or a machine with more\n");
    return failed;
  } catch (const std::filesystem::filesystem_error& e) {
    tell("holdall: {}\n", said_of(e));
    return failed;
  } catch (const std::exception& e) {
    tell("holdall: {}\n", e.what());
    return failed;
  }
  for (const holdall::PluginFault& fault : holdall::plugin_faults())
    note(fmt::format("policy '{}' of {} is at fault, {} times: {}", fault.policy, fault.file,
                     fault.times, fault.what));
  return flushed(status);
}

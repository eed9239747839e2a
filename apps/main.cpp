// holdall: one program, a sub-command for each library.
#include <fmt/format.h>

#include <exception>

#include "apps/command.hpp"

int main(int argc, char** argv) {
  using namespace holdall::apps;
  CLI::App app{"Holdall: GPU data bigger than the GPU"};
  app.require_subcommand(1);
  app.failure_message(CLI::FailureMessage::simple);
  int status = 0;
  add_graph(app, status);
  add_doctor(app, status);
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& e) {
    return app.exit(e) == 0 ? 0 : usage;
  } catch (const std::exception& e) {
    fmt::print(stderr, "holdall: {}\n", e.what());
    return failed;
  }
  return status;
}

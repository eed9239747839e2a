// The program as it is deployed: signals, and a death that nobody announced.
#include <fcntl.h>
#include <spawn.h>
#include <sys/wait.h>

#include <csignal>

#include "tests/serve/world.hpp"

namespace holdall::serve {
namespace {

class ServeProgram : public testing::Test {
 protected:
  ~ServeProgram() override { finish(SIGKILL); }

  // Answers the port once the tables are there; 0 if it ended instead.
  int start(std::vector<std::string> more = {}, int port = 0) {
    std::vector<std::string> words = {HOLDALL_PROGRAM,
                                      "embed",
                                      "serve",
                                      "--driver",
                                      "host",
                                      "--port",
                                      std::to_string(port),
                                      "--memory",
                                      "64MiB",
                                      "--table",
                                      "items=" + (folder_ / "items.npy").string()};
    words.insert(words.end(), more.begin(), more.end());
    std::vector<char*> raw;
    for (std::string& word : words) raw.push_back(word.data());
    raw.push_back(nullptr);
    int out[2];
    EXPECT_EQ(::pipe2(out, O_CLOEXEC), 0);
    posix_spawn_file_actions_t actions;
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_adddup2(&actions, out[1], STDOUT_FILENO);
    posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, (folder_ / "stderr").c_str(),
                                     O_WRONLY | O_CREAT | O_TRUNC, 0600);
    EXPECT_EQ(::posix_spawn(&child_, HOLDALL_PROGRAM, &actions, nullptr, raw.data(), environ), 0);
    posix_spawn_file_actions_destroy(&actions);
    ::close(out[1]);
    std::string line;
    for (char c = 0; ::read(out[0], &c, 1) == 1 && c != '\n';) line += c;
    ::close(out[0]);
    const std::size_t colon = line.rfind(':');
    return colon == std::string::npos ? 0 : std::stoi(line.substr(colon + 1));
  }
  // The exit status; -1 where a signal ended it.
  int finish(int signal) {
    if (child_ <= 0) return -1;
    ::kill(child_, signal);
    int status = 0;
    ::waitpid(child_, &status, 0);
    child_ = 0;
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
  }
  std::string messages() const {
    std::ifstream in(folder_ / "stderr");
    return {std::istreambuf_iterator<char>(in), {}};
  }
  // The version of row 1; -1 where there is no answer.
  static int version_at(int port) {
    httplib::Client client("127.0.0.1", port);
    const auto answer = client.Post(infer_path, json_keys({1}).dump(), "application/json");
    if (!answer || answer->status != 200) return -1;
    return nlohmann::json::parse(answer->body)["outputs"][0]["data"][0].get<int>() / 1000;
  }

  Folder folder_;
  pid_t child_ = 0;
};

TEST_F(ServeProgram, sigterm_ends_it_with_success_and_every_answer_given) {
  folder_.write_table(3);
  const int port = start();
  ASSERT_GT(port, 0) << messages();
  std::atomic<int> answered{0}, lost{0};
  std::vector<std::jthread> clients;
  const std::string request = post(infer_path, json_keys({1, 2}).dump());
  for (int t = 0; t < 4; ++t)
    clients.emplace_back([&] {
      RawClient client(port);
      while (client.send(request)) {
        const std::string answer = client.answer();
        ++(answer.starts_with("HTTP/1.1 200") ? answered : lost);
        if (answer.empty() || answer.find("Connection: close") != std::string::npos) return;
      }
    });
  while (answered < 50) std::this_thread::yield();
  EXPECT_EQ(finish(SIGTERM), 0);
  clients.clear();
  EXPECT_EQ(lost, 0);
  EXPECT_EQ(messages(), "");
}

TEST_F(ServeProgram, sighup_loads_a_version_and_keeps_the_old_where_it_cannot) {
  folder_.write_table(1);
  const int port = start();
  ASSERT_GT(port, 0) << messages();
  EXPECT_EQ(version_at(port), 1);
  folder_.write_table(2);
  ::kill(child_, SIGHUP);
  while (version_at(port) == 1) std::this_thread::yield();
  EXPECT_EQ(version_at(port), 2);
  folder_.write("items.npy", "no table");
  ::kill(child_, SIGHUP);
  while (messages().find("'items' stays as it was") == std::string::npos) std::this_thread::yield();
  EXPECT_EQ(version_at(port), 2);
  EXPECT_EQ(finish(SIGINT), 0);
}

TEST_F(ServeProgram, it_starts_again_at_the_same_port_after_kill_9) {
  folder_.write_table(1);
  const int port = start();
  ASSERT_GT(port, 0) << messages();
  RawClient open(port);
  ASSERT_TRUE(open.send("GET /v2 HTTP/1.1\r\nHost: h\r\n\r\n"));
  EXPECT_TRUE(open.answer().starts_with("HTTP/1.1 200"));
  EXPECT_EQ(finish(SIGKILL), -1);
  folder_.write_table(2);
  ASSERT_EQ(start({}, port), port) << messages();
  EXPECT_EQ(version_at(port), 2);
}

TEST_F(ServeProgram, what_cannot_be_served_is_said_at_once) {
  EXPECT_EQ(start(), 0);
  EXPECT_EQ(finish(0), 1);
  EXPECT_NE(messages().find("items.npy"), std::string::npos) << messages();
  folder_.write_table(1);
  EXPECT_EQ(start({"--host", "0.0.0.0"}), 0);
  EXPECT_EQ(finish(0), 1);
  EXPECT_NE(messages().find("a token is needed"), std::string::npos) << messages();
  EXPECT_EQ(start({"--table", "items=elsewhere.npy"}), 0);
  EXPECT_EQ(finish(0), 1);
  EXPECT_NE(messages().find("two tables 'items'"), std::string::npos) << messages();
  httplib::Server other;
  const int taken = other.bind_to_any_port("127.0.0.1");
  EXPECT_EQ(start({"--grpc-port", std::to_string(taken)}), 0);  // taken, or no gRPC in the build
  EXPECT_EQ(finish(0), 1);
  EXPECT_NE(messages().find("gRPC"), std::string::npos) << messages();
}

}  // namespace
}  // namespace holdall::serve

// Files that are not whole go: with a signal that ends the program, with a disk that is full.
#include <sys/resource.h>

#include <csignal>
#include <set>

#include "tests/holdall/program.hpp"

namespace holdall::apps {
namespace {

class Unfinished : public Program {
 protected:
  std::set<std::string> names() const {
    std::set<std::string> all;
    for (const auto& entry : std::filesystem::directory_iterator(folder_))
      all.insert(entry.path().filename());
    all.erase("stdout");
    all.erase("stderr");
    return all;
  }

  // Starts `holdall` with the words of `line`, sends it `signal` once all of `files` are there, and
  // answers how it ended, as waitpid tells it.
  int ended(const std::string& line, int signal, const std::vector<std::string>& files) {
    const pid_t child = spawn(std::string(HOLDALL_PROGRAM) + " " + line, {}, {});
    int status = 0;
    for (const std::string& name : files)
      while (!std::filesystem::exists(path(name)))
        if (::waitpid(child, &status, WNOHANG) == child) {
          ADD_FAILURE() << line << " ended by itself, " << status << "\n"
                        << contents(path("stderr"));
          return status;
        }
    EXPECT_EQ(::kill(child, signal), 0);
    EXPECT_EQ(::waitpid(child, &status, 0), child);
    return status;
  }

  // Runs it where no file may be longer than so many bytes: that stands for a disk that is full.
  Outcome in_little_room(rlim_t bytes, const std::string& line) {
    std::signal(SIGXFSZ, SIG_IGN);
    rlimit old{};
    EXPECT_EQ(getrlimit(RLIMIT_FSIZE, &old), 0);
    const rlimit small{bytes, old.rlim_max};
    EXPECT_EQ(setrlimit(RLIMIT_FSIZE, &small), 0);
    const Outcome outcome = holdall(line);
    EXPECT_EQ(setrlimit(RLIMIT_FSIZE, &old), 0);
    return outcome;
  }
};

TEST_F(Unfinished, files_go_with_a_signal_and_the_exit_status_is_its_own) {
  for (const int signal : {SIGINT, SIGTERM, SIGHUP}) {
    const int status =
        ended("policy trace synthesise zipf " + path("t") + " --requests 1000000000000", signal,
              {"t.unfinished"});
    EXPECT_TRUE(WIFSIGNALED(status) && WTERMSIG(status) == signal) << status;
    EXPECT_EQ(names(), std::set<std::string>{});
  }
}

TEST_F(Unfinished, traces_timelines_and_answers_go_with_a_signal_and_older_ones_stay) {
  file("trace", "old");
  file("answer", "old too");
  const int status =
      ended("graph pagerank kron:10 --driver host --iterations 1000000 --tolerance 0 --trace " +
                path("trace") + " --timeline " + path("timeline") + " --output " + path("answer"),
            SIGTERM, {"trace.unfinished", "timeline.unfinished", "answer.unfinished"});
  EXPECT_TRUE(WIFSIGNALED(status) && WTERMSIG(status) == SIGTERM) << status;
  EXPECT_EQ(names(), (std::set<std::string>{"answer", "trace"}));
  EXPECT_EQ(contents(path("trace")), "old");
  EXPECT_EQ(contents(path("answer")), "old too");
}

TEST_F(Unfinished, temporary_files_of_compare_and_of_its_children_go_with_a_signal) {
  std::filesystem::create_directory(path("tmp"));
  ::setenv("TMPDIR", path("tmp").c_str(), 1);
  const pid_t child = spawn(std::string(HOLDALL_PROGRAM) +
                                " policy compare -- holdall graph pagerank kron:10 --driver host "
                                "--iterations 1000000 --tolerance 0",
                            {}, {});
  ::unsetenv("TMPDIR");
  const auto files = [&] {
    return std::distance(std::filesystem::directory_iterator(path("tmp")), {});
  };
  int status = 0;
  while (files() < 4)  // output, messages, trace, and what the child writes of the trace
    ASSERT_EQ(::waitpid(child, &status, WNOHANG), 0) << contents(path("stderr"));
  ASSERT_EQ(::kill(child, SIGTERM), 0);
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  EXPECT_TRUE(WIFSIGNALED(status) && WTERMSIG(status) == SIGTERM) << status;
  while (files() > 0) {  // the child's own last
  }
}

TEST_F(Unfinished, ignored_signals_stay_ignored) {
  std::signal(SIGINT, SIG_IGN);
  const pid_t child = spawn(std::string(HOLDALL_PROGRAM) + " policy trace synthesise zipf " +
                                path("t") + " --requests 1000000000000",
                            {}, {});
  std::signal(SIGINT, SIG_DFL);
  while (!std::filesystem::exists(path("t.unfinished"))) {
  }
  EXPECT_EQ(::kill(child, SIGINT), 0);
  EXPECT_EQ(::kill(child, SIGTERM), 0);
  int status = 0;
  EXPECT_EQ(::waitpid(child, &status, 0), child);
  EXPECT_TRUE(WIFSIGNALED(status) && WTERMSIG(status) == SIGTERM) << status;
}

TEST_F(Unfinished, files_go_where_the_disk_is_full) {
  const auto says = [&](const Outcome& outcome, const std::string& name) {
    EXPECT_EQ(outcome.status, 1);
    EXPECT_NE(outcome.err.find(name), std::string::npos) << outcome.err;
    EXPECT_NE(outcome.err.find("File too large"), std::string::npos) << outcome.err;
  };
  says(in_little_room(4096, "policy trace synthesise zipf " + path("t")), path("t"));
  for (const char* format : {"csv", "txt", "oracleGeneral"})
    says(in_little_room(4096, "policy trace synthesise zipf " + path("t") + " --to " + format),
         path("t"));
  says(in_little_room(4096, "graph generate kron:12 " + path("g.hold")), path("g.hold"));
  EXPECT_EQ(names(), std::set<std::string>{});
}

TEST_F(Unfinished, a_refused_run_leaves_no_trace) {
  for (const char* option : {"--trace", "--timeline"})
    refused(
        "graph bfs kron:10 --driver host --source 9999 " + std::string(option) + " " + path("x"), 1,
        {"9999"});
  EXPECT_EQ(names(), std::set<std::string>{});
}

TEST_F(Unfinished, a_sweep_keeps_the_whole_rows_of_its_table_where_the_disk_is_full) {
  works("policy trace synthesise zipf " + path("t") + " --requests 1000 --chunks 100");
  const std::string line = "policy sweep " + path("t") +
                           " --policy lru,fifo,clock --size 1,2,3,4,5 --output " + path("t.csv");
  const Outcome full = in_little_room(700, line);
  EXPECT_EQ(full.status, 1);
  EXPECT_NE(full.err.find("t.csv: cannot be written: File too large"), std::string::npos)
      << full.err;
  const std::string table = contents(path("t.csv"));
  EXPECT_TRUE(table.starts_with("trace,policy,") && table.ends_with('\n')) << table;
  EXPECT_NE(works(line).out.find(" were there already"), std::string::npos);

  EXPECT_EQ(in_little_room(10, "policy sweep " + path("t") + " --output " + path("u.csv")).status,
            1);
  EXPECT_FALSE(std::filesystem::exists(path("u.csv")));
}

TEST_F(Unfinished, a_report_leaves_no_part_where_the_disk_is_full) {
  works("policy trace synthesise zipf " + path("t") + " --requests 1000 --chunks 100");
  works("policy sweep " + path("t") + " --policy lru --output " + path("t.csv"));
  const Outcome outcome = in_little_room(16384, "policy report " + path("t.csv") + " --output " +
                                                    path("r.html") + " --trace " + path("t"));
  if (outcome.err.find("matplotlib, which is not installed") != std::string::npos)
    GTEST_SKIP() << outcome.err;
  EXPECT_EQ(outcome.status, 1);
  EXPECT_NE(outcome.err.find("File too large"), std::string::npos) << outcome.err;
  EXPECT_EQ(names(), (std::set<std::string>{"t", "t.csv"}));
}

}  // namespace
}  // namespace holdall::apps

// A graph split over processes: `mpirun -n R holdall graph …`.
#include "tests/holdall/program.hpp"

namespace holdall::apps {
namespace {

class Processes : public Program {
 protected:
  void SetUp() override {
    if (HOLDALL_MPI == 0) GTEST_SKIP() << "built without MPI";
    if (start("mpirun --version").status != 0) GTEST_SKIP() << "there is no mpirun";
  }
  Outcome run(int processes, const std::string& line) const {
    return start("mpirun --allow-run-as-root --oversubscribe --bind-to none --timeout 120 -n " +
                 std::to_string(processes) + " " + HOLDALL_PROGRAM + " " + line);
  }
  static std::string small(const std::string& line) {
    return "graph " + line + " --driver host --memory 64MiB --chunk 2MiB --host-memory 512MiB";
  }
  // The answer of a process alone and of several are the same file; part 0's JSON is all there is.
  void expect_same(const std::string& line) const {
    (void)works(small(line) + " --output " + path("alone"));
    for (const int processes : {1, 2, 3, 4}) {
      SCOPED_TRACE(line + " by " + std::to_string(processes));
      const Outcome outcome =
          run(processes, small(line) + " --verify --json --output " + path("together"));
      ASSERT_EQ(outcome.status, 0) << outcome.err;
      const nlohmann::json j = outcome.json();
      EXPECT_EQ(j["verified"], true);
      EXPECT_EQ(j.value("processes", 1), processes);
      if (line.starts_with("cc") || line.starts_with("sssp")) {
        EXPECT_EQ(contents(path("together")), contents(path("alone")));
      }
    }
  }
  // In a file, of which each process opens its part in place.
  std::string graph(const std::string& drawn) const {
    (void)works("graph generate " + drawn + " " + path("graph.hold") + " --weights int32");
    return path("graph.hold");
  }
};

TEST_F(Processes, answer_bfs_as_one_does) { expect_same("bfs " + graph("kron:12:40")); }
TEST_F(Processes, answer_sssp_as_one_does) { expect_same("sssp " + graph("kron:12:40")); }
TEST_F(Processes, answer_pagerank_as_one_does) { expect_same("pagerank " + graph("urand:12:40")); }
TEST_F(Processes, answer_components_as_one_does) { expect_same("cc " + graph("urand:12:1")); }

TEST_F(Processes, some_of_which_have_no_edges_answer_too) {
  const std::string edges = file("star.el", "0 1\n0 2\n0 3\n");
  for (const char* const line : {"bfs ", "pagerank ", "cc "}) expect_same(line + edges);
}

TEST_F(Processes, that_fail_end_the_others_and_say_why) {
  const Outcome outcome =
      run(3, "graph bfs " + graph("urand:12:8") + " --driver host --memory 4MiB");
  EXPECT_NE(outcome.status, 0);
  EXPECT_EQ(outcome.out, "");
  EXPECT_NE(outcome.err.find("holdall: process "), std::string::npos) << outcome.err;
  EXPECT_NE(outcome.err.find("--memory"), std::string::npos) << outcome.err;
}

TEST_F(Processes, end_when_one_alone_fails) {
  // The last part's edges, at the end of the file, are damaged: the others are waiting for it.
  const std::string name = path("graph.sg");
  (void)works("graph generate urand:12:40 " + name);
  {
    std::fstream out(name, std::ios::in | std::ios::out | std::ios::binary);
    out.seekp(-256, std::ios::end);
    const std::string bad(256, '\xff');
    out.write(bad.data(), static_cast<std::streamsize>(bad.size()));
  }
  const Outcome outcome = run(3, small("bfs " + name));
  EXPECT_NE(outcome.status, 0);
  EXPECT_EQ(outcome.out, "");
  EXPECT_NE(outcome.err.find("holdall: process 2: "), std::string::npos) << outcome.err;
}

TEST_F(Processes, are_refused_what_is_not_split) {
  const Outcome outcome = run(2, small("tc " + graph("urand:10:8")));
  EXPECT_NE(outcome.status, 0);
  EXPECT_NE(outcome.err.find("tc is not split over processes"), std::string::npos) << outcome.err;
}

}  // namespace
}  // namespace holdall::apps

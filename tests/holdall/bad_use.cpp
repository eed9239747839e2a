// What bad use gets: a message that names the thing, the limit and the remedy; exit status 1, or 2
// where the command line itself is wrong; nothing half done.
#include <cstdint>
#include <cstring>

#include "tests/holdall/program.hpp"

namespace holdall::apps {
namespace {

class BadUse : public Program {
 protected:
  // A GAP .sg of a path 0 - 1 - 2, `ids` at its end.
  std::string serialized(const std::string& name, std::vector<std::int32_t> ids = {1, 0, 2, 1}) {
    std::string bytes(1, '\0');
    const auto append = [&](const auto value) {
      bytes.append(reinterpret_cast<const char*>(&value), sizeof value);
    };
    append(std::int64_t{4});
    append(std::int64_t{3});
    for (const std::int64_t offset : {0, 1, 3, 4}) append(offset);
    for (const std::int32_t id : ids) append(id);
    return file(name, bytes);
  }
};

// ---- files

TEST_F(BadUse, a_missing_file) {
  for (const char* job : {"info", "bfs", "pagerank", "demo"})
    refused(std::string("graph ") + job + " " + path("none.sg"), 1,
            {"none.sg", "No such file or directory", "check the path"});
  refused("graph bfs " + folder_.string(), 1, {folder_.string(), "no ordinary file"});
}

TEST_F(BadUse, an_empty_file) {
  refused("graph bfs " + file("empty.txt", ""), 1, {"empty.txt", "is empty"});
  refused("graph bfs " + file("bare.txt", "# nothing\n"), 1, {"bare.txt", "no edges"});
}

TEST_F(BadUse, a_truncated_file) {
  for (const std::string name : {"whole.hold", "whole.sg"}) {
    ASSERT_EQ(holdall("graph generate kron:10 " + path(name)).status, 0);
    const std::string whole = contents(path(name));
    for (const std::size_t bytes : {whole.size() - 1, whole.size() / 2, std::size_t{10}})
      for (const char* job : {"info", "bfs", "pagerank"})
        refused(std::string("graph ") + job + " " + file("cut", whole.substr(0, bytes)), 1,
                {"cut, byte "});
  }
  refused("graph info " +
              file("cut.mtx", "%%MatrixMarket matrix coordinate pattern general\n3 3 2\n1 2\n"),
          1, {"cut.mtx"});
}

TEST_F(BadUse, reading_in_place_what_stays_in_its_file) {
  ASSERT_EQ(holdall("graph generate kron:10 " + path("g.hold")).status, 0);
  const std::string line = "graph bfs --driver host --path in-place " + path("g.hold");
  refused(line, 1, {"--path in-place", "g.hold", "--pinned"});
  EXPECT_EQ(holdall(line + " --pinned").status, 0);
}

TEST_F(BadUse, a_file_of_the_wrong_kind) {
  refused("graph bfs " + file("a.gz", "\x1f\x8b\x08 and so on"), 1, {"a.gz", "gzip data"});
  refused("graph bfs " + file("prose", "once upon\na time ago\n"), 1, {"prose, line 2"});
  refused("graph bfs " + file("elf",
                              "\x7f"
                              "ELF and so on and so on"),
          1, {"elf", "of no known kind", ".hold"});
}

TEST_F(BadUse, ids_out_of_range) {
  ASSERT_EQ(holdall("graph bfs --driver host " + serialized("good.sg")).status, 0);
  for (const char* job : {"bfs", "pagerank", "info"}) {
    refused(std::string("graph ") + job + " " + serialized("bad.sg", {1, 0, 3, 1}), 1,
            {"bad.sg, byte 57", "3", "outside the 3 vertices", "get it again"});
    refused(std::string("graph ") + job + " " + serialized("bad.sg", {1, 0, -1, 1}), 1,
            {"bad.sg, byte 57", "4294967295"});
  }
  refused("graph bfs " + file("big.txt", "0 1\n0 4294967296\n"), 1, {"big.txt, line 2"});
  refused("graph bfs " + file("minus.txt", "0 1\n0 -1\n"), 1, {"minus.txt, line 2", "-1"});
  refused("graph bfs " +
              file("big.mtx", "%%MatrixMarket matrix coordinate pattern general\n3 3 1\n4 1\n"),
          1, {"big.mtx, line 3", "4"});
}

TEST_F(BadUse, offsets_past_the_end) {
  std::string bytes = contents(serialized("good.sg"));
  const std::int64_t far = 1000;
  std::memcpy(bytes.data() + 17 + 8, &far, sizeof far);
  for (const char* job : {"bfs", "pagerank", "info"})
    refused(std::string("graph ") + job + " " + file("far.sg", bytes), 1,
            {"far.sg, byte 25", "1000", "past the 4 edges"});
}

TEST_F(BadUse, a_vertex_that_does_not_exist) {
  refused("graph bfs kron:10 --source 1024", 1, {"--source 1024", "1024 vertices", "from 0 on"});
  refused("graph bfs kron:10 --source -1", 2, {"--source", "'-1'"});
  refused("graph bfs kron:10 --source x", 2, {"--source", "'x'"});
}

TEST_F(BadUse, files_that_cannot_be_written) {
  const std::string there = " " + path("no/such");
  for (const char* job : {"bfs", "pagerank"})
    for (const char* option : {"--output", "--trace", "--timeline"})
      refused(std::string("graph ") + job + " kron:10 --driver host " + option + there, 1,
              {"no/such", "No such file or directory"});
  refused("graph generate kron:10" + there + ".sg", 1, {"no/such.sg", "No such file or directory"});
  refused("graph convert " + serialized("g.sg") + there + ".hold", 1, {"no/such.hold"});
  refused("graph convert " + path("g.sg") + " " + path("g.xyz"), 1, {"'.xyz'", ".hold, .sg"});
  EXPECT_FALSE(std::filesystem::exists(path("g.xyz")));
}

TEST_F(BadUse, a_folder_for_temporary_files_that_is_none) {
  ::setenv("TMPDIR", "/no/such", 1);
  refused("graph info " + file("a.gz", "\x1f\x8b\x08 and so on"), 1, {"TMPDIR", "/no/such"});
  refused("policy compare -- holdall graph bfs kron:10", 1, {"'/no/such'", "set TMPDIR"});
  ::unsetenv("TMPDIR");
}

TEST_F(BadUse, a_full_disk) {
  for (const char* option : {"--trace", "--timeline"}) {
    const Outcome run =
        holdall(std::string("graph bfs kron:10 --driver host --json ") + option + " /dev/full");
    EXPECT_EQ(run.status, 1);
    EXPECT_TRUE(run.json().contains("reached")) << "the answer is good";
    EXPECT_NE(run.err.find("'/dev/full' is not whole: No space left on device"), std::string::npos)
        << run.err;
  }
  const Outcome run = holdall("policy list", "/dev/full");
  EXPECT_EQ(run.status, 1);
  EXPECT_NE(run.err.find("standard output: No space left on device"), std::string::npos) << run.err;
}

TEST_F(BadUse, one_file_for_two_things) {
  const std::string graph = serialized("g.sg"), before = contents(graph);
  for (const char* option : {"--output", "--trace", "--timeline"})
    refused("graph bfs " + graph + " " + option + " " + folder_.string() + "/./g.sg", 2,
            {option, "g.sg", "is GRAPH too"});
  refused("graph bfs " + graph + " --output " + path("a") + " --trace " + path("a"), 2,
          {"--trace", "is --output too"});
  EXPECT_EQ(contents(graph), before);
}

TEST_F(BadUse, a_standard_error_that_takes_nothing) {
  for (const char* const line : {"graph info none", "policy replay none", "embed inspect none.npy"})
    EXPECT_EQ(holdall(line, {}, "/dev/full").status, 1) << line;
}

TEST_F(BadUse, a_refused_run_leaves_no_output) {
  refused("graph bfs kron:10 --driver host --source 9999 --output " + path("parents"), 1, {});
  refused("graph convert " + path("none") + " " + path("new.sg"), 1, {});
  for (const auto& entry : std::filesystem::directory_iterator(folder_))
    EXPECT_TRUE(entry.path().filename() == "stdout" || entry.path().filename() == "stderr")
        << entry.path();
}

TEST_F(BadUse, a_graph_that_an_algorithm_cannot_take) {
  const std::string graph = file("g.el", "0 1\n1 2\n");
  for (const char* job : {"tc", "kcore"})
    refused(std::string("graph ") + job + " --driver host " + graph, 1,
            {"undirected", "--symmetrize"});
  refused("graph sssp --driver host " + graph, 1, {"no weights", "--weights"});
}

TEST_F(BadUse, sources_that_contradict) {
  refused("graph bfs kron:10 --source 1 --sources 2", 2, {"--source"});
  refused("graph bfs kron:10 --sources 0", 2, {"--sources"});
  refused("graph bfs kron:10 --sources 2 --output " + path("parents"), 2, {"--output"});
  refused("graph convert kron:10 " + path("a.sg") + " --host-memory 64MiB", 2, {"--host-memory"});
  refused("graph convert kron:10 " + path("a.wsg"), 1, {"a.wsg", "--weights"});
  refused("graph sweep kron:10 " + path("t.csv") + " --memory 64MB,x --policy lru", 2,
          {"--memory"});
  refused("graph sweep kron:10 " + path("t.csv") + " --memory 64MiB --policy none", 2, {"none"});
  refused("graph sweep kron:10 " + path("t.csv") + " --memory 2MiB --policy lru --driver host", 1,
          {"larger ones"});
  refused("graph plan kron:10 --link -3", 2, {"--link"});
  refused("graph bfs kron:10 --direction sideways", 2, {"--direction", "sideways"});
}

// ---- budgets

TEST_F(BadUse, a_budget_larger_than_the_machine_is_noted) {
  const Outcome outcome = holdall("graph bfs kron:10 --driver host --memory 99999TiB");
  EXPECT_NE(outcome.err.find("--memory"), std::string::npos) << outcome.err;
  EXPECT_NE(outcome.err.find("this machine has"), std::string::npos) << outcome.err;
}

TEST_F(BadUse, a_budget_smaller_than_one_chunk) {
  refused("graph bfs kron:10 --driver host --memory 4MiB", 1,
          {"one chunk of", "8 MiB", "4 MiB", "--memory", "--chunk"});
  refused("graph bfs kron:10 --memory 0", 2, {"--memory"});
}

TEST_F(BadUse, a_budget_smaller_than_the_vertex_data) {
  refused("graph bfs kron:16 --driver host --memory 20MiB --chunk 2MiB", 1,
          {"vertex data", "for BFS", "chunk of neighbours (2 MiB)", "20 MiB", "--memory"});
  refused("graph pagerank kron:20:1 --driver host --memory 14MiB --chunk 2MiB", 1,
          {"vertex data", "for PageRank", "14 MiB", "--memory"});
}

TEST_F(BadUse, too_little_pinned_memory) {
  refused("graph bfs kron:16 --driver host --chunk 2MiB --host-memory 2MiB", 1,
          {"out neighbours", "2 MiB", "--host-memory"});
}

TEST_F(BadUse, a_chunk_that_is_none) {
  for (const char* chunk : {"3MiB", "1MiB", "6MiB", "2MB", "8388609"})
    refused(std::string("graph bfs kron:10 --chunk ") + chunk, 2,
            {"--chunk", chunk, "2 MiB times a power of two"});
}

TEST_F(BadUse, sizes_that_are_none) {
  for (const char* size : {"12q", "-5", "GiB"})
    refused(std::string("graph bfs kron:10 --memory ") + size, 2, {"--memory", size, "8MiB"});
  for (const char* size : {"1e400", "99999999999TiB"})
    refused(std::string("graph bfs kron:10 --memory ") + size, 2, {"--memory", size, "8 EiB"});
}

// ---- names

TEST_F(BadUse, an_unknown_policy_or_parameter) {
  refused("graph bfs kron:10 --policy lur", 2, {"'lur'", "lru", "fifo", "random"});
  refused("graph bfs kron:10 --policy lfu:half=1", 2, {"'half'", "halflife"});
  refused("graph bfs kron:10 --policy lfu:halflife=x", 2, {"halflife", "x"});
}

TEST_F(BadUse, a_gpu_where_there_is_none) {
  if (holdall("doctor --json").json()["driver"] == "cuda") GTEST_SKIP() << "there is a GPU here";
  refused("graph bfs kron:10 --driver cuda", 1, {"host driver"});
}

TEST_F(BadUse, an_unknown_driver_or_too_many_devices) {
  refused("graph bfs kron:10 --driver opencl", 2, {"--driver", "opencl", "cuda", "host"});
  refused("graph bfs kron:10 --driver host --devices 300", 1, {"--devices", "300", "255"});
  refused("graph bfs kron:10 --devices -1", 2, {"--devices"});
}

TEST_F(BadUse, a_generator_out_of_bounds) {
  for (const char* graph : {"kron:0", "kron:33", "kron:", "kron:x", "urand:4:0", "kron:10:16:1"})
    refused(std::string("graph bfs ") + graph, 1, {graph, "kron:SCALE[:EDGEFACTOR]", "1 to 32"});
  refused("graph generate nonsense " + path("g.sg"), 2, {"'nonsense'", "kron"});
  refused("graph info kron:32:65536", 1, {"memory"});
}

TEST_F(BadUse, sub_commands_and_options_that_do_not_exist) {
  refused("", 2, {"sub-command is missing", "graph, embed, policy, doctor"});
  refused("grpah", 2, {"'grpah'", "graph, embed, policy, doctor"});
  refused("graph", 2, {"sub-command is missing", "bfs", "pagerank"});
  refused("graph dfs kron:10", 2, {"'dfs'", "bfs", "holdall graph --help"});
  refused("policy", 2, {"list"});
  refused("graph bfs", 2, {"GRAPH is required", "holdall graph bfs --help"});
  refused("graph bfs kron:10 --frobnicate", 2, {"--frobnicate"});
  refused("graph bfs kron:10 kron:11", 2, {"kron:11"});
  refused("graph bfs kron:10 --memory", 2, {"--memory"});
  refused("graph pagerank kron:10 --iterations 0", 2, {"--iterations", "1 to"});
  refused("graph pagerank kron:10 --damping 2", 2, {"--damping"});
  for (const char* option : {"--damping", "--tolerance"})
    for (const char* value : {"nan", "-nan", "inf", "x", "-1"})
      refused(std::string("graph pagerank kron:10 ") + option + " " + value, 2, {option, value});
  refused("graph bfs kron:10 --alpha 0", 2, {"--alpha: '0' is no number above 0\n"});
  refused("embed bench --alpha nan", 2, {"'nan' is no number"});
  refused("graph generate kron:10 " + path("g.sg") + " --seed -3", 2, {"--seed", "-3"});
}

}  // namespace
}  // namespace holdall::apps

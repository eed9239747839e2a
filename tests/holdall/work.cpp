// What the program does when it is used well.
#include <cstdint>
#include <cstring>
#include <sstream>

#include "tests/holdall/program.hpp"

namespace holdall::apps {
namespace {

const std::vector<const char*> run_keys = {
    "graph",       "vertices", "edges",     "policy",  "chunk",      "memory",
    "driver",      "devices",  "hits",      "faults",  "prefetched", "evictions",
    "write_backs", "bytes_in", "bytes_out", "seconds", "verified"};

class Work : public Program {
 protected:
  // BFS or PageRank with little memory, on the driver that is everywhere.
  std::string small(const std::string& job) const {
    return "graph " + job + " --driver host --memory 64MiB --chunk 2MiB ";
  }
};

TEST_F(Work, bfs_prints_a_table_and_writes_nothing_else) {
  const Outcome run = works(small("bfs kron:12 --source 3"));
  for (const char* what : {"graph", "policy", "reached", "hits", "faults", "bytes in", "time"})
    EXPECT_NE(run.out.find(what), std::string::npos) << what << "\n" << run.out;
}

TEST_F(Work, bfs_gives_json) {
  const auto j = works(small("bfs kron:12 --source 3 --json --verify")).json();
  expect_keys(j, run_keys);
  expect_keys(j, {"source", "reached", "levels"});
  EXPECT_EQ(j["vertices"], 4096);
  EXPECT_EQ(j["verified"], true);
  EXPECT_EQ(j["driver"], "host");
  EXPECT_EQ(j["memory"], 64 << 20);
  EXPECT_EQ(j["chunk"], 2 << 20);
}

TEST_F(Work, pagerank_gives_json) {
  const auto j = works(small("pagerank urand:12 --iterations 3 --tolerance 0 --json")).json();
  expect_keys(j, run_keys);
  expect_keys(j, {"iterations", "error"});
  EXPECT_EQ(j["iterations"], 3);
  EXPECT_TRUE(j["verified"].is_null()) << "nobody asked";
}

TEST_F(Work, every_algorithm_gives_json_with_its_steps_and_can_be_verified) {
  for (const char* job : {"bfs", "sssp --weights int32", "sssp --weights float32", "pagerank", "cc",
                          "cc --method label-propagation", "bc", "tc", "kcore",
                          "bfs --direction top-down", "bfs --direction bottom-up"}) {
    const auto j = works(small(std::string(job) + " kron:12 --json --verify")).json();
    expect_keys(j, run_keys);
    EXPECT_EQ(j["verified"], true) << job;
    EXPECT_GT(j["steps"].size(), 0) << job;
    expect_keys(j["steps"][0], {"frontier", "edges", "edges_in_place", "bytes_in", "bytes_in_place",
                                "hits", "faults", "seconds"});
  }
}

TEST_F(Work, a_batch_of_searches_tells_of_each) {
  for (const char* job : {"bfs", "sssp --weights int32"}) {
    const auto j = works(small(std::string(job) + " kron:12 --sources 5 --json --verify")).json();
    EXPECT_EQ(j["searches"], 5);
    EXPECT_EQ(j["each"].size(), 5);
    EXPECT_EQ(j["verified"], true);
    for (const auto& each : j["each"]) EXPECT_GT(each["reached"], 1);
  }
}

TEST_F(Work, the_path_that_edges_take_is_as_asked) {
  const auto edges = [&](const char* way) {
    return works(small(std::string("bfs urand:14 --json --path ") + way)).json();
  };
  EXPECT_EQ(edges("in-place")["bytes_in"], 0);
  EXPECT_GT(edges("in-place")["bytes_in_place"], 0);
  EXPECT_EQ(edges("paged")["bytes_in_place"], 0);
  EXPECT_GT(edges("paged")["bytes_in"], 0);
}

TEST_F(Work, weights_are_kept_in_a_file) {
  works("graph generate kron:12 " + path("w.hold") + " --weights int32");
  const auto from_file =
      works(small("sssp " + path("w.hold") + " --source 3 --json --verify")).json();
  const auto generated = works(small("sssp kron:12 --weights int32 --source 3 --json")).json();
  EXPECT_EQ(from_file["verified"], true);
  EXPECT_EQ(from_file["reached"], generated["reached"]);
}

TEST_F(Work, pagerank_equals_the_reference_with_little_memory) {
  works("graph generate urand:16:24 " + path("g.hold"));
  const auto j = works("graph pagerank " + path("g.hold") +
                       " --driver host --memory 20MiB --chunk 2MiB --policy clock --verify --json")
                     .json();
  EXPECT_EQ(j["verified"], true);
  EXPECT_EQ(j["policy"], "clock");
  EXPECT_GT(j["evictions"], 0);
  EXPECT_GT(j["faults"], 6);
}

TEST_F(Work, several_devices_share_a_graph) {
  const auto j = works(small("pagerank urand:14:40 --devices 3 --verify --json")).json();
  EXPECT_EQ(j["devices"], 3);
  EXPECT_EQ(j["verified"], true);
}

TEST_F(Work, output_has_a_line_a_vertex) {
  const std::string edges = file("path.el", "0 1\n1 2\n2 3\n5 4\n");
  works(small("bfs " + edges + " --source 1 --output " + path("parents")));
  EXPECT_EQ(contents(path("parents")), "-1\n1\n1\n2\n-1\n-1\n");
  works(small("pagerank " + edges + " --iterations 1 --output " + path("scores")));
  std::istringstream scores(contents(path("scores")));
  int lines = 0;
  for (double score = 0; scores >> score; ++lines) EXPECT_GT(score, 0);
  EXPECT_EQ(lines, 6);
}

TEST_F(Work, trace_and_timeline_files_appear) {
  works(small("pagerank kron:12 --trace " + path("trace") + " --timeline " + path("timeline")));
  const std::string trace = contents(path("trace"));
  EXPECT_TRUE(trace.starts_with("HOLDTRC2"));
  constexpr std::size_t header = 16 + 3 + 8;  // of one device under "lru"
  EXPECT_GT(trace.size(), header);
  EXPECT_EQ((trace.size() - header) % 48, 0u);
  const auto events = nlohmann::json::parse(contents(path("timeline")));
  ASSERT_TRUE(events.is_array());
  EXPECT_GT(events.size(), 0u);
  for (const auto& event : events) expect_keys(event, {"ph", "pid", "tid", "name"});
}

TEST_F(Work, a_graph_is_the_same_in_every_format) {
  works("graph generate kron:10:8 " + path("a.hold") + " --seed 7");
  const auto expected = works("graph info " + path("a.hold") + " --json").json();
  EXPECT_EQ(works("graph info kron:10:8 --seed 7 --json").json()["edges"], expected["edges"]);
  for (const char* name : {"b.sg", "c.mtx", "d.hold", "e.hold"}) {
    works("graph convert " + path("a.hold") + " " + path(name) +
          (name[0] == 'e' ? " --host-memory 64MiB" : ""));
    auto info = works("graph info " + path(name) + " --json").json();
    for (const char* key :
         {"vertices", "edges", "isolated", "dangling", "greatest_degree", "directed"})
      EXPECT_EQ(info[key], expected[key]) << name << " " << key;
  }
}

TEST_F(Work, weights_go_through_every_format_that_has_them) {
  works("graph generate kron:10:8 " + path("a.hold") + " --weights int32");
  const std::string sssp =
      "graph sssp --driver host --memory 64MiB --chunk 2MiB --source 1 --json ";
  const auto expected = works(sssp + path("a.hold")).json();
  for (const char* name : {"b.wsg", "c.wel", "d.mtx", "e.bwcsr", "f.bel", "g.txt"}) {
    works("graph convert " + path("a.hold") + " " + path(name));
    const bool text = name[0] == 'c' || name[0] == 'g';
    const auto j = works(sssp + path(name) + " --verify" + (text ? " --symmetrize" : "")).json();
    EXPECT_EQ(j["reached"], expected["reached"]) << name;
    EXPECT_EQ(j["verified"], true) << name;
  }
  const auto info = works("graph info " + path("f.bel") + " --json").json();
  EXPECT_EQ(info["weights"], "int32");
  EXPECT_EQ(info["format"], "EMOGI .bel");
}

TEST_F(Work, plan_says_what_will_live_where) {
  const auto j =
      works("graph plan grid:1000x2000 --memory 64MiB --driver host --link 50 --json").json();
  EXPECT_EQ(j["vertices"], 2000000);
  EXPECT_EQ(j["edges"], 2 * (1000 * 1999 + 999 * 2000));
  for (const auto& plan : j["algorithms"]) {
    const std::uint64_t resident = plan["resident"], paged = plan["paged"], edges = plan["edges"];
    const std::uint64_t always =
        plan["offsets"].get<std::uint64_t>() + plan["state"].get<std::uint64_t>();
    EXPECT_EQ(plan["possible"], plan["algorithm"] != "sssp");
    EXPECT_EQ(resident + paged, edges);
    if (!plan["fits"].get<bool>()) continue;
    EXPECT_LE(always + resident, 64u << 20);
    EXPECT_DOUBLE_EQ(plan["seconds"].get<double>(), static_cast<double>(paged) / 50e9);
  }
  EXPECT_EQ(j["algorithms"][2]["algorithm"], "pagerank");
  EXPECT_EQ(j["algorithms"][2]["fits"], true);
  // By chunks of 2 MiB: three arrays of 8,000,000 bytes and two small ones; one of 16,000,008.
  EXPECT_EQ(j["algorithms"][2]["state"], (3 * 8 + 2 * 2) << 20);
  EXPECT_EQ(j["algorithms"][2]["offsets"], 16 << 20);
}

TEST_F(Work, plan_and_run_agree_on_what_fits) {
  works("graph generate kron:16 " + path("g.hold"));
  const std::string graph = path("g.hold") + " --driver host --chunk 2MiB --memory ";
  for (const std::string algorithm : {"bfs", "pagerank", "cc", "kcore"}) {
    const auto plan = works("graph plan " + graph + "1GiB --link 1 --json --algorithm " + algorithm);
    const std::uint64_t needed = plan.json()["algorithms"][0]["needed"];
    for (const std::uint64_t memory : {needed - 1, needed, needed + (3 << 20)}) {
      const int expected = memory < needed ? 1 : 0;
      const std::string budget = graph + std::to_string(memory);
      EXPECT_EQ(holdall("graph " + algorithm + " " + budget).status, expected)
          << algorithm << " " << budget;
      const Outcome again = holdall("graph plan " + budget + " --link 1 --algorithm " + algorithm);
      EXPECT_EQ(again.status, expected) << algorithm << " " << budget;
      EXPECT_EQ(again.out.find("DOES NOT FIT") != std::string::npos, expected == 1) << again.out;
    }
  }
  EXPECT_NE(works("graph plan " + graph + "64MiB").out.find("measured now"), std::string::npos);
}

TEST_F(Work, sweep_writes_a_table_and_a_chart) {
  works("graph generate urand:16:24 " + path("g.hold"));
  const Outcome run =
      holdall("graph sweep " + path("g.hold") + " " + path("t.csv") +
              " --memory 24MiB,32MiB,1MiB --policy lru,mru --driver host --chunk 2MiB");
  std::istringstream rows(contents(path("t.csv")));
  std::string row;
  std::size_t count = 0;
  while (std::getline(rows, row)) ++count;
  EXPECT_EQ(count, 1u + 4);  // 1 MiB is too little
  if (run.err.find("matplotlib") != std::string::npos) GTEST_SKIP() << run.err;
  EXPECT_EQ(run.status, 0) << run.err;
  EXPECT_NE(run.err.find("1 MiB"), std::string::npos) << run.err;
  EXPECT_NE(contents(path("t.svg")).find("<svg"), std::string::npos);
}

TEST_F(Work, info_tells_of_text) {
  const std::string edges = file("e.txt", "# a comment\r\n0 1\r\n0 1\r\n2 2\r\n");
  const auto j = works("graph info " + edges + " --json").json();
  expect_keys(j, {"graph", "format", "directed", "isolated", "dangling", "greatest_degree"});
  EXPECT_EQ(j["vertices"], 3);
  EXPECT_EQ(j["edges"], 3);
  EXPECT_EQ(j["duplicates"], 1);
  EXPECT_EQ(j["self_loops"], 1);
  const auto mended =
      works("graph info " + edges + " --symmetrize --deduplicate --remove-self-loops --json");
  EXPECT_EQ(mended.json()["edges"], 2);
  EXPECT_EQ(
      works("graph info " + file("gap.el", "5 900\n") + " --compact --json").json()["vertices"], 2);
}

TEST_F(Work, policies_are_listed) {
  const auto policies = works("policy list --json").json();
  ASSERT_TRUE(policies.is_array());
  const std::string table = works("policy list").out;
  bool lru = false;
  for (const auto& policy : policies) {
    expect_keys(policy, {"policy", "summary"});
    const std::string name = policy["policy"];
    lru |= name == "lru";
    EXPECT_NE(table.find(name), std::string::npos);
    works(small("bfs kron:10 --policy " + name));
  }
  EXPECT_TRUE(lru);
}

TEST_F(Work, doctor_says_what_there_is) {
  const auto j = works("doctor --json").json();
  expect_keys(j, {"driver", "devices", "host_memory", "host_available", "host_budget",
                  "locked_limit", "map_limit", "cores", "advice"});
  ASSERT_GE(j["devices"].size(), 1u);
  expect_keys(j["devices"][0],
              {"name", "memory", "free", "virtual_memory_management", "granularity"});
  const std::string table = works("doctor").out;
  for (const char* what : {"driver", "device 0", "link", "mappings at most", "locked at most"})
    EXPECT_NE(table.find(what), std::string::npos) << what;
}

TEST_F(Work, demo_checks_all_answers) {
  works("graph generate kron:16 " + path("g.sg"));
  const Outcome run = works("graph demo " + path("g.sg") + " --driver host");
  for (const char* what : {"policy", "hits", "faults", "bytes in", "bytes out", "link", "time",
                           "in memory", "lru", "bfs", "pagerank", "equal"})
    EXPECT_NE(run.out.find(what), std::string::npos) << what << "\n" << run.out;
}

TEST_F(Work, help_is_no_error) {
  for (const char* line : {"--help", "graph --help", "graph bfs --help", "policy list --help",
                           "doctor --help", "graph convert -h"})
    EXPECT_NE(works(line).out.find("Usage:"), std::string::npos) << line;
}

}  // namespace
}  // namespace holdall::apps

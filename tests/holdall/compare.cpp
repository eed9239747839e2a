// `holdall policy compare`, and policies from plug-ins, run as people run them.
#include <algorithm>

#include "tests/holdall/program.hpp"

namespace holdall::apps {
namespace {

class Compare : public Program {
 protected:
  const std::string job =
      "holdall graph pagerank kron:16 --driver host --chunk 2MiB --memory 16MiB --iterations 4";
};

TEST_F(Compare, ARowAPolicyWithWhatOptWouldHaveDone) {
  const auto rows = works("policy compare --policies lru,lfu:halflife=9 --json -- " + job).json();
  ASSERT_EQ(rows.size(), 2u);
  EXPECT_EQ(rows[0]["policy"], "lru");
  EXPECT_EQ(rows[1]["policy"], "lfu:halflife=9");
  for (const auto& row : rows) {
    expect_keys(row, {"hits", "faults", "bytes_in", "bytes_out", "write_backs", "seconds"});
    EXPECT_GT(row["faults"], 0);
    EXPECT_GT(row["modelled_seconds"], 0);
    EXPECT_GT(row["opt_misses"], 0);
    EXPECT_LE(row["opt_bypass_misses"], row["opt_misses"]);
    EXPECT_LE(row["opt_misses"], row["recorded_misses"]);
    EXPECT_LE(row["recorded_misses"], row["recorded_requests"]);
  }
}

TEST_F(Compare, AsATableAndAsCsv) {
  const std::string table = works("policy compare --policies lru,mru -- " + job).out;
  EXPECT_EQ(std::ranges::count(table, '\n'), 3);
  EXPECT_NE(table.find("bypassing"), std::string::npos);
  const std::string csv = works("policy compare --policies lru,mru --csv -- " + job).out;
  EXPECT_TRUE(csv.starts_with("policy,hits,faults,")) << csv;
  EXPECT_EQ(std::ranges::count(csv, '\n'), 3);
}

TEST_F(Compare, TheDoctorsMeasurementsAreTheCostsOfTheModel) {
  const Outcome doctor = holdall("doctor --json");
  ASSERT_EQ(doctor.status, 0) << doctor.err;
  const auto device = doctor.json()["devices"][0];
  for (const char* const key : {"link_in", "link_out", "link_both"})
    EXPECT_GT(device[key].get<double>(), 0) << key;
  ASSERT_EQ(device["chunk_costs"].size(), 3u);
  for (const auto& cost : device["chunk_costs"])
    for (const char* const key : {"bytes", "map", "set_access", "unmap", "chunk_seconds"})
      EXPECT_GT(cost[key].get<double>(), 0) << key;
  const std::string costs = " --cost " + file("doctor.json", doctor.out);
  const auto row =
      works("policy compare --policies lru --json" + costs + " -- " + job).json()[0];
  EXPECT_GT(row["modelled_seconds"], 0);
  works("policy trace synthesise loop --requests 100 --chunks 10 " + path("loop"));
  const auto run = works("policy replay " + path("loop") + " --size 2 --json" + costs).json();
  // Both directions together may rate below one of them where the machine was busy.
  const double in = 100 * 8.0 * (1 << 20) / std::min(device["link_in"].get<double>(),
                                                     device["link_both"].get<double>());
  const double calls = 100 * device["chunk_costs"][1]["chunk_seconds"].get<double>();
  EXPECT_NEAR(run["modelled_seconds"].get<double>(), std::max(in, calls), 1e-9);
}

TEST_F(Compare, WhatCannotBeComparedIsRefused) {
  refused("policy compare", 2, {"PROGRAM"});
  refused("policy compare --policies lrru -- " + job, 2, {"lrru", "lru"});
  refused("policy compare -- " + job + " --policy lru", 2, {"leave out --policy"});
  refused("policy compare -- " + path("none"), 1, {"cannot run", "none"});
  refused("policy compare -- false", 1, {"`false --policy lru", "exit status 1"});
  refused("policy compare -- true", 1, {"`true --policy lru", "no JSON object", "holdall graph"});
  refused("policy compare -- holdall graph pagerank " + path("none"), 1, {"exit status 1", "none"});
}

TEST_F(Compare, APluginIsAPolicyEverywhere) {
  const std::string plugin = std::string(" --plugin ") + HOLDALL_MY_POLICY;
  const std::string policy = " --policy my-policy:spare=2" + plugin;
  EXPECT_NE(works("policy list" + plugin).out.find("my-policy"), std::string::npos);
  const auto run = works(job.substr(8) + policy + " --verify --json --trace " + path("run")).json();
  EXPECT_EQ(run["policy"], "my-policy:spare=2");
  EXPECT_EQ(run["verified"], true);
  EXPECT_GT(run["faults"], 0);
  const auto again = works("policy replay " + path("run") + " --live --json" + plugin).json();
  EXPECT_GT(again["victims"], 0);
  EXPECT_EQ(again["agreed"], again["victims"]);
  for (const char* const command : {"replay ", "mrc "})
    EXPECT_NE(works("policy " + std::string(command) + path("run") + policy + " --json")
                  .out.find("my-policy:spare=2"),
              std::string::npos)
        << command;
  works("policy sweep " + path("run") + policy + " --size 2 --output " + path("sweep.csv"));
  EXPECT_NE(contents(path("sweep.csv")).find("my-policy"), std::string::npos);
  EXPECT_EQ(works("policy compare --policies my-policy,lru --json" + plugin + " -- " + job)
                .json()[0]["policy"],
            "my-policy");
}

TEST_F(Compare, APluginThatCannotBeLoadedIsRefused) {
  refused("policy list --plugin " + path("none.so"), 2, {"--plugin", "none.so"});
  refused("graph bfs kron:8 --plugin " + file("no.so", "text"), 2, {"--plugin", "no.so"});
  refused("graph bfs kron:8 --policy my-policy", 2, {"my-policy"});
}

}  // namespace
}  // namespace holdall::apps

// `holdall policy`, run as people run it.
#include <algorithm>

#include "tests/holdall/program.hpp"

namespace holdall::apps {
namespace {

class Lab : public Program {
 protected:
  std::string trace(const std::string& words, const std::string& name = "trace") {
    works("policy trace synthesise " + words + " " + path(name));
    return path(name);
  }
};

TEST_F(Lab, ReplaysAGridAndCountsExactly) {
  const std::string text = file("t.txt", "0\n1\n0\n2\n1\n0\n");
  const auto runs =
      works("policy replay " + text + " --policy lru,clock:bits=2 --size 2,100% --chunk 10 --json")
          .json();
  ASSERT_EQ(runs.size(), 4u);
  for (const auto& run : runs)
    expect_keys(run, {"policy", "size", "requests", "hits", "misses", "bytes_in", "bytes_out",
                      "evictions", "write_backs", "seconds", "modelled_seconds"});
  EXPECT_EQ(runs[0]["policy"], "lru");
  EXPECT_EQ(runs[0]["size"], 2);
  EXPECT_EQ(runs[0]["misses"], 5);
  EXPECT_EQ(runs[0]["bytes_in"], 50);
  EXPECT_EQ(runs[1]["size"], 3);
  EXPECT_EQ(runs[1]["misses"], 3);
  EXPECT_EQ(runs[2]["policy"], "clock:bits=2");
}

TEST_F(Lab, StreamingAndHoldingCountTheSame) {
  const std::string t = trace("shift --requests 30000 --chunks 500 --writes 0.2");
  const auto streamed = works("policy replay " + t + " --policy lru,fifo --size 100 --json").json();
  const auto held = works("policy replay " + t + " --policy lru,fifo --size 100,50% --json").json();
  for (const char* const key : {"requests", "misses", "bytes_in", "bytes_out", "write_backs"}) {
    EXPECT_EQ(streamed[0][key], held[0][key]) << key;
    EXPECT_EQ(streamed[1][key], held[2][key]) << key;
  }
  EXPECT_GT(streamed[0]["write_backs"], 0);
}

TEST_F(Lab, ARecordingIsReenacted) {
  works("graph pagerank kron:16 --driver host --chunk 2MiB --memory 16MiB --policy lirs --trace " +
        path("run"));
  const auto run = works("policy replay " + path("run") + " --live --json").json();
  EXPECT_EQ(run["policy"], "lirs");
  EXPECT_EQ(run["memory"], 16 << 20);
  EXPECT_GT(run["victims"], 0);
  EXPECT_EQ(run["agreed"], run["victims"]);
  const auto others = works("policy replay " + path("run") + " --live --policy lru,mru --json");
  EXPECT_EQ(others.json().size(), 2u);
  refused("policy replay " + trace("loop --requests 10 --chunks 3") + " --live", 1,
          {"no recording", "--trace"});
}

TEST_F(Lab, CsvHasARowARun) {
  const std::string out =
      works("policy replay " + trace("loop --requests 100 --chunks 10") + " --size 5,10 --csv").out;
  EXPECT_TRUE(out.starts_with("trace,policy,size,"));
  EXPECT_EQ(std::ranges::count(out, '\n'), 3);
}

TEST_F(Lab, CurvesEqualReplays) {
  const std::string t = trace("zipf --requests 20000 --chunks 300");
  const auto points = works("policy mrc " + t + " --policy lru,mru,fifo --points 8 --json").json();
  ASSERT_GE(points.size(), 20u);
  for (const auto& point : points) {
    const auto run =
        works("policy replay " + t + " --policy " + point["policy"].get<std::string>() +
              " --size " + point["size"].dump() + " --json")
            .json();
    EXPECT_EQ(run["misses"], point["misses"]) << point;
  }
}

TEST_F(Lab, SampledCurvesSayTheirError) {
  const auto points = works("policy mrc " + trace("zipf --requests 50000 --chunks 5000") +
                            " --sampled 0.2 --points 5 --json")
                          .json();
  for (const auto& point : points) expect_keys(point, {"miss_ratio", "error"});
}

TEST_F(Lab, BoundsAreInOrder) {
  const auto bound =
      works("policy bound " + trace("zipf --requests 20000 --chunks 300") + " --size 10% --json")
          .json();
  EXPECT_EQ(bound["size"], 30);
  EXPECT_LE(bound["compulsory"], bound["opt_bypass"]);
  EXPECT_LE(bound["opt_bypass"], bound["opt"]);
}

TEST_F(Lab, ASweepGoesOnWhereItWasBrokenOff) {
  const std::string a = trace("zipf --requests 5000 --chunks 300", "a"),
                    b = trace("loop --requests 5000 --chunks 300", "b");
  const std::string line = "policy sweep " + a + " " + b +
                           " --policy lru,fifo,lfu:halflife=100 --size 10,20% --output " +
                           path("t.csv");
  EXPECT_NE(works(line).out.find("12 cells run, 0 were there already"), std::string::npos);
  std::string whole = contents(path("t.csv"));
  EXPECT_EQ(std::ranges::count(whole, '\n'), 13);

  // The last two lines and a half are lost.
  std::size_t end = whole.size() - 1;
  for (int i = 0; i < 2; ++i) end = whole.rfind('\n', end - 1);
  file("t.csv", whole.substr(0, end - 10));
  EXPECT_NE(works(line).out.find("3 cells run, 9 were there already"), std::string::npos);
  EXPECT_NE(works(line).out.find("0 cells run, 12 were there already"), std::string::npos);

  // All is as before, but for the order and the times.
  const auto counts = [](const std::string& table) {
    std::vector<std::string> rows;
    std::istringstream lines(table);
    for (std::string row; std::getline(lines, row);) {
      row.resize(row.rfind(','));
      rows.push_back(row.substr(0, row.rfind(',')));
    }
    std::ranges::sort(rows);
    return rows;
  };
  EXPECT_EQ(counts(contents(path("t.csv"))), counts(whole));
}

// Where there is matplotlib; else the message says what to install.
TEST_F(Lab, AReportIsOnePageThatNeedsNothingElse) {
  const std::string t = trace("zipf --requests 2000 --chunks 100");
  works("policy sweep " + t + " --policy lru,fifo --size 10%,50% --output " + path("t.csv"));
  const Outcome outcome =
      holdall("policy report " + path("t.csv") + " --output " + path("r.html") + " --trace " + t);
  if (outcome.err.find("matplotlib") != std::string::npos) {
    EXPECT_EQ(outcome.status, 1);
    GTEST_SKIP() << outcome.err;
  }
  EXPECT_EQ(outcome.status, 0) << outcome.err;
  const std::string page = contents(path("r.html"));
  EXPECT_NE(page.find("data:image/png;base64,"), std::string::npos);
  EXPECT_EQ(page.find("src=\"http"), std::string::npos);
  EXPECT_NE(page.find("<td>fifo"), std::string::npos);
  EXPECT_NE(contents(path("r-heat.svg")).find("<svg"), std::string::npos);
}

TEST_F(Lab, TracesAreConvertedFilteredAndSampled) {
  const std::string t = trace("zipf --requests 5000 --chunks 200 --writes 0.5");
  const auto info = [&](const std::string& name) {
    return works("policy trace info " + path(name) + " --json").json();
  };
  EXPECT_EQ(info("trace")["format"], "holdall");
  EXPECT_EQ(info("trace")["requests"], 5000);
  works("policy trace convert " + t + " " + path("o.bin") + " --to oracleGeneral");
  EXPECT_EQ(info("o.bin")["format"], "oracleGeneral");
  EXPECT_EQ(info("o.bin")["chunks"], info("trace")["chunks"]);
  works("policy trace filter " + t + " " + path("w") + " --kind write");
  EXPECT_EQ(info("w")["requests"], info("trace")["kinds"]["write"]);
  works("policy trace filter " + t + " " + path("f") + " --first 10 --count 100");
  EXPECT_EQ(info("f")["requests"], 100);
  works("policy trace sample " + t + " " + path("s") + " --rate 0.5");
  EXPECT_LT(info("s")["chunks"], 150);
  EXPECT_GT(info("s")["chunks"], 50);
}

TEST_F(Lab, BadInputIsAnswered) {
  const std::string empty = file("empty", ""), text = file("t.txt", "1\n2\nx\n"),
                    good = file("g.txt", "1\n2\n1\n");
  refused("policy replay " + empty, 1, {empty, "empty"});
  refused("policy replay " + text, 1, {text, "line 3 at byte 4", "'x'"});
  refused("policy replay " + path("none"), 1, {"none", "No such file"});
  refused("policy replay " + good + " --policy lrru", 2, {"lrru", "lru"});
  refused("policy replay " + good + " --policy lru,lfu:half=3", 2, {"half", "halflife"});
  refused("policy replay " + good + " --size lots", 2, {"lots", "1GiB", "10%"});
  refused("policy replay " + good + " --columns key=lbn", 1, {"no column 'lbn'"});
  refused("policy replay " + good + " --format xml", 2, {"xml"});
  refused("policy replay " + good + " --cost " + file("c", "{}"), 1, {"link_in"});
  refused("policy mrc " + good + " --sampled 2", 2, {"'2' is no share"});
  refused("policy sweep " + good + " --output " + file("bad.csv", "a,b\n"), 1,
          {"bad.csv", "line 1"});
  refused("policy trace synthesise zip " + path("z"), 2, {"zip"});
  refused("policy trace synthesise zipf " + path("z") + " --chunks 0", 1, {"0 chunks"});
  for (const std::string none : {"0", "0%", "0MiB", "1KiB"}) {
    const Outcome outcome = holdall("policy replay " + good + " --size " + none + " --json");
    EXPECT_EQ(outcome.json()["misses"], 3) << none;
    EXPECT_NE(outcome.err.find("nothing fits"), std::string::npos) << none << outcome.err;
  }
  EXPECT_EQ(works("policy replay " + good + " --size 99999 --json").json()["misses"], 2);
}

TEST_F(Lab, TimeThatRunsBackwardsIsNoted) {
  const Outcome outcome =
      holdall("policy replay " + file("b.csv", "time,key\n5,1\n4,2\n") + " --json --size 1");
  EXPECT_EQ(outcome.status, 0);
  EXPECT_NE(outcome.err.find("time runs backwards at 1 of 2 requests"), std::string::npos)
      << outcome.err;
}

TEST_F(Lab, ASizeOutOfRangeIsSaidToBe) {
  refused("graph bfs kron:10 --driver host --memory 99EiB", 2, {"99EiB", "out of range"});
}

}  // namespace
}  // namespace holdall::apps

// holdall embed: what a source has, what a table will take, a copy in another format, a trial.
#include <cmath>

#include "tests/holdall/program.hpp"

namespace holdall::apps {
namespace {

class Embed : public Program {
 protected:
  // Four rows of three; `last`: the last element.
  std::string npy(float last = 11, const std::string& name = "t.npy") const {
    std::string header = "{'descr': '<f4', 'fortran_order': False, 'shape': (4, 3), }";
    header.resize(117, ' ');
    header += '\n';
    std::string bytes("\x93NUMPY\x01\x00", 8);
    bytes += static_cast<char>(header.size());
    bytes += '\0';
    bytes += header;
    for (int i = 0; i < 12; ++i) {
      const float value = i == 11 ? last : static_cast<float>(i);
      bytes.append(reinterpret_cast<const char*>(&value), sizeof value);
    }
    return file(name, bytes);
  }
};

TEST_F(Embed, inspect_says_what_a_source_has) {
  const std::string table = npy();
  EXPECT_NE(works("embed inspect " + table).out.find("4 rows of 3 fp32"), std::string::npos);
  const nlohmann::json json = works("embed inspect --json " + table).json();
  EXPECT_EQ(json["rows"], 4);
  EXPECT_EQ(json["dim"], 3);
  EXPECT_EQ(json["bytes"], 48);
  EXPECT_EQ(json["keyed"], false);
}

TEST_F(Embed, plan_lists_a_row_for_each_budget) {
  const nlohmann::json json =
      works("embed plan --json --budget 2MiB --budget 4MiB " + npy()).json();
  ASSERT_EQ(json.size(), 2u);
  EXPECT_EQ(json[0]["budget"], 2 << 20);
  EXPECT_EQ(json[1]["hot_rows"], 4);
  EXPECT_EQ(json[1]["hit_rate"], 1.0);
  expect_keys(json[0], {"device_bytes", "host_bytes", "overhead_bytes"});
}

TEST_F(Embed, plan_says_that_a_budget_is_too_small_for_a_chunk) {
  const Outcome outcome = holdall("embed plan --json --budget 1MiB " + npy());
  EXPECT_EQ(outcome.status, 0);
  EXPECT_EQ(outcome.json()[0]["device_bytes"], 0);
  EXPECT_EQ(outcome.json()[0]["chunk_bytes"], 2 << 20);
  EXPECT_NE(outcome.err.find("1 MiB has room for none of the table's chunks of 2 MiB"),
            std::string::npos)
      << outcome.err;
}

TEST_F(Embed, import_there_and_back_gives_the_same_bytes) {
  const std::string table = npy(), tensors = path("t.safetensors"), back = path("back.npy");
  const std::string host = " --driver host --memory 64MiB";
  works("embed import " + table + " " + tensors + host);
  works("embed import " + tensors + " " + back + host);
  const std::string rows = contents(table), copied = contents(back);
  EXPECT_EQ(copied.substr(copied.size() - 48), rows.substr(rows.size() - 48));
  EXPECT_EQ(works("embed inspect --json " + back).json()["rows"], 4);
}

TEST_F(Embed, what_is_no_number_is_let_in_refused_or_zeroed) {
  const std::string table = npy(NAN, "nan.npy"), copy = path("copy.npy");
  const std::string import = "embed import " + table + " " + copy + " --driver host --memory 64MiB";
  refused(import + " --nan refuse", 1, {"nan.npy", "are no numbers"});
  works(import);
  EXPECT_EQ(contents(copy).substr(128 + 44), contents(table).substr(128 + 44));
  works(import + " --nan zero");
  EXPECT_EQ(contents(copy).substr(128 + 44), std::string(4, '\0'));
}

TEST_F(Embed, narrower_rows_on_the_host_are_planned_and_tried) {
  const std::string plan = "embed plan --json " + npy() + " --budget 0";
  EXPECT_EQ(works(plan + " --cold-type int8").json()[0]["host_bytes"], 2 << 20);
  refused(plan + " --type fp16 --cold-type fp32", 1, {"narrower type"});
  const nlohmann::json json =
      works(
          "embed bench --json --driver host --memory 64MiB --rows 65536 --batch 1024 --seconds "
          "0.05 --lookups 20 --cold-type fp16")
          .json();
  EXPECT_EQ(json["verified"], true);
}

TEST_F(Embed, bench_prints_rates_and_checks_the_rows) {
  const nlohmann::json json =
      works(
          "embed bench --json --driver host --memory 64MiB --rows 16384 --batch 1024 --seconds "
          "0.05 --lookups 20")
          .json();
  EXPECT_EQ(json["verified"], true);
  EXPECT_GT(json["rows_per_second"], 0);
  EXPECT_LE(json["p50"], json["p99"]);
}

TEST_F(Embed, bad_use_is_refused_by_name) {
  refused("embed inspect " + path("none.npy"), 1, {"none.npy"});
  refused("embed inspect " + file("bad.npy", "no table"), 1, {"bad.npy", "is no .npy file"});
  refused("embed plan --budget lots " + npy(), 1, {"lots"});
  refused("embed import " + npy() + " " + path("t.txt") + " --driver host --memory 64MiB", 1,
          {"t.txt"});
  refused("embed bench --share 2", 2, {"--share", "from 0 to 1"});
  refused("embed bench --alpha nan", 2, {"--alpha", "'nan'", "from 0 to 10"});
  refused("embed bench --batch 0", 2, {"--batch", "'0'", "from 1 to"});
  refused("embed bench --rows 0", 2, {"--rows", "from 1 to"});
  refused("embed bench --lookups -5", 2, {"--lookups", "'-5'", "from 1 to"});
  refused("embed bench --seconds -1", 2, {"--seconds", "'-1'", "from 0.001 to 86400"});
  refused("embed", 2, {"a sub-command is missing", "inspect"});
}

}  // namespace
}  // namespace holdall::apps

// Every format is known by its content, and read to the last field.
#include <fmt/format.h>

#include "apps/policy/error.hpp"
#include "apps/policy/writer.hpp"
#include "tests/lab/lab.hpp"

namespace holdall::lab {
namespace {

struct Seen {
  std::uint64_t chunk, bytes;
  std::uint8_t kind = trace_read;
  std::uint64_t time = 0, next_use = ~std::uint64_t{0};  // time in ns
  bool operator==(const Seen&) const = default;
  friend void PrintTo(const Seen& s, std::ostream* out) {
    *out << fmt::format("{{{}, {} B, kind {}, at {}, next {}}}", s.chunk, s.bytes, s.kind, s.time,
                        static_cast<std::int64_t>(s.next_use));
  }
};

std::vector<Seen> seen(const std::string& contents, const std::string& format,
                       const ReadOptions& options = {}) {
  const TemporaryFile file(contents);
  EXPECT_EQ(message_of(file.path(), options), format);
  std::vector<Seen> all;
  for (const TraceRecord& r : all_of(file.path(), options))
    all.push_back({r.chunk, r.bytes, r.kind, r.time, r.next_use});
  return all;
}

constexpr std::uint64_t s = 1'000'000'000, far = std::uint64_t{1} << 50;

std::string oracle(std::uint32_t time, std::uint64_t id, std::uint32_t size,
                   const std::string& more, std::int64_t next) {
  return raw(time) + raw(id) + raw(size) + more + raw(next);
}

TEST(Formats, OracleGeneral) {
  EXPECT_EQ(seen(oracle(5, far, 512, "", 2) + oracle(6, 7, 8, "", -1) +
                     oracle(6, far, 512, "", INT64_MAX),
                 "oracleGeneral"),
            (std::vector<Seen>{{far, 512, trace_read, 5 * s, 2},
                               {7, 8, trace_read, 6 * s},
                               {far, 512, trace_read, 6 * s}}));
}

TEST(Formats, OracleGeneralWithOperations) {
  const auto more = [](std::uint8_t op) { return raw(op) + raw(std::uint16_t{3}); };
  EXPECT_EQ(seen(oracle(5, far, 512, more(1), 2) + oracle(6, 7, 8, more(3), -1) +
                     oracle(6, far, 512, more(9), -1),
                 "oracleGeneralOpNS"),
            (std::vector<Seen>{{far, 512, trace_read, 5 * s, 2},
                               {7, 8, trace_overwrite, 6 * s},
                               {far, 512, trace_remove, 6 * s}}));
}

TEST(Formats, OracleOfTwitter) {
  const auto record = [](std::uint32_t time, std::uint64_t id, std::uint16_t key,
                         std::uint32_t value, std::uint16_t op, std::int64_t next) {
    return raw(time) + raw(id) + raw(key) + raw(value) + raw(op) + raw(std::uint16_t{9}) +
           raw(std::int32_t{3600}) + raw(next);
  };
  EXPECT_EQ(seen(record(5, far, 20, 400, 1, 2) + record(6, 8, 21, 90'000, 3, -1) +
                     record(7, far, 20, 400, 1, -1),
                 "oracleSysTwrNS"),
            (std::vector<Seen>{{far, 420, trace_read, 5 * s, 2},
                               {8, 90'021, trace_overwrite, 6 * s},
                               {far, 420, trace_read, 7 * s}}));
}

TEST(Formats, LcsOfEveryVersion) {
  const std::size_t sizes[] = {0, 24, 28, 36, 40, 44, 52, 68, 100};
  for (std::uint64_t version = 1; version <= 8; ++version) {
    std::string contents = raw(std::uint64_t{0x123456789abcdef0}) + raw(version);
    contents.resize(8192);
    for (const std::int64_t next : {std::int64_t{1}, std::int64_t{-1}}) {
      std::string record = raw(std::uint32_t{9}) + raw(far);
      if (version <= 2)
        record += raw(std::uint32_t{77});
      else
        record += raw(std::int64_t{77});
      if (version >= 2) record += raw(std::uint32_t{3});
      if (version >= 3) record += raw(std::uint32_t{60});
      record += raw(next);
      record.resize(sizes[version]);
      contents += record;
    }
    const std::uint8_t kind = version == 1 ? trace_read : trace_overwrite;
    EXPECT_EQ(seen(contents, fmt::format("lcs{}", version)),
              (std::vector<Seen>{{far, 77, kind, 9 * s, 1}, {far, 77, kind, 9 * s}}));
  }
}

TEST(Formats, VscsiOfBothVersions) {
  std::string one, two;
  for (const std::uint16_t command : {std::uint16_t{0x28}, std::uint16_t{0x2a}}) {
    one += raw(std::uint32_t{1}) + raw(std::uint32_t{512}) + raw(std::uint32_t{1}) + raw(command) +
           raw(std::uint16_t{0x100}) + raw(far) + raw(std::uint64_t{5'000'000});
    two += raw(command) + raw(std::uint16_t{0x200}) + raw(std::uint32_t{1}) +
           raw(std::uint32_t{512}) + raw(std::uint32_t{1}) + raw(far) +
           raw(std::uint64_t{5'000'000}) + raw(std::uint64_t{3});
  }
  const std::vector<Seen> both{{far, 512, trace_read, 5 * s}, {far, 512, trace_overwrite, 5 * s}};
  EXPECT_EQ(seen(one, "vscsi1"), both);
  EXPECT_EQ(seen(two, "vscsi2"), both);
}

TEST(Formats, CsvByItsNamedColumns) {
  EXPECT_EQ(seen("version,time,op,size,lbn\n1,5,2a,512,42\n1,6.5,28,1024,43\r\n1,7,28,1,42", "csv"),
            (std::vector<Seen>{{42, 512, trace_overwrite, 5 * s},
                               {43, 1024, trace_read, 6'500'000'000},
                               {42, 1, trace_read, 7 * s}}));
}

TEST(Formats, CsvByChosenColumns) {
  EXPECT_EQ(seen("9;3\n8;4\n", "csv", {.columns = "key=2,size=1"}),
            (std::vector<Seen>{{3, 9}, {4, 8}}));
  EXPECT_EQ(seen("when\twhat\n9\t3\n", "csv", {.columns = "key=what,time=when"}),
            (std::vector<Seen>{{3, 1, trace_read, 9 * s}}));
}

TEST(Formats, CacheLibRepeatsWhatItCounts) {
  EXPECT_EQ(seen("key,op,size,op_count,key_size\n7,GET,100,3,8\n8,SET,5,1,8\n", "csv"),
            (std::vector<Seen>{{7, 100}, {7, 100}, {7, 100}, {8, 5, trace_overwrite}}));
}

TEST(Formats, TextOfNumbersAndOfWords) {
  EXPECT_EQ(seen("5\n7\r\n\n# more\n5", "txt"), (std::vector<Seen>{{5, 1}, {7, 1}, {5, 1}}));
  const auto words = seen("/index.html\n/a\n/index.html\n", "txt");
  ASSERT_EQ(words.size(), 3u);
  EXPECT_EQ(words[0], words[2]);
  EXPECT_NE(words[0], words[1]);
}

TEST(Formats, LirsHasMarkers) {
  EXPECT_EQ(seen("5\n*\n7\n*\n", "lirs"), (std::vector<Seen>{{5, 1}, {7, 1}}));
}

TEST(Formats, ArcCountsBlocks) {
  EXPECT_EQ(seen("100 3 0 0\n7 1 0 1\n", "arc"),
            (std::vector<Seen>{{100, 1}, {101, 1}, {102, 1}, {7, 1}}));
}

TEST(Formats, Webcachesim) {
  EXPECT_EQ(seen("109 26 1\n139 3 2 0 1\n", "webcachesim"),
            (std::vector<Seen>{{26, 1, trace_read, 109 * s}, {3, 2, trace_read, 139 * s}}));
}

TEST(Formats, AddressesByBlock) {
  EXPECT_EQ(seen("s 0x1fffff50 1\nl 0x20000000 6\n", "address"),
            (std::vector<Seen>{{0x1ffff, 4096, trace_write}, {0x20000, 4096}}));
  EXPECT_EQ(seen("s 0x100 1\n", "address", {.block = 64}),
            (std::vector<Seen>{{4, 64, trace_write}}));
}

TEST(Formats, TwitterWithCommasInItsKeys) {
  const auto all =
      seen("0,a,b,3,97,1,get,0\n5,a,3,10,1,set,60\n6,a,b,3,97,1,delete,0\n", "twitter");
  ASSERT_EQ(all.size(), 3u);
  EXPECT_EQ(all[0].bytes, 100u);
  EXPECT_EQ(all[0].chunk, all[2].chunk);
  EXPECT_NE(all[0].chunk, all[1].chunk);
  EXPECT_EQ(all[1].kind, trace_overwrite);
  EXPECT_EQ(all[1].time, 5 * s);
  EXPECT_EQ(all[2].kind, trace_remove);
}

std::vector<TraceRecord> some_records() {
  return {
      {.time = 1'500'000'000, .chunk = far, .bytes = 8 << 20, .next_use = 2, .kind = trace_read},
      {.time = 2'000'000'000, .chunk = 3, .bytes = 100, .kind = trace_write},
      {.time = 2'000'000'001, .chunk = far, .bytes = 8 << 20, .kind = trace_overwrite}};
}

TEST(Formats, OurOwnKeepsEveryField) {
  const TemporaryFile file;
  std::vector<TraceRecord> records = some_records();
  records[0].chunk = records[2].chunk = 9;
  records[1].range = 5, records[1].device = 2, records[1].lease = 44, records[1].outcome = 1;
  records.push_back({.chunk = 3, .bytes = 8, .next_use = 9, .range = 5, .kind = trace_hint});
  Writer writer(file.path(), "holdall");
  for (const TraceRecord& r : records) writer.append(r);
  writer.close();
  const auto again = all_of(file.path());
  ASSERT_EQ(again.size(), records.size());
  for (std::size_t i = 0; i < again.size(); ++i)
    EXPECT_EQ(std::memcmp(&again[i], &records[i], sizeof records[i]), 0) << i;
}

TEST(Formats, WhatIsWrittenIsReadAgain) {
  for (const char* const format : {"oracleGeneral", "csv", "txt"}) {
    const TemporaryFile file;
    Writer writer(file.path(), format);
    for (const TraceRecord& r : some_records()) writer.append(r);
    writer.close();
    EXPECT_EQ(message_of(file.path()), format);
    const auto again = all_of(file.path());
    ASSERT_EQ(again.size(), 3u) << format;
    for (std::size_t i = 0; i < 3; ++i) {
      const TraceRecord was = some_records()[i];
      EXPECT_EQ(again[i].chunk, was.chunk) << format;
      if (format == std::string("txt")) continue;
      EXPECT_EQ(again[i].bytes, was.bytes) << format;
      EXPECT_EQ(again[i].next_use, was.next_use) << format;
      if (format != std::string("csv")) continue;
      EXPECT_EQ(again[i].kind, was.kind);
      EXPECT_NEAR(static_cast<double>(again[i].time), static_cast<double>(was.time), 2);
    }
  }
}

TEST(Formats, AWriterLeavesWhatIsThereUntilAllIsWritten) {
  const TemporaryFile file("precious");
  const auto contents = [&] {
    std::ifstream in(file.path(), std::ios::binary);
    return std::string(std::istreambuf_iterator<char>(in), {});
  };
  {
    Writer writer(file.path(), "csv");
    writer.append(some_records()[0]);
    EXPECT_EQ(contents(), "precious");
  }
  EXPECT_EQ(contents(), "precious");
  EXPECT_FALSE(std::filesystem::exists(file.path() + ".unfinished"));
  Writer writer(file.path(), "csv");
  writer.close();
  EXPECT_EQ(contents(), "time,key,size,op,next\n");
}

// The same requests stand there in five files.
TEST(Formats, RecordedTracesAreTheSameInEveryFormat) {
  const auto folder = recorded();
  if (!folder) GTEST_SKIP() << "no traces: set HOLDALL_DATA to the folder that holds traces/";
  const auto ids = [&](const char* file) { return read_trace((*folder / file).string()).ids; };
  const auto cloud = ids("cloudPhysicsIO.oracleGeneral.bin.zst");
  EXPECT_EQ(cloud.size(), 113'872u);
  for (const char* const file :
       {"cloudPhysicsIO.csv", "cloudPhysicsIO.txt", "cloudPhysicsIO.vscsi"})
    EXPECT_EQ(ids(file), cloud) << file;
  EXPECT_EQ(ids("address_gcc.trace.gz"), ids("addr4k_gcc.oracleGeneral.bin.zst"));
  EXPECT_EQ(ids("lirs_cs.trace.txt"), ids("lirs_cs.oracleGeneral.bin.zst"));
  EXPECT_EQ(ids("lirs_multi1.trace.txt"), ids("lirs_multi1.oracleGeneral.bin.zst"));
  EXPECT_EQ(ids("webcachesim_test.tr"), ids("webcachesim_test.oracleGeneral.bin.zst"));
}

TEST(Formats, RecordedSizesAndKindsAreTheSame) {
  const auto folder = recorded();
  if (!folder) GTEST_SKIP() << "no traces: set HOLDALL_DATA to the folder that holds traces/";
  const auto csv = all_of((*folder / "cloudPhysicsIO.csv").string());
  const auto vscsi = all_of((*folder / "cloudPhysicsIO.vscsi").string());
  ASSERT_EQ(vscsi.size(), csv.size());
  for (std::size_t i = 0; i < csv.size(); ++i) {
    ASSERT_EQ(vscsi[i].bytes, csv[i].bytes) << i;
    ASSERT_EQ(vscsi[i].kind, csv[i].kind) << i;
  }
}

TEST(Formats, RecordedNextUsesAreThoseFound) {
  const auto folder = recorded();
  if (!folder) GTEST_SKIP() << "no traces: set HOLDALL_DATA to the folder that holds traces/";
  const std::string file = (*folder / "gpu_bfs.oracleGeneral.bin.zst").string();
  const auto records = all_of(file);
  Trace trace = read_trace(file);
  find_next_uses(trace);
  ASSERT_EQ(trace.next_uses.size(), records.size());
  for (std::size_t i = 0; i < records.size(); ++i)
    ASSERT_EQ(records[i].next_use, trace.next_uses[i] == never_used
                                       ? ~std::uint64_t{0}
                                       : std::uint64_t{trace.next_uses[i]})
        << i;
}

}  // namespace
}  // namespace holdall::lab

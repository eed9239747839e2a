// A trace that is wrong is refused with its name, the record, the offset and what is wrong.
#include "apps/policy/error.hpp"
#include "tests/lab/lab.hpp"

namespace holdall::lab {
namespace {

struct Bad {
  const char* name;
  std::string contents;
  std::vector<std::string> parts;
  ReadOptions options = {};
};

std::string oracle(std::uint32_t size) {
  return raw(std::uint32_t{5}) + raw(std::uint64_t{7}) + raw(size) + raw(std::int64_t{-1});
}

class BadInput : public testing::TestWithParam<Bad> {};

TEST_P(BadInput, IsRefusedWithWhereAndWhat) {
  const TemporaryFile file(GetParam().contents);
  const std::string message = message_of(file.path(), GetParam().options);
  EXPECT_TRUE(message.find(file.path()) == 0) << message;
  for (const std::string& part : GetParam().parts)
    EXPECT_NE(message.find(part), message.npos) << message << "\nlacks " << part;
}

INSTANTIATE_TEST_SUITE_P(
    Traces, BadInput,
    testing::Values(
        Bad{"Empty", "", {"empty", "0 bytes"}},
        Bad{"OfNoFormat",
            std::string("\x01\xff\x02\x03garbage\0\xfe", 13),
            {"record 0 at byte 0", "no known", "--format"}},
        Bad{"CutShort",
            oracle(1) + oracle(1) + oracle(1).substr(0, 10),
            {"record 2 at byte 48", "cut short", "10 of 24"}},
        Bad{"SizeZero", oracle(1) + oracle(0), {"record 1 at byte 24", "size of zero"}},
        Bad{"WrongMagic", "HOLXTRC1" + std::string(48, '\0'), {"record 0 at byte 0", "no known"}},
        Bad{"OurOwnOfUnknownVersion",
            "HOLDTRC9" + std::string(48, 'a'),
            {"record 0 at byte 0", "version '9'", "1 and 2"}},
        Bad{"OurOwnCutShort", "HOLDTRC1" + std::string(7, '\0'), {"record 0 at byte 8", "7 of 48"}},
        Bad{"OurOwnOfUnknownKind",
            "HOLDTRC1" + raw(TraceRecord{.bytes = 1, .kind = 99}),
            {"record 0 at byte 8", "kind 99"}},
        Bad{"LcsOfUnknownVersion",
            raw(std::uint64_t{0x123456789abcdef0}) + raw(std::uint64_t{9}),
            {"lcs version 9"}},
        Bad{"LcsHeaderCutShort",
            raw(std::uint64_t{0x123456789abcdef0}) + raw(std::uint64_t{1}),
            {"header", "16 of 8192"}},
        Bad{"CsvWithoutKey", "time,size\n1,2\n", {"line 1", "no column for the key", "--columns"}},
        Bad{"CsvWithoutNamedColumn",
            "time,key\n1,2\n",
            {"line 1", "no column 'lba'", "time, key"},
            {.columns = "key=lba"}},
        Bad{"CsvOfTooFewColumns",
            "time,key,size\n1,2,3\n4,5\n",
            {"line 3 at byte 20", "2 columns"}},
        Bad{"CsvSizeZero", "key,size\n1,2\n4,0\n", {"line 3 at byte 13", "size of zero"}},
        Bad{"CsvSizeBelowZero", "key,size\n1,-2\n", {"line 2 at byte 9", "size of zero or less"}},
        Bad{"CsvSizeNoNumber", "key,size\n1,many\n", {"line 2", "'many' is no whole number"}},
        Bad{"CsvTimeNoNumber", "time,key\nnoon,2\n", {"line 2", "'noon' is no number"}},
        Bad{"CsvUnknownOperation", "key,op\n1,frob\n", {"line 2", "'frob' is no operation"}},
        Bad{"TextNoNumber", "1\n2\nthree\n", {"line 3 at byte 4", "'three' is no whole number"}},
        Bad{"TextTooBigANumber", "1\n99999999999999999999\n", {"line 2", "no whole number"}},
        Bad{"WebcachesimSizeZero", "1 2 3\n4 5 0\n", {"line 2 at byte 6", "size of zero"}},
        Bad{"WebcachesimOfTwoColumns", "1 2 3\n4 5\n", {"line 2", "2 columns"}},
        Bad{"ArcOfTooManyBlocks", "1 99999999 0 0\n2 1 0 1\n", {"line 1", "99999998"}},
        Bad{"AddressNeitherLoadNorStore", "l 0x10 1\nq 0x20 1\n", {"line 2 at byte 9", "'q'"}},
        Bad{"TwitterUnknownOperation",
            "0,a,1,1,1,get,0\n0,a,1,1,1,frob,0\n",
            {"line 2", "'frob'"}}),
    [](const testing::TestParamInfo<Bad>& info) { return std::string(info.param.name); });

TEST(BadInput, NoSuchFile) {
  EXPECT_EQ(message_of("/nowhere/at/all"),
            "/nowhere/at/all: cannot be opened: No such file or directory; check the path");
}

TEST(BadInput, UnknownFormatListsThoseThereAre) {
  const TemporaryFile file("1\n");
  const std::string message = message_of(file.path(), {.format = "xml"});
  EXPECT_NE(message.find("no trace format 'xml'"), message.npos) << message;
  EXPECT_NE(message.find("oracleGeneral"), message.npos) << message;
}

TEST(BadInput, TimeThatRunsBackwardsIsCounted) {
  const TemporaryFile file("time,key\n5,1\n4,2\n6,3\n1,1\n");
  const Trace trace = read_trace(file.path());
  EXPECT_EQ(trace.facts.backwards, 2u);
  EXPECT_EQ(trace.ids, (std::vector<Id>{0, 1, 2, 0}));
}

TEST(BadInput, SeveralRangesHaveSmallChunks) {
  const TemporaryFile file("HOLDTRC1" +
                           raw(TraceRecord{.chunk = std::uint64_t{1} << 40, .bytes = 1}) +
                           raw(TraceRecord{.chunk = 1, .bytes = 1, .range = 1}));
  EXPECT_NE(message_of(file.path()).find("record 1 at byte 56: range 1, chunk 1"),
            std::string::npos)
      << message_of(file.path());
}

}  // namespace
}  // namespace holdall::lab

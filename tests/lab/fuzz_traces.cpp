// Whatever bytes a file holds, the readers answer with requests or a LabError.
//
// A libFuzzer target for a longer run:
//   clang++ -std=c++20 -g -O1 -fsanitize=fuzzer,address,undefined -DHOLDALL_LIBFUZZER
//   -DHOLDALL_ZSTD -I.
//     tests/lab/fuzz_traces.cpp apps/policy/*.cpp policies/*.cpp engine/vmm/bytes.cpp -ltbb -lfmt
//     -lzstd -o fuzz
// As a test it runs seeds of every format and some thousands of seeded changes to them.
#include <cstdint>
#include <cstdlib>
#include <string>

#include "apps/policy/error.hpp"
#include "apps/policy/trace.hpp"
#include "tests/fuzz.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace holdall::lab;
  static const holdall::Scratch scratch;
  scratch.fill(data, size);
  ReadOptions options;  // by content, or as if it were another format
  if (size % 3 == 1) options.format = formats()[size / 3 % formats().size()];
  if (size % 3 == 2 && size % 2 == 0) options.columns = "key=1,size=2";
  try {
    TraceStream stream(scratch.path(), {.read = options, .sizes = true});
    std::uint64_t requests = 0;
    for (Requests some = stream.next(4096); some.size() > 0 && requests < 1 << 16;
         some = stream.next(4096)) {
      requests += some.size();
      for (const Id id : some.ids)
        if (id >= stream.numbering().distinct()) std::abort();
      if (!some.kinds.empty() && some.kinds.size() != some.size()) std::abort();
      if (some.bytes.size() != some.size()) std::abort();
    }
  } catch (const LabError&) {
  }
  return 0;
}

#ifndef HOLDALL_LIBFUZZER

#include "tests/lab/lab.hpp"

namespace holdall::lab {
namespace {

std::string oracle(const std::string& more) {
  std::string all;
  for (std::uint32_t i = 0; i < 5; ++i)
    all += raw(i) + raw(std::uint64_t{i} << 45) + raw(std::uint32_t{512}) + more +
           raw(std::int64_t{-1});
  return all;
}

// "1\n" packed by gzip, xz and zstd.
const std::string packed[] = {
    std::string("\x1f\x8b\x08\x00\x00\x00\x00\x00\x02\xff\x33\xe4\x02\x00\x53\xfc\x51\x67\x02\x00"
                "\x00\x00",
                22),
    std::string("\xfd\x37\x7a\x58\x5a\x00\x00\x04\xe6\xd6\xb4\x46\x02\x00\x21\x01\x16\x00\x00\x00"
                "\x74\x2f\xe5\xa3\x01\x00\x01\x31\x0a\x00\x00\x00\xe5\x4f\xb9\x2b\x3f\x09\x10\x75"
                "\x00\x01\x1a\x02\xdc\x2e\xa5\x7e\x1f\xb6\xf3\x7d\x01\x00\x00\x00\x00\x04\x59\x5a",
                60),
    std::string("\x28\xb5\x2f\xfd\x00\x58\x11\x00\x00\x31\x0a", 11),
};

std::vector<std::string> seeds() {
  std::string lcs = raw(std::uint64_t{0x123456789abcdef0}) + raw(std::uint64_t{3});
  lcs.resize(8192 + 72, '\1');
  std::string vscsi;
  for (int i = 0; i < 3; ++i)
    vscsi += raw(std::uint32_t{1}) + raw(std::uint32_t{512}) + raw(std::uint32_t{1}) +
             raw(std::uint16_t{0x2a}) + raw(std::uint16_t{0x100}) + raw(std::uint64_t{77}) +
             raw(std::uint64_t{5'000'000});
  std::vector<std::string> all{
      oracle(""),
      oracle("abc"),
      lcs,
      vscsi,
      "HOLDTRC1" + raw(TraceRecord{.chunk = 3, .bytes = 9}) +
          raw(TraceRecord{.chunk = 4, .bytes = 9, .range = 2}),
      "time,key,size,op\n1,2,3,get\n2,3,4,delete\n",
      "op_time,block_id,io_size,op_name,op_count\n1,ab-c,8,getChunkData.X,2\n",
      "1\n2\n*\n3\n",
      "/a\n/b\n",
      "1 2 3\n4 5 6 7\n",
      "100 3 0 0\n7 1 0 1\n",
      "s 0x1fffff50 1\nl 0x20000000 6\n",
      "0,a,b,3,97,1,get,0\n5,a,3,10,1,set,60\n",
  };
  all.insert(all.end(), std::begin(packed), std::end(packed));
  return all;
}

TEST(Fuzz, SeedsAreTraces) {
  for (const std::string& seed : seeds()) {
    const TemporaryFile file(seed);
    EXPECT_EQ(message_of(file.path()).find(file.path()), std::string::npos)
        << message_of(file.path());
    feed(seed);
  }
}

TEST(Fuzz, ChangedSeedsAreTracesOrErrors) {
  Mutator mutator(1, "0123456789 \n\r\t,-#*.x");
  for (const std::string& seed : seeds())
    for (int i = 0; i < 500; ++i) feed(mutator.mutate(seed));
}

}  // namespace
}  // namespace holdall::lab

#endif

// Whatever bytes a file holds, a reader of rows answers with a source or an EmbeddingError.
//
// A libFuzzer target for a longer run; the first byte of an input chooses the kind of file:
//   clang++ -std=c++20 -g -O1 -fsanitize=fuzzer,address,undefined -DHOLDALL_LIBFUZZER -I.
//     tests/embedding/sources.cpp apps/embedding/{source,npy,safetensors,flat_source,file}.cpp
//     -lfmt -o fuzz
// As a test it runs seeds of each kind and some thousands of seeded changes to them.
#include <cstdint>
#include <cstdlib>
#include <string>
#include <vector>

#include "apps/embedding/error.hpp"
#include "apps/embedding/source.hpp"
#include "tests/fuzz.hpp"

namespace {

// What is promised can be read, and what is read is as long as was promised.
void walk(const holdall::embedding::Source& source) {
  const auto& info = source.info();
  if (info.rows > 1000 || info.dim > 1000) return;
  std::vector<std::byte> rows(info.rows * holdall::kernels::row_bytes(info.type, info.dim));
  source.read_rows(0, info.rows, rows.data());
  std::vector<std::uint64_t> keys(info.rows);
  if (info.keyed) source.read_keys(0, info.rows, keys.data());
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace holdall::embedding;
  if (size == 0) return 0;
  static const holdall::Scratch scratch;
  scratch.fill(data + 1, size - 1);
  try {
    switch (data[0] % 4) {
      case 0:
        walk(*open_npy(scratch.path()));
        break;
      case 1:
        walk(*open_safetensors(scratch.path()));
        break;
      case 2:
        (void)read_frequencies(scratch.path());
        break;
      default:
        walk(*open_raw(scratch.path(), RowType::fp32, size / 16, 4, size % 7));
    }
  } catch (const EmbeddingError&) {
  }
  return 0;
}

#ifndef HOLDALL_LIBFUZZER

#include "apps/embedding/header.hpp"
#include "tests/embedding/world.hpp"

namespace holdall::embedding {
namespace {

std::string npy(const std::string& dictionary, const std::string& data) {
  std::string text("\x93NUMPY\x01\x00", 8);
  text += static_cast<char>(dictionary.size() & 0xff);
  text += static_cast<char>(dictionary.size() >> 8);
  return text + dictionary + data;
}
std::string floats(const std::vector<float>& values) {
  return {reinterpret_cast<const char*>(values.data()), values.size() * 4};
}
std::string bytes_of(const Keys64& values) {
  return {reinterpret_cast<const char*>(values.data()), values.size() * 8};
}
std::string good_npy() {
  return npy("{'descr': '<f4', 'fortran_order': False, 'shape': (2, 3), }\n",
             floats({1, 2, 3, 4, 5, 6}));
}
std::string safetensors(const std::string& header, const std::string& data) {
  const Keys64 length = {header.size()};
  return bytes_of(length) + header + data;
}
std::string good_safetensors() {
  return safetensors_header(RowType::fp32, 2, 3, true) + floats({1, 2, 3, 4, 5, 6}) +
         bytes_of(Keys64{70, 80});
}

std::vector<float> all_rows(const Source& source) {
  std::vector<float> rows(source.info().rows * source.info().dim);
  source.read_rows(0, source.info().rows, reinterpret_cast<std::byte*>(rows.data()));
  return rows;
}

TEST(Sources, NpyAndSafetensorsGiveTheirRows) {
  const Folder folder;
  const auto from_npy = open_source(folder.file("a.npy", good_npy()));
  EXPECT_EQ(from_npy->info().rows, 2u);
  EXPECT_EQ(from_npy->info().dim, 3u);
  EXPECT_EQ(all_rows(*from_npy), (std::vector<float>{1, 2, 3, 4, 5, 6}));
  const auto from_tensors = open_source(folder.file("a.safetensors", good_safetensors()));
  EXPECT_TRUE(from_tensors->info().keyed);
  EXPECT_EQ(all_rows(*from_tensors), (std::vector<float>{1, 2, 3, 4, 5, 6}));
  Keys64 keys(2);
  from_tensors->read_keys(0, 2, keys.data());
  EXPECT_EQ(keys, (Keys64{70, 80}));
}

TEST(Sources, FoldersAndPrefixesGiveRowsWithKeys) {
  const Folder folder;
  std::filesystem::create_directory(folder / "hps");
  folder.file("hps/key", bytes_of(Keys64{9, 8}));
  folder.file("hps/emb_vector", floats({1, 2, 3, 4, 5, 6}));
  folder.file("t.keys", bytes_of(Keys64{9, 8}));
  folder.file("t.values", floats({1, 2, 3, 4, 5, 6}));
  folder.file("t.scores", bytes_of(Keys64{1, 1}));
  for (const char* const name : {"hps", "t"}) {
    const auto source = open_source(folder / name, {.dim = 3, .tensor = {}});
    EXPECT_TRUE(source->info().keyed);
    EXPECT_EQ(all_rows(*source), (std::vector<float>{1, 2, 3, 4, 5, 6}));
    expect_says(complaint([&] { (void)open_source(folder / name); }), "give the dimension");
    expect_says(complaint([&] { (void)open_source(folder / name, {.dim = 4, .tensor = {}}); }),
                "need 32");
  }
  folder.file("t.scores", bytes_of(Keys64{1}));
  expect_says(complaint([&] { (void)open_hkv_files(folder / "t", 3); }), "as many scores as keys");
}

TEST(Sources, BadFilesAreRefusedByName) {
  const Folder folder;
  const auto of_npy = [&](const std::string& bytes) {
    return complaint([&] { (void)open_source(folder.file("bad.npy", bytes)); });
  };
  expect_says(of_npy(""), "is no .npy file");
  expect_says(of_npy("PK\x03\x04 something else"), "is no .npy file");
  expect_says(of_npy(good_npy().substr(0, good_npy().size() - 1)), "cut short");
  expect_says(of_npy(npy("{'descr': '<f8', 'fortran_order': False, 'shape': (2, 3), }\n", "")),
              "'<f8'");
  expect_says(of_npy(npy("{'descr': '<f4', 'fortran_order': True, 'shape': (2, 3), }\n", "")),
              "C order");
  expect_says(of_npy(npy("{'descr': '<f4', 'fortran_order': False, 'shape': (6,), }\n", "")),
              "1 dimensions");
  const auto of_tensors = [&](const std::string& bytes) {
    return complaint([&] { (void)open_source(folder.file("bad.safetensors", bytes)); });
  };
  expect_says(of_tensors("short"), "fewer than 8 bytes");
  expect_says(of_tensors(bytes_of(Keys64{1ull << 40})), "no room");
  expect_says(of_tensors(safetensors("[1, 2]", "")), "no JSON object");
  expect_says(of_tensors(safetensors(R"({"a":{"dtype":"F32","shape":[2,2],"data_offsets":[0,15]}})",
                                     std::string(16, 0))),
              "its shape needs 16");
  expect_says(of_tensors(safetensors(R"({"a":{"dtype":"F32","shape":[2,2],"data_offsets":[0,16]}})",
                                     std::string(15, 0))),
              "cut short");
  expect_says(
      of_tensors(safetensors(R"({"a":{"dtype":"I8","shape":[2,2],"data_offsets":[0,4]}})", "1234")),
      "type I8");
  expect_says(complaint([&] { (void)open_source(folder / "nothing.bin"); }), "no format is known");
}

TEST(Sources, FrequenciesAreAListOfCounts) {
  const Folder folder;
  const std::string header = "{'descr': '<i8', 'fortran_order': False, 'shape': (3,), }\n";
  EXPECT_EQ(read_frequencies(folder.file("f.npy", npy(header, bytes_of(Keys64{5, 0, 7})))),
            (Keys64{5, 0, 7}));
  expect_says(
      complaint([&] {
        (void)read_frequencies(folder.file("f.npy", npy(header, bytes_of(Keys64{5, ~0ull, 7}))));
      }),
      "below 0, at 1");
}

TEST(Sources, DuplicatesAndNotANumberAreTreatedAsAsked) {
  Config config;
  config.driver = "host";
  config.memory = Bytes{64} << 20;
  Engine engine(config);
  const Keys64 keys = {5, 6, 5};
  const TableSpec spec{.keys = Keys::hashed};
  EmbeddingTable table = EmbeddingTable::open(engine, spec, *rows_of(3, 2, keys));
  EXPECT_EQ(table.stats().duplicates, 1u);
  TableSpec strict = spec;
  strict.duplicates = Duplicates::refuse;
  expect_says(complaint([&] { (void)EmbeddingTable::open(engine, strict, *rows_of(3, 2, keys)); }),
              "rows 0 and 2 have the same key, 5");
  const auto nan = from_function({"nan", 4, 2, RowType::fp32, false},
                                 [](std::uint64_t, std::uint64_t count, std::byte* to) {
                                   std::fill_n(reinterpret_cast<float*>(to), 2 * count, NAN);
                                 });
  expect_says(complaint([&] {
                (void)EmbeddingTable::open(engine, {.not_a_number = NotANumber::refuse}, *nan);
              }),
              "8 values");
  EmbeddingTable zeroed = EmbeddingTable::open(engine, {.not_a_number = NotANumber::zero}, *nan);
  EXPECT_EQ(zeroed.export_batch({1}).rows, (std::vector<float>{0, 0}));
  expect_says(complaint([&] { (void)EmbeddingTable::open(engine, {.dim = 3}, *rows_of(3, 2)); }),
              "have 2 elements, the table is to have 3");
}

TEST(Sources, ChangedFilesAreSourcesOrErrors) {
  Mutator mutator(1, "0123456789{}[]():,'\" ");
  const std::pair<char, std::string> seeds[] = {
      {0, good_npy()},
      {1, good_safetensors()},
      {2, npy("{'descr': '<i8', 'fortran_order': False, 'shape': (1,), }\n", bytes_of(Keys64{5}))},
      {3, floats({1, 2, 3, 4})}};
  for (const auto& [kind, seed] : seeds)
    for (int round = 0; round < 1500; ++round) feed(kind + mutator.mutate(seed));
}

}  // namespace
}  // namespace holdall::embedding

#endif

// Whatever bytes a request's body has, it is a question or a RequestError.
//
// A libFuzzer target for a longer run:
//   clang++ -std=c++20 -g -O1 -fsanitize=fuzzer,address,undefined -DHOLDALL_LIBFUZZER -I.
//     tests/serve/fuzz_protocol.cpp apps/serve/protocol.cpp apps/serve/question.cpp -lfmt -o fuzz
// As a test it runs seeds and some thousands of seeded changes to them. The first two bytes are the
// length of the JSON; 0xffff: there is no such header.
#include <cstdint>
#include <cstdlib>
#include <string>

#include "apps/serve/protocol.hpp"
#include "apps/serve/question.hpp"
#include "tests/fuzz.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace holdall::serve;
  if (size < 2) return 0;
  const unsigned length = data[0] | data[1] << 8;
  const std::string body(reinterpret_cast<const char*>(data + 2), size - 2);
  const std::string header = std::to_string(length);
  try {
    const InferRequest request = parse_infer(
        body, length == 0xffff ? std::nullopt : std::optional<std::string_view>(header));
    for (const Tensor& tensor : request.inputs)
      if (tensor.elements() > tensor.bytes.size()) std::abort();
    const Question question = question_of(request, 64);
    if (question.keys.size() > 64 || question.answers() > 64) std::abort();
    if (question.pooled && question.offsets.back() != question.keys.size()) std::abort();
    if (!question.weights.empty() && question.weights.size() != question.keys.size()) std::abort();
    const std::string rows(question.answers() * 4, '\x7f');
    (void)print_infer({"m",
                       "1",
                       request.id,
                       {{"rows", "FP32", {question.answers()}, rows, question.rows_binary}}});
  } catch (const RequestError& e) {
    (void)print_error(e.what());
  }
  return 0;
}

#ifndef HOLDALL_LIBFUZZER

#include <gtest/gtest.h>

#include "tests/serve/tensors.hpp"

namespace holdall::serve {
namespace {

std::string with_length(const std::string& body, std::size_t length) {
  return std::string{static_cast<char>(length & 0xff), static_cast<char>(length >> 8)} + body;
}

std::vector<std::string> seeds() {
  const Binary binary = binary_keys({1, 2, 300}, true);
  return {with_length(json_keys({1, 2, -1}).dump(), 0xffff),
          with_length(binary.body, binary.json_length),
          with_length(
              R"({"id":"x","parameters":{"mode":"sum","padding_idx":3,"include_last_offset":true},)"
              R"("inputs":[{"name":"indices","datatype":"INT64","shape":[3],"data":[1,2,3]},)"
              R"({"name":"offsets","datatype":"INT64","shape":[2],"data":[0,2]},)"
              R"({"name":"per_sample_weights","datatype":"FP32","shape":[3],"data":[0.5,1,-2e3]}],)"
              R"("outputs":[{"name":"pooled","parameters":{"binary_data":true}}]})",
              0xffff)};
}

TEST(FuzzProtocol, seeds_are_questions) {
  for (const std::string& seed : seeds()) {
    const std::size_t length =
        static_cast<unsigned char>(seed[0]) | static_cast<unsigned char>(seed[1]) << 8;
    const std::string text = std::to_string(length), body = seed.substr(2);
    const InferRequest request =
        parse_infer(body, length == 0xffff ? std::nullopt : std::optional<std::string_view>(text));
    EXPECT_GT(question_of(request, 64).keys.size(), 0u);
    feed(seed);
  }
}

TEST(FuzzProtocol, changed_seeds_are_questions_or_errors) {
  Mutator mutator(1, "0123456789{}[]:,\"-.e ");
  for (const std::string& seed : seeds())
    for (int round = 0; round < 4000; ++round) feed(mutator.mutate(seed));
}

}  // namespace
}  // namespace holdall::serve

#endif

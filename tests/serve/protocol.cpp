// What a request's body says, and how an answer is put.
#include "apps/serve/protocol.hpp"

#include <gtest/gtest.h>

#include <limits>

#include "apps/serve/question.hpp"
#include "tests/serve/tensors.hpp"

namespace holdall::serve {
namespace {

using Numbers = std::vector<std::uint64_t>;
constexpr std::uint64_t max_keys = 1000;

Question ask(const std::string& body, std::optional<std::string_view> length = {}) {
  const InferRequest request = parse_infer(body, length);
  return question_of(request, max_keys);
}

void refused(const std::string& body, int status, const std::string& part,
             std::optional<std::string_view> length = {}) {
  try {
    (void)ask(body, length);
    FAIL() << body.substr(0, 200) << " was taken";
  } catch (const RequestError& e) {
    EXPECT_EQ(e.status(), status) << e.what();
    EXPECT_NE(std::string(e.what()).find(part), std::string::npos)
        << "'" << e.what() << "' lacks '" << part << "'";
  }
}

nlohmann::json tensor(const char* name, const char* datatype, const nlohmann::json& data) {
  return {{"name", name}, {"datatype", datatype}, {"shape", {data.size()}}, {"data", data}};
}
std::string request(const nlohmann::json& inputs,
                    const nlohmann::json& parameters = nlohmann::json::object()) {
  return nlohmann::json{{"inputs", inputs}, {"parameters", parameters}}.dump();
}
std::string bags(const nlohmann::json& indices, const nlohmann::json& offsets,
                 const nlohmann::json& parameters = nlohmann::json::object()) {
  return request({tensor("indices", "INT64", indices), tensor("offsets", "INT64", offsets)},
                 parameters);
}

TEST(Protocol, keys_come_as_json_flat_or_nested) {
  EXPECT_EQ(ask(json_keys({1, 2, -1}).dump()).keys, (Numbers{1, 2, ~0ull}));
  const std::string nested =
      R"({"inputs":[{"name":"keys","datatype":"INT64","shape":[4],"data":[[1,2],[3,4]]}]})";
  EXPECT_EQ(ask(nested).keys, (Numbers{1, 2, 3, 4}));
}

TEST(Protocol, keys_come_as_bytes_behind_the_json) {
  const Binary body = binary_keys({5, 1ll << 40}, true);
  const Question question = ask(body.body, std::to_string(body.json_length));
  EXPECT_EQ(question.keys, (Numbers{5, 1ull << 40}));
  EXPECT_TRUE(question.rows_binary && question.found_wanted && question.found_binary);
}

TEST(Protocol, bags_end_where_the_next_begins) {
  Question question = ask(bags({1, 2, 3, 4}, {0, 1, 1}));
  EXPECT_TRUE(question.pooled);
  EXPECT_EQ(question.offsets, (Numbers{0, 1, 1, 4}));
  question = ask(bags({1, 2, 3, 4}, {0, 2, 3}, {{"include_last_offset", true}, {"mode", "mean"}}));
  EXPECT_EQ(question.offsets, (Numbers{0, 2, 3}));
  EXPECT_EQ(question.keys, (Numbers{1, 2, 3}));
  EXPECT_EQ(question.pooling, kernels::Pooling::mean);
  question = ask(bags(nlohmann::json::array(), nlohmann::json::array()));
  EXPECT_EQ(question.answers(), 0u);
}

TEST(Protocol, weights_and_padding_are_taken) {
  const nlohmann::json inputs = {tensor("indices", "INT64", {1, 2}),
                                 tensor("offsets", "INT64", {0}),
                                 tensor("per_sample_weights", "FP32", {0.5, 2})};
  const Question question = ask(request(inputs, {{"padding_idx", 2}}));
  EXPECT_EQ(question.weights, (std::vector<float>{0.5, 2}));
  EXPECT_EQ(question.padding, 2);
  refused(request(inputs, {{"mode", "max"}}), 400, "per_sample_weights are for mode sum");
}

TEST(Protocol, what_is_malformed_is_refused_by_name) {
  refused("", 400, "no body");
  refused("[1]", 400, "no JSON object");
  refused("{}", 400, "no list 'inputs'");
  refused(R"({"inputs":[]})", 400, "0 inputs");
  refused(std::string(100, '[') + std::string(100, ']'), 400, "nested deeper");
  refused(request(nlohmann::json::array({tensor("keys", "INT32", {1})})), 400, "INT32");
  refused(request(nlohmann::json::array({tensor("keys", "BYTES", {"a"})})), 400, "BYTES");
  refused(request(nlohmann::json::array({tensor("keys", "INT64", {1.5})})), 400,
          "element 0 of 'keys' is no INT64");
  refused(request(nlohmann::json::array({tensor("keys", "INT64", {1, ~0ull})})), 400,
          "element 1 of 'keys'");
  refused(request(nlohmann::json::array({tensor("key", "INT64", {1})})), 400,
          "'keys', or 'indices'");
  refused(
      request(nlohmann::json::array({tensor("keys", "INT64", {1}), tensor("keys", "INT64", {1})})),
      400, "twice");
  refused(R"({"inputs":[{"name":"keys","datatype":"INT64","shape":[2],"data":[1]}]})", 400,
          "has 1 elements, but its shape needs 2");
  refused(R"({"inputs":[{"name":"keys","datatype":"INT64","shape":[-1],"data":[1]}]})", 400,
          "no whole number");
  refused(R"({"inputs":[{"name":"keys","datatype":"INT64","shape":[1099511627776,1099511627776],)"
          R"("data":[]}]})",
          400, "more than 2^40");
  refused(R"({"inputs":[{"name":"keys","datatype":"INT64","shape":[1,1],"data":[1]}]})", 400,
          "2 dimensions");
  refused(bags({1, 2}, {1}), 400, "begin with 1");
  refused(bags({1, 2}, {0, 2, 1}), 400, "decrease");
  refused(bags({1, 2}, {0, 3}), 400, "pass the 2 indices");
  refused(bags({1, 2}, {0, 3}, {{"include_last_offset", true}}), 400, "past the 2 indices");
  refused(bags({1}, {0}, {{"mode", "median"}}), 400, "none of sum, mean and max");
  refused(R"({"outputs":[{"name":"pooled"}],)" + json_keys({1}).dump().substr(1), 400,
          "no output 'pooled'");
}

TEST(Protocol, binary_sizes_have_to_agree) {
  const Binary good = binary_keys({1, 2});
  const std::string length = std::to_string(good.json_length);
  refused(good.body.substr(0, good.body.size() - 1), 400, "1 bytes of it are missing", length);
  refused(good.body + "x", 400, "1 bytes behind the JSON", length);
  refused(good.body, 400, "no whole number", "x");
  refused(good.body, 400, "the body has", std::to_string(good.body.size() + 1));
  refused(good.body, 400, "no JSON", "3");
  std::string wrong = good.body;
  wrong.replace(wrong.find(":16"), 3, ":24");
  refused(wrong, 400, "its shape needs 16", length);
}

TEST(Protocol, what_is_too_much_is_refused_with_413) {
  refused(json_keys(std::vector<std::int64_t>(max_keys + 1)).dump(), 413, "may have 1000");
  refused(bags(std::vector<int>(3), std::vector<int>(max_keys + 1)), 413, "bags");
  refused(std::string(max_json + 1, ' '), 413, "binary data");
}

TEST(Protocol, answers_are_json_or_binary) {
  const std::vector<float> rows = {1, 0.5, std::numeric_limits<float>::infinity(), -0.1f};
  const std::string bytes = bytes_of(rows);
  const std::string found("\1\0", 2);
  InferAnswer answer{"items", "3", "a\"b", {}};
  answer.outputs = {{"rows", "FP32", {2, 2}, bytes, false}, {"found", "BOOL", {2}, found, false}};
  const PrintedAnswer text = print_infer(answer);
  EXPECT_FALSE(text.json_length);
  const auto json = nlohmann::json::parse(text.body);
  EXPECT_EQ(json["id"], "a\"b");
  EXPECT_EQ(json["model_version"], "3");
  EXPECT_EQ(json["outputs"][0]["data"], nlohmann::json::parse("[1,0.5,null,-0.1]"));
  EXPECT_EQ(json["outputs"][1]["data"], nlohmann::json::parse("[true,false]"));

  answer.outputs[0].binary = true;
  const PrintedAnswer mixed = print_infer(answer);
  ASSERT_TRUE(mixed.json_length);
  EXPECT_EQ(mixed.tensors, std::vector{bytes});
  EXPECT_EQ(mixed.body.size(), *mixed.json_length);
  const auto head = nlohmann::json::parse(mixed.body);
  EXPECT_EQ(head["outputs"][0]["parameters"]["binary_data_size"], bytes.size());
}

TEST(Protocol, an_error_is_an_object_whatever_its_bytes) {
  EXPECT_EQ(nlohmann::json::parse(print_error("no \xff \"x\"")).size(), 1u);
}

}  // namespace
}  // namespace holdall::serve

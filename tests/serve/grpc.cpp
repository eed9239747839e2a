// A server on a socket, asked over gRPC.
#include <grpcpp/grpcpp.h>

#include <atomic>

#include "apps/serve/grpc_server.hpp"
#include "apps/serve/inference.grpc.pb.h"
#include "tests/serve/world.hpp"

namespace holdall::serve {
namespace {

using Stub = inference::GRPCInferenceService::Stub;
using Request = inference::ModelInferRequest;
using Response = inference::ModelInferResponse;
using grpc::StatusCode;

class ServingGrpc : public Serving {
 protected:
  void start_grpc(GrpcOptions options = {}, const ServiceLimits& limits = {},
                  const std::string& token = {}) {
    start({}, limits, token);
    options.port = 0;
    grpc_ = std::make_unique<GrpcServer>(*service_, options);
    stub_ = stub();
  }
  void TearDown() override {
    grpc_.reset();
    Serving::TearDown();
  }

  // A connection of its own.
  std::unique_ptr<Stub> stub() const {
    grpc::ChannelArguments arguments;
    arguments.SetInt(GRPC_ARG_USE_LOCAL_SUBCHANNEL_POOL, 1);
    return std::make_unique<Stub>(
        grpc::CreateCustomChannel("127.0.0.1:" + std::to_string(grpc_->port()),
                                  grpc::InsecureChannelCredentials(), arguments));
  }

  grpc::Status infer(const Request& request, Response* response = nullptr,
                     const std::string& token = {}) {
    grpc::ClientContext context;
    if (!token.empty()) context.AddMetadata("authorization", token);
    Response ignored;
    return stub_->ModelInfer(&context, request, response != nullptr ? response : &ignored);
  }
  void refused(const Request& request, StatusCode code, const std::string& part) {
    const grpc::Status status = infer(request);
    EXPECT_EQ(status.error_code(), code) << status.error_message();
    EXPECT_NE(status.error_message().find(part), std::string::npos)
        << "'" << status.error_message() << "' lacks '" << part << "'";
  }
  template <class Answer, class Question>
  Answer ask(grpc::Status (Stub::*call)(grpc::ClientContext*, const Question&, Answer*),
             const Question& question) {
    grpc::ClientContext context;
    Answer answer;
    const grpc::Status status = ((*stub_).*call)(&context, question, &answer);
    EXPECT_TRUE(status.ok()) << status.error_message();
    return answer;
  }

  std::unique_ptr<GrpcServer> grpc_;
  std::unique_ptr<Stub> stub_;
};

Request::InferInputTensor& add_input(Request& request, const std::string& name,
                                     const std::string& datatype, std::int64_t length) {
  auto& input = *request.add_inputs();
  input.set_name(name);
  input.set_datatype(datatype);
  input.add_shape(length);
  return input;
}

Request raw_keys(const std::vector<std::int64_t>& keys) {
  Request request;
  request.set_model_name("items");
  add_input(request, "keys", "INT64", static_cast<std::int64_t>(keys.size()));
  request.add_raw_input_contents(bytes_of(keys));
  return request;
}

void add_typed(Request& request, const std::string& name, const std::vector<std::int64_t>& list) {
  auto& input = add_input(request, name, "INT64", static_cast<std::int64_t>(list.size()));
  input.mutable_contents()->mutable_int64_contents()->Assign(list.begin(), list.end());
}

Request typed_keys(const std::vector<std::int64_t>& keys) {
  Request request;
  request.set_model_name("items");
  add_typed(request, "keys", keys);
  return request;
}

std::vector<float> rows_of(const std::vector<std::uint64_t>& keys, std::uint64_t version = 0) {
  std::vector<float> rows;
  for (const std::uint64_t key : keys)
    for (std::uint64_t k = 0; k < dim; ++k) rows.push_back(element(key, version, k));
  return rows;
}

TEST_F(ServingGrpc, health_and_metadata_are_told) {
  start_grpc();
  EXPECT_TRUE(ask(&Stub::ServerLive, inference::ServerLiveRequest()).live());
  EXPECT_TRUE(ask(&Stub::ServerReady, inference::ServerReadyRequest()).ready());
  inference::ModelReadyRequest ready;
  ready.set_name("items");
  EXPECT_TRUE(ask(&Stub::ModelReady, ready).ready());
  EXPECT_EQ(ask(&Stub::ServerMetadata, inference::ServerMetadataRequest()).name(), "holdall");
  inference::ModelMetadataRequest asked;
  asked.set_name("items");
  asked.set_version("1");
  const auto metadata = ask(&Stub::ModelMetadata, asked);
  EXPECT_EQ(metadata.versions(0), "1");
  ASSERT_EQ(metadata.inputs_size(), 4);
  EXPECT_EQ(metadata.inputs(0).name(), "keys");
  EXPECT_EQ(metadata.inputs(0).datatype(), "INT64");
  ASSERT_EQ(metadata.outputs_size(), 3);
  EXPECT_EQ(metadata.outputs(0).shape(0), -1);
  EXPECT_EQ(metadata.outputs(0).shape(1), 4);
}

TEST_F(ServingGrpc, rows_come_raw_or_in_lists_as_the_keys_did) {
  start_grpc();
  Response raw;
  ASSERT_TRUE(infer(raw_keys({3, 60, 3}), &raw).ok());
  ASSERT_EQ(raw.raw_output_contents_size(), 1);
  EXPECT_EQ(floats_of(raw.raw_output_contents(0)), rows_of({3, 60, 3}));
  EXPECT_EQ(raw.outputs(0).name(), "rows");
  EXPECT_EQ(raw.outputs(0).shape(0), 3);
  EXPECT_EQ(raw.outputs(0).shape(1), 4);
  EXPECT_FALSE(raw.outputs(0).has_contents());
  EXPECT_EQ(raw.model_version(), "1");

  Response typed;
  Request request = typed_keys({3, 60, 99});
  request.set_id("7");
  request.add_outputs()->set_name("rows");
  request.add_outputs()->set_name("found");
  ASSERT_TRUE(infer(request, &typed).ok());
  EXPECT_EQ(typed.id(), "7");
  EXPECT_EQ(typed.raw_output_contents_size(), 0);
  const auto& rows = typed.outputs(0).contents().fp32_contents();
  std::vector<float> expected = rows_of({3, 60});
  expected.resize(3 * dim);  // what does not exist is zeros
  EXPECT_EQ(std::vector<float>(rows.begin(), rows.end()), expected);
  const auto& found = typed.outputs(1).contents().bool_contents();
  EXPECT_EQ(std::vector<bool>(found.begin(), found.end()), (std::vector<bool>{true, true, false}));
}

TEST_F(ServingGrpc, bags_are_pooled_with_weights_mode_and_padding) {
  start_grpc();
  Request request;
  request.set_model_name("items");
  add_typed(request, "indices", {1, 2, 3});
  add_typed(request, "offsets", {0, 2});
  auto& weights = add_input(request, "per_sample_weights", "FP32", 3);
  for (const float weight : {1.0f, 2.0f, 0.5f})
    weights.mutable_contents()->add_fp32_contents(weight);
  Response response;
  ASSERT_TRUE(infer(request, &response).ok());
  EXPECT_EQ(response.outputs(0).name(), "pooled");
  const auto& pooled = response.outputs(0).contents().fp32_contents();
  EXPECT_EQ(std::vector<float>(pooled.begin(), pooled.end()),
            (std::vector<float>{50, 53, 56, 59, 15, 15.5f, 16, 16.5f}));

  Request mean;
  mean.set_model_name("items");
  add_input(mean, "indices", "INT64", 3);
  add_input(mean, "offsets", "INT64", 2);
  mean.add_raw_input_contents(bytes_of(std::vector<std::int64_t>{1, 2, 4}));
  mean.add_raw_input_contents(bytes_of(std::vector<std::int64_t>{0, 3}));
  (*mean.mutable_parameters())["mode"].set_string_param("mean");
  (*mean.mutable_parameters())["padding_idx"].set_int64_param(1);
  (*mean.mutable_parameters())["include_last_offset"].set_bool_param(true);
  ASSERT_TRUE(infer(mean, &response).ok());
  EXPECT_EQ(floats_of(response.raw_output_contents(0)), (std::vector<float>{30, 31, 32, 33}));
}

TEST_F(ServingGrpc, what_is_not_there_is_not_found) {
  start_grpc();
  Request request = raw_keys({1});
  request.set_model_name("users");
  refused(request, StatusCode::NOT_FOUND, "there is no table 'users'; there are items");
  request.set_model_name("items");
  request.set_model_version("9");
  refused(request, StatusCode::NOT_FOUND, "version 1 of 'items' is served, not 9");
}

TEST_F(ServingGrpc, bad_tensors_are_refused_by_name) {
  start_grpc({}, {.keys = 100});
  const StatusCode bad = StatusCode::INVALID_ARGUMENT;
  Request request = raw_keys({1, 2});
  request.mutable_raw_input_contents(0)->pop_back();
  refused(request, bad, "input 'keys' has 15 bytes, but its shape needs 16");
  request = raw_keys({1});
  request.add_raw_input_contents("12345678");
  refused(request, bad, "2 raw_input_contents for 1 inputs");
  request = raw_keys({1});
  request.mutable_inputs(0)->mutable_contents()->add_int64_contents(1);
  refused(request, bad, "contents beside raw_input_contents");
  request = raw_keys({1});
  request.mutable_inputs(0)->set_shape(0, -1);
  refused(request, bad, "is -1; it is to be 0 or more");
  request = raw_keys({1});
  request.mutable_inputs(0)->set_datatype("BYTES");
  refused(request, bad, "datatype 'BYTES'");
  request = raw_keys({1});
  request.mutable_inputs(0)->set_name("ids");
  refused(request, bad, "the inputs are to be 'keys'");
  request = raw_keys({1});
  request.mutable_inputs(0)->set_shape(0, std::int64_t{1} << 50);
  refused(request, bad, "above 2^40");
  request = typed_keys({1});
  request.mutable_inputs(0)->mutable_contents()->add_fp32_contents(1);
  refused(request, bad, "elements go into int64_contents alone");
  request = typed_keys({1});
  (*request.mutable_parameters())["mode"].set_int64_param(1);
  refused(request, bad, "parameter 'mode' is no string");
  refused(raw_keys(std::vector<std::int64_t>(101)), bad, "101 elements; one request may have 100");
  refused(Request(), StatusCode::NOT_FOUND, "there is no table ''");
  request.Clear();
  request.set_model_name("items");
  refused(request, bad, "has 0 inputs");
  EXPECT_TRUE(infer(raw_keys({1})).ok());
}

TEST_F(ServingGrpc, a_message_above_the_limit_is_refused_by_its_size) {
  start_grpc({.message = 1000});
  EXPECT_TRUE(infer(raw_keys({1})).ok());
  refused(raw_keys(std::vector<std::int64_t>(1000)), StatusCode::RESOURCE_EXHAUSTED, "larger than");
}

TEST_F(ServingGrpc, a_token_is_asked_for_but_not_by_probes) {
  start_grpc({}, {}, "secret");
  EXPECT_TRUE(ask(&Stub::ServerLive, inference::ServerLiveRequest()).live());
  EXPECT_TRUE(ask(&Stub::ServerReady, inference::ServerReadyRequest()).ready());
  refused(raw_keys({1}), StatusCode::UNAUTHENTICATED, "a token is needed");
  EXPECT_EQ(infer(raw_keys({1}), nullptr, "Bearer secre").error_code(),
            StatusCode::UNAUTHENTICATED);
  EXPECT_TRUE(infer(raw_keys({1}), nullptr, "Bearer secret").ok());
  grpc::ClientContext context;
  inference::ServerMetadataResponse ignored;
  EXPECT_EQ(stub_->ServerMetadata(&context, {}, &ignored).error_code(),
            StatusCode::UNAUTHENTICATED);
}

TEST_F(ServingGrpc, overload_is_unavailable_and_every_other_answer_right) {
  start_grpc({.calls = 2}, {.batch = {.queue = 1}});
  std::atomic<int> right{0}, refused{0}, wrong{0};
  {
    std::vector<std::jthread> clients;
    for (int t = 0; t < 8; ++t)
      clients.emplace_back([&] {
        const auto stub = this->stub();
        for (int i = 0; i < 100; ++i) {
          grpc::ClientContext context;
          Response response;
          const grpc::Status status = stub->ModelInfer(&context, raw_keys({7, 8}), &response);
          if (status.error_code() == StatusCode::UNAVAILABLE)
            ++(status.error_message().find("try again later") != std::string::npos ? refused
                                                                                   : wrong);
          else
            ++(status.ok() && floats_of(response.raw_output_contents(0)) == rows_of({7, 8})
                   ? right
                   : wrong);
        }
      });
  }
  EXPECT_EQ(wrong, 0);
  EXPECT_EQ(right + refused, 800);
  EXPECT_GT(right, 0);
  const std::string page = service_->metrics_page();
  EXPECT_NE(page.find("holdall_requests_total{model=\"items\",outcome=\"answered\"} " +
                      std::to_string(right)),
            std::string::npos)
      << page;
  EXPECT_NE(page.find("outcome=\"overload\"} " + std::to_string(refused)), std::string::npos)
      << page;
}

TEST_F(ServingGrpc, stopping_loses_no_request) {
  start_grpc();
  std::atomic<int> answered{0}, lost{0}, turned_away{0};
  std::vector<std::jthread> clients;
  for (int t = 0; t < 6; ++t)
    clients.emplace_back([&] {
      const auto stub = this->stub();
      while (true) {
        grpc::ClientContext context;
        Response response;
        const grpc::Status status = stub->ModelInfer(&context, raw_keys({1, 2, 3}), &response);
        if (status.ok()) {
          ++answered;
          continue;
        }
        // The server says in time that another is to be asked.
        ++(status.error_code() == StatusCode::UNAVAILABLE ? turned_away : lost);
        return;
      }
    });
  while (answered < 100) std::this_thread::yield();
  grpc_->stop();
  clients.clear();
  EXPECT_EQ(lost, 0);
  EXPECT_EQ(turned_away, 6);
  const std::string page = service_->metrics_page();
  EXPECT_NE(page.find("holdall_requests_total{model=\"items\",outcome=\"answered\"} " +
                      std::to_string(answered)),
            std::string::npos)
      << answered << " answers came to clients\n"
      << page;
}

TEST_F(ServingGrpc, a_port_that_is_taken_is_said) {
  start_grpc();
  EXPECT_THROW(GrpcServer(*service_, {.port = grpc_->port()}), ServeError);
}

}  // namespace
}  // namespace holdall::serve

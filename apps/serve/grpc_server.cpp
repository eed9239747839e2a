#include "apps/serve/grpc_server.hpp"

#include <fmt/format.h>
#include <grpc/support/log.h>
#include <grpcpp/grpcpp.h>

#include <cstdlib>
#include <thread>

#include "apps/serve/crew.hpp"
#include "apps/serve/grpc_tensors.hpp"
#include "apps/serve/inference.grpc.pb.h"
#include "apps/serve/question.hpp"

namespace holdall::serve {

namespace {

using grpc::CallbackServerContext;
using Reactor = grpc::ServerUnaryReactor;

grpc::StatusCode code_of(int status) {
  switch (status) {
    case 401:
      return grpc::StatusCode::UNAUTHENTICATED;
    case 404:
      return grpc::StatusCode::NOT_FOUND;
    case 408:
      return grpc::StatusCode::DEADLINE_EXCEEDED;
    case 503:
      return grpc::StatusCode::UNAVAILABLE;  // which clients take as: try again
    default:
      return grpc::StatusCode::INVALID_ARGUMENT;
  }
}

// What `work` throws is the status of the call.
template <class Work>
grpc::Status status_of(const Work& work) {
  try {
    work();
    return grpc::Status::OK;
  } catch (const RequestError& e) {
    return {code_of(e.status()), e.what()};
  } catch (const std::exception& e) {
    return {grpc::StatusCode::INTERNAL, e.what()};
  }
}

template <class Work>
Reactor* at_once(CallbackServerContext* context, const Work& work) {
  Reactor* const reactor = context->DefaultReactor();
  reactor->Finish(status_of(work));
  return reactor;
}

std::optional<std::string_view> authorization(const CallbackServerContext& context) {
  const auto& metadata = context.client_metadata();
  const auto at = metadata.find("authorization");
  if (at == metadata.end()) return std::nullopt;
  return std::string_view(at->second.data(), at->second.size());
}

template <class List>
void describe(const std::vector<TensorInfo>& tensors, List& list) {
  for (const TensorInfo& tensor : tensors) {
    auto& to = *list.Add();
    to.set_name(tensor.name);
    to.set_datatype(tensor.datatype);
    to.mutable_shape()->Assign(tensor.shape.begin(), tensor.shape.end());
  }
}

std::string address_of(const GrpcOptions& options) {
  const bool v6 = options.host.find(':') != std::string::npos;
  return fmt::format("{}{}{}:{}", v6 ? "[" : "", options.host, v6 ? "]" : "", options.port);
}

// gRPC tells its troubles on standard error, which is not a library's; but whoever asks for it
// gets it.
void silence() {
  if (std::getenv("GRPC_VERBOSITY") == nullptr) gpr_set_log_function([](gpr_log_func_args*) {});
}

}  // namespace

class GrpcServer::Listener final : public inference::GRPCInferenceService::CallbackService {
 public:
  Listener(serve::Service& service, const GrpcOptions& options)
      : service_(service), options_(options), crew_(options.calls) {
    silence();
    const auto milliseconds = [](std::chrono::milliseconds time) {
      return static_cast<int>(std::min<std::int64_t>(time.count(), 1 << 30));
    };
    grpc::ServerBuilder builder;
    builder.RegisterService(this);
    builder.AddListeningPort(address_of(options), grpc::InsecureServerCredentials(), &port_);
    builder.SetMaxReceiveMessageSize(
        static_cast<int>(std::min<Bytes>(options.message, std::numeric_limits<int>::max())));
    builder.AddChannelArgument(GRPC_ARG_ALLOW_REUSEPORT, 0);  // not beside another
    builder.AddChannelArgument(GRPC_ARG_MAX_CONCURRENT_STREAMS,
                               static_cast<int>(std::min<std::uint64_t>(options.calls, 1 << 20)));
    builder.AddChannelArgument(GRPC_ARG_MAX_CONNECTION_IDLE_MS, milliseconds(options.silence));
    builder.AddChannelArgument(GRPC_ARG_KEEPALIVE_TIME_MS, milliseconds(options.silence));
    // Compressed messages may be far longer than they seem.
    for (const auto algorithm : {GRPC_COMPRESS_DEFLATE, GRPC_COMPRESS_GZIP})
      builder.SetCompressionAlgorithmSupportStatus(algorithm, false);
    server_ = builder.BuildAndStart();
    if (!server_ || port_ == 0)
      throw ServeError(fmt::format(
          "cannot listen at {} for gRPC: it is taken, or none of this machine's addresses; choose "
          "another address or port",
          address_of(options)));
  }

  int port() const { return port_; }

  void stop() {
    if (stopped_.exchange(true)) return;
    service_.retire();
    // 1. calls are answered as long as they come: who asks for health goes elsewhere meanwhile
    wait_for_silence();
    // 2. they are refused: one that comes while gRPC shuts down it would cancel without a word
    ending_ = true;
    wait_for_silence();
    // 3. what has begun ends
    server_->Shutdown(std::chrono::system_clock::now() + options_.last_answer);
    crew_.shutdown();
  }

 private:
  Reactor* ServerLive(CallbackServerContext* context, const inference::ServerLiveRequest*,
                      inference::ServerLiveResponse* to) override {
    return at_once(context, [&] { to->set_live(true); });
  }
  Reactor* ServerReady(CallbackServerContext* context, const inference::ServerReadyRequest*,
                       inference::ServerReadyResponse* to) override {
    return at_once(context, [&] { to->set_ready(service_.ready()); });
  }
  Reactor* ModelReady(CallbackServerContext* context, const inference::ModelReadyRequest* asked,
                      inference::ModelReadyResponse* to) override {
    return at_once(context, [&] {
      service_.need_token(authorization(*context));
      to->set_ready(service_.model(asked->name(), asked->version()).ready());
    });
  }
  Reactor* ServerMetadata(CallbackServerContext* context, const inference::ServerMetadataRequest*,
                          inference::ServerMetadataResponse* to) override {
    return at_once(context, [&] {
      service_.need_token(authorization(*context));
      to->set_name(std::string(server_name));
      to->set_version(std::string(server_version));
    });
  }
  Reactor* ModelMetadata(CallbackServerContext* context,
                         const inference::ModelMetadataRequest* asked,
                         inference::ModelMetadataResponse* to) override {
    return at_once(context, [&] {
      service_.need_token(authorization(*context));
      Model& model = service_.model(asked->name(), asked->version());
      describe(question_inputs(), *to->mutable_inputs());
      describe(question_outputs(model.dim()), *to->mutable_outputs());
      to->set_name(model.name());
      to->add_versions(std::to_string(model.version()));
      to->set_platform(std::string(platform));
    });
  }
  // Until no call has come for a moment.
  void wait_for_silence() const {
    const auto end = std::chrono::steady_clock::now() + options_.last_request;
    std::uint64_t before = 0;
    do {
      before = calls_;
      std::this_thread::sleep_for(std::min(std::chrono::milliseconds(50), options_.last_request));
    } while (before != calls_ && std::chrono::steady_clock::now() < end);
  }

  // A table is waited for, so that it takes a thread.
  Reactor* ModelInfer(CallbackServerContext* context, const inference::ModelInferRequest* asked,
                      inference::ModelInferResponse* to) override {
    ++calls_;
    Reactor* const reactor = context->DefaultReactor();
    crew_.enqueue([this, context, asked, to, reactor, late = ending_.load()] {
      reactor->Finish(status_of([&] { infer(*context, *asked, *to, late); }));
    });
    return reactor;
  }

  void infer(const CallbackServerContext& context, const inference::ModelInferRequest& asked,
             inference::ModelInferResponse& to, bool late) {
    service_.need_token(authorization(context));
    service_.infer(
        service_.model(asked.model_name(), asked.model_version()),
        [&] {
          if (late) throw RequestError(503, "the server is about to end: ask another");
          if (Crew::refusing())
            throw RequestError(
                503, fmt::format("{} calls wait already: try again later", options_.calls));
          if (context.IsCancelled()) throw RequestError(408, "the client waits no longer");
          return read_infer(asked);
        },
        [&](InferAnswer answer) {
          write_infer(std::move(answer), asked.raw_input_contents_size() > 0, to);
        });
  }

  serve::Service& service_;
  const GrpcOptions options_;
  Crew crew_;
  int port_ = 0;
  std::atomic<std::uint64_t> calls_{0};  // so far
  std::atomic<bool> stopped_{false}, ending_{false};
  std::unique_ptr<grpc::Server> server_;  // last: it calls the above
};

GrpcServer::GrpcServer(Service& service, const GrpcOptions& options)
    : listener_(std::make_unique<Listener>(service, options)) {}
GrpcServer::~GrpcServer() { listener_->stop(); }
int GrpcServer::port() const { return listener_->port(); }
void GrpcServer::stop() { listener_->stop(); }

}  // namespace holdall::serve

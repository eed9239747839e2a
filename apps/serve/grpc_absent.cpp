// The gRPC server of a build without gRPC.
#include "apps/serve/grpc_server.hpp"

namespace holdall::serve {

class GrpcServer::Listener {};

GrpcServer::GrpcServer(Service&, const GrpcOptions&) {
  throw ServeError(
      "this build has no gRPC: install libgrpc++-dev, libprotobuf-dev and protobuf-compiler-grpc, "
      "and build with -Dgrpc=enabled");
}
GrpcServer::~GrpcServer() = default;
int GrpcServer::port() const { return 0; }
void GrpcServer::stop() {}

}  // namespace holdall::serve

// A client's connection: reads and writes that end in time, few system calls for each request.
#pragma once

#include <httplib.h>

#include <array>
#include <chrono>
#include <string>
#include <string_view>
#include <vector>

namespace holdall::serve {

class Connection final : public httplib::Stream {
 public:
  using Clock = std::chrono::steady_clock;

  explicit Connection(socket_t socket);

  // Reads and writes from now on end by then.
  void end_by(Clock::time_point end) { end_ = end; }
  // Whether bytes can be read within `patience`; also where the client has hung up.
  bool wait(std::chrono::milliseconds patience) const;
  // Whether bytes have come, or the client has hung up, within `pause`: in one system call.
  bool begins();
  static constexpr std::chrono::milliseconds pause{50};
  // Waits for as many bytes; false where they are too many to be kept, or do not come in time.
  bool gather(std::size_t bytes);
  // What has come and was not read yet; `take` reads so much of it.
  std::string_view arrived() const { return {in_.data() + begin_, size_ - begin_}; }
  void take(std::size_t bytes) { begin_ += bytes; }
  // Sends what was written. False where the client does not take it.
  bool flush();

  bool is_readable() const override;
  bool is_writable() const override { return true; }
  ssize_t read(char* to, std::size_t size) override;
  ssize_t write(const char* from, std::size_t size) override;
  // Who asks is nobody's business here, and the library wants to know for each request.
  void get_remote_ip_and_port(std::string&, int&) const override {}
  void get_local_ip_and_port(std::string&, int&) const override {}
  socket_t socket() const override { return socket_; }

 private:
  bool buffered() const { return begin_ < size_; }
  bool wait_for(short events, Clock::time_point end) const;
  bool send_all(std::array<std::string_view, 2> parts);

  const socket_t socket_;
  Clock::time_point end_ = Clock::time_point::max();
  std::vector<char> in_;
  std::size_t begin_ = 0, size_ = 0;
  std::string out_;
};

}  // namespace holdall::serve

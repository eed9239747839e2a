#include "apps/serve/connection.hpp"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

namespace holdall::serve {

namespace {

constexpr std::size_t send_at = 256 << 10;  // of bytes that wait to be sent

void tell(const sockaddr_storage& address, std::string& ip, int& port) {
  char text[INET6_ADDRSTRLEN] = {};
  if (address.ss_family == AF_INET) {
    const auto& four = reinterpret_cast<const sockaddr_in&>(address);
    ip = inet_ntop(AF_INET, &four.sin_addr, text, sizeof text);
    port = ntohs(four.sin_port);
  } else if (address.ss_family == AF_INET6) {
    const auto& six = reinterpret_cast<const sockaddr_in6&>(address);
    ip = inet_ntop(AF_INET6, &six.sin6_addr, text, sizeof text);
    port = ntohs(six.sin6_port);
  }
}

}  // namespace

bool Connection::wait_for(short events, Clock::time_point end) const {
  while (true) {
    const auto left = std::chrono::ceil<std::chrono::milliseconds>(
        std::min(end - Clock::now(), Clock::duration(std::chrono::hours(1))));
    pollfd one{socket_, events, 0};
    const int ready = ::poll(&one, 1, static_cast<int>(std::max<std::int64_t>(left.count(), 0)));
    if (ready > 0) return true;
    if (ready == 0 && Clock::now() >= end) return false;
    if (ready < 0 && errno != EINTR) return false;
  }
}

bool Connection::wait(std::chrono::milliseconds patience) const {
  return buffered() || wait_for(POLLIN, Clock::now() + patience);
}

bool Connection::is_readable() const { return buffered() || wait_for(POLLIN, end_); }

ssize_t Connection::read(char* to, std::size_t size) {
  if (!out_.empty() && !flush()) return -1;  // such as "100 Continue"
  if (!buffered()) {
    const bool direct = size >= in_.size();
    ssize_t got = 0;
    while (true) {
      got = ::recv(socket_, direct ? to : in_.data(), direct ? size : in_.size(), MSG_DONTWAIT);
      if (got >= 0) break;
      if (errno == EINTR) continue;
      if ((errno != EAGAIN && errno != EWOULDBLOCK) || !wait_for(POLLIN, end_)) return -1;
    }
    if (Clock::now() > end_) return -1;  // a client that sends a byte now and then
    if (direct || got == 0) return got;
    begin_ = 0;
    size_ = static_cast<std::size_t>(got);
  }
  const std::size_t some = std::min(size, size_ - begin_);
  std::memcpy(to, in_.data() + begin_, some);
  begin_ += some;
  return static_cast<ssize_t>(some);
}

ssize_t Connection::write(const char* from, std::size_t size) {
  if (out_.size() + size > send_at) {
    if (!flush() || !send_all(from, size)) return -1;
  } else {
    out_.append(from, size);
  }
  return static_cast<ssize_t>(size);
}

bool Connection::flush() {
  const bool sent = send_all(out_.data(), out_.size());
  out_.clear();
  return sent;
}

bool Connection::send_all(const char* from, std::size_t size) {
  while (size > 0) {
    const ssize_t sent = ::send(socket_, from, size, MSG_NOSIGNAL | MSG_DONTWAIT);
    if (sent >= 0) {
      from += sent;
      size -= static_cast<std::size_t>(sent);
    } else if (errno != EINTR &&
               ((errno != EAGAIN && errno != EWOULDBLOCK) || !wait_for(POLLOUT, end_))) {
      return false;
    }
  }
  return true;
}

void Connection::get_remote_ip_and_port(std::string& ip, int& port) const {
  sockaddr_storage address{};
  socklen_t size = sizeof address;
  if (::getpeername(socket_, reinterpret_cast<sockaddr*>(&address), &size) == 0)
    tell(address, ip, port);
}

void Connection::get_local_ip_and_port(std::string& ip, int& port) const {
  sockaddr_storage address{};
  socklen_t size = sizeof address;
  if (::getsockname(socket_, reinterpret_cast<sockaddr*>(&address), &size) == 0)
    tell(address, ip, port);
}

}  // namespace holdall::serve

#include "apps/serve/connection.hpp"

#include <poll.h>
#include <sys/socket.h>
#include <sys/time.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

namespace holdall::serve {

namespace {

constexpr std::size_t much = 4096;

}  // namespace

Connection::Connection(socket_t socket) : socket_(socket), in_(16 << 10) {
  const timeval patience{0, std::chrono::microseconds(pause).count()};
  ::setsockopt(socket, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience);
}

bool Connection::begins() {
  if (buffered()) return true;
  const ssize_t got = ::recv(socket_, in_.data(), in_.size(), 0);
  if (got > 0) {
    begin_ = 0;
    size_ = static_cast<std::size_t>(got);
  }
  return got >= 0 || (errno != EAGAIN && errno != EWOULDBLOCK && errno != EINTR);
}

bool Connection::gather(std::size_t bytes) {
  if (bytes > in_.size()) return false;
  std::memmove(in_.data(), in_.data() + begin_, size_ - begin_);
  size_ -= begin_;
  begin_ = 0;
  while (size_ < bytes) {
    if (!wait_for(POLLIN, end_)) return false;
    const ssize_t got = ::recv(socket_, in_.data() + size_, in_.size() - size_, MSG_DONTWAIT);
    if (got <= 0 || Clock::now() > end_) return false;
    size_ += static_cast<std::size_t>(got);
  }
  return true;
}

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

// Little is gathered, so that a head and its body leave together; much is not copied for that.
ssize_t Connection::write(const char* from, std::size_t size) {
  if (size < much) {
    out_.append(from, size);
    if (out_.size() >= much && !flush()) return -1;
    return static_cast<ssize_t>(size);
  }
  const bool sent = send_all({std::string_view(out_), std::string_view(from, size)});
  out_.clear();
  return sent ? static_cast<ssize_t>(size) : -1;
}

bool Connection::flush() {
  const bool sent = send_all({std::string_view(out_), std::string_view()});
  out_.clear();
  return sent;
}

bool Connection::send_all(std::array<std::string_view, 2> parts) {
  while (!parts[0].empty() || !parts[1].empty()) {
    iovec pieces[2];
    for (int i = 0; i < 2; ++i)
      pieces[i] = {const_cast<char*>(parts[i].data()), parts[i].size()};  // NOLINT: only read
    msghdr message{};
    message.msg_iov = pieces;
    message.msg_iovlen = 2;
    const ssize_t sent = ::sendmsg(socket_, &message, MSG_NOSIGNAL | MSG_DONTWAIT);
    if (sent < 0 && errno != EINTR &&
        ((errno != EAGAIN && errno != EWOULDBLOCK) || !wait_for(POLLOUT, end_)))
      return false;
    std::size_t gone = sent > 0 ? static_cast<std::size_t>(sent) : 0;
    for (std::string_view& part : parts) {
      const std::size_t some = std::min(gone, part.size());
      part.remove_prefix(some);
      gone -= some;
    }
    if (Clock::now() > end_) return false;  // a client that takes a byte now and then
  }
  return true;
}

}  // namespace holdall::serve

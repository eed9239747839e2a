#include "apps/policy/input.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "apps/policy/error.hpp"
#include "engine/new_file.hpp"

namespace holdall::lab {

namespace {

class File final : public packed::Source {
 public:
  File(int handle, bool owned, const std::string& name, std::shared_ptr<std::uint64_t> taken)
      : handle_(handle), owned_(owned), name_(name), taken_(std::move(taken)) {}
  ~File() override {
    if (owned_) ::close(handle_);
  }
  std::size_t read(char* to, std::size_t size) override {
    for (;;) {
      const ssize_t n = ::read(handle_, to, size);
      if (n >= 0) {
        *taken_ += static_cast<std::uint64_t>(n);
        return static_cast<std::size_t>(n);
      }
      if (errno != EINTR)
        throw LabError(fmt::format("{}: cannot be read: {}", name_, std::strerror(errno)));
    }
  }

 private:
  const int handle_;
  const bool owned_;
  const std::string name_;
  std::shared_ptr<std::uint64_t> taken_;
};

constexpr std::size_t longest_line = std::size_t{1} << 20;

}  // namespace

Input::Input(const std::string& path)
    : name_(path == "-" ? "standard input" : path), taken_(std::make_shared<std::uint64_t>(0)) {
  const bool standard = path == "-";
  const int handle = standard ? STDIN_FILENO : ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (handle < 0) throw LabError(fmt::format("{}: cannot be opened: {}", path, why(errno)));
  source_ = std::make_unique<File>(handle, !standard, name_, taken_);
  struct stat about;
  if (::fstat(handle, &about) == 0 && S_ISREG(about.st_mode))
    bytes_ = static_cast<std::uint64_t>(about.st_size);

  std::string begin(packed::mark_bytes, '\0');
  std::size_t size = 0;
  while (size < begin.size()) {
    const std::size_t n = source_->read(begin.data() + size, begin.size() - size);
    if (n == 0) break;
    size += n;
  }
  try {
    source_ = packed::unpacked(std::move(source_), std::string_view(begin).substr(0, size), name_);
  } catch (const packed::UnpackError& e) {
    throw LabError(e.what());
  }
}

std::size_t Input::read(char* to, std::size_t size) {
  try {
    return source_->read(to, size);
  } catch (const packed::UnpackError& e) {
    throw LabError(e.what());
  }
}

void Input::fill(std::size_t want) {
  if (ended_) return;
  const std::size_t left = end_ - begin_;
  if (buffer_.size() < std::max(want, std::size_t{256} << 10)) {
    std::vector<char> larger(std::max(2 * want, std::size_t{256} << 10));
    std::copy_n(buffer_.data() + begin_, left, larger.data());
    buffer_ = std::move(larger);
  } else {
    std::memmove(buffer_.data(), buffer_.data() + begin_, left);
  }
  begin_ = 0, end_ = left;
  while (end_ < want && !ended_) {
    const std::size_t n = read(buffer_.data() + end_, buffer_.size() - end_);
    end_ += n;
    ended_ = n == 0;
  }
}

bool Input::line(std::string_view& text) {
  std::string_view bytes = peek(1);
  if (bytes.empty()) return false;
  std::size_t size = bytes.find('\n');
  if (size == bytes.npos) {
    bytes = peek(longest_line + 1);
    size = std::min(bytes.find('\n'), bytes.size());
    if (size > longest_line)
      throw LabError(fmt::format("{}: a line longer than 1 MiB at byte {}: is this a text trace?",
                                 name_, offset_));
  }
  text = bytes.substr(0, size);
  skip(std::min(size + 1, bytes.size()));
  if (text.ends_with('\r')) text.remove_suffix(1);
  return true;
}

}  // namespace holdall::lab

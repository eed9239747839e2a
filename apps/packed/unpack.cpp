#include "apps/packed/unpack.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <vector>

#ifdef HOLDALL_ZSTD
#include <zstd.h>
#endif
#ifdef HOLDALL_ZLIB
#include <zlib.h>
#endif
#ifdef HOLDALL_LZMA
#include <lzma.h>
#endif

namespace holdall::packed {

namespace {

// What was read ahead, then the rest.
class Rejoined final : public Source {
 public:
  Rejoined(std::string_view begin, std::unique_ptr<Source> rest)
      : begin_(begin), rest_(std::move(rest)) {}
  std::size_t read(char* to, std::size_t size) override {
    if (at_ == begin_.size()) return rest_->read(to, size);
    const std::size_t n = std::min(size, begin_.size() - at_);
    std::memcpy(to, begin_.data() + at_, n);
    at_ += n;
    return n;
  }

 private:
  std::string begin_;
  std::size_t at_ = 0;
  std::unique_ptr<Source> rest_;
};

#if defined(HOLDALL_ZSTD) || defined(HOLDALL_ZLIB) || defined(HOLDALL_LZMA)

// The packed bytes, a piece at a time, and the messages.
class Unpacking : public Source {
 protected:
  Unpacking(std::unique_ptr<Source> packed, const std::string& name, const char* kind)
      : packed_(std::move(packed)), name_(name), kind_(kind), piece_(std::size_t{128} << 10) {}

  bool refill() {  // false at the end of the packed bytes
    size_ = packed_->read(piece_.data(), piece_.size());
    return size_ > 0;
  }
  [[noreturn]] void damaged(const char* why) const {
    throw UnpackError(fmt::format("{}: the {} data is damaged: {}", name_, kind_, why));
  }
  [[noreturn]] void cut() const {
    throw UnpackError(
        fmt::format("{}: the {} data is cut short: its end is missing", name_, kind_));
  }

  std::unique_ptr<Source> packed_;
  const std::string name_;
  const char* const kind_;
  std::vector<char> piece_;
  std::size_t size_ = 0;
};

#endif

#ifdef HOLDALL_ZSTD
class Zstd final : public Unpacking {
 public:
  Zstd(std::unique_ptr<Source> packed, const std::string& name)
      : Unpacking(std::move(packed), name, "zstd"), context_(ZSTD_createDCtx()) {
    if (!context_) throw std::bad_alloc();
  }
  std::size_t read(char* to, std::size_t size) override {
    ZSTD_outBuffer out{to, size, 0};
    while (out.pos == 0) {
      if (in_.pos == in_.size) {
        if (!refill()) {
          if (left_ != 0) cut();
          return 0;
        }
        in_ = {piece_.data(), size_, 0};
      }
      left_ = ZSTD_decompressStream(context_.get(), &out, &in_);
      if (ZSTD_isError(left_)) damaged(ZSTD_getErrorName(left_));
    }
    return out.pos;
  }

 private:
  struct Free {
    void operator()(ZSTD_DCtx* context) const { ZSTD_freeDCtx(context); }
  };
  std::unique_ptr<ZSTD_DCtx, Free> context_;
  ZSTD_inBuffer in_{};
  std::size_t left_ = 0;  // 0: at the end of a frame
};
#endif

#ifdef HOLDALL_ZLIB
class Gzip final : public Unpacking {
 public:
  Gzip(std::unique_ptr<Source> packed, const std::string& name)
      : Unpacking(std::move(packed), name, "gzip") {
    if (inflateInit2(&stream_, 15 + 16) != Z_OK) throw std::bad_alloc();
  }
  ~Gzip() override { inflateEnd(&stream_); }
  std::size_t read(char* to, std::size_t size) override {
    size = std::min<std::size_t>(size, 1u << 30);
    stream_.next_out = reinterpret_cast<Bytef*>(to);
    stream_.avail_out = static_cast<uInt>(size);
    while (stream_.avail_out == size) {
      if (stream_.avail_in == 0) {
        if (!refill()) {
          if (!done_) cut();
          return 0;
        }
        stream_.next_in = reinterpret_cast<Bytef*>(piece_.data());
        stream_.avail_in = static_cast<uInt>(size_);
      }
      if (done_) inflateReset(&stream_);  // another member follows
      const int status = inflate(&stream_, Z_NO_FLUSH);
      done_ = status == Z_STREAM_END;
      if (!done_ && status != Z_OK && status != Z_BUF_ERROR)
        damaged(stream_.msg ? stream_.msg : "no gzip");
    }
    return size - stream_.avail_out;
  }

 private:
  z_stream stream_{};
  bool done_ = false;
};
#endif

#ifdef HOLDALL_LZMA
class Xz final : public Unpacking {
 public:
  Xz(std::unique_ptr<Source> packed, const std::string& name)
      : Unpacking(std::move(packed), name, "xz") {
    if (lzma_stream_decoder(&stream_, std::uint64_t{1} << 30, LZMA_CONCATENATED) != LZMA_OK)
      throw std::bad_alloc();
  }
  ~Xz() override { lzma_end(&stream_); }
  std::size_t read(char* to, std::size_t size) override {
    if (done_) return 0;
    stream_.next_out = reinterpret_cast<std::uint8_t*>(to);
    stream_.avail_out = size;
    while (stream_.avail_out == size && !done_) {
      if (stream_.avail_in == 0 && !finishing_) {
        finishing_ = !refill();
        stream_.next_in = reinterpret_cast<const std::uint8_t*>(piece_.data());
        stream_.avail_in = size_;
      }
      const lzma_ret status = lzma_code(&stream_, finishing_ ? LZMA_FINISH : LZMA_RUN);
      done_ = status == LZMA_STREAM_END;
      if (status == LZMA_BUF_ERROR) cut();
      if (!done_ && status != LZMA_OK)
        damaged(status == LZMA_MEMLIMIT_ERROR ? "it needs over 1 GiB" : "no xz");
    }
    return size - stream_.avail_out;
  }

 private:
  lzma_stream stream_ = LZMA_STREAM_INIT;
  bool done_ = false, finishing_ = false;
};
#endif

[[maybe_unused, noreturn]] void missing(const std::string& name, const char* kind,
                                        const char* package) {
  throw UnpackError(fmt::format(
      "{}: is packed with {}, and this holdall was built without it: build it again with {}, or "
      "unpack the file first",
      name, kind, package));
}

constexpr std::string_view zstd_mark("\x28\xb5\x2f\xfd"), gzip_mark("\x1f\x8b"),
    xz_mark(
        "\xfd"
        "7zXZ\0",
        6);

}  // namespace

bool is_packed(std::string_view begin) {
  return begin.starts_with(zstd_mark) || begin.starts_with(gzip_mark) || begin.starts_with(xz_mark);
}

std::unique_ptr<Source> unpacked(std::unique_ptr<Source> packed, std::string_view begin,
                                 const std::string& name) {
  auto whole = std::make_unique<Rejoined>(begin, std::move(packed));
  if (begin.starts_with(zstd_mark)) {
#ifdef HOLDALL_ZSTD
    return std::make_unique<Zstd>(std::move(whole), name);
#else
    missing(name, "zstd", "libzstd-dev");
#endif
  }
  if (begin.starts_with(gzip_mark)) {
#ifdef HOLDALL_ZLIB
    return std::make_unique<Gzip>(std::move(whole), name);
#else
    missing(name, "gzip", "zlib1g-dev");
#endif
  }
  if (begin.starts_with(xz_mark)) {
#ifdef HOLDALL_LZMA
    return std::make_unique<Xz>(std::move(whole), name);
#else
    missing(name, "xz", "liblzma-dev");
#endif
  }
  return whole;
}

}  // namespace holdall::packed

#include "apps/graph/file.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <cstdlib>
#include <memory>
#include <string>
#include <vector>

#include "apps/graph/error.hpp"
#include "apps/graph/pieces.hpp"
#include "apps/packed/unpack.hpp"

namespace holdall::graph {

namespace {

void refuse(const files::Problem& problem) {
  throw GraphError(problem.file, problem.at ? Place(Byte{*problem.at}) : Place(), problem.what,
                   problem.remedy);
}

class Bytestream final : public packed::Source {
 public:
  Bytestream(const File& file, Bytes at) : file_(file), at_(at) {}
  std::size_t read(char* to, std::size_t size) override {
    const std::size_t n = file_.read_some(at_, to, size);
    at_ += n;
    return n;
  }

 private:
  const File& file_;
  Bytes at_;
};

}  // namespace

File::File(std::filesystem::path path, Packed packed) : files::File(std::move(path), refuse) {
  if (packed == Packed::unpacked) unpack();
}

void File::unpack() {
  std::string begin(packed::mark_bytes, '\0');
  begin.resize(read_some(0, begin.data(), begin.size()));
  if (!packed::is_packed(begin)) return;

  std::string name = (std::filesystem::temp_directory_path() / "holdall-unpacked-XXXXXX").string();
  const int temporary = ::mkostemp(name.data(), O_CLOEXEC);
  if (temporary < 0) files::fail(refuse, path(), "unpack it to " + name);
  ::unlink(name.c_str());
  try {
    const auto source =
        packed::unpacked(std::make_unique<Bytestream>(*this, begin.size()), begin, path().string());
    std::vector<char> piece(1 << 20);
    Bytes end = 0;
    for (std::size_t n = 0; (n = source->read(piece.data(), piece.size())) > 0; end += n)
      files::write_all(temporary, end, piece.data(), n, refuse, path(),
                       "unpack it to the folder of " + name);
    read_instead(temporary, end);
  } catch (const packed::UnpackError& e) {
    ::close(temporary);
    throw GraphError(e.what());
  } catch (...) {
    ::close(temporary);
    throw;
  }
}

void File::read_array(const FileArray& array, void* to) const {
  for_each_piece(array.bytes(), [&](Bytes first, Bytes bytes) {
    read(array.offset + first, static_cast<char*>(to) + first, bytes);
  });
}

NewFile::NewFile(std::filesystem::path path) : files::NewFile(std::move(path), refuse) {}

}  // namespace holdall::graph

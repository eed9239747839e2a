// A file is there under its name once it is whole, and not before.
#include "engine/new_file.hpp"

#include <sys/stat.h>

#include <thread>

#include "tests/engine/world.hpp"

namespace holdall {
namespace {

class NewFiles : public testing::Test {
 protected:
  std::string contents(const std::string& name) const {
    std::ifstream in(folder_ / name, std::ios::binary);
    return {std::istreambuf_iterator<char>(in), {}};
  }
  bool there(const std::string& name) const {
    return std::filesystem::exists(std::filesystem::symlink_status(folder_ / name));
  }
  void put(const std::string& name, const std::string& text) const {
    std::ofstream(folder_ / name) << text;
  }
  static void write(NewFile& file, const std::string& text) {
    EXPECT_EQ(std::fwrite(text.data(), 1, text.size(), file.stream()), text.size());
  }

  const Folder folder_;
};

TEST_F(NewFiles, have_their_name_once_they_are_finished) {
  put("f", "old");
  NewFile file(folder_ / "f");
  write(file, "new");
  EXPECT_EQ(contents("f"), "old");
  EXPECT_TRUE(there("f.unfinished"));
  file.finish();
  EXPECT_EQ(contents("f"), "new");
  EXPECT_FALSE(there("f.unfinished"));
}

TEST_F(NewFiles, that_are_not_finished_go_and_leave_what_was_there) {
  put("f", "old");
  {
    NewFile file(folder_ / "f");
    write(file, "new");
  }
  EXPECT_EQ(contents("f"), "old");
  EXPECT_FALSE(there("f.unfinished"));
}

TEST_F(NewFiles, replace_what_a_link_names) {
  put("f", "old");
  std::filesystem::create_symlink("f", folder_ / "link");
  NewFile file(folder_ / "link");
  write(file, "new");
  file.finish();
  EXPECT_EQ(contents("f"), "new");
  EXPECT_TRUE(std::filesystem::is_symlink(folder_ / "link"));
}

TEST_F(NewFiles, write_to_a_pipe_as_it_is) {
  ASSERT_EQ(::mkfifo((folder_ / "pipe").c_str(), 0600), 0);
  std::string read;
  {
    const std::jthread reader([&] { read = contents("pipe"); });
    NewFile file(folder_ / "pipe");
    write(file, "new");
    file.finish();
  }
  EXPECT_EQ(read, "new");
  EXPECT_TRUE(there("pipe"));
}

TEST_F(NewFiles, that_cannot_be_made_or_written_say_why) {
  try {
    NewFile file(folder_ / "none/f");
    FAIL();
  } catch (const std::system_error& e) {
    EXPECT_EQ(why(e.code().value()), "No such file or directory; check the path");
  }
  NewFile full("/dev/full");
  write(full, "new");
  try {
    full.finish();
    FAIL();
  } catch (const std::system_error& e) {
    EXPECT_EQ(why(e.code().value()),
              "No space left on device; free some space or write elsewhere");
  }
}

TEST_F(NewFiles, that_are_unfinished_go_all_at_once_and_none_is_finished_meanwhile) {
  put("f", "old");
  NewFile f(folder_ / "f"), g(folder_ / "g");
  const UnfinishedFile temporary = UnfinishedFile::temporary(folder_ / "t-");
  write(f, "new");
  std::thread finishing;
  {
    const auto held = remove_unfinished_files();
    EXPECT_FALSE(there("f.unfinished") || there("g.unfinished"));
    EXPECT_FALSE(std::filesystem::exists(temporary.path()));
    finishing = std::thread([&] { EXPECT_THROW(f.finish(), std::system_error); });
    EXPECT_EQ(contents("f"), "old");
  }
  finishing.join();
  EXPECT_EQ(contents("f"), "old");
}

}  // namespace
}  // namespace holdall

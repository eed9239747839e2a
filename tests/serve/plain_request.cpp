// Requests that are read without the HTTP library, and those that are left to it.
#include "apps/serve/plain_request.hpp"

#include <gtest/gtest.h>

#include <random>
#include <string>

namespace holdall::serve {
namespace {

const std::string plain =
    "POST /v2/models/items/infer HTTP/1.1\r\nHost: h:8000\r\ncontent-LENGTH: 5\r\n"
    "Inference-Header-Content-Length: 3\r\nAuthorization: Bearer t\r\nUser-Agent: x/1 (y)\r\n\r\n";

TEST(PlainRequest, IsReadWhereItLies) {
  const std::string arrived = plain + "hello" + "POST /next";
  const auto request = plain_request(arrived);
  ASSERT_TRUE(request);
  EXPECT_EQ(request->path, "/v2/models/items/infer");
  EXPECT_EQ(request->body, "hello");
  EXPECT_EQ(request->json_length, "3");
  EXPECT_EQ(request->authorization, "Bearer t");
  EXPECT_EQ(request->bytes, plain.size() + 5);
  EXPECT_EQ(arrived.substr(request->bytes), "POST /next");
}

TEST(PlainRequest, HasAWholeHeadAndTellsHowLongItsBodyWillBe) {
  for (std::size_t bytes = 0; bytes < plain.size(); ++bytes)
    EXPECT_FALSE(plain_request(std::string_view(plain).substr(0, bytes))) << bytes;
  const auto request = plain_request(plain + "hell");
  ASSERT_TRUE(request);
  EXPECT_EQ(request->bytes, plain.size() + 5);
  EXPECT_EQ(request->body, "");
}

TEST(PlainRequest, LeavesWhatIsUnusualToTheLibrary) {
  const auto with = [](const std::string& line, const std::string& headers) {
    return line + "\r\n" + headers + "\r\n\r\nhello";
  };
  const std::string line = "POST /v2/models/items/infer HTTP/1.1", length = "Content-Length: 5";
  EXPECT_TRUE(plain_request(with(line, length)));
  for (const char* const other :
       {"GET /v2/models/items/infer HTTP/1.1", "POST /v2/models/items/infer HTTP/1.0",
        "POST /v2/models/it%65ms/infer HTTP/1.1", "POST /v2/models/items/infer?x=1 HTTP/1.1",
        "POST /v2/models/items/infer", "POST  /v2 HTTP/1.1", "POST /v2 /v3 HTTP/1.1"})
    EXPECT_FALSE(plain_request(with(other, length))) << other;
  for (const char* const more :
       {"Transfer-Encoding: chunked", "Content-Length: 5", "Content-Length: 4",
        "Content-Encoding: gzip", "Content-Type: multipart/form-data", "Connection: close",
        "Expect: 100-continue", "X-Other: 1", "Content-Length : 5", " folded", "Host:\tx",
        "User-Agent: a\nContent-Length: 9", "User-Agent: \x01",
        "Authorization: a\r\nAuthorization: b", "no colon", ": no name"})
    EXPECT_FALSE(plain_request(with(line, length + "\r\n" + more))) << more;
  for (const char* const none : {"Host: h", "Content-Length: -5", "Content-Length: 5x",
                                 "Content-Length: ", "Content-Length: +5", "Content-Length: 0x5",
                                 "Content-Length: 99999999999999999999"})
    EXPECT_FALSE(plain_request(with(line, none))) << none;
}

TEST(PlainRequest, OfWhateverBytesIsWithinThem) {
  std::mt19937_64 random(3);
  std::size_t taken = 0;
  for (int round = 0; round < 200'000; ++round) {
    std::string arrived = plain + "hello";
    for (std::uint64_t changes = random() % 4; changes > 0; --changes) {
      const std::size_t at = random() % arrived.size();
      switch (random() % 3) {
        case 0:
          arrived[at] = static_cast<char>(random());
          break;
        case 1:
          arrived.erase(at, random() % 8);
          break;
        default:
          arrived.insert(at, arrived.substr(random() % arrived.size(), random() % 32));
      }
      if (arrived.empty()) break;
    }
    const auto request = plain_request(arrived);
    if (!request || request->bytes > arrived.size()) continue;
    ++taken;
    ASSERT_EQ(arrived.substr(request->bytes - request->body.size(), request->body.size()),
              request->body);
  }
  EXPECT_GT(taken, 50'000u);
}

}  // namespace
}  // namespace holdall::serve

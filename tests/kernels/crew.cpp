// Threads that wait awake: each piece is done once, and none after its run.
#include "kernels/crew.hpp"

#include <gtest/gtest.h>

#include <chrono>

namespace holdall::kernels {
namespace {

TEST(Crews, DoEachPieceOnce) {
  Crew crew(3);
  for (const std::uint32_t pieces : {0u, 1u, 2u, 7u, 1000u}) {
    std::vector<std::atomic<int>> done(pieces);
    for (int round = 1; round <= 50; ++round) {
      crew.run(pieces, [&](std::uint32_t i) { ++done[i]; });
      for (const auto& count : done) ASSERT_EQ(count, round);
    }
  }
}

TEST(Crews, WorkForSeveralCallers) {
  Crew crew(2);
  std::vector<std::jthread> callers;
  std::atomic<int> wrong{0};
  for (int c = 0; c < 3; ++c)
    callers.emplace_back([&] {
      for (int round = 0; round < 200; ++round) {
        std::vector<int> seen(17);  // of this run alone
        crew.run(17, [&](std::uint32_t i) { seen[i] += static_cast<int>(i) + 1; });
        for (int i = 0; i < 17; ++i) wrong += seen[static_cast<std::size_t>(i)] != i + 1;
      }
    });
  callers.clear();
  EXPECT_EQ(wrong, 0);
}

TEST(Crews, WakeAgainAfterTheySlept) {
  Crew crew(2);
  for (int round = 0; round < 3; ++round) {
    const auto until = std::chrono::steady_clock::now() + std::chrono::milliseconds(3);
    while (std::chrono::steady_clock::now() < until)
      std::this_thread::yield();  // longer than they stay awake
    std::atomic<int> sum{0};
    crew.run(100, [&](std::uint32_t i) { sum += static_cast<int>(i); });
    EXPECT_EQ(sum, 4950);
  }
}

TEST(Crews, EndThoughTheyAreAboutToSleep) {
  for (int round = 0; round < 400; ++round) {
    Crew crew(3);
    const auto until =
        std::chrono::steady_clock::now() + std::chrono::microseconds(400 + round / 2);
    while (std::chrono::steady_clock::now() < until) std::this_thread::yield();
  }
}

TEST(Crews, OfNobodyLeaveTheWorkToTheCaller) {
  Crew crew(0);
  int sum = 0;
  crew.run(10, [&](std::uint32_t i) { sum += static_cast<int>(i); });
  EXPECT_EQ(sum, 45);
}

}  // namespace
}  // namespace holdall::kernels

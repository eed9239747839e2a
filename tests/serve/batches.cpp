// Questions that come at once are answered together, each with its own.
#include "apps/serve/batcher.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <cstring>
#include <latch>
#include <random>
#include <thread>

namespace holdall::serve {
namespace {

constexpr std::uint32_t dim = 3;

float element(std::uint64_t key, std::uint64_t k) { return static_cast<float>(key * 10 + k); }

class Batches : public testing::Test {
 protected:
  Batches()
      : engine_(config()),
        table_(embedding::EmbeddingTable::open(
            engine_, {.name = "items"},
            *embedding::from_function({"made", 100, dim, embedding::RowType::fp32, false},
                                      [](std::uint64_t first, std::uint64_t count, std::byte* to) {
                                        auto* const rows = reinterpret_cast<float*>(to);
                                        for (std::uint64_t i = 0; i < count * dim; ++i)
                                          rows[i] = element(first + i / dim, i % dim);
                                      }))) {}

  static Config config() {
    Config config;
    config.driver = "host";
    config.memory = Bytes{64} << 20;
    return config;
  }
  static Question of_keys(std::vector<std::uint64_t> keys) {
    Question question;
    question.keys = std::move(keys);
    return question;
  }
  static std::vector<float> floats(const std::string& bytes) {
    std::vector<float> values(bytes.size() / 4);
    std::memcpy(values.data(), bytes.data(), bytes.size());
    return values;
  }

  Engine engine_;
  embedding::EmbeddingTable table_;
};

TEST_F(Batches, an_empty_question_has_an_empty_answer) {
  Batcher batcher(engine_, table_, {});
  EXPECT_EQ(batcher.ask(of_keys({})).rows, "");
  Question bags;
  bags.pooled = true;
  bags.offsets = {0};
  EXPECT_EQ(batcher.ask(bags).rows, "");
}

TEST_F(Batches, unknown_keys_are_zeros_that_were_not_found) {
  Batcher batcher(engine_, table_, {});
  Question question = of_keys({3, 100, ~0ull});
  question.found_wanted = true;
  const Reply reply = batcher.ask(question);
  EXPECT_EQ(floats(reply.rows), (std::vector<float>{30, 31, 32, 0, 0, 0, 0, 0, 0}));
  EXPECT_EQ(reply.found, std::string("\1\0\0", 3));
}

TEST_F(Batches, everybody_gets_their_own_rows_and_bags) {
  std::atomic<std::uint64_t> batches{0}, questions{0};
  Batcher batcher(engine_, table_, {.keys = 200}, [&](std::uint64_t n, std::uint64_t) {
    ++batches;
    questions += n;
  });
  constexpr int threads = 8, each = 200;
  std::atomic<int> wrong{0};
  {
    std::vector<std::jthread> askers;
    for (int t = 0; t < threads; ++t)
      askers.emplace_back([&, t] {
        std::mt19937 random(t);
        for (int i = 0; i < each; ++i) {
          Question question;
          for (unsigned n = random() % 20; n > 0; --n) question.keys.push_back(random() % 100);
          if (t % 2 == 0) {
            const std::vector<float> rows = floats(batcher.ask(question).rows);
            for (std::size_t k = 0; k < rows.size(); ++k)
              wrong += rows[k] != element(question.keys[k / dim], k % dim);
            wrong += rows.size() != question.keys.size() * dim;
            continue;
          }
          // two bags, weighted or not: whole numbers, so that sums are exact
          const std::uint64_t middle = question.keys.size() / 2;
          question.pooled = true;
          question.offsets = {0, middle, question.keys.size()};
          if (t % 4 == 1) question.weights.assign(question.keys.size(), 2);
          const std::vector<float> sums = floats(batcher.ask(question).rows);
          for (std::uint64_t bag = 0; bag < 2; ++bag)
            for (std::uint64_t k = 0; k < dim; ++k) {
              float sum = 0;
              for (std::uint64_t j = question.offsets[bag]; j < question.offsets[bag + 1]; ++j)
                sum += element(question.keys[j], k) * (t % 4 == 1 ? 2.0f : 1.0f);
              wrong += sums.at(bag * dim + k) != sum;
            }
        }
      });
  }
  EXPECT_EQ(wrong, 0);
  EXPECT_EQ(questions, threads * each);
  EXPECT_LE(batches, questions);
}

TEST_F(Batches, more_than_the_queue_holds_is_refused_and_the_rest_answered) {
  std::latch inside(1), go(1);
  std::atomic<bool> first{true};
  Batcher batcher(engine_, table_, {.queue = 2}, [&](std::uint64_t, std::uint64_t) {
    if (!first.exchange(false)) return;
    inside.count_down();  // the leader is held up
    go.wait();
  });
  std::vector<std::jthread> askers;
  std::atomic<int> answered{0};
  const auto ask = [&] {
    (void)batcher.ask(of_keys({1}));
    ++answered;
  };
  askers.emplace_back(ask);
  inside.wait();
  askers.emplace_back(ask);
  askers.emplace_back(ask);
  while (batcher.waiting() < 2) std::this_thread::yield();
  try {
    (void)batcher.ask(of_keys({1}));
    ADD_FAILURE() << "a third was let wait";
  } catch (const RequestError& e) {
    EXPECT_EQ(e.status(), 503);
    EXPECT_NE(std::string(e.what()).find("2 requests to 'items' wait already"), std::string::npos);
  }
  go.count_down();
  askers.clear();
  EXPECT_EQ(answered, 3);
}

TEST_F(Batches, patience_ends_with_503) {
  std::latch inside(1), go(1);
  std::atomic<bool> first{true};
  Batcher batcher(engine_, table_, {.patience = std::chrono::milliseconds(1)},
                  [&](std::uint64_t, std::uint64_t) {
                    if (!first.exchange(false)) return;
                    inside.count_down();
                    go.wait();
                  });
  std::jthread leader([&] { (void)batcher.ask(of_keys({1})); });
  inside.wait();
  try {
    (void)batcher.ask(of_keys({1}));
    ADD_FAILURE() << "it was answered";
  } catch (const RequestError& e) {
    EXPECT_EQ(e.status(), 503);
  }
  EXPECT_EQ(batcher.waiting(), 0u);
  go.count_down();
}

}  // namespace
}  // namespace holdall::serve

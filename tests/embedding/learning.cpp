// How well a table learns which of its rows are asked for.
#include "apps/embedding/trial.hpp"
#include "tests/embedding/world.hpp"

namespace holdall::embedding {
namespace {

class Learning : public OnDriver {};

// A 1024th of the sizes of bench/README.md: eight keys a row, a quarter of the rows in device
// memory.
TEST_P(Learning, ComesWithinTwoPointsOfTheBestHitRateFromNothingAndAfterADrift) {
  Trial trial(engine(), {.rows = 1 << 16,
                         .share = 0.25 / devices(),
                         .alpha = 1.05,
                         .batch = 1 << 10,
                         .batches = 64,
                         .ordered = false,
                         .learn = true});
  const double best = trial.ideal_hit_rate();
  for (const bool drifted : {false, true}) {
    double reached = 0;
    trial.learn(500, 4, drifted, [&](std::uint64_t, double rate) { reached = rate; });
    EXPECT_GT(reached, best - 0.02) << (drifted ? "after a drift" : "from nothing");
    EXPECT_LT(reached, best + 0.01);
  }
}

ON_DRIVERS(Learning, "host", "cuda");

}  // namespace
}  // namespace holdall::embedding

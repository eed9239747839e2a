// Threads that wait for work awake, for loops of tens of microseconds: waking threads, as a task scheduler does, takes longer
// than the work. They sleep after half a millisecond without any.
//
//   Crew::of_this_machine().run(pieces, [&](std::uint32_t piece) { ... });
#pragma once

#include <atomic>
#include <cstdint>
#include <mutex>
#include <thread>
#include <type_traits>
#include <vector>

namespace holdall::kernels {

class Crew {
 public:
  explicit Crew(unsigned threads);
  ~Crew();
  Crew(const Crew&) = delete;
  Crew& operator=(const Crew&) = delete;

  // Three threads less than there are cores: the caller works too, the pager and whoever launches are awake as well.
  // Started at the first use.
  static Crew& of_this_machine();
  unsigned size() const { return static_cast<unsigned>(threads_.size()); }

  static constexpr std::uint32_t most_pieces = (1u << 20) - 1;
  // Calls body(i) once for each i below `pieces`, here and on the crew, and returns when all have returned. `body` does not
  // throw. One run at a time: others wait. Thread-safe.
  template <class Body>
  void run(std::uint32_t pieces, const Body& body) {
    static_assert(std::is_invocable_v<const Body&, std::uint32_t>);
    run(pieces, &body, [](const void* b, std::uint32_t i) { (*static_cast<const Body*>(b))(i); });
  }

 private:
  using Call = void (*)(const void*, std::uint32_t);

  void run(std::uint32_t pieces, const void* body, Call call);
  bool work();  // one piece of what there is; false: nothing is left
  void wait_and_work();

  // A run's number, its pieces, and the next of them to be taken, in one word: who takes a piece knows that its run has
  // not ended, so `body_` is its body.
  static constexpr int bits = 20;
  std::atomic<std::uint64_t> turn_{0};
  std::atomic<std::uint32_t> finished_{0};
  const void* body_ = nullptr;
  Call call_ = nullptr;
  std::atomic<bool> stopping_{false};
  std::mutex running_;
  std::vector<std::jthread> threads_;
};

}  // namespace holdall::kernels

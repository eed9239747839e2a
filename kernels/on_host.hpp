// What the host bodies share.
#pragma once

#include <tbb/blocked_range.h>
#include <tbb/parallel_scan.h>

#include <cstdint>
#include <functional>
#include <future>
#include <memory>
#include <type_traits>
#include <utility>

#include "engine/vmm/error.hpp"
#include "engine/vmm/host.hpp"
#include "engine/vmm/stream.hpp"

namespace holdall::kernels {

// Launches `kernel` on a stream of the host driver, waits for it, and answers what it answers.
template <typename Kernel>
auto launch_and_wait(Stream stream, Kernel kernel) {
  using Answer = std::invoke_result_t<Kernel>;
  std::future<Answer> answer;
  {
    auto task = std::make_shared<std::packaged_task<Answer()>>(std::move(kernel));
    answer = task->get_future();
    vmm::launch(stream, [task] { (*task)(); });
  }
  try {
    return answer.get();
  } catch (const std::future_error&) {  // the stream dropped it
    throw DriverError(vmm::Status::illegal_address,
                      "cannot run a kernel: the device of its stream is lost");
  }
}

// out[i] = value(0) + ... + value(i - 1) for i in [0, count]. `value` may be called twice for an i
// and must not read `out`.
template <typename Value, typename Sum>
void exclusive_scan(std::uint64_t count, const Value& value, Sum* out) {
  out[count] = tbb::parallel_scan(
      tbb::blocked_range<std::uint64_t>(0, count, 4096), Sum{0},
      [&](const tbb::blocked_range<std::uint64_t>& range, Sum sum, bool final) {
        for (std::uint64_t i = range.begin(); i < range.end(); ++i) {
          if (final) out[i] = sum;
          sum += value(i);
        }
        return sum;
      },
      std::plus<>());
}

}  // namespace holdall::kernels

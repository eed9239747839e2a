#include "apps/serve/batcher.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>

#include "engine/vmm/host.hpp"

namespace holdall::serve {

namespace {

// Room for `count`, twice as much as before where that is not enough.
template <class T>
void grow(Engine& engine, HostArray<T>& array, std::uint64_t count) {
  if (array.size() >= count && array.size() > 0) return;
  array = {};
  array = engine.host_array<T>(std::bit_ceil(std::max<std::uint64_t>(count, 4096)),
                               "questions to a table");
}

}  // namespace

struct Batcher::Job {
  enum State { waits, leads, taken, done };

  const Question& question;
  Reply reply;
  std::exception_ptr error;
  State state = waits;
  std::condition_variable wake;

  bool joins(const Job& first) const {
    const Question& a = question;
    const Question& b = first.question;
    return a.pooled == b.pooled && a.pooling == b.pooling && a.padding == b.padding;
  }
};

Batcher::Batcher(Engine& engine, embedding::EmbeddingTable& table, const BatchLimits& limits,
                 Answered answered, int device)
    : engine_(engine),
      table_(table),
      limits_(limits),
      answered_(std::move(answered)),
      stream_(engine.stream(device)) {}

std::uint64_t Batcher::waiting() const {
  const std::scoped_lock hold(lock_);
  return waiting_.size();
}

Reply Batcher::ask(const Question& question) {
  Job job{.question = question, .reply = {}, .error = {}, .wake = {}};
  std::unique_lock hold(lock_);
  if (waiting_.size() >= limits_.queue)
    throw RequestError(503, fmt::format("{} requests to '{}' wait already: try again later",
                                        waiting_.size(), table_.name()));
  waiting_.push_back(&job);
  if (!led_) {
    led_ = true;
    job.state = Job::leads;
  }
  const auto end = std::chrono::steady_clock::now() + limits_.patience;
  while (job.state == Job::waits) {
    if (job.wake.wait_until(hold, end) != std::cv_status::timeout || job.state != Job::waits)
      continue;
    std::erase(waiting_, &job);
    throw RequestError(503, fmt::format("a request to '{}' has waited for {} ms: try again later",
                                        table_.name(), limits_.patience.count()));
  }
  job.wake.wait(hold, [&] { return job.state != Job::taken; });
  if (job.state == Job::leads) lead(job, hold);
  if (job.error) std::rethrow_exception(job.error);
  return std::move(job.reply);
}

void Batcher::lead(Job& own, std::unique_lock<std::mutex>& hold) {
  while (own.state != Job::done) {
    const std::vector<Job*> batch = take_batch();
    hold.unlock();
    answer(batch);
    hold.lock();
    for (Job* const job : batch) {
      job->state = Job::done;
      if (job != &own) job->wake.notify_one();
    }
  }
  led_ = !waiting_.empty();
  if (!led_) return;
  waiting_.front()->state = Job::leads;
  waiting_.front()->wake.notify_one();
}

std::vector<Batcher::Job*> Batcher::take_batch() {
  std::vector<Job*> batch;
  std::uint64_t keys = 0;
  std::erase_if(waiting_, [&](Job* const job) {
    const std::uint64_t more = job->question.keys.size() + job->question.answers();
    if (!batch.empty() && (!job->joins(*batch.front()) || keys + more > limits_.keys)) return false;
    keys += more;
    if (job->state == Job::waits) job->state = Job::taken;
    batch.push_back(job);
    return true;
  });
  return batch;
}

void Batcher::answer(const std::vector<Job*>& batch) {
  try {
    std::uint64_t keys = 0;
    for (const Job* const job : batch) keys += job->question.keys.size();
    if (batch.front()->question.pooled)
      pool(batch, keys);
    else
      look_up(batch, keys);
    if (answered_) answered_(batch.size(), keys);
  } catch (...) {
    for (Job* const job : batch) job->error = std::current_exception();
  }
}

void Batcher::look_up(const std::vector<Job*>& batch, std::uint64_t keys) {
  const std::uint64_t dim = table_.dim();
  // 1. all keys, one behind the other
  grow(engine_, keys_, keys);
  grow(engine_, rows_, keys * dim);
  const bool found =
      std::ranges::any_of(batch, [](const Job* job) { return job->question.found_wanted; });
  if (found) grow(engine_, found_, keys);
  std::uint64_t at = 0;
  for (const Job* const job : batch) {
    std::ranges::copy(job->question.keys, keys_.data() + at);
    at += job->question.keys.size();
  }
  // 2. their rows
  if (keys > 0) {
    const vmm::Unhurried by_hand(stream_);
    table_.lookup(keys_.data(), keys, {rows_.data(), embedding::RowType::fp32, dim * 4}, stream_,
                  {found ? found_.data() : nullptr, nullptr});
    engine_.synchronize(stream_);
  }
  // 3. to each its own
  at = 0;
  for (Job* const job : batch) {
    const std::uint64_t n = job->question.keys.size();
    job->reply.rows.assign(reinterpret_cast<const char*>(rows_.data() + at * dim), n * dim * 4);
    if (job->question.found_wanted)
      job->reply.found.assign(reinterpret_cast<const char*>(found_.data() + at), n);
    at += n;
  }
}

void Batcher::pool(const std::vector<Job*>& batch, std::uint64_t keys) {
  const std::uint64_t dim = table_.dim();
  const Question& first = batch.front()->question;
  // 1. all indices, and where each bag begins among them
  std::uint64_t bags = 0;
  bool weighted = false;
  for (const Job* const job : batch) {
    bags += job->question.answers();
    weighted |= !job->question.weights.empty();
  }
  grow(engine_, keys_, keys);
  grow(engine_, offsets_, bags + 1);
  grow(engine_, rows_, bags * dim);
  if (weighted) grow(engine_, weights_, keys);
  std::uint64_t at = 0, bag = 0;
  for (const Job* const job : batch) {
    const Question& question = job->question;
    std::ranges::copy(question.keys, keys_.data() + at);
    if (weighted) {
      std::fill_n(weights_.data() + at, question.keys.size(), 1.0f);
      std::ranges::copy(question.weights, weights_.data() + at);
    }
    for (std::uint64_t b = 0; b < question.answers(); ++b)
      offsets_[bag++] = at + question.offsets[b];
    at += question.keys.size();
  }
  offsets_[bag] = at;
  // 2. the sums
  if (bags > 0) {
    const vmm::Unhurried by_hand(stream_);
    table_.bag({.indices = keys_.data(),
                .count = keys,
                .offsets = offsets_.data(),
                .bags = bags,
                .include_last_offset = true,
                .pooling = first.pooling,
                .weights = weighted ? weights_.data() : nullptr,
                .padding = first.padding},
               {rows_.data(), embedding::RowType::fp32, dim * 4}, stream_);
    engine_.synchronize(stream_);
  }
  // 3. to each its own
  bag = 0;
  for (Job* const job : batch) {
    const std::uint64_t n = job->question.answers();
    job->reply.rows.assign(reinterpret_cast<const char*>(rows_.data() + bag * dim), n * dim * 4);
    bag += n;
  }
}

}  // namespace holdall::serve

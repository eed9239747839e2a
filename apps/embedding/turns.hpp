// Who may touch a table's rows when, in the order of GPU work: readers side by side; a writer
// alone; a mover beside readers, but never where an earlier reader may still be.
//
//   turns.read(stream, [&] { gather(...); });   // waits, on the GPU, for the newest write
//   turns.write(stream, [&] { update(...); });  // waits, on the GPU, for all before it
//
// None of them waits for the GPU on the CPU. Thread-safe. What `work` puts on the stream is what
// has its turn.
#pragma once

#include <atomic>
#include <map>
#include <memory>
#include <mutex>
#include <shared_mutex>
#include <utility>
#include <vector>

#include "engine/vmm/driver.hpp"

namespace holdall::embedding {

class Turns {
 public:
  Turns(vmm::Driver& driver, int devices);
  ~Turns();
  Turns(const Turns&) = delete;
  Turns& operator=(const Turns&) = delete;

  template <class Work>
  void read(Stream stream, const Work& work) {
    const std::shared_lock hold = enter();
    const vmm::Event read = event_of(stream);
    begin_read(stream);
    const Done done{[&] { end_read(read, stream); }};
    work();
  }
  template <class Work>
  void write(Stream stream, const Work& work) {
    const std::scoped_lock hold(writers_);
    const std::unique_lock alone = close();
    wait_for_readers(stream);
    wait_for_writers(stream);
    const Done done{[&] { end_write(stream); }};
    work();
  }
  // Readers go on beside it, those that began before as well as later ones; writers wait.
  template <class Work>
  void move(Stream stream, const Work& work) {
    const std::scoped_lock hold(writers_);
    const std::unique_lock alone = close();
    wait_for_readers(stream);
    wait_for_writers(stream);
    const Done done{[&] { end_move(stream); }};
    work();
  }

  // As long as this is held no writer and no mover gets a turn; those before are waited for on
  // `stream`.
  std::unique_lock<std::mutex> hold_writers(Stream stream);
  // Runs `change` while nobody puts anything on a stream: to change what readers are told.
  template <class Change>
  void change(const Change& change) {
    const std::unique_lock alone = close();
    change();
  }
  // Waits on the CPU until all readers, writers and movers so far have passed.
  void drain();

 private:
  template <class Call>
  struct Done {
    Call call;
    ~Done() { call(); }
  };
  template <class Call>
  Done(Call) -> Done<Call>;

  // A shared_mutex lets readers in while others are; who wants to be alone closes the gate first.
  std::shared_lock<std::shared_mutex> enter() {
    { const std::scoped_lock pass(gate_); }
    return std::shared_lock(lock_);
  }
  std::unique_lock<std::shared_mutex> close() {
    const std::scoped_lock shut(gate_);
    return std::unique_lock(lock_);
  }
  // An event of each device; the newest of what it marks is on `device`.
  struct Newest {
    std::vector<vmm::Event> events;
    int device = 0;
    vmm::Event event() const { return events[static_cast<std::size_t>(device)]; }
  };
  struct Read {
    Stream stream;
    vmm::Event event;
  };
  int device_of(Stream stream) const;
  void mark(Newest& newest, Stream stream) noexcept;
  vmm::Event event_of(Stream stream);
  void begin_read(Stream stream);
  void end_read(vmm::Event read, Stream stream) noexcept;
  void end_write(Stream stream) noexcept;
  void end_move(Stream stream) noexcept;
  void wait_for_readers(Stream stream);
  void wait_for_writers(Stream stream);

  vmm::Driver& driver_;
  const int devices_;
  std::mutex writers_;
  std::mutex gate_;
  std::shared_mutex lock_;                         // shared: putting a read on a stream
  std::mutex readers_lock_;                        // of the map
  std::map<std::pair<void*, int>, Read> readers_;  // the newest of each stream
  Newest wrote_;                                   // changed under lock_
  Newest moved_;
  std::atomic<bool> write_passed_{true};
};

}  // namespace holdall::embedding

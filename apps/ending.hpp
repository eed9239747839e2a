// The end of the program by a signal: what is unfinished goes, and the exit status is the signal's
// own.
#pragma once

#include <sys/types.h>

#include <atomic>
#include <csignal>
#include <thread>

namespace holdall::apps {

// From here on SIGINT, SIGTERM and SIGHUP come to a thread of its own, which removes unfinished
// files, sends the signal on to the children that run, and then lets it end the process as it would
// have. Signals that are ignored stay so. To be made before any other thread, once.
class Ending {
 public:
  Ending();
  ~Ending();
  Ending(const Ending&) = delete;
  Ending& operator=(const Ending&) = delete;

  // For sub-commands that wait for these signals themselves: they stay blocked, and nobody else
  // waits for them.
  static void leave_to_caller();

 private:
  void stop();
  void run();

  sigset_t ends_{}, waited_for_{};
  std::atomic<bool> stopping_ = false;
  std::jthread thread_;
};

// A child that a signal is sent on to while the object lives.
class RunningChild {
 public:
  explicit RunningChild(pid_t child);
  ~RunningChild();
  RunningChild(const RunningChild&) = delete;
  RunningChild& operator=(const RunningChild&) = delete;

 private:
  pid_t child_;
};

}  // namespace holdall::apps

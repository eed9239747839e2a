#include "apps/ending.hpp"

#include <pthread.h>
#include <unistd.h>

#include <csignal>
#include <mutex>
#include <set>

#include "engine/new_file.hpp"

namespace holdall::apps {

namespace {

std::mutex children_lock;
std::set<pid_t> children;

Ending* the_ending = nullptr;

constexpr int stop_signal = SIGTERM;  // sent to the thread alone

// Those that end the program by default; `nohup` and shells ignore some.
sigset_t ending_signals() {
  sigset_t signals;
  sigemptyset(&signals);
  for (const int signal : {SIGINT, SIGTERM, SIGHUP}) {
    struct sigaction now {};
    if (::sigaction(signal, nullptr, &now) == 0 && now.sa_handler != SIG_IGN)
      sigaddset(&signals, signal);
  }
  return signals;
}

}  // namespace

Ending::Ending() : ends_(ending_signals()) {
  waited_for_ = ends_;
  sigaddset(&waited_for_, stop_signal);
  pthread_sigmask(SIG_BLOCK, &waited_for_, nullptr);
  the_ending = this;
  thread_ = std::jthread([this] { run(); });
}

Ending::~Ending() {
  stop();
  the_ending = nullptr;
}

void Ending::stop() {
  if (!thread_.joinable()) return;
  stopping_ = true;
  ::pthread_kill(thread_.native_handle(), stop_signal);
  thread_.join();
}

void Ending::leave_to_caller() {
  if (the_ending != nullptr) the_ending->stop();
}

void Ending::run() {
  int signal = 0;
  while (signal <= 0 || sigismember(&ends_, signal) == 0) {
    siginfo_t info{};
    signal = ::sigwaitinfo(&waited_for_, &info);
    if (signal == stop_signal && info.si_pid == ::getpid() && stopping_) return;
  }

  const auto none_is_made = remove_unfinished_files();
  {
    const std::scoped_lock hold(children_lock);
    for (const pid_t child : children) ::kill(child, signal);
  }
  ::signal(signal, SIG_DFL);
  sigset_t this_one;
  sigemptyset(&this_one);
  sigaddset(&this_one, signal);
  pthread_sigmask(SIG_UNBLOCK, &this_one, nullptr);
  ::kill(::getpid(), signal);
  for (;;) ::pause();
}

RunningChild::RunningChild(pid_t child) : child_(child) {
  const std::scoped_lock hold(children_lock);
  children.insert(child_);
}

RunningChild::~RunningChild() {
  const std::scoped_lock hold(children_lock);
  children.erase(child_);
}

}  // namespace holdall::apps

#include "policies/plugin_adapter.hpp"

#include <array>
#include <mutex>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "policies/order.hpp"
#include "policies/plugin.hpp"
#include "policies/slab.hpp"

namespace holdall {

namespace {

struct Faults {
  std::mutex mutex;  // guards all
  std::vector<PluginFault> all;
};
Faults& faults() {
  static Faults one;
  return one;
}

void report(const std::string& policy, const std::string& file, std::string_view kind,
            std::optional<std::uint64_t> chunk) {
  const std::lock_guard lock(faults().mutex);
  for (PluginFault& fault : faults().all)
    if (fault.policy == policy && fault.file == file && fault.what.starts_with(kind)) {
      ++fault.times;
      return;
    }
  const std::string which = chunk ? ", chunk " + std::to_string(*chunk) : "";
  faults().all.push_back(
      {policy, file, std::string(kind) + which + "; the longest unused went instead", 1});
}

}  // namespace

std::vector<PluginFault> plugin_faults() {
  const std::lock_guard lock(faults().mutex);
  return faults().all;
}

namespace policies {

namespace {

class Adapter final : public Policy {
 public:
  Adapter(const holdall_policy& hooks, std::shared_ptr<void> library, const std::string& file,
          const std::string& parameters)
      : library_(std::move(library)), hooks_(hooks), file_(file) {
    std::array<char, 1024> error{};
    try {
      self_ = hooks_.create(parameters.c_str(), error.data(), error.size());
    } catch (...) {
      throw PolicyError("plug-in " + file + ": its hook 'create' threw an exception");
    }
    error.back() = '\0';
    if (self_ == nullptr)
      throw PolicyError("plug-in " + file + ": " +
                        (error[0] != '\0' ? error.data() : "it made nothing and gave no reason"));
    batch_.reserve(batch_size);
  }
  ~Adapter() override {
    failed_ = false;
    tell(hooks_.destroy);
  }
  Adapter(const Adapter&) = delete;
  Adapter& operator=(const Adapter&) = delete;

  bool admit(Key chunk, const Request& request) override {
    flush();
    if (hooks_.admit == nullptr) return true;
    const holdall_request r = translate(chunk, request);
    bool admitted = true;
    tell([&](void* self) { admitted = hooks_.admit(self, &r) != 0; });
    return admitted;
  }
  void inserted(Key chunk, const Request& request) override {
    flush();
    use(chunk);
    const holdall_request r = translate(chunk, request);
    tell(hooks_.inserted, &r);
  }
  void accessed(Key chunk, const Request& request) override {
    if (chunks_.find(chunk) == none) return inserted(chunk, request);
    use(chunk);
    batch_.push_back(translate(chunk, request));
    if (batch_.size() == batch_size) flush();
  }
  void removed(Key chunk, Left why) override {
    const Index i = chunks_.find(chunk);
    if (i == none) return;
    flush();
    order_.erase(chunks_, i);
    chunks_.drop(i);
    tell(hooks_.removed, number(chunk), why == Left::evicted ? HOLDALL_EVICTED : HOLDALL_DROPPED);
  }
  std::optional<Key> victim(const MayEvict& may) override {
    flush();
    if (faulty_ < patience)
      if (const std::optional<Key> named = ask(may)) return named;
    const Index i = order_.first(chunks_, may);
    if (i == none) return std::nullopt;
    if (faulty_ < patience) blame();
    return chunks_[i].key;
  }
  void hinted(Key chunk, std::uint64_t next_use) override {
    flush();
    if (hooks_.hinted != nullptr) tell(hooks_.hinted, number(chunk), next_use);
  }
  void resize(std::uint64_t capacity) override {
    flush();
    if (hooks_.resize != nullptr) tell(hooks_.resize, capacity);
  }

 private:
  static constexpr std::size_t batch_size = 64;  // hits told at once
  static constexpr int patience = 100;           // faulty calls until it is not asked any more
  static constexpr std::array<std::size_t, 4> wanted = {1, 8, 64, 64};  // asked for, try by try

  struct Node : Link {
    Key key;
  };
  struct Fault {
    std::string_view kind;
    std::optional<std::uint64_t> chunk;
  };
  // What a plug-in asks through, with a bound on how often.
  struct Asked {
    const Adapter& adapter;
    const MayEvict& may;
    mutable std::size_t left;
  };

  static std::uint64_t number(Key chunk) { return static_cast<std::uint64_t>(chunk); }
  static holdall_request translate(Key chunk, const Request& r) {
    return {number(chunk), r.bytes, r.next_use, r.write, r.prefetch, {}};
  }
  bool resident(std::uint64_t chunk) const { return chunks_.find(Key{chunk}) != none; }

  void use(Key chunk) {
    if (const Index i = chunks_.find(chunk); i != none)
      order_.move_to_back(chunks_, i);
    else
      order_.push_back(chunks_, chunks_.add({{}, chunk}));
  }

  // Calls a hook. If it throws, that goes no further, and no hook is called any more.
  template <class Hook, class... Arguments>
  void tell(const Hook& hook, Arguments... arguments) {
    if (failed_) return;
    try {
      hook(self_, arguments...);
    } catch (...) {
      failed_ = true;
    }
  }

  void flush() {
    if (batch_.empty()) return;
    tell(hooks_.accessed, batch_.data(), batch_.size());
    batch_.clear();
  }

  static int answer(const void* context, std::uint64_t chunk) {
    const Asked& asked = *static_cast<const Asked*>(context);
    if (asked.left == 0) return 1;
    --asked.left;
    return asked.adapter.resident(chunk) && asked.may(Key{chunk});
  }

  // The first good answer; none if it has none. Notes what was wrong with the last bad one.
  std::optional<Key> ask(const MayEvict& may) {
    fault_ = {"named no chunk where one may go", {}};
    for (const std::size_t want : wanted) {
      std::array<std::uint64_t, 64> named{};
      const Asked asked{*this, may, 64 * chunks_.size() + 1024};
      const holdall_may_evict filter{answer, &asked};
      std::size_t count = holdall_failed;
      tell([&](void* self) { count = hooks_.victims(self, named.data(), want, &filter); });
      if (count == holdall_failed) {
        fault_ = {"has failed", {}};
        faulty_ = patience - 1;
        return std::nullopt;
      }
      if (count > want) {
        fault_ = {"named more chunks than it was asked for", {}};
        return std::nullopt;
      }
      if (count == 0) return std::nullopt;
      for (std::size_t i = 0; i < count; ++i) {
        if (!resident(named[i]))
          fault_ = {"named a chunk that is not resident", named[i]};
        else if (!may(Key{named[i]}))
          fault_ = {"named a chunk that may not go", named[i]};
        else
          return Key{named[i]};
      }
    }
    return std::nullopt;
  }

  void blame() {
    ++faulty_;
    report(hooks_.name, file_, fault_.kind, fault_.chunk);
  }

  std::shared_ptr<void> library_;  // first, so that it goes last
  const holdall_policy& hooks_;
  const std::string file_;
  void* self_ = nullptr;
  bool failed_ = false;  // a hook threw
  int faulty_ = 0;       // calls
  Fault fault_;
  std::vector<holdall_request> batch_;
  Chunks<Node> chunks_;
  EvictionOrder order_;  // longest unused first
};

}  // namespace

std::unique_ptr<Policy> adapt_plugin(const holdall_policy& hooks, std::shared_ptr<void> library,
                                     const std::string& file, const std::string& parameters) {
  return std::make_unique<Adapter>(hooks, std::move(library), file, parameters);
}

}  // namespace policies

}  // namespace holdall

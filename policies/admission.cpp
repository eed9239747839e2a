#include "policies/admission.hpp"

#include "policies/names.hpp"
#include "policies/tiny_lfu.hpp"

namespace holdall {

namespace {

class Always final : public Admission {
 public:
  bool admit(Key, const Request&, std::optional<Key>) override { return true; }
};

// TinyLFU: only what was asked for more often than the victim. Einziger, Friedman and Manes, TOS
// 2017.
class ByTinyLfu final : public Admission {
 public:
  explicit ByTinyLfu(std::uint64_t seed) : filter_(seed) {}
  void used(Key chunk, const Request&) override { filter_.used(chunk); }
  bool weighs() const override { return true; }
  bool admit(Key chunk, const Request&, std::optional<Key> victim) override {
    return !victim || filter_.prefers(chunk, *victim);
  }
  void resize(std::uint64_t chunks) override { filter_.reserve(chunks); }

 private:
  policies::TinyLfu filter_;
};

// Bypass: the first few uses are served by zero-copy, and what is used no more is never brought in.
// A chunk that is to be written, or was asked for ahead of need, comes in at once.
class Bypass final : public Admission {
 public:
  explicit Bypass(std::uint64_t uses) : uses_(uses) {}
  void used(Key chunk, const Request& request) override {
    if (!request.prefetch) sketch_.add(chunk);
  }
  bool admit(Key chunk, const Request& request, std::optional<Key>) override {
    return request.write || request.prefetch || sketch_.count(chunk) >= uses_;
  }
  void resize(std::uint64_t chunks) override { sketch_.reserve(4 * chunks); }

 private:
  const std::uint64_t uses_;
  policies::FrequencySketch sketch_;
};

using Admissions = policies::Names<Admission>;
Admissions& admissions() {
  static Admissions all(
      "admission",
      {{"always", {"everything", [](Parameters&) { return std::make_unique<Always>(); }}},
       {"bypass",
        {"what is asked for the N-th time, until then by zero-copy; uses=N (2)",
         [](Parameters& p) { return std::make_unique<Bypass>(p.count("uses", 2, 1, 15)); }}},
       {"tinylfu", {"what was asked for more often than the victim; seed=N (0)", [](Parameters& p) {
                      return std::make_unique<ByTinyLfu>(p.count("seed", 0, 0, ~std::uint64_t{0}));
                    }}}});
  return all;
}

}  // namespace

std::unique_ptr<Admission> make_admission(std::string_view spec) { return admissions().make(spec); }

void register_admission(const PolicyInfo& info,
                        std::function<std::unique_ptr<Admission>(Parameters&)> maker) {
  admissions().add(info, std::move(maker));
}

std::vector<PolicyInfo> list_admissions() { return admissions().list(); }

}  // namespace holdall

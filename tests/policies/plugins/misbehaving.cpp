// Policies that do what none may, by the C interface, and one that throws.
#include <iterator>
#include <stdexcept>

#include "policies/plugin_policy.hpp"

namespace {

void* create(const char* parameters, char* error, size_t size) {
  static char some[] = "state";
  if (*parameters == '\0') return some;
  const char why[] = "it wants no parameters";
  for (size_t i = 0; i < sizeof why && i < size; ++i) error[i] = why[i];
  return nullptr;
}
void destroy(void*) {}
void inserted(void*, const holdall_request*) {}
void accessed(void*, const holdall_request*, size_t) {}
void removed(void*, uint64_t, int) {}

size_t absent(void*, uint64_t* chunks, size_t wanted, const holdall_may_evict*) {
  for (size_t i = 0; i < wanted; ++i) chunks[i] = 1'000'000 + i;
  return wanted;
}
size_t first(void*, uint64_t* chunks, size_t, const holdall_may_evict*) {
  chunks[0] = 0;
  return 1;
}
size_t nothing(void*, uint64_t*, size_t, const holdall_may_evict*) { return 0; }
size_t too_many(void*, uint64_t*, size_t wanted, const holdall_may_evict*) { return wanted + 1; }
// Asks for chunk 0 until it may go, which it does not.
size_t endless(void*, uint64_t* chunks, size_t, const holdall_may_evict* may) {
  while (may->ask(may->context, 0) == 0) continue;
  chunks[0] = 0;
  return 1;
}
// The second is good: found once it is asked for more than one.
size_t late(void*, uint64_t* chunks, size_t wanted, const holdall_may_evict* may) {
  size_t found = 0;
  chunks[found++] = 999;
  for (uint64_t chunk = 0; chunk < 100 && found < wanted; ++chunk)
    if (may->ask(may->context, chunk) != 0) chunks[found++] = chunk;
  return found;
}

size_t throws(void*, uint64_t*, size_t, const holdall_may_evict*) {
  throw std::runtime_error("past the C interface");
}

class Throws final : public holdall::Policy {
 public:
  void inserted(holdall::Key, const holdall::Request&) override {
    if (++calls_ > 3) throw std::runtime_error("enough");
  }
  void accessed(holdall::Key, const holdall::Request&) override {}
  void removed(holdall::Key, holdall::Left) override {}
  std::optional<holdall::Key> victim(const holdall::MayEvict&) override { return holdall::Key{0}; }

 private:
  int calls_ = 0;
};

holdall_policy make(const char* name, decltype(holdall_policy::victims) victims) {
  return {name,     "misbehaves", create,  destroy, nullptr, inserted,
          accessed, removed,      victims, nullptr, nullptr};
}

}  // namespace

const holdall_plugin_description* holdall_plugin() {
  static const holdall_policy policies[] = {
      make("bad-absent", absent),
      make("bad-pinned", first),
      make("bad-nothing", nothing),
      make("bad-too-many", too_many),
      make("bad-endless", endless),
      make("bad-late", late),
      make("bad-throws-past-c", throws),
      holdall::PluginPolicy<Throws>::describe("bad-throws", "throws")};
  static const holdall_plugin_description description = {HOLDALL_PLUGIN_ABI, std::size(policies),
                                                         policies};
  return &description;
}

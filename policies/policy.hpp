// What decides which chunk is evicted next. Start here to write one: a class with four hooks and
// one line in the table of policies/registry.cpp (or one call of register_policy in your own
// program). policies/lru.cpp is the shortest example.
//
// A policy knows keys and sizes, nothing of GPUs, so the same class runs in the engine and over a
// trace. It is called from one thread at a time and needs no lock of its own. Hits may arrive in
// batches, always in order.
//
//   auto policy = make_policy("lfu:halflife=10000");
//   policy->inserted(Key{7}, {.bytes = 8 << 20});
//   std::optional<Key> out = policy->victim([&](Key chunk) { return !pinned(chunk); });
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <type_traits>

namespace holdall {

enum class Key : std::uint64_t {};  // one chunk of one range; the policy reads nothing into it

// One request for a chunk.
struct Request {
  static constexpr std::uint64_t never = ~std::uint64_t{0};

  std::uint64_t bytes = 1;         // size of the chunk
  bool write = false;              // leaves it dirty
  bool prefetch = false;           // asked for ahead of need
  std::uint64_t next_use = never;  // number of the request that needs it next, where known
};

// "May this chunk be evicted?": a reference to any callable bool(Key); lives as long as the call it
// is passed to.
class MayEvict {
 public:
  template <class F>
  requires(!std::is_same_v<std::remove_cvref_t<F>, MayEvict>)
      MayEvict(const F& f)  // implicit, so that a lambda can be passed
      : object_(&f),
        call_([](const void* o, Key k) { return bool((*static_cast<const F*>(o))(k)); }) {}
  bool operator()(Key key) const { return call_(object_, key); }

 private:
  const void* object_;
  bool (*call_)(const void*, Key);
};

// Why a chunk left.
enum class Left : std::uint8_t {
  evicted,  // to make room: it may come back
  dropped,  // its contents went: not asked for again under this key, or as a new chunk
};

// A request for a resident chunk is `accessed`. A request for another is `admit`, then, as often as
// there is need, `victim` and `removed`, then `inserted`.
//
// The hooks take calls in any order. `accessed` for a chunk that is not resident inserts it,
// `inserted` for one that is resident counts as a hit, and `removed` for one that is not is
// ignored.
class Policy {
 public:
  virtual ~Policy() = default;

  // Is asked for and not resident. False if it is better served where it is; the caller may insert
  // it all the same, and ask again later if it does not. Several may be admitted before the first
  // of them is inserted.
  virtual bool admit(Key chunk, const Request& request) {
    (void)chunk, (void)request;
    return true;
  }
  virtual void inserted(Key chunk, const Request& request) = 0;  // became resident
  virtual void accessed(Key chunk, const Request& request) = 0;  // was hit while resident
  virtual void removed(Key chunk, Left why) = 0;                 // left
  // The next to evict among the resident chunks for which may(chunk) holds; none if it holds for
  // none. The chunk stays resident until `removed`; asking again without it may give the same
  // answer. `may` is asked about resident chunks only, and answers the same throughout the call.
  virtual std::optional<Key> victim(const MayEvict& may) = 0;
  // The request that needs the chunk next, resident or not, is number `next_use` (Request::never:
  // none does).
  virtual void hinted(Key chunk, std::uint64_t next_use) { (void)chunk, (void)next_use; }
  // These will be asked for next, or about so: a chance to fetch what the processor's cache lacks
  // of them. Changes no answer.
  virtual void expect(std::span<const Key> chunks) { (void)chunks; }
  // How much fits, in the unit of Request::bytes; told at the start and whenever it changes.
  virtual void resize(std::uint64_t capacity) { (void)capacity; }
};

}  // namespace holdall

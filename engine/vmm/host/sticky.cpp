#include "engine/vmm/host/sticky.hpp"

#include <fmt/format.h>

#include <utility>

namespace holdall::vmm {

namespace {

std::string told(const Touch& touch) {
  constexpr const char* verbs[] = {"read", "write", "touch"};
  const char* of = touch.bus        ? "a page that the system has no memory for"
                   : touch.readable ? "a read-only address"
                                    : "an unmapped or ungranted address";
  return fmt::format("{} of {} in {} by stream {}", verbs[touch.kind], of,
                     place_in(*touch.label, touch.offset), touch.stream);
}

}  // namespace

std::string place_in(const std::string& label, Bytes offset) {
  return fmt::format("'{}' + {} bytes", label, offset);
}

bool Sticky::begin() noexcept {
  State well = State::well;
  return state_.compare_exchange_strong(well, State::telling);
}

void Sticky::set(const Touch& touch) noexcept {
  if (!begin()) return;
  touch_ = touch;
  state_.store(State::told, std::memory_order_release);
}

void Sticky::set(const void* address, std::string what) {
  if (!begin()) return;
  fault_ = {address, std::move(what)};
  state_.store(State::told, std::memory_order_release);
}

std::optional<Fault> Sticky::fault() const {
  if (!lost()) return std::nullopt;
  if (touch_.label == nullptr) return fault_;
  return Fault{reinterpret_cast<const void*>(touch_.address), told(touch_)};
}

}  // namespace holdall::vmm

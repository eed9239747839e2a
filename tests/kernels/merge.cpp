// What parts of a graph have found comes together.
#include "kernels/merge.hpp"

#include <random>
#include <vector>

#include "kernels/components.hpp"
#include "kernels/visit.hpp"
#include "tests/kernels/device.hpp"

namespace holdall::kernels {
namespace {

class Merge : public OnDevice {};
ON_EVERY_DEVICE(Merge);

TEST_P(Merge, sets_every_bit_that_one_of_them_has) {
  std::mt19937_64 random(1);
  std::vector<std::uint64_t> a(40'000), b(a.size()), both(a.size());
  for (std::size_t i = 0; i < a.size(); ++i) {
    a[i] = random() & random();
    b[i] = random() & random();
    both[i] = a[i] | b[i];
  }
  const DeviceArray<std::uint64_t> to(a, stream()), from(b, stream());
  unite_bits(to.data(), from.data(), a.size(), stream());
  EXPECT_EQ(to.read(), both);
  EXPECT_EQ(from.read(), b);
}

template <typename T>
void expect_keeps_the_smaller(Stream stream) {
  std::mt19937_64 random(2);
  std::vector<T> a(70'001), b(a.size()), least(a.size());
  for (std::size_t i = 0; i < a.size(); ++i) {
    a[i] = static_cast<T>(i % 7 == 0 ? ~T{0} : random());
    b[i] = static_cast<T>(i % 5 == 0 ? ~T{0} : random());
    least[i] = std::min(a[i], b[i]);
  }
  const DeviceArray<T> to(a, stream), from(b, stream);
  lower_values(to.data(), from.data(), a.size(), stream);
  EXPECT_EQ(to.read(), least);
}

TEST_P(Merge, keeps_the_smaller_value_of_either_width) {
  expect_keeps_the_smaller<std::uint32_t>(stream());
  expect_keeps_the_smaller<std::uint64_t>(stream());
}

TEST_P(Merge, of_nothing_does_nothing) {
  const DeviceArray<std::uint64_t> bits(std::vector<std::uint64_t>{5}, stream());
  unite_bits(bits.data(), bits.data(), 0, stream());
  EXPECT_EQ(bits.read(), (std::vector<std::uint64_t>{5}));
}

TEST_P(Merge, finds_the_part_of_a_list_that_is_in_a_range) {
  const DeviceArray<Vertex> list(std::vector<Vertex>{2, 3, 5, 8, 13, 0xFFFF'FFFE}, stream());
  const DeviceArray<std::byte> workspace(visit_workspace_bytes(14, 1, 1, stream()), stream());
  const auto part = [&](std::uint64_t count, std::uint64_t first, std::uint64_t past) {
    const ListPart its = part_of_list(list.data(), count, first, past, workspace.data(), stream());
    return std::pair(its.first, its.past);
  };
  EXPECT_EQ(part(6, 0, std::uint64_t{1} << 32), std::pair(0ul, 6ul));
  EXPECT_EQ(part(6, 3, 9), std::pair(1ul, 4ul));
  EXPECT_EQ(part(6, 4, 5), std::pair(2ul, 2ul));
  EXPECT_EQ(part(6, 14, 20), std::pair(5ul, 5ul));
  EXPECT_EQ(part(0, 0, 20), std::pair(0ul, 0ul));
}

// Two parts know 1-3, 5-6 and 2-3, 6-7; 4 is alone.
TEST_P(Merge, joins_components_that_others_found) {
  constexpr std::uint64_t vertices = 8;
  const DeviceArray<Vertex> labels(std::vector<Vertex>{0, 1, 2, 1, 4, 5, 5, 7}, stream()),
      others(std::vector<Vertex>{0, 1, 2, 2, 4, 5, 6, 6}, stream()), frontier(vertices, stream());
  const DeviceArray<std::uint64_t> bits(1, stream());
  const DeviceArray<std::byte> workspace(visit_workspace_bytes(vertices, 1, 1, stream()), stream());
  const ComponentsState state{vertices,        nullptr,     nullptr,         labels.data(),
                              frontier.data(), bits.data(), workspace.data()};
  components_join(state, others.data(), stream());
  components_flatten(state, stream());
  EXPECT_EQ(labels.read(), (std::vector<Vertex>{0, 1, 1, 1, 4, 5, 5, 5}));
}

}  // namespace
}  // namespace holdall::kernels

// Policies from shared libraries: the template that users copy, and what becomes of bad ones.
#include "policies/plugin.hpp"

#include <gtest/gtest.h>

#include <fstream>
#include <random>
#include <set>

namespace holdall {
namespace {

constexpr auto any = [](Key) { return true; };

// Built next to this program.
std::filesystem::path module(const std::string& name) {
  return std::filesystem::read_symlink("/proc/self/exe").parent_path() / (name + ".so");
}

std::string refusal(const std::filesystem::path& file) {
  try {
    load_plugin(file);
  } catch (const PluginError& error) {
    return error.what();
  }
  return "loaded";
}

std::uint64_t times(const std::string& policy, const std::string& what) {
  for (const PluginFault& fault : plugin_faults())
    if (fault.policy == policy && fault.what.find(what) != std::string::npos) {
      EXPECT_NE(fault.file.find(".so"), std::string::npos);
      return fault.times;
    }
  return 0;
}

TEST(Plugin, TheTemplateLoadsAndDecides) {
  EXPECT_EQ(load_plugin(module("my_policy")), std::vector<std::string>{"my-policy"});
  const auto policy = make_policy("my-policy:spare=2");
  for (std::uint64_t n = 0; n < 3; ++n) policy->inserted(Key{n}, {});
  policy->accessed(Key{0}, {});
  EXPECT_EQ(policy->victim(any), Key{1});
  EXPECT_EQ(policy->victim([](Key key) { return key != Key{1}; }), Key{2});
  policy->removed(Key{1}, Left::evicted);
  policy->removed(Key{2}, Left::dropped);
  EXPECT_EQ(policy->victim(any), Key{0});
  policy->removed(Key{0}, Left::evicted);
  EXPECT_EQ(policy->victim(any), std::nullopt);
  EXPECT_TRUE(plugin_faults().empty());
}

TEST(Plugin, AThousandHitsInBatchesComeInOrder) {
  load_plugin(module("my_policy"));
  const auto policy = make_policy("my-policy:spare=1000");
  for (std::uint64_t n = 0; n < 3; ++n) policy->inserted(Key{n}, {});
  for (int i = 0; i < 1000; ++i) policy->accessed(Key{static_cast<std::uint64_t>(i % 2)}, {});
  EXPECT_EQ(policy->victim(any), Key{2});
}

TEST(Plugin, ItsParametersAreReadAndRefused) {
  load_plugin(module("my_policy"));
  const auto refused = [](std::string_view spec) {
    try {
      make_policy(spec);
    } catch (const PolicyError& error) {
      return std::string(error.what());
    }
    return std::string("made");
  };
  EXPECT_NE(refused("my-policy:spare=x").find("spare is a whole number from 0 to 1000"),
            std::string::npos);
  EXPECT_NE(refused("my-policy:depth=2").find("no parameter 'depth'"), std::string::npos);
  load_plugin(module("misbehaving"));
  EXPECT_NE(refused("bad-late:a=1").find("it wants no parameters"), std::string::npos);
  EXPECT_NE(refused("bad-throws:a=1").find("it takes no parameters"), std::string::npos);
}

TEST(Plugin, TheTemplateSurvivesAnyOrderOfCalls) {
  load_plugin(module("my_policy"));
  const auto policy = make_policy("my-policy");
  std::mt19937_64 random(3);
  std::set<Key> resident;
  for (int i = 0; i < 20'000; ++i) {
    const Key key{random() % 40};
    switch (random() % 4) {
      case 0:
        policy->inserted(key, {});
        resident.insert(key);
        break;
      case 1:
        policy->accessed(key, {});
        resident.insert(key);
        break;
      case 2:
        policy->removed(key, Left::evicted);
        resident.erase(key);
        break;
      default: {
        const std::uint64_t pinned = random();
        const auto may = [&](Key k) { return (pinned >> static_cast<std::uint64_t>(k) & 1) == 0; };
        const auto victim = policy->victim(may);
        if (victim) {
          ASSERT_TRUE(resident.contains(*victim) && may(*victim));
        } else {
          for (const Key k : resident) ASSERT_FALSE(may(k));
        }
      }
    }
  }
  EXPECT_EQ(times("my-policy", ""), 0u);
}

// Evicts all of 20 chunks but the pinned chunk 0, through a policy that names no good one.
void drain(const std::string& name) {
  load_plugin(module("misbehaving"));
  const auto policy = make_policy(name);
  for (std::uint64_t n = 0; n < 20; ++n) policy->inserted(Key{n}, {});
  policy->accessed(Key{1}, {});
  const auto may = [](Key key) { return key != Key{0}; };
  for (std::uint64_t n = 2; n < 20; ++n) {
    ASSERT_EQ(policy->victim(may), Key{n}) << name;  // the longest unused
    policy->removed(Key{n}, Left::evicted);
  }
  EXPECT_EQ(policy->victim(may), Key{1});
  policy->removed(Key{1}, Left::evicted);
  EXPECT_EQ(policy->victim(may), std::nullopt);
}

TEST(Plugin, AnAbsentVictimIsReportedAndTheLongestUnusedGoes) {
  drain("bad-absent");
  EXPECT_EQ(times("bad-absent", "named a chunk that is not resident, chunk 10000"), 19u);
}

TEST(Plugin, APinnedVictimIsReportedAndTheLongestUnusedGoes) {
  drain("bad-pinned");
  EXPECT_EQ(times("bad-pinned", "named a chunk that may not go, chunk 0; the longest unused"), 19u);
}

TEST(Plugin, NoVictimWhereThereIsOneIsReported) {
  drain("bad-nothing");
  EXPECT_EQ(times("bad-nothing", "named no chunk where one may go"), 19u);
}

TEST(Plugin, MoreVictimsThanAskedForAreReported) {
  drain("bad-too-many");
  EXPECT_EQ(times("bad-too-many", "named more chunks than it was asked for"), 19u);
}

TEST(Plugin, ASearchThatWouldNotEndIsEnded) {
  drain("bad-endless");
  EXPECT_EQ(times("bad-endless", "named a chunk that may not go, chunk 0"), 19u);
}

TEST(Plugin, AGoodVictimBehindABadOneIsTaken) {
  load_plugin(module("misbehaving"));
  const auto policy = make_policy("bad-late");
  for (std::uint64_t n = 0; n < 5; ++n) policy->inserted(Key{n}, {});
  policy->accessed(Key{0}, {});
  EXPECT_EQ(policy->victim(any), Key{0});  // not the longest unused: its own answer
  EXPECT_EQ(times("bad-late", ""), 0u);
}

TEST(Plugin, OneThatThrowsIsAskedNoMore) {
  drain("bad-throws");
  EXPECT_EQ(times("bad-throws", "has failed"), 1u);
  drain("bad-throws-past-c");
  EXPECT_EQ(times("bad-throws-past-c", "has failed"), 1u);
}

TEST(Plugin, OneThatFailsTooOftenIsAskedNoMore) {
  load_plugin(module("misbehaving"));
  const std::uint64_t before = times("bad-absent", "not resident");
  const auto policy = make_policy("bad-absent");
  for (std::uint64_t n = 0; n < 1000; ++n) policy->inserted(Key{n}, {});
  for (std::uint64_t n = 0; n < 1000; ++n) {
    ASSERT_EQ(policy->victim(any), Key{n});
    policy->removed(Key{n}, Left::evicted);
  }
  EXPECT_EQ(times("bad-absent", "not resident") - before, 100u);
}

TEST(Plugin, OneForAnotherVersionIsRefusedAndBothAreNamed) {
  const std::string message = refusal(module("other_version"));
  EXPECT_NE(message.find("was built for version 2 of the interface, this is version 1"),
            std::string::npos)
      << message;
}

TEST(Plugin, ALibraryWithoutItsFunctionIsRefused) {
  const std::string message = refusal(module("no_plugin"));
  EXPECT_NE(message.find("is no plug-in: it has no function holdall_plugin"), std::string::npos)
      << message;
}

TEST(Plugin, AMissingHookIsNamed) {
  const std::string message = refusal(module("no_hooks"));
  EXPECT_NE(message.find("policy 'bad-empty' of plug-in"), std::string::npos) << message;
  EXPECT_NE(message.find("has no hook 'create'"), std::string::npos) << message;
  EXPECT_THROW(make_policy("bad-empty"), PolicyError);
}

TEST(Plugin, WhatIsNoLibraryIsRefused) {
  EXPECT_NE(refusal(module("not_there")).find("cannot load plug-in"), std::string::npos);
  const auto text = std::filesystem::path(testing::TempDir()) / "holdall_text.so";
  std::ofstream(text) << "no library";
  EXPECT_NE(refusal(text).find("cannot load plug-in " + text.string()), std::string::npos);
  std::filesystem::remove(text);
}

}  // namespace
}  // namespace holdall

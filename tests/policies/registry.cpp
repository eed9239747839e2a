// Policies by name: what is found, what is refused and in which words.
#include "policies/registry.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <thread>

#include "tests/policies/replay.hpp"

namespace holdall {
namespace {

std::string refusal(std::string_view spec) {
  try {
    make_policy(spec);
  } catch (const PolicyError& error) {
    return error.what();
  }
  return "made";
}

TEST(Registry, MakesEveryPolicyThatItLists) {
  for (const PolicyInfo& info : list_policies()) {
    EXPECT_NE(make_policy(info.name), nullptr) << info.name;
    EXPECT_FALSE(info.summary.empty()) << info.name;
  }
}

TEST(Registry, ListsInAlphabeticalOrder) {
  std::vector<std::string> names;
  for (const PolicyInfo& info : list_policies()) names.push_back(info.name);
  EXPECT_TRUE(std::is_sorted(names.begin(), names.end()));
  for (const char* name : {"clock", "fifo", "lfu", "lru", "mru", "random"})
    EXPECT_NE(std::find(names.begin(), names.end(), name), names.end()) << name;
}

TEST(Registry, TakesParametersAfterAColon) {
  EXPECT_EQ(refusal("lfu:halflife=10000"), "made");
  EXPECT_EQ(refusal("lfu:"), "made");
  EXPECT_EQ(refusal("random:seed=18446744073709551615"), "made");
}

TEST(Registry, NamesTheNearestPolicyAndAllThereAre) {
  const std::string message = refusal("lur");
  EXPECT_NE(message.find("no policy 'lur'. Did you mean 'lru'? There are "), std::string::npos)
      << message;
  EXPECT_NE(message.find(", clock, "), std::string::npos) << message;
  EXPECT_NE(refusal("LRU").find("Did you mean 'lru'?"), std::string::npos);
  EXPECT_NE(refusal("radnom:seed=1").find("Did you mean 'random'?"), std::string::npos);
}

TEST(Registry, GuessesNothingFarOff) {
  EXPECT_EQ(refusal("belady-with-hindsight").find("Did you mean"), std::string::npos);
  EXPECT_EQ(refusal("").find("Did you mean"), std::string::npos);
}

TEST(Registry, NamesTheNearestParameterAndAllThereAre) {
  EXPECT_EQ(refusal("lfu:halflive=3"),
            "policy 'lfu:halflive=3': no parameter 'halflive'. Did you mean 'halflife'? "
            "It takes halflife");
  EXPECT_EQ(refusal("lru:size=3"), "policy 'lru:size=3': no parameter 'size'. It takes none");
}

TEST(Registry, RefusesValuesOutOfBoundsAndNamesThem) {
  EXPECT_EQ(refusal("clock:bits=9"),
            "policy 'clock:bits=9': bits is a whole number from 1 to 8, not '9'");
  for (const char* bad : {"0", "-1", "1.5", "x", "1x", "99999999999999999999"})
    EXPECT_NE(refusal(std::string("clock:bits=") + bad).find("is a whole number"),
              std::string::npos)
        << bad;
}

TEST(Registry, RefusesWhatIsNotKeyAndValue) {
  for (const char* spec : {"clock:bits", "clock:=1", "clock:bits=", "clock:,", "clock:bits=1,"})
    EXPECT_NE(refusal(spec).find("write key=value"), std::string::npos) << spec;
  EXPECT_EQ(refusal("clock:bits=1,bits=2"), "policy 'clock:bits=1,bits=2': bits is given twice");
}

TEST(Parameters, ReadsNumbersCountsAndChoices) {
  Parameters p("a=0.25,b=7,c=low");
  const std::array<std::string_view, 2> levels = {"low", "high"};
  EXPECT_EQ(p.number("a", 1, 0, 1), 0.25);
  EXPECT_EQ(p.count("b", 1, 0, 10), 7u);
  EXPECT_EQ(p.choice("c", "high", levels), "low");
  EXPECT_EQ(p.number("d", 0.5, 0, 1), 0.5);
  EXPECT_EQ(p.count("e", 3, 0, 10), 3u);
  EXPECT_EQ(p.choice("f", "high", levels), "high");
  EXPECT_EQ(p.known(), (std::vector<std::string>{"a", "b", "c", "d", "e", "f"}));
  EXPECT_TRUE(p.unread().empty());
}

TEST(Parameters, RefusesABadNumberAndABadChoice) {
  Parameters p("a=nan,b=2,c=lo");
  const std::array<std::string_view, 2> levels = {"low", "high"};
  EXPECT_THROW(p.number("a", 1, 0, 1), PolicyError);
  EXPECT_THROW(p.number("b", 1, 0, 1), PolicyError);
  try {
    p.choice("c", "high", levels);
    FAIL();
  } catch (const PolicyError& error) {
    EXPECT_STREQ(error.what(), "c is one of low, high, not 'lo'");
  }
}

TEST(Parameters, AValueInParenthesesMayHoldCommas) {
  Parameters p("of=(a:b=1,c=(d,e)),n=2,on=true,plain=x:y=1");
  EXPECT_EQ(p.text("of", ""), "a:b=1,c=(d,e)");
  EXPECT_EQ(p.text("plain", ""), "x:y=1");
  EXPECT_EQ(p.text("absent", "z"), "z");
  EXPECT_EQ(p.count("n", 0, 0, 9), 2u);
  EXPECT_TRUE(p.flag("on", false));
  EXPECT_FALSE(p.flag("off", false));
  EXPECT_TRUE(Parameters(p.rest()).flag("on", false));
  EXPECT_EQ(Parameters(p.rest()).text("of", ""), "a:b=1,c=(d,e)");
  EXPECT_THROW(Parameters("of=(a,b").text("of", ""), PolicyError);
  EXPECT_THROW(Parameters("of=()").text("of", ""), PolicyError);
  EXPECT_THROW(Parameters("on=yes").flag("on", true), PolicyError);
}

TEST(Registry, APolicyInsideAnotherIsMadeAndItsErrorsAreNamed) {
  EXPECT_EQ(refusal("clean:of=(lfu:halflife=9),among=4"), "made");
  EXPECT_EQ(refusal("clean:of=(clean:of=(wtinylfu:window=0.1,climb=true),among=2),among=4"),
            "made");
  EXPECT_EQ(refusal("clean:of=(lfu:halflive=9)"),
            "policy 'clean:of=(lfu:halflive=9)': policy 'lfu:halflive=9': no parameter "
            "'halflive'. Did you mean 'halflife'? It takes halflife");
}

// Evicts the chunk that came last, as a user may write it.
class Stack : public Policy {
 public:
  void inserted(Key chunk, const Request&) override { stack_.push_back(chunk); }
  void accessed(Key, const Request&) override {}
  void removed(Key chunk, Left) override { std::erase(stack_, chunk); }
  std::optional<Key> victim(const MayEvict& may) override {
    for (auto i = stack_.rbegin(); i != stack_.rend(); ++i)
      if (may(*i)) return *i;
    return std::nullopt;
  }

 private:
  std::vector<Key> stack_;
};

TEST(Registry, TakesAPolicyOfOnesOwn) {
  register_policy({"test-stack", "came last; depth=N"}, [](Parameters& p) {
    p.count("depth", 1, 1, 9);
    return std::make_unique<Stack>();
  });
  const auto stack = make_policy("test-stack:depth=2");
  stack->inserted(Key{1}, {});
  stack->inserted(Key{2}, {});
  EXPECT_EQ(stack->victim(any), Key{2});
  EXPECT_NE(refusal("test-stak").find("Did you mean 'test-stack'?"), std::string::npos);
  EXPECT_NE(refusal("test-stack:deep=2").find("It takes depth"), std::string::npos);
}

TEST(Registry, TheLaterOfOneNameHolds) {
  for (const char* summary : {"first", "second"})
    register_policy({"test-twice", summary}, [](Parameters&) { return std::make_unique<Stack>(); });
  const auto all = list_policies();
  EXPECT_EQ(std::count_if(all.begin(), all.end(),
                          [](const PolicyInfo& info) { return info.name == "test-twice"; }),
            1);
  EXPECT_NE(std::find_if(all.begin(), all.end(),
                         [](const PolicyInfo& info) { return info.summary == "second"; }),
            all.end());
}

TEST(Registry, RefusesNamesThatCouldNotBeAskedFor) {
  const auto maker = [](Parameters&) { return std::make_unique<Stack>(); };
  for (const char* name : {"", "a:b", "a b", "a,b", "a=b", "a+b", "a(b", "a)b"})
    EXPECT_THROW(register_policy({name, ""}, maker), PolicyError) << name;
  EXPECT_THROW(register_policy({"test-nothing", ""}, nullptr), PolicyError);
}

TEST(Registry, ThreadsMayRegisterAndMakeAtOnce) {
  std::vector<std::jthread> threads;
  for (int t = 0; t < 4; ++t)
    threads.emplace_back([t] {
      for (int i = 0; i < 200; ++i) {
        register_policy({"test-" + std::to_string(t), ""},
                        [](Parameters&) { return std::make_unique<Stack>(); });
        EXPECT_NE(make_policy("test-" + std::to_string(t)), nullptr);
        EXPECT_NE(make_policy("lru"), nullptr);
        EXPECT_GE(list_policies().size(), 6u);
      }
    });
}

}  // namespace
}  // namespace holdall

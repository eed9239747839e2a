// holdall policy compare: a program run once per policy, side by side, and what opt would have
// done.
#include <fmt/format.h>

#include <algorithm>
#include <numeric>

#include "apps/child.hpp"
#include "apps/policy/recording.hpp"
#include "apps/policy/reenact.hpp"
#include "apps/policy/replay.hpp"
#include "apps/policy_commands.hpp"
#include "policies/registry.hpp"

namespace holdall::apps {

namespace {

struct Options {
  std::string policies = "lru,mru,clock,lfu,s3fifo,lirs,auto";
  std::vector<std::string> plugins, words;
  std::string cost_file;
  bool json = false, csv = false;
};

constexpr const char* counters[] = {"hits",      "faults",      "prefetched", "bytes_in",
                                    "bytes_out", "write_backs", "seconds"};

std::string joined(const std::vector<std::string>& words) {
  std::string line;
  for (const std::string& word : words) line.append(line.empty() ? "" : " ").append(word);
  return line;
}

// What the program said of its run under `policy`.
nlohmann::json told(const Options& options, const std::string& policy, const std::string& trace) {
  std::vector<std::string> words = options.words;
  for (const std::string& plugin : options.plugins) words.insert(words.end(), {"--plugin", plugin});
  words.insert(words.end(), {"--policy", policy, "--json", "--trace", trace});
  const Child child = run_child(words);
  if (child.status != 0)
    throw std::runtime_error(fmt::format("`{}` failed with exit status {}: {}", joined(words),
                                         child.status,
                                         child.err.empty() ? "it said nothing" : child.err));
  const auto run = nlohmann::json::parse(child.out, nullptr, false);
  for (const char* const counter : counters)
    if (!run.is_object() || !run.contains(counter) || !run[counter].is_number())
      throw std::runtime_error(fmt::format(
          "`{}` printed no JSON object with a number for '{}': name a program that knows --policy, "
          "--json and --trace as holdall's own do, such as `holdall graph pagerank kron:18`",
          joined(words), counter));
  return run;
}

// What opt would have missed of the requests that were recorded, in the same memory, with nothing
// brought in ahead and nothing pinned.
struct Bounds {
  std::uint64_t requests = 0, misses = 0, opt = 0, bypass = 0;  // `misses`: of the engine
};

Bounds bounds_of(const std::string& path) {
  const auto recording = lab::recording_of(path);
  if (!recording)
    throw std::runtime_error(
        "the program wrote no recording to its --trace: it is of another version");
  const std::uint64_t memory =
      std::accumulate(recording->budgets.begin(), recording->budgets.end(), std::uint64_t{0});
  lab::Trace trace = lab::read_trace(
      path, {.sizes = true, .keep = [](const TraceRecord& r) { return r.kind != trace_prefetch; }});
  lab::find_next_uses(trace);
  const auto missed = [&](const char* policy) {
    return lab::replay(trace.requests(), policy, {.capacity = memory, .sizes = true});
  };
  const lab::Counts opt = missed("opt");
  const lab::Reenactment engine = lab::reenact(path);
  return {opt.requests, engine.faults + engine.prefetched, opt.misses,
          missed("opt:bypass=true").misses};
}

void print(const std::vector<nlohmann::json>& rows) {
  const auto count = [](const nlohmann::json& row, const char* key) {
    return row[key].get<std::uint64_t>();
  };
  fmt::print("{:<20}{:>9}{:>9}{:>12}{:>12}{:>12}{:>10}{:>10}{:>10}{:>10}{:>10}\n", "policy", "hits",
             "faults", "bytes in", "bytes out", "write-backs", "time", "modelled", "misses", "opt",
             "bypassing");
  for (const auto& row : rows)
    fmt::print("{:<20}{:>9}{:>9}{:>12}{:>12}{:>12}{:>8.3f} s{:>8.3f} s{:>10}{:>10}{:>10}\n",
               row["policy"].get<std::string>(), count(row, "hits"), count(row, "faults"),
               to_string(count(row, "bytes_in")), to_string(count(row, "bytes_out")),
               count(row, "write_backs"), row["seconds"].get<double>(),
               row["modelled_seconds"].get<double>(), count(row, "recorded_misses"),
               count(row, "opt_misses"), count(row, "opt_bypass_misses"));
}

void print_csv(const std::vector<nlohmann::json>& rows) {
  constexpr const char* columns[] = {
      "hits",        "faults",           "prefetched",       "bytes_in",          "bytes_out",
      "write_backs", "seconds",          "modelled_seconds", "recorded_requests", "recorded_misses",
      "opt_misses",  "opt_bypass_misses"};
  fmt::print("policy");
  for (const char* const column : columns) fmt::print(",{}", column);
  fmt::print("\n");
  for (const auto& row : rows) {
    fmt::print("\"{}\"", row["policy"].get<std::string>());
    for (const char* const column : columns) fmt::print(",{}", row[column].dump());
    fmt::print("\n");
  }
}

// The rates for a run's size of chunks.
lab::Cost cost_of(const Options& options, const nlohmann::json& run) {
  if (options.cost_file.empty()) return {};
  return lab::read_cost(options.cost_file, run.value("chunk", Bytes{8} << 20));
}

void run(const Options& options) {
  const auto policies = split_policies(options.policies);
  std::vector<nlohmann::json> rows;
  {
    Progress progress("comparing");
    for (const std::string& policy : policies) {
      progress.show(policy, rows.size(), policies.size());
      const TemporaryPath trace;
      nlohmann::json row = told(options, policy, trace.path());
      row["policy"] = policy;
      lab::Counts moved;
      moved.bytes_in = row["bytes_in"];
      moved.bytes_out = row["bytes_out"];
      moved.chunks_in = row["faults"].get<std::uint64_t>() + row["prefetched"].get<std::uint64_t>();
      row["modelled_seconds"] = cost_of(options, row).seconds(moved);
      const Bounds bounds = bounds_of(trace.path());
      row["recorded_requests"] = bounds.requests;
      row["recorded_misses"] = bounds.misses;
      row["opt_misses"] = bounds.opt;
      row["opt_bypass_misses"] = bounds.bypass;
      rows.push_back(std::move(row));
    }
  }
  if (options.json)
    fmt::print("{}\n", nlohmann::json(rows).dump());
  else if (options.csv)
    print_csv(rows);
  else
    print(rows);
}

}  // namespace

void add_policy_compare(CLI::App& group, int& status) {
  CLI::App* const command = group.add_subcommand(
      "compare", "a program run once per policy: `holdall policy compare -- holdall graph ...`");
  auto options = std::make_shared<Options>();
  add_plugin_option(*command, &options->plugins);
  add_policy_list(*command, "--policies", options->policies);
  command
      ->add_option("--cost", options->cost_file,
                   "rates for modelled seconds, from `holdall doctor --json`")
      ->type_name("FILE");
  CLI::Option* const as_json = command->add_flag("--json", options->json, "an array of objects");
  command->add_flag("--csv", options->csv, "a row a policy")->excludes(as_json);
  command
      ->add_option(
          "PROGRAM", options->words,
          "behind --: the program and its arguments; --policy, --json and --trace are added")
      ->required();
  command->callback([options, &status] {
    for (const std::string& word : options->words)
      for (const char* const own : {"--policy", "--json", "--trace"})
        if (word == own || word.starts_with(std::string(own) + "="))
          throw CLI::ValidationError("PROGRAM",
                                     fmt::format("leave out {}: compare adds it to each run", own));
    run(*options);
    status = 0;
  });
}

}  // namespace holdall::apps

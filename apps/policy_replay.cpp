// holdall policy replay: traces through policies, exactly.
#include <fmt/format.h>
#include <tbb/global_control.h>

#include <algorithm>

#include "apps/policy/error.hpp"
#include "apps/policy/table.hpp"
#include "apps/policy_commands.hpp"
#include "policies/prefetch.hpp"
#include "policies/registry.hpp"

namespace holdall::apps {

lab::TraceOptions LabOptions::trace_options() const {
  return {.read = read, .sizes = honour_sizes};
}

std::vector<std::string> LabOptions::policy_list() const { return split_policies(policies); }

lab::Cost LabOptions::cost() const {
  return cost_file.empty() ? lab::Cost{} : lab::read_cost(cost_file, chunk);
}

std::size_t LabOptions::cores() const {
  return threads ? threads : std::max(1u, std::thread::hardware_concurrency());
}

lab::Trace hold(const LabOptions& options, const std::string& path, Progress& progress) {
  lab::TraceOptions reads = options.trace_options();
  reads.progress = reading(progress, path);
  lab::Trace trace = read_trace(path, reads);
  note_facts(path, trace.facts);
  return trace;
}

void add_trace_argument(CLI::App& command, LabOptions& options, bool several) {
  const std::string help = "a trace of any known format, packed or not; -: standard input";
  CLI::Option* const trace =
      several
          ? command.add_option("trace", options.traces, help)
          : command.add_option_function<std::string>(
                "trace", [&options](const std::string& path) { options.traces = {path}; }, help);
  trace->required()->type_name("TRACE");
}

void add_format_options(CLI::App& command, LabOptions& options) {
  command
      .add_option("--format", options.read.format,
                  "what the trace is, where its content does not tell")
      ->type_name("NAME")
      ->check(CLI::IsMember(lab::formats()));
  command
      .add_option("--columns", options.read.columns,
                  "the columns of a csv: time=1,key=lbn,size=5,op=cmd,next=6, names or numbers")
      ->type_name("LIST");
  add_bytes(command, "--block", options.read.block, "bytes of a chunk where a trace has addresses")
      ->default_str("4KiB");
}

void add_policy_list(CLI::App& command, const std::string& name, std::string& policies) {
  command
      .add_option(name, policies,
                  "policies by commas, each with its parameters: lru,lfu:halflife=8,clock:bits=2")
      ->type_name("LIST")
      ->capture_default_str()
      ->check([](const std::string& list) {
        try {
          for (const std::string& policy : split_policies(list)) (void)make_policy(policy);
          return std::string();
        } catch (const PolicyError& e) {
          return std::string(e.what());
        }
      });
}

void add_grid_options(CLI::App& command, LabOptions& options) {
  add_plugin_option(command);
  add_policy_list(command, "--policy", options.policies);
  command
      .add_option(
          "--size", options.sizes,
          "sizes of the memory by commas: bytes (1GiB), of the footprint (10%), chunks (1000)")
      ->type_name("LIST")
      ->capture_default_str()
      ->check([](const std::string& list) {
        try {
          (void)lab::parse_sizes(list);
          return std::string();
        } catch (const std::invalid_argument& e) {
          return std::string(e.what());
        }
      });
  command.add_flag("--sizes", options.honour_sizes,
                   "honour the sizes in the trace: the memory counts bytes, not chunks");
  add_bytes(command, "--chunk", options.chunk,
            "bytes that a chunk counts, where sizes are not honoured")
      ->default_str("8MiB");
  command
      .add_option("--cost", options.cost_file,
                  "rates for modelled seconds, from `holdall doctor --json`")
      ->type_name("FILE");
  command.add_option("--threads", options.threads, "0: all cores")
      ->type_name("N")
      ->check(CLI::Range(0, 4096));
}

std::vector<lab::Cell> cells_of(const LabOptions& options,
                                const std::function<std::uint64_t()>& footprint) {
  std::vector<lab::Cell> cells;
  const auto sizes = lab::parse_sizes(options.sizes);
  std::vector<std::uint64_t> capacities;
  for (const lab::Size& size : sizes)
    capacities.push_back(size.capacity(options.honour_sizes, options.chunk,
                                       size.unit == lab::Size::percent ? footprint() : 0));
  for (std::size_t i = 0; i < sizes.size(); ++i)
    if (capacities[i] == 0)
      note(sizes[i].unit == lab::Size::bytes && sizes[i].value > 0
               ? fmt::format("a size of {} is less than one chunk (--chunk {}), so nothing fits",
                             to_string(static_cast<Bytes>(sizes[i].value)),
                             to_string(options.chunk))
               : std::string("in a memory of size 0 nothing fits: every request is a miss"));
  for (const std::string& policy : options.policy_list())
    for (const std::uint64_t capacity : capacities)
      cells.push_back(
          {policy,
           {.capacity = capacity, .sizes = options.honour_sizes, .chunk = options.chunk},
           options.prefetch});
  return cells;
}

void note_facts(const std::string& path, const lab::TraceFacts& facts) {
  if (facts.backwards > 0)
    note(fmt::format("{}: time runs backwards at {} of {} requests; their order in the file counts",
                     path, facts.backwards, facts.requests));
}

std::function<void(const lab::TraceStream&)> reading(Progress& progress, const std::string& path) {
  return [&progress, path](const lab::TraceStream& stream) {
    const lab::Input& input = stream.reader().input();
    progress.show("reading " + path, input.file_offset(), input.file_bytes());
  };
}

namespace {

void add_prefetch_option(CLI::App& command, std::string& prefetch) {
  std::string help = "what else is brought in when a chunk is asked for:";
  for (const PolicyInfo& info : list_prefetchers())
    help += fmt::format(" {}: {};", info.name, info.summary);
  help.pop_back();
  command.add_option("--prefetch", prefetch, help)
      ->type_name("SPEC")
      ->capture_default_str()
      ->check([](const std::string& spec) {
        try {
          (void)make_prefetch(spec);
          return std::string();
        } catch (const PolicyError& e) {
          return std::string(e.what());
        }
      });
}

bool looks_ahead(const std::string& policy) {
  return policy == "opt" || policy.starts_with("opt:");
}

void run(const LabOptions& options, bool json, bool csv) {
  const tbb::global_control limit(tbb::global_control::max_allowed_parallelism, options.cores());
  const lab::Cost cost = options.cost();
  const std::string& path = options.traces.front();
  const auto policies = options.policy_list();
  const bool ahead = std::ranges::any_of(policies, looks_ahead);
  const bool share = std::ranges::any_of(lab::parse_sizes(options.sizes), [](const lab::Size& s) {
    return s.unit == lab::Size::percent;
  });
  if (ahead && options.prefetch != "none")
    throw lab::LabError("opt knows no next use of what is prefetched: leave out one of them");
  std::vector<lab::Result> results;
  {
    Progress progress("reading " + path);
    lab::TraceOptions trace_options = options.trace_options();
    trace_options.progress = reading(progress, path);
    if (!ahead && !share && options.prefetch == "none") {
      lab::TraceStream stream(path, trace_options);
      results = run_cells(stream, cells_of(options, [] { return std::uint64_t{0}; }));
      note_facts(path, stream.facts());
    } else {
      lab::Trace trace = read_trace(path, trace_options);
      if (ahead) find_next_uses(trace);
      note_facts(path, trace.facts);
      const auto cells = cells_of(options, [&] { return trace.footprint(); });
      results.resize(cells.size());
      std::size_t done = 0;
      progress.show("replaying", 0, cells.size());
      run_cells(trace, cells, [&](const lab::Result& result) {
        for (std::size_t i = 0; i < cells.size(); ++i)
          if (cells[i].policy == result.policy && cells[i].options.capacity == result.capacity)
            results[i] = result;
        progress.show("replaying", ++done, cells.size());
      });
    }
  }
  for (lab::Result& result : results) {
    result.trace = lab::trace_name(path);
    result.modelled = cost.seconds(result.counts);
  }

  if (json) {
    nlohmann::json all = nlohmann::json::array();
    for (const lab::Result& result : results) all.push_back(lab::to_json(result));
    fmt::print("{}\n", results.size() == 1 ? all[0].dump() : all.dump());
  } else if (csv) {
    fmt::print("{}", lab::csv_header());
    for (const lab::Result& result : results) fmt::print("{}", lab::to_csv(result));
  } else {
    fmt::print("{}", lab::to_text(results));
  }
}

}  // namespace

void add_policy_replay(CLI::App& group, int& status) {
  CLI::App* const command =
      group.add_subcommand("replay", "a trace through policies: exact counts");
  auto options = std::make_shared<LabOptions>();
  auto json = std::make_shared<bool>(false), csv = std::make_shared<bool>(false),
       again = std::make_shared<bool>(false);
  add_trace_argument(*command, *options);
  add_grid_options(*command, *options);
  add_format_options(*command, *options);
  add_prefetch_option(*command, options->prefetch);
  CLI::Option* const as_json =
      command->add_flag("--json", *json, "one JSON object, an array of several");
  CLI::Option* const as_csv = command->add_flag("--csv", *csv, "a row a run")->excludes(as_json);
  command
      ->add_flag("--live", *again,
                 "re-enact a recording of the engine call by call, with its policy and budget, and "
                 "say whether every victim is the same")
      ->excludes(as_csv, command->get_option("--size"), command->get_option("--prefetch"));
  CLI::Option* const policy = command->get_option("--policy");
  command->callback([=, &status] {
    status = 0;
    if (*again)
      status = replay_live(
          options->traces.front(),
          policy->count() > 0 ? options->policy_list() : std::vector<std::string>(), *json);
    else
      run(*options, *json, *csv);
  });
}

}  // namespace holdall::apps

// holdall graph: the table of its sub-commands.
#include <fmt/format.h>

#include <limits>

#include "apps/graph/file.hpp"
#include "apps/graph/generate.hpp"
#include "apps/graph/write.hpp"
#include "apps/graph_command/demo.hpp"
#include "apps/graph_command/plan.hpp"
#include "apps/graph_command/run.hpp"
#include "apps/graph_command/sweep.hpp"

namespace holdall::apps {

using namespace holdall::graph;  // NOLINT: this file is about graphs

namespace {

// In the order of the help.
constexpr const Algorithm* algorithms[] = {&bfs,        &sssp,      &pagerank, &components,
                                           &centrality, &triangles, &kcore};

constexpr const char* output_help =
    "ends in .hold, .sg, .wsg, .el, .wel, .txt, .mtx, .bcsr, .bwcsr or .bel";

constexpr const char* host_memory_help =
    "keep to so much memory: sort in the folder for temporary files (to a .hold only)";

int run_info(const GraphOptions& o) {
  Opened opened = open_input(o);
  const Csr& csr = in_memory(opened);
  const Summary summary = summarize(csr);
  nlohmann::json j{{"graph", opened.name},
                   {"directed", csr.directed},
                   {"weights", to_string(csr.weights)},
                   {"vertices", summary.vertices},
                   {"edges", summary.edges},
                   {"self_loops", summary.self_loops},
                   {"duplicates", summary.duplicates},
                   {"isolated", summary.isolated},
                   {"dangling", summary.dangling},
                   {"greatest_degree", summary.greatest_degree}};
  if (!names_generator(o.input)) j["format"] = to_string(opened.file.format);
  if (o.json) {
    fmt::print("{}\n", j.dump());
    return 0;
  }
  for (const auto& [key, value] : j.items())
    fmt::print("{:<18}{}\n", key, value.is_string() ? value.get<std::string>() : value.dump());
  return 0;
}

// Sorted on disk, in the memory that was given.
int sort_to_hold(const GraphOptions& o) {
  if (output_of(o.output) != Output::hold)
    throw CLI::ValidationError("--host-memory", "only a .hold is written in so much memory");
  if (!o.weights.empty())
    throw CLI::ValidationError("--weights", "are not made with --host-memory; leave out one");
  const Bytes memory = o.config.host_memory;
  apps::Progress progress("sorting " + o.input);
  const graph::Progress show = [&](std::uint64_t done, std::uint64_t whole) {
    progress.show(done, whole);
  };
  if (names_generator(o.input)) {
    generate_hold(parse_generator(o.input, o.seed), o.output, memory, show);
    return 0;
  }
  LoadOptions options = o.load;
  options.memory = memory;
  options.sorted_to = o.output;
  options.progress = show;
  LoadReport report;
  (void)load_graph(o.input, options, &report);
  for (const std::string& text : report.notes) note(text);
  return 0;
}

int run_convert(const GraphOptions& o) {
  const Output output = output_of(o.output);
  (void)graph::NewFile(o.output);  // refused now rather than when all is read
  if (o.config.host_memory != 0) return sort_to_hold(o);
  Opened opened = open_input(o);
  const Csr& csr = in_memory(opened);
  apps::Progress progress("writing " + o.output);
  write_graph(csr, o.output, output);
  return 0;
}

void add_schedule_options(CLI::App& command, GraphOptions& o) {
  command
      .add_option_function<std::string>(
          "--path",
          [&o](const std::string& text) {
            o.schedule.paged_from = text == "paged"      ? 0
                                    : text == "in-place" ? std::numeric_limits<double>::infinity()
                                                         : ScheduleOptions{}.paged_from;
          },
          "how edges that are not resident are read: mixed, paged, or in-place from pinned memory "
          "(those of a file with --pinned)")
      ->type_name("PATH")
      ->check(CLI::IsMember({"mixed", "paged", "in-place"}));
}

}  // namespace

void add_graph(CLI::App& app, int& status) {
  CLI::App* const group = app.add_subcommand("graph", "graphs bigger than the GPU");
  group->require_subcommand(1);
  const auto sub = [&](const char* name, const char* help, auto run) {
    auto options = std::make_shared<GraphOptions>();
    CLI::App* const command = group->add_subcommand(name, help);
    command->callback([options, run, &status] { status = run(*options); });
    return std::pair(command, options.get());
  };
  {
    auto [command, o] = sub("generate", "make a graph and write it to a file", run_convert);
    command
        ->add_option("GRAPH", o->input,
                     "kron:SCALE[:EDGEFACTOR], urand:SCALE[:EDGEFACTOR] or grid:ROWSxCOLUMNS")
        ->required()
        ->check([](const std::string& text) {
          return names_generator(text)
                     ? std::string()
                     : "'" + text + "' names no generator: kron:…, urand:… or grid:…";
        });
    command->add_option("FILE", o->output, output_help)->required();
    add_bytes(*command, "--host-memory", o->config.host_memory, host_memory_help);
    add_count(*command, "--seed", o->seed, "another number, another graph");
    command->add_option("--weights", o->weights, "with weights from 1 to 255: int32 or float32")
        ->type_name("KIND")
        ->check(CLI::IsMember({"int32", "float32"}));
  }
  {
    auto [command, o] = sub("convert", "write a graph in another format", run_convert);
    add_input(*command, *o);
    command->add_option("FILE", o->output, output_help)->required();
    add_bytes(*command, "--host-memory", o->config.host_memory, host_memory_help);
  }
  {
    auto [command, o] = sub("info", "count vertices, edges, loops, duplicates", run_info);
    add_input(*command, *o);
    command->add_flag("--json", o->json, "one JSON object");
  }
  for (const Algorithm* algorithm : algorithms) {
    auto [command, o] =
        sub(algorithm->name, algorithm->help,
            [algorithm](const GraphOptions& given) { return run_algorithm(*algorithm, given); });
    add_input(*command, *o);
    add_engine_options(*command, o->config);
    // Those two sweep over all of what they read, so there is nothing to be read in place.
    if (algorithm != &pagerank && algorithm != &triangles) add_schedule_options(*command, *o);
    command->add_flag("--pinned", o->pinned,
                      "copy a file's edges to pinned host memory first, to be read from there");
    command
        ->add_option("--output", o->result,
                     fmt::format("write the answer to this file; {}", algorithm->lines))
        ->type_name("FILE");
    command->add_flag("--verify", o->verify, "compare with the answer of a serial run in memory");
    command->add_flag("--json", o->json, "one JSON object");
    if (algorithm->add_options != nullptr) algorithm->add_options(*command, *o);
  }
  {
    auto options = std::make_shared<PlanOptions>();
    CLI::App* const command = group->add_subcommand(
        "plan", "say what will live where, how many bytes, and what the link allows");
    add_plan_options(*command, *options);
    command->callback([options, &status] { status = run_plan(*options); });
  }
  {
    auto options = std::make_shared<SweepOptions>();
    CLI::App* const command = group->add_subcommand(
        "sweep", "run an algorithm over memories and policies; a table and a chart");
    add_sweep_options(*command, *options);
    command->callback([options, &status] { status = run_sweep(*options, algorithms); });
  }
  {
    auto [command, o] =
        sub("demo", "BFS and PageRank with a quarter of the edges in memory, checked", run_demo);
    add_input(*command, *o);
    command->add_option("--driver", o->config.driver, "cuda or host")
        ->check(CLI::IsMember({"cuda", "host"}));
  }
}

}  // namespace holdall::apps

#include "apps/graph_command/sweep.hpp"

#include <algorithm>
#include <filesystem>

#include "apps/graph/error.hpp"
#include "apps/graph/file.hpp"
#include "policies/registry.hpp"

namespace holdall::apps {

using namespace holdall::graph;  // NOLINT: this file is about graphs

namespace {

struct Cell {
  Bytes memory = 0;
  std::string policy;
};

// A line of the table.
std::string run_cell(const Algorithm& algorithm, const GraphOptions& given, const Opened& opened,
                     const Cell& cell) {
  GraphOptions o = given;
  o.config.memory = cell.memory;
  o.config.policy = cell.policy;
  Engine engine(o.config);
  const PagedGraph graph = page(engine, opened, algorithm.pages);
  const Traffic before = engine.stats();
  Bytes in_place = 0, leased = 0;
  int steps = 0;
  const Outcome outcome = algorithm.run(graph, o, [&](const Step& step) {
    in_place += step.bytes_in_place;
    leased = std::max(leased, engine.leased());
    ++steps;
  });
  const Traffic traffic = static_cast<Traffic>(engine.stats()) - before;
  const Bytes edges = opened.edges() * sizeof(Vertex) * (algorithm.pages.weights ? 2 : 1);
  // Room is what vertex data leaves.
  const Bytes room = engine.memory() - std::min(engine.memory(), leased);
  return fmt::format("{},{},{},{},{},{:.6g},{:.6g},{},{},{},{},{}\n", opened.name, algorithm.name,
                     cell.policy, cell.memory, edges,
                     static_cast<double>(edges) / static_cast<double>(std::max<Bytes>(room, 1)),
                     outcome.seconds, steps, traffic.bytes_in, in_place, traffic.hits,
                     traffic.faults);
}

}  // namespace

int run_sweep(const SweepOptions& o, std::span<const Algorithm* const> algorithms) {
  const Algorithm& algorithm =
      **std::ranges::find(algorithms, o.algorithm, [](const Algorithm* a) { return a->name; });
  GraphOptions options = o.graph;
  options.uses_weights = algorithm.pages.weights;
  graph::NewFile table(o.table);
  const Opened opened = open_input(options);
  if (algorithm.check != nullptr) algorithm.check(options, opened);

  // 1. run; a memory that is too small for the vertices is passed over
  std::string text =
      "graph,algorithm,policy,memory,edge_bytes,oversubscription,seconds,steps,bytes_in,"
      "bytes_in_place,hits,faults\n";
  const std::size_t cells = o.memories.size() * o.policies.size();
  std::size_t done = 0, ran = 0;
  apps::Progress progress("sweep");
  for (const Bytes memory : o.memories)
    for (const std::string& policy : o.policies) {
      progress.show(fmt::format("{} with {}", policy, to_string(memory)), done++, cells);
      try {
        text += run_cell(algorithm, options, opened, {memory, policy});
        ++ran;
      } catch (const WorkingSetTooLarge& e) {
        note(fmt::format("{} with {}: {}", policy, to_string(memory), e.what()));
      }
    }
  if (ran == 0) throw GraphError("no memory of the sweep was enough; give larger ones (--memory)");
  table.write(0, text.data(), text.size());
  table.finish();
  fmt::print("{} of {} cells run: {}\n", ran, cells, o.table);

  // 2. draw
  const std::string chart = !o.chart.empty()
                                ? o.chart
                                : std::filesystem::path(o.table).replace_extension(".svg").string();
  if (run_script("graph_sweep.py", "apps/graph_command", "HOLDALL_GRAPH_SWEEP", {o.table, chart}) !=
      0)
    return failed;
  fmt::print("{}\n", chart);
  return 0;
}

void add_sweep_options(CLI::App& command, SweepOptions& o) {
  add_input(command, o.graph);
  command.add_option("TABLE", o.table, "the CSV to write")->required();
  command.add_option("--chart", o.chart, "the chart, SVG or PNG (default: TABLE with .svg)");
  command
      .add_option_function<std::vector<std::string>>(
          "--memory",
          [&o](const std::vector<std::string>& texts) {
            for (const std::string& text : texts) {
              try {
                o.memories.push_back(parse_bytes(text));
              } catch (const std::invalid_argument& e) {
                throw CLI::ValidationError("--memory", e.what());
              }
            }
          },
          "budgets to run with, by commas")
      ->type_name("SIZE,...")
      ->delimiter(',')
      ->required();
  command
      .add_option("--policy", o.policies, "policies to run with, by commas: `holdall policy list`")
      ->type_name("NAME,...")
      ->delimiter(',')
      ->required()
      ->check([](const std::string& text) {
        try {
          (void)make_policy(text);
        } catch (const PolicyError& e) {
          return std::string(e.what());
        }
        return std::string();
      });
  command.add_option("--algorithm", o.algorithm, "what to run")
      ->type_name("NAME")
      ->check(CLI::IsMember({"bfs", "sssp", "pagerank", "cc", "bc", "tc", "kcore"}))
      ->capture_default_str();
  add_count(command, "--source", o.graph.source, "vertex to start from");
  command.add_option("--driver", o.graph.config.driver, "cuda or host")
      ->check(CLI::IsMember({"cuda", "host"}));
  add_bytes(command, "--chunk", o.graph.config.chunk, "unit of paging")->default_str("8MiB");
  command.add_flag("--pinned", o.graph.pinned,
                   "copy a file's edges to pinned host memory first, to be read from there");
}

}  // namespace holdall::apps

// holdall graph plan: what will live where, before anything runs.
#include "apps/graph/plan.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <memory>

#include "apps/graph/generate.hpp"
#include "apps/graph_command/plan.hpp"
#include "engine/vmm/driver.hpp"
#include "engine/vmm/host.hpp"

namespace holdall::apps {

using namespace holdall::graph;  // NOLINT: this file is about graphs

namespace {

// The counts of the graph: from the header where the file has one, else from reading it.
PlanInput counts_of(const GraphOptions& o, std::string& note) {
  if (names_generator(o.input)) {
    const Generator generator = parse_generator(o.input, o.seed);
    if (generator.kind != Generator::Kind::grid) note = "at most: repeated edges will go";
    return {.vertices = generator.vertices(),
            .edges = 2 * generator.edges(),
            .weighted = !o.weights.empty()};
  }
  const Opened opened = open_input(o);
  if (opened.csr)
    return {.vertices = opened.csr->vertices(),
            .edges = opened.csr->edges(),
            .directed = opened.csr->directed,
            .weighted = opened.csr->weights != Weights::none};
  return {.vertices = opened.file.vertices,
          .edges = opened.file.edges,
          .directed = opened.file.directed,
          .weighted = opened.file.weights != Weights::none};
}

nlohmann::json to_json(const AlgorithmPlan& plan) {
  nlohmann::json j{{"algorithm", plan.name},    {"offsets", plan.offsets},
                   {"state", plan.state},       {"edges", plan.edges},
                   {"resident", plan.resident}, {"paged", plan.paged},
                   {"needed", plan.needed},     {"fits", plan.fits},
                   {"possible", plan.possible}, {"seconds", nullptr}};
  if (plan.seconds > 0 || (plan.fits && plan.paged == 0)) j["seconds"] = plan.seconds;
  return j;
}

std::string fate(const AlgorithmPlan& plan) {
  if (!plan.possible)
    return plan.name == "sssp" ? "needs weights, which the graph has none of"
                               : "needs an undirected graph";
  if (!plan.fits) return fmt::format("DOES NOT FIT: needs {}", to_string(plan.needed));
  if (plan.paged == 0) return "all resident";
  return fmt::format("{:.3f} s a pass for the link", plan.seconds);
}

}  // namespace

int run_plan(const PlanOptions& o) {
  // 1. the graph, the memory and the link
  std::string note;
  PlanInput input = counts_of(o.graph, note);
  const bool cuda = o.graph.config.driver == "cuda" ||
                    (o.graph.config.driver.empty() && vmm::cuda_available(nullptr));
  std::unique_ptr<vmm::Driver> driver;
  if (cuda)
    driver = vmm::make_cuda_driver();
  else
    driver = vmm::make_host_driver();
  const int devices = o.graph.config.devices == 0 ? driver->devices() : o.graph.config.devices;
  const Bytes each =
      o.graph.config.memory != 0 ? o.graph.config.memory : driver->info(0).free / 10 * 9;
  input.devices = static_cast<std::uint64_t>(devices);
  input.memory = each * input.devices;
  if (cuda) input.stream = Stream();
  input.chunk = o.graph.config.chunk;
  input.link_rate = o.link > 0 ? o.link * 1e9 : measured_link(*driver, 0);
  // Devices have a link each.
  input.link_rate *= devices;
  std::vector<AlgorithmPlan> plans = plan(input);
  if (!o.algorithm.empty())
    std::erase_if(plans, [&](const AlgorithmPlan& plan) { return plan.name != o.algorithm; });
  const int status = std::ranges::any_of(plans, &AlgorithmPlan::fits) ? 0 : failed;

  // 2. tell
  if (o.graph.json) {
    nlohmann::json j{{"graph", o.graph.input},     {"vertices", input.vertices},
                     {"edges", input.edges},       {"directed", input.directed},
                     {"weighted", input.weighted}, {"memory", input.memory},
                     {"chunk", input.chunk},       {"link", input.link_rate},
                     {"driver", driver->name()},   {"algorithms", nlohmann::json::array()}};
    for (const AlgorithmPlan& plan : plans) j["algorithms"].push_back(to_json(plan));
    fmt::print("{}\n", j.dump());
    return status;
  }
  fmt::print("graph       {}, {} vertices, {} edges{}{}\n", o.graph.input, input.vertices,
             input.edges, input.directed ? ", directed" : "",
             note.empty() ? "" : " (" + note + ")");
  fmt::print("memory      {}, chunks of {}\n", to_string(input.memory), to_string(input.chunk));
  fmt::print("link        {:.2f} GB/s{}\n\n", input.link_rate / 1e9,
             o.link > 0 ? "" : ", measured now");
  fmt::print("{:<10}{:>12}{:>12}{:>12}{:>12}{:>12}\n", "", "offsets", "state", "edges", "resident",
             "paged");
  for (const AlgorithmPlan& plan : plans)
    fmt::print("{:<10}{:>12}{:>12}{:>12}{:>12}{:>12}  {}\n", plan.name, to_string(plan.offsets),
               to_string(plan.state), to_string(plan.edges), to_string(plan.resident),
               to_string(plan.paged), fate(plan));
  return status;
}

void add_plan_options(CLI::App& command, PlanOptions& o) {
  add_input(command, o.graph);
  add_engine_options(command, o.graph.config);
  command.add_option("--link", o.link, "GB/s of each device's link (default: measured now)")
      ->check(is_positive);
  command
      .add_option("--algorithm", o.algorithm,
                  "plan this one alone; the exit status is 1 where nothing that is planned fits")
      ->type_name("NAME")
      ->check(CLI::IsMember({"bfs", "sssp", "pagerank", "cc", "bc", "tc", "kcore"}));
  command.add_flag("--json", o.graph.json, "one JSON object");
}

}  // namespace holdall::apps

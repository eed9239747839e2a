// holdall graph: generate, info, convert, bfs, pagerank, demo.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <limits>
#include <memory>
#include <optional>

#include "apps/command.hpp"
#include "apps/graph/bfs.hpp"
#include "apps/graph/error.hpp"
#include "apps/graph/file.hpp"
#include "apps/graph/generate.hpp"
#include "apps/graph/load.hpp"
#include "apps/graph/paged_graph.hpp"
#include "apps/graph/pagerank.hpp"
#include "apps/graph/reference.hpp"
#include "apps/graph/write.hpp"

namespace holdall::apps {

namespace {

using namespace holdall::graph;  // NOLINT: this file is about graphs

struct Options {
  std::string input;
  std::string output;
  LoadOptions load;
  std::uint64_t seed = 1;
  Config config;
  std::uint64_t source = 0;
  PagedPageRankOptions pagerank;
  std::string result;
  bool verify = false;
  bool json = false;
};

// "nan" is in every range as CLI11 looks at it.
const CLI::Validator is_number(
    [](const std::string& text) {
      return text.find_first_of("nN") == text.npos ? std::string() : "'" + text + "' is no number";
    },
    "");

void add_load_options(CLI::App& command, Options& o) {
  command.add_flag("--symmetrize", o.load.symmetrize, "read text as undirected");
  command.add_flag("--deduplicate", o.load.deduplicate, "keep one of each repeated edge");
  command.add_flag("--remove-self-loops", o.load.remove_self_loops,
                   "drop edges from a vertex to itself");
  command.add_flag("--compact", o.load.compact, "number the vertices that have edges from 0");
  add_count(command, "--seed", o.seed, "of a generated graph");
}

// A graph where it lies, or in memory: from a generator, from text.
struct Opened {
  GraphFile file;
  std::unique_ptr<Csr> csr;
  std::string name;

  bool in_place() const { return csr == nullptr; }
  std::uint64_t vertices() const { return csr ? csr->vertices() : file.vertices; }
  std::uint64_t edges() const { return csr ? csr->edges() : file.edges; }
};

bool changes_graph(const LoadOptions& load) {
  return load.symmetrize || load.deduplicate || load.remove_self_loops || load.compact;
}

void warn(const LoadReport& report) {
  for (const std::string& text : report.notes) note(text);
}

Csr load(const std::filesystem::path& path, LoadOptions options, LoadReport* report = nullptr) {
  apps::Progress progress("reading " + path.string());
  options.progress = [&](std::uint64_t done, std::uint64_t whole) { progress.show(done, whole); };
  return load_graph(path, options, report);
}

Opened open_input(const Options& o) {
  Opened opened;
  opened.name = o.input;
  if (names_generator(o.input)) {
    const Generator generator = parse_generator(o.input, o.seed);
    apps::Progress progress("generating " + o.input);
    opened.csr =
        std::make_unique<Csr>(generate(generator, 0, [&](std::uint64_t done, std::uint64_t whole) {
          progress.show(done, whole);
        }));
    return opened;
  }
  opened.file = open_graph(o.input);
  if (opened.file.in_place() && !changes_graph(o.load)) return opened;
  LoadReport report;
  opened.csr = std::make_unique<Csr>(load(o.input, o.load, &report));
  warn(report);
  return opened;
}

PagedGraph page(Engine& engine, const Opened& opened, const PagedGraph::Options& options) {
  return opened.csr ? PagedGraph(engine, *opened.csr, options)
                    : PagedGraph(engine, opened.file, options);
}

const Csr& in_memory(Opened& opened) {
  if (!opened.csr) opened.csr = std::make_unique<Csr>(load(opened.file.path, {}));
  return *opened.csr;
}

// The file of --output: refused at the start if it cannot be written, there under its name once it
// is whole.
class Answer {
 public:
  explicit Answer(const std::string& path) {
    if (!path.empty()) file_.emplace(path);
  }
  // `line(v)` for each of `count` vertices.
  void write(std::uint64_t count, auto line) {
    if (!file_) return;
    std::string text;
    Bytes written = 0;
    for (std::uint64_t v = 0; v < count; ++v) {
      text += line(v);
      if (text.size() < 1 << 20 && v + 1 < count) continue;
      file_->write(written, text.data(), text.size());
      written += text.size();
      text.clear();
    }
    file_->finish();
  }

 private:
  std::optional<NewFile> file_;
};

// What all runs tell; the traffic since `before`, shadows since the engine began.
nlohmann::json describe(const Opened& opened, const Config& config, Engine& engine,
                        const Traffic& before) {
  const Stats stats = engine.stats();
  nlohmann::json j = to_json(static_cast<Traffic>(stats) - before);
  j["graph"] = opened.name;
  j["vertices"] = opened.vertices();
  j["edges"] = opened.edges();
  j["policy"] = config.policy;
  j["chunk"] = config.chunk;
  j["driver"] = engine.driver().name();
  j["devices"] = engine.devices();
  j["memory"] = engine.memory();
  for (const DeviceStats& device : stats.devices)
    for (const ShadowStats& shadow : device.shadows)
      j["shadows"].push_back(
          {{"policy", shadow.policy}, {"hits", shadow.hits}, {"faults", shadow.faults}});
  return j;
}

// What could not be written at the end, a trace say; the answer is good all the same.
std::optional<std::string> close(Engine& engine) {
  try {
    engine.close();
  } catch (const Error& e) {
    return e.what();
  }
  return {};
}

std::string rate(Bytes bytes, double seconds) {
  return seconds > 0 ? fmt::format("{:.2f} GB/s", static_cast<double>(bytes) / seconds / 1e9) : "-";
}

void print_run(const nlohmann::json& j) {
  const auto line = [](const char* what, const std::string& value) {
    fmt::print("{:<12}{}\n", what, value);
  };
  line("graph", fmt::format("{}, {} vertices, {} edges", j["graph"].get<std::string>(),
                            j["vertices"].get<std::uint64_t>(), j["edges"].get<std::uint64_t>()));
  line("policy", j["policy"]);
  if (j.contains("reached"))
    line("reached", fmt::format("{} vertices in {} levels", j["reached"].get<std::uint64_t>(),
                                j["levels"].get<int>()));
  if (j.contains("iterations"))
    line("iterations", fmt::format("{}, last change {:.3g}", j["iterations"].get<int>(),
                                   j["error"].get<double>()));
  line("hits", std::to_string(j["hits"].get<std::uint64_t>()));
  line("faults", std::to_string(j["faults"].get<std::uint64_t>()));
  line("bytes in", to_string(j["bytes_in"].get<Bytes>()));
  line("bytes out", to_string(j["bytes_out"].get<Bytes>()));
  for (const auto& shadow : j.value("shadows", nlohmann::json::array()))
    line("  shadow", fmt::format("{}: {} hits, {} faults", shadow["policy"].get<std::string>(),
                                 shadow["hits"].get<std::uint64_t>(),
                                 shadow["faults"].get<std::uint64_t>()));
  line("link", rate(j["bytes_in"].get<Bytes>(), j["seconds"].get<double>()));
  line("time", fmt::format("{:.3f} s", j["seconds"].get<double>()));
  if (!j["verified"].is_null()) line("verified", j["verified"].get<bool>() ? "yes" : "NO");
}

// Throws where a file to be written is the graph, or another file to be written.
void check_files(const Options& o) {
  const std::pair<const char*, std::filesystem::path> files[] = {{"GRAPH", o.input},
                                                                 {"--output", o.result},
                                                                 {"--trace", o.config.trace},
                                                                 {"--timeline", o.config.timeline}};
  for (const auto& a : files)
    for (const auto& b : files) {
      std::error_code missing;
      const auto real = [&](const auto& path) { return weakly_canonical(path, missing); };
      if (&a < &b && !a.second.empty() && real(a.second) == real(b.second) && !missing)
        throw CLI::ValidationError(b.first, fmt::format("'{}' is {} too; choose another name",
                                                        b.second.string(), a.first));
    }
}

// How a run ended, besides its answer.
struct Ending {
  std::optional<std::string> wrong;    // what the reference says of the answer
  std::optional<std::string> unsaved;  // what could not be written
};

// Prints what a run gave; the exit status.
int finish(nlohmann::json j, const Options& o, const Ending& ending) {
  if (o.verify)
    j["verified"] = !ending.wrong;
  else
    j["verified"] = nullptr;
  if (o.json)
    fmt::print("{}\n", j.dump());
  else
    print_run(j);
  if (ending.wrong) fmt::print(stderr, "holdall: the answer is wrong: {}\n", *ending.wrong);
  if (ending.unsaved) fmt::print(stderr, "holdall: {}\n", *ending.unsaved);
  return ending.wrong || ending.unsaved ? failed : 0;
}

Watch watch_steps(apps::Progress& progress, const char* step, int of) {
  return [&progress, step, of](const Step& s) {
    progress.show(fmt::format("{} {}: {} edges, {} in, {:.2f} s", step, s.number, s.edges,
                              to_string(s.traffic.bytes_in), s.seconds),
                  static_cast<std::uint64_t>(s.number), static_cast<std::uint64_t>(of));
  };
}

int run_bfs(const Options& o) {
  check_files(o);
  Answer answer(o.result);
  Opened opened;
  nlohmann::json j;
  BfsResult result;
  Ending ending;
  {
    Engine engine(o.config);
    opened = open_input(o);
    if (o.source >= opened.vertices())
      throw GraphError(fmt::format("--source {}: the graph '{}' has {} vertices, from 0 on",
                                   o.source, opened.name, opened.vertices()));
    const PagedGraph graph = page(engine, opened, {.chunk = 0, .out = true, .in = false});
    Bfs bfs(graph);
    const Traffic before = engine.stats();
    apps::Progress progress("BFS");
    result = bfs.run(o.source, watch_steps(progress, "level", 0));
    j = describe(opened, o.config, engine, before);
    ending.unsaved = close(engine);
  }
  j["source"] = o.source;
  j["reached"] = result.reached;
  j["levels"] = result.levels;
  j["seconds"] = result.seconds;
  if (result.reached == 1)
    note(fmt::format("vertex {} has no edge to another, so it reaches itself alone", o.source));
  answer.write(result.parents.size(), [&](std::uint64_t v) {
    const Vertex parent = result.parents[v];
    return parent == unreached ? std::string("-1\n") : fmt::format("{}\n", parent);
  });
  if (o.verify) {
    const Csr& csr = in_memory(opened);
    apps::Progress progress("checking the answer");
    ending.wrong = verify_parents(csr, o.source, result.parents);
  }
  return finish(std::move(j), o, ending);
}

int run_pagerank(const Options& o) {
  check_files(o);
  Answer answer(o.result);
  Opened opened;
  nlohmann::json j;
  PagedPageRank result;
  Ending ending;
  {
    Engine engine(o.config);
    opened = open_input(o);
    const PagedGraph graph = page(engine, opened, {});
    PageRankRun pagerank(graph);
    const Traffic before = engine.stats();
    apps::Progress progress("PageRank");
    result = pagerank.run(o.pagerank, watch_steps(progress, "iteration", o.pagerank.iterations));
    j = describe(opened, o.config, engine, before);
    ending.unsaved = close(engine);
  }
  j["iterations"] = result.iterations;
  j["error"] = result.error;
  j["seconds"] = result.seconds;
  answer.write(result.scores.size(),
               [&](std::uint64_t v) { return fmt::format("{:.9g}\n", result.scores[v]); });
  if (o.verify) {
    const Csr& csr = in_memory(opened);
    apps::Progress progress("checking the answer");
    const PageRank reference = reference_pagerank(
        csr, {.damping = o.pagerank.damping, .iterations = result.iterations, .tolerance = 0});
    ending.wrong = compare_scores(result.scores, reference.scores, 1e-4);
  }
  return finish(std::move(j), o, ending);
}

// ---- demo

struct DemoRow {
  std::string job, where;
  Traffic traffic;
  double seconds = 0;
  double in_memory_seconds = 0;
};

// The largest chunk that still cuts a quarter of the edges into eight.
Bytes demo_chunk(Bytes edge_bytes) {
  Bytes chunk = Bytes{8} << 20;
  while (chunk > Bytes{2} << 20 && chunk * 32 > edge_bytes) chunk /= 2;
  return chunk;
}

struct DemoRun {
  BfsResult bfs;
  PagedPageRank pagerank;
  Traffic bfs_traffic, pagerank_traffic;
  Bytes state = 0;  // leased for good: vertex data
};

// `warm`: whether the edges are in memory already when a job starts, as far as they fit.
DemoRun run_demo_jobs(const Opened& opened, const Config& config, std::uint64_t source, bool warm) {
  DemoRun run;
  Engine engine(config);
  const PagedGraph graph = page(engine, opened, {});
  Bfs bfs(graph);
  PageRankRun pagerank(graph);
  run.state = engine.leased();
  if (warm) {
    bfs.run(source);
    pagerank.run({.iterations = 1});
  }
  Traffic before = engine.stats();
  run.bfs = bfs.run(source);
  run.bfs_traffic = static_cast<Traffic>(engine.stats()) - before;
  before = engine.stats();
  run.pagerank = pagerank.run({.damping = 0.85F, .iterations = 10, .tolerance = 0});
  run.pagerank_traffic = static_cast<Traffic>(engine.stats()) - before;
  return run;
}

std::uint64_t busiest(const Csr& csr) {
  std::uint64_t best = 0;
  for (std::uint64_t v = 1; v < csr.vertices(); ++v)
    if (csr.out.degree(v) > csr.out.degree(best)) best = v;
  return best;
}

int run_demo(const Options& o) {
  // 1. the graph, and the answers in memory
  Opened opened = open_input(o);
  Opened reference;
  reference.file = opened.file;
  const Csr& csr = opened.csr ? *opened.csr : in_memory(reference);
  const std::uint64_t source = busiest(csr);
  Config config = o.config;
  const Bytes edge_bytes = opened.edges() * sizeof(Vertex);
  config.chunk = demo_chunk(edge_bytes);
  // 2. with everything in memory: how long that takes, and how much vertex data there is
  apps::Progress progress("everything in memory");
  const DemoRun in_memory_run = run_demo_jobs(opened, config, source, true);
  progress.show("the reference", 0, 0);
  const PageRank expected =
      reference_pagerank(csr, {.damping = 0.85, .iterations = 10, .tolerance = 0});
  // 3. with room for the vertex data and a quarter of the edges
  const Bytes quarter = std::max(round_up(edge_bytes / 4, config.chunk), config.chunk);
  config.memory = in_memory_run.state + quarter;
  if (quarter >= edge_bytes)
    note(
        fmt::format("the edges of this graph fit into one chunk of {}, so nothing is evicted: try "
                    "a bigger one",
                    to_string(config.chunk)));
  fmt::print(
      "{}: {} vertices, {} edges in {}; memory for the vertex data ({}) and a quarter of the "
      "edges: {}\n",
      opened.name, opened.vertices(), opened.edges(), to_string(edge_bytes),
      to_string(in_memory_run.state), to_string(config.memory));
  std::vector<DemoRow> rows;
  std::optional<std::string> wrong;
  constexpr std::array policies{"lru", "mru", "fifo", "clock", "lfu", "random"};
  for (const char* policy : policies) {
    progress.show(policy, rows.size() / 2, policies.size());
    config.policy = policy;
    const DemoRun run = run_demo_jobs(opened, config, source, false);
    if (!wrong) wrong = verify_parents(csr, source, run.bfs.parents);
    if (!wrong) wrong = compare_scores(run.pagerank.scores, expected.scores, 1e-4);
    rows.push_back({"bfs", policy, run.bfs_traffic, run.bfs.seconds, in_memory_run.bfs.seconds});
    rows.push_back({"pagerank", policy, run.pagerank_traffic, run.pagerank.seconds,
                    in_memory_run.pagerank.seconds});
  }
  // 4. the table
  fmt::print("\n{:<10}{:<10}{:>8}{:>8}{:>12}{:>12}{:>14}{:>10}{:>12}\n", "job", "policy", "hits",
             "faults", "bytes in", "bytes out", "link", "time", "in memory");
  std::ranges::stable_sort(rows, {}, &DemoRow::job);
  for (const DemoRow& row : rows)
    fmt::print("{:<10}{:<10}{:>8}{:>8}{:>12}{:>12}{:>14}{:>8.3f} s{:>10.3f} s\n", row.job,
               row.where, row.traffic.hits, row.traffic.faults, to_string(row.traffic.bytes_in),
               to_string(row.traffic.bytes_out), rate(row.traffic.bytes_in, row.seconds),
               row.seconds, row.in_memory_seconds);
  if (wrong) {
    fmt::print(stderr, "holdall: an answer is wrong: {}\n", *wrong);
    return failed;
  }
  fmt::print("\nAll answers equal those of the in-memory reference.\n");
  return 0;
}

// ---- files

int run_info(const Options& o) {
  Opened opened = open_input(o);
  const Csr& csr = in_memory(opened);
  const Summary summary = summarize(csr);
  nlohmann::json j{{"graph", opened.name},
                   {"directed", csr.directed},
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

int run_convert(const Options& o) {
  const Output output = output_of(o.output);
  (void)NewFile(o.output);  // refused now rather than when all is read
  Opened opened = open_input(o);
  const Csr& csr = in_memory(opened);
  apps::Progress progress("writing " + o.output);
  write_graph(csr, o.output, output);
  return 0;
}

}  // namespace

void add_graph(CLI::App& app, int& status) {
  CLI::App* const group = app.add_subcommand("graph", "graphs bigger than the GPU");
  group->require_subcommand(1);
  const auto sub = [&](const char* name, const char* help, int (*run)(const Options&)) {
    auto options = std::make_shared<Options>();
    CLI::App* const command = group->add_subcommand(name, help);
    command->callback([options, run, &status] { status = run(*options); });
    return std::pair(command, options.get());
  };
  const auto input = [](CLI::App& command, Options& o) {
    command
        .add_option("GRAPH", o.input,
                    "a file of any known format, kron:SCALE[:EDGEFACTOR] or urand:…")
        ->required();
    add_load_options(command, o);
  };
  {
    auto [command, o] = sub("generate", "make a random graph and write it to a file", run_convert);
    command->add_option("GRAPH", o->input, "kron:SCALE[:EDGEFACTOR] or urand:SCALE[:EDGEFACTOR]")
        ->required()
        ->check([](const std::string& text) {
          return names_generator(text) ? std::string()
                                       : "'" + text + "' names no generator: kron:… or urand:…";
        });
    command->add_option("FILE", o->output, "ends in .hold, .sg, .el, .txt or .mtx")->required();
    add_count(*command, "--seed", o->seed, "another number, another graph");
  }
  {
    auto [command, o] = sub("convert", "write a graph in another format", run_convert);
    input(*command, *o);
    command->add_option("FILE", o->output, "ends in .hold, .sg, .el, .txt or .mtx")->required();
  }
  {
    auto [command, o] = sub("info", "count vertices, edges, loops, duplicates", run_info);
    input(*command, *o);
    command->add_flag("--json", o->json, "one JSON object");
  }
  const auto run_options = [&](CLI::App& command, Options& o) {
    input(command, o);
    add_engine_options(command, o.config);
    command.add_option("--output", o.result, "write the answer to this file, a line a vertex");
    command.add_flag("--verify", o.verify, "compare with the answer of a serial run in memory");
    command.add_flag("--json", o.json, "one JSON object");
  };
  {
    auto [command, o] = sub("bfs", "breadth-first search", run_bfs);
    run_options(*command, *o);
    add_count(*command, "--source", o->source, "vertex to start from");
  }
  {
    auto [command, o] =
        sub("pagerank", "PageRank, as the GAP benchmark suite defines it", run_pagerank);
    run_options(*command, *o);
    command->add_option("--iterations", o->pagerank.iterations, "at most so many")
        ->check(CLI::Range(1, 1000000))
        ->capture_default_str();
    command
        ->add_option("--tolerance", o->pagerank.tolerance, "stop once scores change by less in all")
        ->check(CLI::Range(0.0, std::numeric_limits<double>::max()) & is_number)
        ->capture_default_str();
    command->add_option("--damping", o->pagerank.damping)
        ->check(CLI::Range(0.0, 1.0) & is_number)
        ->capture_default_str();
  }
  {
    auto [command, o] =
        sub("demo", "BFS and PageRank with a quarter of the edges in memory, checked", run_demo);
    input(*command, *o);
    command->add_option("--driver", o->config.driver, "cuda or host")
        ->check(CLI::IsMember({"cuda", "host"}));
  }
}

}  // namespace holdall::apps

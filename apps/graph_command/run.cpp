#include "apps/graph_command/run.hpp"

#include <cstdio>
#include <filesystem>
#include <memory>
#include <utility>

#include "apps/graph/error.hpp"
#include "apps/graph/file.hpp"
#include "apps/graph/processes.hpp"
#include "apps/graph/sources.hpp"
#include "apps/graph/split.hpp"

namespace holdall::apps {

using namespace holdall::graph;  // NOLINT: this file is about graphs

std::string rate(Bytes bytes, double seconds) {
  return seconds > 0 ? fmt::format("{:.2f} GB/s", static_cast<double>(bytes) / seconds / 1e9) : "-";
}

namespace {

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
  std::optional<graph::NewFile> file_;
};

// What all runs tell; `traffic` is of the run alone, shadows are since the engine began.
nlohmann::json describe(const Opened& opened, const Config& config, Engine& engine,
                        const Traffic& traffic) {
  nlohmann::json j = to_json(traffic);
  j["graph"] = opened.name;
  j["vertices"] = opened.vertices();
  j["edges"] = opened.edges();
  j["policy"] = config.policy;
  j["chunk"] = config.chunk;
  j["driver"] = engine.driver().name();
  j["devices"] = engine.devices();
  j["memory"] = engine.memory();
  const std::vector<DeviceStats> devices = engine.stats().devices;
  for (std::size_t device = 0; device < devices.size(); ++device)
    for (const ShadowStats& shadow : devices[device].shadows)
      j["shadows"].push_back({{"device", device},
                              {"policy", shadow.policy},
                              {"hits", shadow.hits},
                              {"faults", shadow.faults}});
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

void print_run(const nlohmann::json& j) {
  const auto line = [](const std::string& what, const std::string& value) {
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
  for (const char* what : {"components", "triangles", "cores", "searches"})
    if (j.contains(what)) line(what, std::to_string(j[what].get<std::uint64_t>()));
  if (j.contains("mean_seconds"))
    line("mean time", fmt::format("{:.4f} s", j["mean_seconds"].get<double>()));
  line("hits", std::to_string(j["hits"].get<std::uint64_t>()));
  line("faults", std::to_string(j["faults"].get<std::uint64_t>()));
  line("prefetched", std::to_string(j["prefetched"].get<std::uint64_t>()));
  line("bytes in", to_string(j["bytes_in"].get<Bytes>()));
  line("in place", to_string(j["bytes_in_place"].get<Bytes>()));
  line("bytes out", to_string(j["bytes_out"].get<Bytes>()));
  for (const auto& shadow : j.value("shadows", nlohmann::json::array()))
    line("  shadow",
         fmt::format(
             "{}{}: {} hits, {} faults",
             j["devices"] == 1 ? "" : fmt::format("device {}, ", shadow["device"].get<int>()),
             shadow["policy"].get<std::string>(), shadow["hits"].get<std::uint64_t>(),
             shadow["faults"].get<std::uint64_t>()));
  line("link", rate(j["bytes_in"].get<Bytes>() + j["bytes_in_place"].get<Bytes>(),
                    j["seconds"].get<double>()));
  line("time", fmt::format("{:.3f} s", j["seconds"].get<double>()));
  if (!j["verified"].is_null()) line("verified", j["verified"].get<bool>() ? "yes" : "NO");
}

// Throws where a file to be written is the graph, or another file to be written.
void check_files(const GraphOptions& o) {
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

double hit_rate(const Traffic& traffic) {
  const std::uint64_t all = traffic.hits + traffic.faults;
  return all == 0 ? 1 : static_cast<double>(traffic.hits) / static_cast<double>(all);
}

nlohmann::json describe(const Step& step) {
  nlohmann::json j{{"frontier", step.vertices},
                   {"edges", step.edges},
                   {"edges_in_place", step.edges_in_place},
                   {"bytes_in", step.traffic.bytes_in},
                   {"bytes_in_place", step.bytes_in_place},
                   {"hits", step.traffic.hits},
                   {"faults", step.traffic.faults},
                   {"seconds", step.seconds}};
  if (step.bottom_up) j["bottom_up"] = true;
  if (step.error > 0) j["error"] = step.error;
  return j;
}

// The traffic of all processes.
Traffic add_up(Exchange& exchange, const Traffic& mine) {
  std::uint64_t sums[] = {mine.hits,        mine.faults,   mine.prefetched, mine.evictions,
                          mine.write_backs, mine.bytes_in, mine.bytes_out};
  exchange.sum(sums);
  return {sums[0], sums[1], sums[2], sums[3], sums[4], sums[5], sums[6]};
}

// What one of several processes does otherwise than one alone.
GraphOptions of_process(GraphOptions o, const Algorithm& algorithm, const Processes& processes) {
  if (processes.count() == 1) return o;
  if (!algorithm.splits)
    throw Error(
        fmt::format("{} is not split over processes: run it without mpirun, or one of bfs, "
                    "sssp, pagerank and cc",
                    algorithm.name));
  if (o.config.devices != 1)
    throw Error(
        fmt::format("--devices {}: under mpirun a process has one device; start more of them",
                    o.config.devices));
  if (processes.rank() == 0) return o;
  leave_notes_out();
  o.verify = o.json = false;
  o.result.clear();
  for (std::filesystem::path* const path : {&o.config.trace, &o.config.timeline})
    if (!path->empty()) *path += fmt::format(".{}", processes.rank());
  return o;
}

int run_here(const Algorithm& algorithm, const GraphOptions& o, const Processes& processes) {
  Answer answer(o.result);
  Opened opened;
  nlohmann::json j, steps = nlohmann::json::array();
  Outcome outcome;
  Bytes in_place = 0;
  std::optional<std::string> unsaved, wrong;
  // 1. run
  {
    Engine engine(o.config);
    note_memory(engine, o.config);
    opened = open_input(o);
    if (algorithm.check != nullptr) algorithm.check(o, opened);
    if (opened.in_place() && o.schedule.paged_from > 1)
      throw GraphError(
          fmt::format("--path in-place: '{}' stays in its file, where nothing can be read in "
                      "place: add --pinned, which copies it to pinned host memory",
                      opened.name));
    apps::Progress progress(algorithm.name);
    const auto watch = [&](const Step& s) {
      in_place += s.bytes_in_place;
      if (o.json) steps.push_back(describe(s));
      progress.show(
          fmt::format("{} {}: frontier {}, {} edges, {} paged + {} in place, hits {:.0f} %, {}",
                      algorithm.step, s.number, s.vertices, s.edges, to_string(s.traffic.bytes_in),
                      to_string(s.bytes_in_place), 100 * hit_rate(s.traffic),
                      rate(s.traffic.bytes_in + s.bytes_in_place, s.seconds)),
          0, 0);
    };
    Traffic before;
    const auto run = [&](const PagedGraph& graph) {
      if (graph.exchange().part() > 0) return algorithm.run(graph, o, {});
      before = engine.stats();
      return algorithm.run(graph, o, watch);
    };
    const std::unique_ptr<Exchange> exchange = processes.exchange(engine);
    if (algorithm.splits && engine.devices() > 1)
      outcome = opened.csr ? on_all_devices(engine, *opened.csr, algorithm.pages, run)
                           : on_all_devices(engine, opened.file, algorithm.pages, run);
    else
      outcome = run(page(engine, opened, algorithm.pages, {exchange.get(), 0, {}}));
    j = describe(opened, o.config, engine,
                 add_up(*exchange, static_cast<Traffic>(engine.stats()) - before));
    if (processes.count() > 1) j["processes"] = processes.count();
    unsaved = close(engine);
  }
  if (processes.rank() > 0) {
    if (unsaved) tell("holdall: process {}: {}\n", processes.rank(), *unsaved);
    return unsaved ? failed : 0;
  }
  j.update(outcome.facts);
  j["seconds"] = outcome.seconds;
  j["bytes_in_place"] = in_place;
  j["steps"] = std::move(steps);
  answer.write(outcome.lines, outcome.line);
  // 2. check
  if (o.verify) {
    const Csr& csr = in_memory(opened);
    apps::Progress progress("checking the answer");
    wrong = outcome.verify(csr);
    j["verified"] = !wrong;
  } else {
    j["verified"] = nullptr;
  }
  // 3. tell
  if (o.json)
    fmt::print("{}\n", j.dump());
  else
    print_run(j);
  if (wrong) tell("holdall: the answer is wrong: {}\n", *wrong);
  if (unsaved) tell("holdall: {}\n", *unsaved);
  return wrong || unsaved ? failed : 0;
}

}  // namespace

int run_algorithm(const Algorithm& algorithm, const GraphOptions& given) {
  GraphOptions o = given;
  o.uses_weights = algorithm.pages.weights;
  check_files(o);
  if (o.sources > 0 && !o.result.empty())
    throw CLI::ValidationError("--output", "holds the answer of one search: leave out --sources");
  const Processes processes;
  if (processes.count() == 1) return run_here(algorithm, o, processes);
  try {
    return run_here(algorithm, of_process(o, algorithm, processes), processes);
  } catch (const std::exception& e) {
    tell("holdall: process {}: {}\n", processes.rank(), e.what());
    std::fflush(stderr);
    processes.abort(failed);
  }
}

void add_sources(CLI::App& command, GraphOptions& o) {
  CLI::Option* const one = add_count(command, "--source", o.source, "vertex to start from");
  add_count(command, "--sources", o.sources,
            "so many searches, one after the other, from vertices that have edges, drawn")
      ->check([](const std::string& text) {
        return text == "0" ? std::string("at least one is needed") : std::string();
      })
      ->excludes(one);
}

void check_source(const GraphOptions& o, const Opened& opened) {
  if (o.source >= opened.vertices())
    throw GraphError(fmt::format("--source {}: the graph '{}' has {} vertices, from 0 on", o.source,
                                 opened.name, opened.vertices()));
}

std::vector<Vertex> sources_of(const PagedGraph& graph, const GraphOptions& o) {
  if (o.sources > 0) return pick_sources(graph, o.sources);
  return {static_cast<Vertex>(o.source)};
}

}  // namespace holdall::apps

#include "apps/graph_command/input.hpp"

#include <utility>

#include "apps/graph/generate.hpp"
#include "apps/graph/weights.hpp"

namespace holdall::apps {

using namespace holdall::graph;  // NOLINT: this file is about graphs

void add_load_options(CLI::App& command, GraphOptions& o) {
  command.add_flag("--symmetrize", o.load.symmetrize, "read text as undirected");
  command.add_flag("--deduplicate", o.load.deduplicate,
                   "keep one of each repeated edge, that of the least weight");
  command.add_flag("--remove-self-loops", o.load.remove_self_loops,
                   "drop edges from a vertex to itself");
  command.add_flag("--compact", o.load.compact, "number the vertices that have edges from 0");
  command
      .add_option_function<std::string>(
          "--relabel",
          [&o](const std::string& by) {
            o.load.relabel =
                by == "degree" ? LoadOptions::Relabel::degree : LoadOptions::Relabel::none;
          },
          "number the vertices anew: by degree, the greatest first, or none")
      ->type_name("BY")
      ->check(CLI::IsMember({"degree", "none"}));
  command.add_flag("--unweighted", o.load.unweighted, "pass over weights");
  add_count(command, "--seed", o.seed, "of a generated graph, and of weights");
  command
      .add_option("--weights", o.weights,
                  "give a graph without weights some, from 1 to 255: int32 or float32")
      ->type_name("KIND")
      ->check(CLI::IsMember({"int32", "float32"}));
}

void add_input(CLI::App& command, GraphOptions& o) {
  command
      .add_option("GRAPH", o.input,
                  "a file of any known format, kron:SCALE[:EDGEFACTOR], urand:… or grid:RxC")
      ->required();
  add_load_options(command, o);
}

namespace {

bool changes_graph(const LoadOptions& load) {
  return load.symmetrize || load.deduplicate || load.remove_self_loops || load.compact ||
         load.relabel != LoadOptions::Relabel::none;
}

void give_weights(Csr& csr, const GraphOptions& o) {
  if (o.weights.empty() || csr.weights != Weights::none) return;
  add_weights(csr, o.weights == "int32" ? Weights::int32 : Weights::float32, o.seed);
}

void warn(const LoadReport& report) {
  for (const std::string& text : report.notes) note(text);
}

Csr load(const std::filesystem::path& path, LoadOptions options, LoadReport* report = nullptr) {
  apps::Progress progress("reading " + path.string());
  options.progress = [&](std::uint64_t done, std::uint64_t whole) { progress.show(done, whole); };
  return load_graph(path, options, report);
}

}  // namespace

Opened open_input(const GraphOptions& o) {
  Opened opened;
  opened.name = o.input;
  if (names_generator(o.input)) {
    const Generator generator = parse_generator(o.input, o.seed);
    apps::Progress progress("generating " + o.input);
    opened.csr =
        std::make_unique<Csr>(generate(generator, 0, [&](std::uint64_t done, std::uint64_t whole) {
          progress.show(done, whole);
        }));
    give_weights(*opened.csr, o);
    return opened;
  }
  opened.file = open_graph(o.input);
  const bool lacks_weights = !o.weights.empty() && opened.file.weights == Weights::none;
  const bool drops_weights = o.load.unweighted && opened.file.weights != Weights::none;
  if (opened.file.in_place() && !changes_graph(o.load) && !lacks_weights && !drops_weights &&
      !o.pinned)
    return opened;
  LoadReport report;
  LoadOptions options = o.load;
  options.unweighted = options.unweighted || !o.uses_weights;
  opened.csr = std::make_unique<Csr>(load(o.input, options, &report));
  warn(report);
  opened.file.format = report.format;
  give_weights(*opened.csr, o);
  return opened;
}

PagedGraph page(Engine& engine, const Opened& opened, const PagedGraph::Options& options,
                const PagedGraph::Part& part) {
  return opened.csr ? PagedGraph(engine, *opened.csr, options, part)
                    : PagedGraph(engine, opened.file, options, part);
}

const Csr& in_memory(Opened& opened) {
  if (!opened.csr) opened.csr = std::make_unique<Csr>(load(opened.file.path, {}));
  return *opened.csr;
}

}  // namespace holdall::apps

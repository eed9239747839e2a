// holdall policy mrc, bound, sweep and report.
#include <fmt/format.h>
#include <spawn.h>
#include <sys/wait.h>
#include <tbb/global_control.h>
#include <tbb/parallel_for.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <set>

#include "apps/policy/curve.hpp"
#include "apps/policy/error.hpp"
#include "apps/policy/table.hpp"
#include "apps/policy_commands.hpp"

namespace holdall::apps {

namespace {

std::size_t cores(const LabOptions& options) {
  return options.threads ? options.threads : std::max(1u, std::thread::hardware_concurrency());
}

lab::Trace read(const LabOptions& options, const std::string& path, Progress& progress) {
  lab::TraceOptions reads = options.trace_options();
  reads.progress = reading(progress, path);
  lab::Trace trace = read_trace(path, reads);
  note_facts(path, trace.facts);
  return trace;
}

// Sizes spread evenly over the logarithm, from 1 to the footprint.
std::vector<std::uint64_t> spread(std::uint64_t footprint, std::size_t points) {
  std::set<std::uint64_t> sizes;
  for (std::size_t i = 0; i < points; ++i)
    sizes.insert(static_cast<std::uint64_t>(
        std::llround(std::pow(static_cast<double>(footprint),
                              static_cast<double>(i) / static_cast<double>(points - 1)))));
  return {sizes.begin(), sizes.end()};
}

struct Point {
  std::string policy;
  std::uint64_t size;
  double misses, error;  // the error of the miss ratio; less than 0: exact
};

struct CurveOptions {
  LabOptions lab;
  double sampled = 0;
  std::uint64_t points = 64;
  bool json = false, all = false;
};

std::vector<Point> exact(const CurveOptions& o, lab::Trace& trace,
                         const std::vector<std::uint64_t>& sizes, std::uint64_t& uses) {
  std::vector<Point> points;
  const auto add = [&](const std::string& policy, const auto& misses) {
    for (const std::uint64_t size : sizes)
      points.push_back({policy, size, static_cast<double>(misses(size)), -1});
  };
  for (const std::string& policy : o.lab.policy_list()) {
    if (policy == "lru" || policy == "mru") {
      const lab::Curve curve = policy == "lru" ? lab::lru_curve(trace.requests(), trace.distinct())
                                               : lab::mru_curve(trace.requests(), trace.distinct());
      uses = curve.requests;
      add(policy, [&](std::uint64_t size) { return curve.misses(size); });
      continue;
    }
    std::vector<std::uint64_t> misses(sizes.size());
    const bool ahead = policy == "opt" || policy.starts_with("opt:");
    if (ahead && trace.next_uses.empty()) find_next_uses(trace);
    std::vector<std::uint64_t> requests(sizes.size());
    tbb::parallel_for(
        std::size_t{0}, sizes.size(),
        [&](std::size_t i) {
          const lab::Counts counts =
              replay(trace.requests(), policy, {.capacity = sizes[i], .chunk = o.lab.chunk});
          misses[i] = counts.misses;
          requests[i] = counts.requests;
        },
        tbb::simple_partitioner());
    if (!requests.empty()) uses = requests.front();
    std::size_t next = 0;
    add(policy, [&](std::uint64_t) { return misses[next++]; });
  }
  return points;
}

void mrc(const CurveOptions& o) {
  const tbb::global_control limit(tbb::global_control::max_allowed_parallelism, cores(o.lab));
  const std::string& path = o.lab.traces.front();
  std::vector<Point> points;
  std::uint64_t uses = 0;
  {
    Progress progress("reading " + path);
    lab::Trace trace = read(o.lab, path, progress);
    progress.show("replaying", 0, 0);
    std::vector<std::uint64_t> sizes;
    if (o.all)
      for (std::uint64_t size = 1; size <= trace.distinct(); ++size) sizes.push_back(size);
    else
      sizes = spread(trace.distinct(), std::max<std::uint64_t>(2, o.points));
    if (o.sampled > 0) {
      for (const std::string& policy : o.lab.policy_list())
        if (policy != "lru")
          throw lab::LabError(fmt::format(
              "--sampled is for lru; for {}, replay a sample: `holdall policy trace sample`",
              policy));
      for (std::size_t k = 0; k <= trace_overwrite; ++k) uses += trace.facts.kinds[k];
      for (const lab::SampledPoint& p : lab::sampled_lru_curve(trace, o.sampled, sizes))
        points.push_back({"lru", p.capacity, p.miss_ratio * static_cast<double>(uses), p.error});
    } else {
      points = exact(o, trace, sizes, uses);
    }
  }
  if (o.json) {
    nlohmann::json all = nlohmann::json::array();
    for (const Point& p : points) {
      nlohmann::json one{{"policy", p.policy},
                         {"size", p.size},
                         {"requests", uses},
                         {"miss_ratio", uses ? p.misses / static_cast<double>(uses) : 0}};
      if (p.error < 0)
        one["misses"] = static_cast<std::uint64_t>(p.misses);
      else
        one["error"] = p.error;
      all.push_back(one);
    }
    fmt::print("{}\n", all.dump());
    return;
  }
  fmt::print("policy,size,requests,misses,miss_ratio{}\n", o.sampled > 0 ? ",error" : "");
  for (const Point& p : points) {
    fmt::print("\"{}\",{},{},{:.0f},{:.6f}", p.policy, p.size, uses, p.misses,
               uses ? p.misses / static_cast<double>(uses) : 0);
    fmt::print("{}\n", p.error < 0 ? "" : fmt::format(",{:.6f}", p.error));
  }
}

void bound(const LabOptions& options, bool json) {
  const std::string& path = options.traces.front();
  nlohmann::json all = nlohmann::json::array();
  {
    Progress progress("reading " + path);
    lab::Trace trace = read(options, path, progress);
    find_next_uses(trace);
    progress.show("looking ahead", 0, 0);
    std::uint64_t uses = 0;
    std::vector<bool> used(trace.distinct());
    for (std::size_t i = 0; i < trace.ids.size(); ++i)
      if (trace.kinds.empty() || trace.kinds[i] <= trace_overwrite)
        ++uses, used[trace.ids[i]] = true;
    const auto compulsory = std::ranges::count(used, true);
    for (const lab::Size& size : lab::parse_sizes(options.sizes)) {
      const std::uint64_t capacity = size.capacity(false, options.chunk, trace.distinct());
      all.push_back({{"size", capacity},
                     {"requests", uses},
                     {"compulsory", compulsory},
                     {"opt", lab::opt_misses(trace.requests(), capacity, false)},
                     {"opt_bypass", lab::opt_misses(trace.requests(), capacity, true)}});
    }
  }
  if (json) {
    fmt::print("{}\n", all.size() == 1 ? all[0].dump() : all.dump());
    return;
  }
  fmt::print("{:>12}  {:>12}  {:>12}  {:>12}  {:>12}\n", "size", "requests", "compulsory", "opt",
             "with bypass");
  for (const auto& row : all)
    fmt::print("{:>12}  {:>12}  {:>12}  {:>12}  {:>12}\n", row["size"].get<std::uint64_t>(),
               row["requests"].get<std::uint64_t>(), row["compulsory"].get<std::uint64_t>(),
               row["opt"].get<std::uint64_t>(), row["opt_bypass"].get<std::uint64_t>());
}

// What names a run in the table.
std::string name_of(const lab::Result& r) {
  return fmt::format("{}\n{}\n{}\n{}", r.trace, r.policy, r.capacity, r.sizes);
}

// A table that was broken off may end within a line: what is not whole goes.
void cut_unfinished_line(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  const std::string text{std::istreambuf_iterator<char>(in), {}};
  const std::size_t whole = text.rfind('\n') + 1;
  if (whole < text.size()) std::filesystem::resize_file(path, whole);
}

void sweep(const LabOptions& options, const std::string& output) {
  using Clock = std::chrono::steady_clock;
  const tbb::global_control limit(tbb::global_control::max_allowed_parallelism, cores(options));
  const lab::Cost cost = options.cost();

  // 1. what is done already
  std::set<std::string> done;
  if (std::filesystem::exists(output)) {
    cut_unfinished_line(output);
    for (const lab::Result& result : lab::read_results(output)) done.insert(name_of(result));
  }
  std::ofstream table(output, std::ios::app | std::ios::binary);
  if (table && std::filesystem::file_size(output) == 0) table << lab::csv_header() << std::flush;

  // 2. the rest, a trace at a time
  Progress progress("sweep");
  std::size_t skipped = 0, ran = 0;
  const auto policies = options.policy_list();
  for (const std::string& path : options.traces) {
    lab::Trace trace = read(options, path, progress);
    for (const lab::Result& known : lab::read_results(output))
      if (known.trace == trace.name &&
          known.counts.requests + known.counts.prefetched > trace.ids.size())
        throw lab::LabError(
            fmt::format("{}: has results of another trace called '{}'", output, trace.name));
    std::vector<lab::Cell> cells;
    for (lab::Cell& cell : cells_of(options, [&] { return trace.footprint(); })) {
      if (done.insert(
                  name_of({trace.name, cell.policy, cell.options.capacity, cell.options.sizes, {}}))
              .second)
        cells.push_back(std::move(cell));
      else
        ++skipped;
    }
    if (cells.empty()) continue;
    if (std::ranges::any_of(policies,
                            [](const auto& p) { return p == "opt" || p.starts_with("opt:"); }))
      find_next_uses(trace);
    const auto began = Clock::now();
    std::size_t finished = 0;
    run_cells(trace, cells, [&](lab::Result result) {
      result.modelled = cost.seconds(result.counts);
      table << lab::to_csv(result) << std::flush;
      ++finished;
      const double passed = std::chrono::duration<double>(Clock::now() - began).count();
      const double left =
          passed / static_cast<double>(finished) * static_cast<double>(cells.size() - finished);
      progress.show(fmt::format("{}: {} of {} cells, {:.0f} s to go", trace.name, finished,
                                cells.size(), left),
                    finished, cells.size());
    });
    ran += finished;
  }
  table.close();
  if (!table) throw lab::LabError(fmt::format("{}: cannot be written", output));
  fmt::print("{} cells run, {} were there already: {}\n", ran, skipped, output);
}

// The drawing is a Python script installed with the program: beside the source tree's program it is
// in bench/.
std::string report_script() {
  if (const char* const named = std::getenv("HOLDALL_REPORT")) return named;
  std::error_code error;
  const auto program = std::filesystem::read_symlink("/proc/self/exe", error);
  for (const char* const place : {"../share/holdall/report.py", "../../apps/policy/report.py"}) {
    const auto script = program.parent_path() / place;
    if (std::filesystem::exists(script)) return script.lexically_normal().string();
  }
  throw lab::LabError(
      "report.py is not where this program was installed to; name it with HOLDALL_REPORT=FILE");
}

int report(const std::string& table, const std::string& output, const std::string& heat) {
  (void)lab::read_results(table);  // says what is wrong with it
  std::vector<std::string> words{"python3", report_script(), table, output};
  if (!heat.empty()) words.push_back(heat);
  std::vector<char*> raw;
  for (std::string& word : words) raw.push_back(word.data());
  raw.push_back(nullptr);
  pid_t child = 0;
  if (posix_spawnp(&child, "python3", nullptr, nullptr, raw.data(), environ) != 0)
    throw lab::LabError(
        "python3 cannot be run: reports need it, and matplotlib: apt-get install "
        "python3-matplotlib");
  int status = 0;
  if (::waitpid(child, &status, 0) != child || !WIFEXITED(status)) return failed;
  if (WEXITSTATUS(status) != 0) return failed;
  fmt::print("{}\n", output);
  return 0;
}

// The accesses of chunks over time, counted on a grid, for the report to colour.
void heat_map(const LabOptions& options, const std::string& path, const std::string& to) {
  constexpr std::size_t across = 200, down = 100;
  Progress progress("reading " + path);
  const lab::Trace trace = read(options, path, progress);
  std::vector<std::uint64_t> order(trace.keys);
  std::ranges::sort(order);
  std::vector<std::uint32_t> row(trace.distinct());
  for (std::size_t id = 0; id < trace.distinct(); ++id) {
    const auto rank =
        static_cast<std::size_t>(std::ranges::lower_bound(order, trace.keys[id]) - order.begin());
    row[id] = static_cast<std::uint32_t>(rank * down / trace.distinct());
  }
  nlohmann::json grid;
  std::vector<std::vector<std::uint64_t>> counts(down, std::vector<std::uint64_t>(across));
  for (std::size_t i = 0; i < trace.ids.size(); ++i)
    ++counts[row[trace.ids[i]]][i * across / trace.ids.size()];
  grid["trace"] = trace.name;
  grid["counts"] = counts;
  std::ofstream(to) << grid;
}

}  // namespace

void add_policy_curve(CLI::App& group, int& status) {
  {
    CLI::App* const command =
        group.add_subcommand("mrc", "misses at every size: exact, or from a sample");
    auto o = std::make_shared<CurveOptions>();
    add_trace_argument(*command, o->lab);
    add_grid_options(*command, o->lab);
    add_format_options(*command, o->lab);
    command->remove_option(command->get_option("--size"));
    command->remove_option(command->get_option("--sizes"));
    command->remove_option(command->get_option("--cost"));
    command
        ->add_option("--sampled", o->sampled,
                     "from this share of the chunks, with the standard error (SHARDS)")
        ->type_name("RATE")
        ->check([](const std::string& text) {
          const double rate = std::strtod(text.c_str(), nullptr);
          return rate > 0 && rate <= 1 ? std::string()
                                       : "'" + text + "' is no share above 0 and up to 1";
        });
    add_count(*command, "--points", o->points, "sizes to print, evenly over their logarithm");
    command->add_flag("--all", o->all, "print every size");
    command->add_flag("--json", o->json, "an array of JSON objects");
    command->callback([=, &status] {
      mrc(*o);
      status = 0;
    });
  }
  {
    CLI::App* const command = group.add_subcommand(
        "bound", "what no policy can beat: opt with and without bypass, compulsory misses");
    auto options = std::make_shared<LabOptions>();
    auto json = std::make_shared<bool>(false);
    add_trace_argument(*command, *options);
    add_grid_options(*command, *options);
    add_format_options(*command, *options);
    for (const char* const unused : {"--policy", "--sizes", "--cost", "--threads"})
      command->remove_option(command->get_option(unused));
    command->add_flag("--json", *json, "one JSON object, an array of several");
    command->callback([=, &status] {
      bound(*options, *json);
      status = 0;
    });
  }
  {
    CLI::App* const command = group.add_subcommand(
        "sweep", "traces x policies x sizes, on all cores, into a csv; run again, it goes on");
    auto options = std::make_shared<LabOptions>();
    auto output = std::make_shared<std::string>();
    add_trace_argument(*command, *options, true);
    command->add_option("--output", *output, "the csv")->required()->type_name("FILE");
    add_grid_options(*command, *options);
    add_format_options(*command, *options);
    command->callback([=, &status] {
      sweep(*options, *output);
      status = 0;
    });
  }
  {
    CLI::App* const command = group.add_subcommand(
        "report",
        "a sweep's csv as one HTML file with its charts; beside it, each chart as SVG and PNG");
    auto table = std::make_shared<std::string>(),
         output = std::make_shared<std::string>("report.html");
    auto options = std::make_shared<LabOptions>();
    command->add_option("table", *table, "what sweep wrote")->required()->type_name("CSV");
    command->add_option("--output", *output, "the page")->type_name("FILE")->capture_default_str();
    command->add_option("--trace", options->traces, "also draw when its chunks are used")
        ->expected(1)
        ->type_name("TRACE");
    add_format_options(*command, *options);
    command->callback([=, &status] {
      std::string heat;
      if (!options->traces.empty()) {
        heat = *output + ".heat.json";
        heat_map(*options, options->traces.front(), heat);
      }
      status = report(*table, *output, heat);
      if (!heat.empty()) std::filesystem::remove(heat);
    });
  }
}

}  // namespace holdall::apps

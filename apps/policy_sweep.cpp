// holdall policy sweep and report: traces x policies x sizes, and what came of it.
#include <fmt/format.h>
#include <tbb/global_control.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <optional>
#include <set>

#include "apps/child.hpp"
#include "apps/policy/error.hpp"
#include "apps/policy/table.hpp"
#include "apps/policy_commands.hpp"
#include "engine/new_file.hpp"

namespace holdall::apps {

namespace {

// What names a run in the table.
std::string name_of(const lab::Result& r) {
  return fmt::format("{}\n{}\n{}\n{}", r.trace, r.policy, r.capacity, r.sizes);
}

// The table, a row more with each run. What is in it stays whatever becomes of the sweep, so that
// the next goes on from there.
class Table {
 public:
  explicit Table(const std::string& path) : path_(path) {
    file_ = std::fopen(path.c_str(), "a+b");
    if (file_ == nullptr) fail(errno);
    cut_unfinished_line();
  }
  Table(const Table&) = delete;
  Table& operator=(const Table&) = delete;
  ~Table() {
    std::error_code none;
    if (whole_ == 0) std::filesystem::remove(path_, none);
    std::fclose(file_);
  }

  bool empty() const { return whole_ == 0; }
  // Throws LabError if it cannot be written; what is not whole goes.
  void add(const std::string& line) {
    errno = 0;
    if (std::fwrite(line.data(), line.size(), 1, file_) == 1 && std::fflush(file_) == 0) {
      whole_ += line.size();
      return;
    }
    const int error = errno;
    std::error_code none;
    std::filesystem::resize_file(path_, whole_, none);
    fail(error);
  }

 private:
  // One that was broken off may end within a line.
  void cut_unfinished_line() {
    std::ifstream in(path_, std::ios::binary);
    const std::string text{std::istreambuf_iterator<char>(in), {}};
    whole_ = text.rfind('\n') + 1;
    if (whole_ < text.size()) std::filesystem::resize_file(path_, whole_);
  }
  [[noreturn]] void fail(int error) const {
    throw lab::LabError(fmt::format("{}: cannot be written: {}", path_, why(error)));
  }

  const std::string path_;
  std::FILE* file_ = nullptr;
  std::size_t whole_ = 0;  // bytes of whole lines
};

void sweep(const LabOptions& options, const std::string& output) {
  const tbb::global_control limit(tbb::global_control::max_allowed_parallelism, options.cores());
  const lab::Cost cost = options.cost();

  // 1. what is done already
  std::set<std::string> done;
  Table table(output);
  if (table.empty())
    table.add(lab::csv_header());
  else
    for (const lab::Result& result : lab::read_results(output)) done.insert(name_of(result));

  // 2. the rest, a trace at a time
  Progress progress("sweep");
  std::size_t skipped = 0, ran = 0;
  const auto policies = options.policy_list();
  for (const std::string& path : options.traces) {
    lab::Trace trace = hold(options, path, progress);
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
    std::size_t finished = 0;
    progress.show(trace.name, 0, cells.size());
    run_cells(trace, cells, [&](lab::Result result) {
      result.modelled = cost.seconds(result.counts);
      table.add(lab::to_csv(result));
      ++finished;
      progress.show(fmt::format("{}: {} of {} cells", trace.name, finished, cells.size()), finished,
                    cells.size());
    });
    ran += finished;
  }
  fmt::print("{} cells run, {} were there already: {}\n", ran, skipped, output);
}

int report(const std::string& table, const std::string& output, const std::string& heat) {
  (void)lab::read_results(table);  // says what is wrong with it
  std::vector<std::string> words{table, output};
  if (!heat.empty()) words.push_back(heat);
  if (run_script("report.py", "apps/policy", "HOLDALL_REPORT", words) != 0) return failed;
  fmt::print("{}\n", output);
  return 0;
}

// The accesses of chunks over time, counted on a grid, for the report to colour.
void heat_map(const LabOptions& options, const std::string& path, const std::string& to) {
  constexpr std::size_t across = 200, down = 100;
  Progress progress("reading " + path);
  const lab::Trace trace = hold(options, path, progress);
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
  std::ofstream out(to);
  if (!(out << grid).flush())
    throw lab::LabError(fmt::format("{}: cannot be written: {}", to, why(errno)));
}

}  // namespace

void add_policy_sweep(CLI::App& group, int& status) {
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
      std::optional<TemporaryPath> heat;
      if (!options->traces.empty())
        heat_map(*options, options->traces.front(), heat.emplace().path());
      status = report(*table, *output, heat ? heat->path() : "");
    });
  }
}

}  // namespace holdall::apps

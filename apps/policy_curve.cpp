// holdall policy mrc and bound: misses at every size, and what no policy can beat.
#include <fmt/format.h>
#include <tbb/global_control.h>
#include <tbb/parallel_for.h>

#include <algorithm>
#include <cmath>
#include <set>

#include "apps/policy/curve.hpp"
#include "apps/policy/demands.hpp"
#include "apps/policy/error.hpp"
#include "apps/policy_commands.hpp"

namespace holdall::apps {

namespace {

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
    // One pass takes opt as long as some thousand sizes one by one.
    if (policy == "lru" || policy == "mru" || (policy == "opt" && sizes.size() > 1000)) {
      const auto one_pass = policy == "lru"   ? lab::lru_curve
                            : policy == "mru" ? lab::mru_curve
                                              : lab::opt_curve;
      const lab::Curve curve = one_pass(trace.requests(), trace.distinct());
      uses = curve.requests;
      add(policy, [&](std::uint64_t size) { return curve.misses(size); });
      continue;
    }
    std::vector<std::uint64_t> misses(sizes.size());
    if (policy == "opt") {
      const auto next = next_demands(trace.requests(), trace.distinct());
      lab::Requests requests = trace.requests();
      requests.next_uses = next;
      uses = 0;
      for (std::size_t i = 0; i < requests.size(); ++i) uses += demands(requests, i);
      tbb::parallel_for(std::size_t{0}, sizes.size(), [&](std::size_t i) {
        misses[i] = lab::opt_misses(requests, sizes[i], false);
      });
      std::size_t next_size = 0;
      add(policy, [&](std::uint64_t) { return misses[next_size++]; });
      continue;
    }
    if (policy.starts_with("opt:") && trace.next_uses.empty()) find_next_uses(trace);
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
  const tbb::global_control limit(tbb::global_control::max_allowed_parallelism, o.lab.cores());
  const std::string& path = o.lab.traces.front();
  std::vector<Point> points;
  std::uint64_t uses = 0;
  {
    Progress progress("reading " + path);
    lab::Trace trace = hold(o.lab, path, progress);
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

void bound(const LabOptions& options, bool json, bool csv) {
  const std::string& path = options.traces.front();
  nlohmann::json all = nlohmann::json::array();
  {
    Progress progress("reading " + path);
    lab::Trace trace = hold(options, path, progress);
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
  if (csv) {
    fmt::print("size,requests,compulsory,opt,opt_bypass\n");
    for (const auto& row : all)
      fmt::print("{},{},{},{},{}\n", row["size"].dump(), row["requests"].dump(),
                 row["compulsory"].dump(), row["opt"].dump(), row["opt_bypass"].dump());
    return;
  }
  fmt::print("{:>12}  {:>12}  {:>12}  {:>12}  {:>12}\n", "size", "requests", "compulsory", "opt",
             "with bypass");
  for (const auto& row : all)
    fmt::print("{:>12}  {:>12}  {:>12}  {:>12}  {:>12}\n", row["size"].get<std::uint64_t>(),
               row["requests"].get<std::uint64_t>(), row["compulsory"].get<std::uint64_t>(),
               row["opt"].get<std::uint64_t>(), row["opt_bypass"].get<std::uint64_t>());
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
    auto json = std::make_shared<bool>(false), csv = std::make_shared<bool>(false);
    add_trace_argument(*command, *options);
    add_grid_options(*command, *options);
    add_format_options(*command, *options);
    for (const char* const unused : {"--plugin", "--policy", "--sizes", "--cost", "--threads"})
      command->remove_option(command->get_option(unused));
    CLI::Option* const as_json =
        command->add_flag("--json", *json, "one JSON object, an array of several");
    command->add_flag("--csv", *csv, "a row a size")->excludes(as_json);
    command->callback([=, &status] {
      bound(*options, *json, *csv);
      status = 0;
    });
  }
}

}  // namespace holdall::apps

// holdall policy trace: what a trace is, and others made from it or by rule.
#include <fmt/format.h>

#include <algorithm>

#include "apps/policy/error.hpp"
#include "apps/policy/synthesise.hpp"
#include "apps/policy/writer.hpp"
#include "apps/policy_commands.hpp"

namespace holdall::apps {

namespace {

constexpr const char* kinds[] = {"read",     "write", "overwrite", "in_place",
                                 "prefetch", "hint",  "remove"};

void info(const LabOptions& options, bool json) {
  const std::string& path = options.traces.front();
  Progress progress("reading " + path);
  lab::TraceOptions reads = options.trace_options();
  reads.progress = reading(progress, path);
  lab::TraceStream stream(path, reads);
  while (stream.next(std::size_t{1} << 16).size() > 0) {
  }
  const lab::TraceFacts& facts = stream.facts();
  if (facts.requests == 0) throw lab::LabError(path + ": there is no request in it");
  note_facts(path, facts);
  const bool sized = facts.most_bytes > 0;
  nlohmann::json report{
      {"trace", lab::trace_name(path)},
      {"format", facts.format},
      {"requests", facts.requests},
      {"chunks", facts.distinct},
      {"backwards", facts.backwards},
      {"least_bytes", sized ? facts.least_bytes : 0},
      {"most_bytes", facts.most_bytes},
      {"span_seconds", static_cast<double>(facts.last_time - facts.first_time) * 1e-9}};
  for (std::size_t k = 0; k <= trace_remove; ++k)
    if (facts.kinds[k] > 0) report["kinds"][kinds[k]] = facts.kinds[k];
  if (json) {
    fmt::print("{}\n", report.dump());
    return;
  }
  fmt::print("format    {}\nrequests  {}\nchunks    {}\n", facts.format, facts.requests,
             facts.distinct);
  if (facts.least_bytes == facts.most_bytes)
    fmt::print("sizes     {}\n", to_string(facts.most_bytes));
  else
    fmt::print("sizes     {} to {}\n", to_string(sized ? facts.least_bytes : 0),
               to_string(facts.most_bytes));
  fmt::print("time      {:.3f} s\n", report["span_seconds"].get<double>());
  for (std::size_t k = 0; k <= trace_remove; ++k)
    if (facts.kinds[k] > 0) fmt::print("{:<9} {}\n", kinds[k], facts.kinds[k]);
}

// The next uses of the requests that `keep` lets through, by their number.
std::vector<lab::RequestNumber> next_uses(const LabOptions& options,
                                          const lab::TraceOptions& reads) {
  const std::string& path = options.traces.front();
  if (path == "-")
    throw lab::LabError(
        "standard input: next uses need a second reading: write it to a file first, or give "
        "--no-next-use");
  lab::Trace trace = read_trace(path, reads);
  if (trace.facts.kinds[trace_in_place] > 0)
    throw lab::LabError(
        path +
        ": has requests in place, which are not numbered: leave them out with --kind, or give "
        "--no-next-use");
  find_next_uses(trace);
  return std::move(trace.next_uses);
}

struct Copy {
  LabOptions read;
  std::string output, format = "holdall";
  bool no_next_use = false;
  std::vector<std::string> kinds_kept;
  std::uint64_t first = 0, count = ~std::uint64_t{0}, seed = 0;
  double rate = 1;
};

void copy(const Copy& what) {
  std::uint64_t number = 0;
  const auto keep = [&](const TraceRecord& record) {
    const std::uint64_t n = number++;
    if (n < what.first || n - what.first >= what.count) return false;
    if (!what.kinds_kept.empty() && !std::ranges::count(what.kinds_kept, kinds[record.kind]))
      return false;
    if (what.rate >= 1) return true;
    std::uint64_t hash =
        (lab::key_of(record) + what.seed + 1) * 0x9e3779b97f4a7c15;  // all requests of a chunk, or none
    hash = (hash ^ (hash >> 31)) * 0xbf58476d1ce4e5b9;
    return static_cast<double>(hash >> 11) * 0x1p-53 < what.rate;
  };
  const std::string& path = what.read.traces.front();
  Progress progress("reading " + path);
  lab::TraceOptions reads = what.read.trace_options();
  reads.keep = keep;
  std::vector<lab::RequestNumber> next;
  const bool ahead = !what.no_next_use && (what.format == "oracleGeneral" || path != "-");
  if (ahead) next = next_uses(what.read, reads);

  number = 0;
  const auto reader = lab::open_trace(path, what.read.read);
  lab::Writer writer(what.output, what.format);
  std::vector<TraceRecord> some(1024);
  std::uint64_t written = 0;
  while (const std::size_t n = reader->read(some)) {
    progress.show(reader->input().file_offset(), reader->input().file_bytes());
    for (TraceRecord& record : std::span(some).first(n)) {
      if (!keep(record)) continue;
      if (ahead)
        record.next_use =
            next[written] == lab::never_used ? ~std::uint64_t{0} : std::uint64_t{next[written]};
      else if (written != number - 1)
        record.next_use = ~std::uint64_t{0};  // the numbers are others now
      writer.append(record);
      ++written;
    }
  }
  if (written == 0) throw lab::LabError(path + ": no request is left");
  writer.close();
}

void add_copy(CLI::App& group, int& status, const char* name, const char* summary,
              const std::function<void(CLI::App&, Copy&)>& more) {
  CLI::App* const command = group.add_subcommand(name, summary);
  auto what = std::make_shared<Copy>();
  add_trace_argument(*command, what->read);
  command->add_option("output", what->output, "where to; -: standard output")
      ->required()
      ->type_name("FILE");
  command->add_option("--to", what->format, "what to write: holdall, oracleGeneral, csv, txt")
      ->type_name("FORMAT")
      ->check(CLI::IsMember(lab::written_formats()))
      ->capture_default_str();
  command->add_flag("--no-next-use", what->no_next_use,
                    "leave next uses unknown, and read the trace once");
  add_format_options(*command, what->read);
  more(*command, *what);
  command->callback([what, &status] {
    copy(*what);
    status = 0;
  });
}

void add_synthesise(CLI::App& group, int& status) {
  CLI::App* const command =
      group.add_subcommand("synthesise", "a trace by rule, the same for the same seed");
  auto what = std::make_shared<lab::Synthesis>();
  auto output = std::make_shared<std::string>(), format = std::make_shared<std::string>("holdall");
  std::vector<std::string> names;
  std::string help;
  for (const lab::Pattern& pattern : lab::patterns()) {
    names.push_back(pattern.name);
    help += fmt::format("{}{}: {}", help.empty() ? "" : "; ", pattern.name, pattern.summary);
  }
  command->add_option("pattern", what->pattern, help)
      ->required()
      ->type_name("PATTERN")
      ->check(CLI::IsMember(names));
  command->add_option("output", *output, "where to; -: standard output")
      ->required()
      ->type_name("FILE");
  command->add_option("--to", *format, "what to write: holdall, oracleGeneral, csv, txt")
      ->type_name("FORMAT")
      ->check(CLI::IsMember(lab::written_formats()))
      ->capture_default_str();
  add_count(*command, "--requests", what->requests, "how many");
  add_count(*command, "--chunks", what->chunks, "how many different ones");
  add_count(*command, "--window", what->window,
            "chunks in use at once (frontier), or that the hot set moves by (shift); 0: a tenth");
  add_count(*command, "--seed", what->seed, "of the generator");
  add_bytes(*command, "--chunk", what->bytes, "size of each")->default_str("8MiB");
  command->add_option("--skew", what->skew, "exponent of the popularity")
      ->type_name("X")
      ->capture_default_str();
  command->add_option("--writes", what->writes, "share of requests that write")
      ->type_name("X")
      ->capture_default_str();
  command->callback([=, &status] {
    lab::Writer writer(*output, *format);
    lab::synthesise(*what, [&](const TraceRecord& record) { writer.append(record); });
    writer.close();
    status = 0;
  });
}

}  // namespace

void add_policy_trace(CLI::App& group, int& status) {
  CLI::App* const trace =
      group.add_subcommand("trace", "what a trace is, and others made from it or by rule");
  trace->require_subcommand(1);
  CLI::App* const command = trace->add_subcommand("info", "what a trace is");
  auto options = std::make_shared<LabOptions>();
  auto json = std::make_shared<bool>(false);
  add_trace_argument(*command, *options);
  add_format_options(*command, *options);
  command->add_flag("--json", *json, "one JSON object");
  command->callback([=, &status] {
    info(*options, *json);
    status = 0;
  });
  add_copy(*trace, status, "convert", "the same in another format", [](CLI::App&, Copy&) {});
  add_copy(*trace, status, "filter", "some of its requests", [](CLI::App& sub, Copy& what) {
    sub.add_option("--kind", what.kinds_kept, "only these kinds, by commas")
        ->delimiter(',')
        ->type_name("LIST")
        ->check(CLI::IsMember(std::vector<std::string>(std::begin(kinds), std::end(kinds))));
    add_count(sub, "--first", what.first, "the number of the first request to keep");
    add_count(sub, "--count", what.count, "how many from there on, kept or not")
        ->default_str("all");
  });
  add_copy(*trace, status, "sample", "some of its chunks, with all of their requests",
           [](CLI::App& sub, Copy& what) {
             sub.add_option("--rate", what.rate, "share of the chunks to keep")
                 ->required()
                 ->type_name("X")
                 ->check([](const std::string& text) {
                   const double rate = std::strtod(text.c_str(), nullptr);
                   return rate > 0 && rate <= 1 ? std::string()
                                                : "'" + text + "' is no share above 0 and up to 1";
                 });
             add_count(sub, "--seed", what.seed, "which chunks");
           });
  add_synthesise(*trace, status);
}

}  // namespace holdall::apps

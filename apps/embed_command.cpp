// holdall embed: bench, import, inspect, plan; serve is in embed_serve.cpp.
#include <fmt/format.h>

#include <memory>

#include "apps/command.hpp"
#include "apps/embed_options.hpp"
#include "apps/embed_serve.hpp"
#include "apps/embedding/plan.hpp"
#include "apps/embedding/table.hpp"
#include "apps/embedding/trial.hpp"

namespace holdall::apps {

namespace {

using namespace holdall::embedding;  // NOLINT: this file is about embeddings

struct Options {
  std::string input;
  std::string output;
  OpenOptions open;
  TableSpec spec;
  std::string frequencies;
  Bytes device = 0;
  std::vector<std::string> budgets;
  Config config;
  TrialOptions trial;
  double seconds = 1;
  std::uint64_t lookups = 1000;
  bool hashed = false;
  bool json = false;
};

std::string name_of(RowType type) {
  for (const auto& [name, known] : row_types())
    if (known == type) return name;
  return "";
}

void add_source_options(CLI::App& command, Options& o) {
  command
      .add_option("source", o.input,
                  "a .npy or .safetensors file, a folder of HugeCTR, or the start of the names of "
                  "HierarchicalKV's files")
      ->required();
  command.add_option("--dim", o.open.dim, "elements of a row, where the source does not say");
  command.add_option("--tensor", o.open.tensor, "of a .safetensors file that has several");
}

void add_table_options(CLI::App& command, Options& o) {
  add_choice(command, "--type", o.spec.type, row_types(), "of the rows as stored");
  add_row_options(command, o.spec);
  command.add_flag("--hashed", o.hashed, "keys are any 64-bit numbers, not row numbers");
  command.add_option("--capacity", o.spec.capacity,
                     "rows; more than the source has: room for new keys");
  command.add_option("--frequencies", o.frequencies,
                     "a .npy list: how often each row is asked for");
}

TableSpec spec_of(const Options& o) {
  TableSpec spec = o.spec;
  if (o.hashed) spec.keys = Keys::hashed;
  if (!o.frequencies.empty()) spec.frequencies = read_frequencies(o.frequencies);
  return spec;
}

void inspect(const Options& o) {
  const auto source = open_source(o.input, o.open);
  const SourceInfo& info = source->info();
  const Bytes bytes = info.rows * kernels::row_bytes(info.type, info.dim);
  if (o.json) {
    fmt::print("{}\n", nlohmann::json{{"source", info.name},
                                      {"rows", info.rows},
                                      {"dim", info.dim},
                                      {"type", name_of(info.type)},
                                      {"keyed", info.keyed},
                                      {"bytes", bytes}}
                           .dump());
    return;
  }
  fmt::print("{}: {} rows of {} {}, {}{}\n", info.name, info.rows, info.dim, name_of(info.type),
             to_string(bytes), info.keyed ? ", with keys" : "");
}

void plan(const Options& o) {
  const auto source = open_source(o.input, o.open);
  std::vector<Bytes> budgets;
  for (const std::string& text : o.budgets) budgets.push_back(parse_bytes(text));
  const TableSpec spec = spec_of(o);
  if (budgets.empty()) {
    const int devices = o.config.devices;
    const Bytes whole = plan_table(spec, source->info(), {~Bytes{0}}, devices).front().device_bytes;
    const Bytes each = whole / static_cast<Bytes>(devices);
    for (const int percent : {0, 5, 10, 25, 50, 75, 100}) budgets.push_back(each / 100 * percent);
    budgets.back() = whole;
  }
  nlohmann::json all = nlohmann::json::array();
  if (!o.json)
    fmt::print("{:>12} {:>16} {:>16} {:>16} {:>12} {:>9}\n", "budget", "device bytes", "host bytes",
               "overhead bytes", "hot rows", "hit rate");
  for (const TablePlan& p : plan_table(spec, source->info(), budgets, o.config.devices)) {
    if (o.json)
      all.push_back({{"budget", p.budget},
                     {"device_bytes", p.device_bytes},
                     {"host_bytes", p.host_bytes},
                     {"overhead_bytes", p.overhead_bytes},
                     {"chunk_bytes", p.chunk},
                     {"hot_rows", p.hot_rows},
                     {"hit_rate", p.hit_rate}});
    else
      fmt::print("{:>12} {:>16} {:>16} {:>16} {:>12} {:>9.4f}\n", to_string(p.budget),
                 p.device_bytes, p.host_bytes, p.overhead_bytes, p.hot_rows, p.hit_rate);
    if (p.budget > 0 && p.budget < p.chunk && !o.budgets.empty())
      note(fmt::format(
          "a budget of {} has room for none of the table's chunks of {}, which come to a device "
          "whole, so that opening it would be refused; give it more, or 0, which leaves all rows "
          "on the host",
          to_string(p.budget), to_string(p.chunk)));
  }
  if (o.json) fmt::print("{}\n", all.dump());
}

void import(const Options& o) {
  const auto source = open_source(o.input, o.open);
  const Progress progress("reading " + o.input);
  Engine engine(o.config);
  TableSpec spec = spec_of(o);
  spec.frequencies.clear();  // a file has rows in the order of their keys
  spec.memory = 0;           // the rows pass through host memory
  spec.name = source->info().name;
  EmbeddingTable table = EmbeddingTable::open(engine, spec, *source);
  table.save(o.output);
  if (const std::uint64_t twice = table.stats().duplicates; twice > 0)
    note(fmt::format("{} keys came more than once; the last row of each counts", twice));
}

void bench(const Options& o) {
  Engine engine(o.config);
  Trial trial(engine, o.trial);
  const TrialResult rate = trial.throughput(o.seconds);
  const TrialResult one = trial.latency(o.lookups);
  const std::uint64_t wrong = trial.wrong();
  const double bytes = 4.0 * o.trial.dim;
  if (o.json) {
    fmt::print("{}\n", nlohmann::json{{"rows", o.trial.rows},
                                      {"dim", o.trial.dim},
                                      {"alpha", o.trial.alpha},
                                      {"batch", o.trial.batch},
                                      {"devices", engine.devices()},
                                      {"rows_per_second", rate.rows_per_second},
                                      {"bytes_per_second", rate.rows_per_second * bytes},
                                      {"hit_rate", rate.hit_rate},
                                      {"ideal_hit_rate", trial.ideal_hit_rate()},
                                      {"p50", one.p50},
                                      {"p95", one.p95},
                                      {"p99", one.p99},
                                      {"seconds", rate.seconds},
                                      {"verified", wrong == 0}}
                           .dump());
  } else {
    fmt::print(
        "{} rows of {} fp32, {:.0f} % of them in the memory of each of {} devices; batches of {}, "
        "Zipf {}\n",
        o.trial.rows, o.trial.dim, o.trial.share * 100, engine.devices(), o.trial.batch,
        o.trial.alpha);
    fmt::print("{:.1f} Mrows/s, {:.2f} GB/s, hit rate {:.3f} (best {:.3f})\n",
               rate.rows_per_second / 1e6, rate.rows_per_second * bytes / 1e9, rate.hit_rate,
               trial.ideal_hit_rate());
    fmt::print("one batch: p50 {:.1f} us, p95 {:.1f} us, p99 {:.1f} us\n", one.p50 * 1e6,
               one.p95 * 1e6, one.p99 * 1e6);
  }
  if (wrong > 0) throw EmbeddingError(fmt::format("{} rows are not what was put in", wrong));
}

}  // namespace

void add_embed(CLI::App& app, int& status) {
  CLI::App* const group = app.add_subcommand("embed", "embedding tables bigger than the GPU");
  group->require_subcommand(1);
  const auto add = [&](const char* name, const char* help, void (*run)(const Options&),
                       const std::shared_ptr<Options>& o) {
    CLI::App* const command = group->add_subcommand(name, help);
    command->callback([run, o, &status] {
      run(*o);
      status = 0;
    });
    return command;
  };

  auto o = std::make_shared<Options>();
  CLI::App* command = add("inspect", "what a source has", inspect, o);
  add_source_options(*command, *o);
  command->add_flag("--json", o->json, "a JSON object");

  o = std::make_shared<Options>();
  command =
      add("plan", "bytes and hit rate for each budget, before anything is allocated", plan, o);
  add_source_options(*command, *o);
  add_table_options(*command, *o);
  command->add_option("--budget", o->budgets, "of each device for rows, such as 2GiB; several");
  command->add_option("--devices", o->config.devices, "that the table is to lie over")
      ->type_name("N")
      ->check(CLI::Range(1, 256))
      ->capture_default_str();
  command->add_flag("--learn", o->spec.learning.on, "with what learning takes");
  command->add_flag("--json", o->json, "an array of JSON objects");

  o = std::make_shared<Options>();
  command = add("import", "write a source as .safetensors or .npy", import, o);
  add_source_options(*command, *o);
  command->add_option("output", o->output, "NAME.safetensors or NAME.npy")->required();
  add_table_options(*command, *o);
  add_engine_options(*command, o->config);

  o = std::make_shared<Options>();
  command = add("bench", "how fast made rows are looked up", bench, o);
  add_count(*command, "--rows", o->trial.rows, "of the table")->check(at_least(1));
  command->add_option("--dim", o->trial.dim, "elements of a row")->check(CLI::Range(1, 1 << 20));
  command->add_option("--share", o->trial.share, "of the rows in the memory of each device, 0 to 1")
      ->check(between(0, 1));
  command->add_option("--alpha", o->trial.alpha, "skew of the keys (Zipf); 0: uniform")
      ->check(between(0, 10));
  add_count(*command, "--batch", o->trial.batch, "keys of a look-up")->check(at_least(1));
  add_count(*command, "--updates", o->trial.updates, "rows a second that are updated meanwhile");
  add_choice(*command, "--cold-type", o->trial.cold_type, row_types(),
             "of the rows in host memory");
  command->add_flag("--learn", o->trial.learn_aside, "count what is asked for");
  command->add_option("--seconds", o->seconds, "to look up for")->check(between(0.001, 86'400));
  add_count(*command, "--lookups", o->lookups, "that are timed one by one")->check(at_least(1));
  command->add_flag("--json", o->json, "a JSON object");
  add_engine_options(*command, o->config);

  add_embed_serve(*group, status);
}

}  // namespace holdall::apps

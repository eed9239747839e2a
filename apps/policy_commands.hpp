// The sub-commands of `holdall policy`, and the options that they share.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "apps/command.hpp"
#include "apps/policy/cells.hpp"
#include "apps/policy/cost.hpp"
#include "apps/policy/size.hpp"

namespace holdall::apps {

// How traces are read and what is replayed.
struct LabOptions {
  std::vector<std::string> traces;
  lab::ReadOptions read;
  std::string policies = "lru";
  std::string prefetch = "none";
  std::string sizes = "1%,10%,50%";
  bool honour_sizes = false;
  Bytes chunk = Bytes{8} << 20;
  std::string cost_file;
  unsigned threads = 0;  // 0: all cores

  lab::TraceOptions trace_options() const;
  std::vector<std::string> policy_list() const;
  lab::Cost cost() const;
  std::size_t cores() const;
};

void add_trace_argument(CLI::App& command, LabOptions& options, bool several = false);
void add_format_options(CLI::App& command, LabOptions& options);
void add_policy_list(CLI::App& command, const std::string& name, std::string& list);
void add_grid_options(CLI::App& command,
                      LabOptions& options);  // policies, sizes, chunks, costs, threads

// The cells of a trace of that footprint, in the order of the command line. `footprint` is asked
// for percentages only.
std::vector<lab::Cell> cells_of(const LabOptions& options,
                                const std::function<std::uint64_t()>& footprint);

// Notes on what reading found: time that runs backwards.
void note_facts(const std::string& path, const lab::TraceFacts& facts);

// A whole trace, with its notes.
lab::Trace hold(const LabOptions& options, const std::string& path, Progress& progress);

// A bar on a terminal, with the time that is left.
std::function<void(const lab::TraceStream&)> reading(Progress& progress, const std::string& path);

// Re-enacts a recording of the engine with `policies`, those that it was recorded with if there are
// none; the exit status: failed if the recorded one did not do as it did.
int replay_live(const std::string& path, const std::vector<std::string>& policies, bool json);

void add_policy_compare(CLI::App& group, int& status);
void add_policy_replay(CLI::App& group, int& status);
void add_policy_curve(CLI::App& group, int& status);  // mrc, bound
void add_policy_sweep(CLI::App& group, int& status);  // sweep, report
void add_policy_trace(CLI::App& group, int& status);

}  // namespace holdall::apps

// holdall doctor: what this machine has, what Holdall will use, and what to do where something is
// missing.
#include <fmt/format.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <fstream>
#include <vector>

#include "apps/chunk_cost.hpp"
#include "apps/command.hpp"
#include "apps/graph/build.hpp"
#include "engine/error.hpp"
#include "engine/host_memory.hpp"
#include "engine/vmm/host.hpp"

namespace holdall::apps {

namespace {

using Clock = std::chrono::steady_clock;

// Bytes a second between pinned host memory and one frame, each way and both at once; 0 where it
// could not be measured.
struct LinkRate {
  double in = 0, out = 0, both = 0;
};

// A frame mapped where copies reach it, and a pinned buffer; the clean-up of what was made.
class Link {
 public:
  Link(vmm::Driver& driver, int device)
      : driver_(driver), memory_(driver, 2 * bytes, driver.info(device).numa_node) {
    host_ = memory_.reserve(2 * bytes, "a measurement");
    memory_.pin(host_, 2 * bytes, "a measurement");
    const vmm::Place place{vmm::Place::device, device};
    vmm::check(driver.reserve(at_, 2 * bytes, 0, "a measurement"), "reserve addresses");
    for (std::size_t i = 0; i < 2; ++i) {
      vmm::check(driver.create(frames_[i], bytes, place), "create a frame");
      vmm::check(driver.map(at_ + i * bytes, bytes, frames_[i]), "map a frame");
      ++mapped_;
      vmm::check(driver.set_access(at_ + i * bytes, bytes, {{place, vmm::Protection::read_write}}),
                 "grant access");
      vmm::check(driver.create_stream(streams_[i], device), "create a stream");
    }
  }
  ~Link() {
    if (mapped_) (void)driver_.unmap(at_, mapped_ * bytes);
    for (std::size_t i = 0; i < mapped_; ++i) {
      (void)driver_.release(frames_[i]);
      (void)driver_.destroy_stream(streams_[i]);
    }
    if (at_) (void)driver_.unreserve(at_, 2 * bytes);
    memory_.unpin(host_, 2 * bytes);
    memory_.unreserve(host_, 2 * bytes);
  }
  Link(const Link&) = delete;
  Link& operator=(const Link&) = delete;

  double rate(bool in, bool out) {
    const auto run = [&] {
      if (in) vmm::check(driver_.copy(at_, host_, bytes, streams_[0]), "copy in");
      if (out) vmm::check(driver_.copy(host_ + bytes, at_ + bytes, bytes, streams_[1]), "copy out");
      for (const Stream stream : streams_)
        vmm::check(driver_.synchronize(stream), "wait for copies");
    };
    run();
    std::vector<double> seconds;
    for (int i = 0; i < 5; ++i) {
      const auto began = Clock::now();
      run();
      seconds.push_back(std::chrono::duration<double>(Clock::now() - began).count());
    }
    return static_cast<double>((in + out) * bytes) / *std::ranges::min_element(seconds);
  }

 private:
  static constexpr Bytes bytes = Bytes{256} << 20;
  vmm::Driver& driver_;
  HostMemory memory_;
  std::byte* host_ = nullptr;
  std::byte* at_ = nullptr;
  vmm::Frame frames_[2]{};
  Stream streams_[2];
  std::size_t mapped_ = 0;
};

std::uint64_t number_in(const char* file) {
  std::uint64_t n = 0;
  std::ifstream(file) >> n;
  return n;
}

nlohmann::json examine(vmm::Driver& driver, std::vector<std::string>& advice) {
  nlohmann::json devices = nlohmann::json::array();
  for (int i = 0; i < driver.devices(); ++i) {
    const vmm::DeviceInfo info = driver.info(i);
    nlohmann::json device{{"name", info.name},
                          {"memory", info.total},
                          {"free", info.free},
                          {"virtual_memory_management", info.supports_paging},
                          {"granularity", driver.granularity({vmm::Place::device, i})},
                          {"numa_node", info.numa_node}};
    if (info.compute_capability) device["compute_capability"] = info.compute_capability / 10.0;
    for (int peer = 0; peer < driver.devices(); ++peer)
      if (peer != i && driver.can_access_peer(i, peer)) device["peers"].push_back(peer);
    if (!info.supports_paging) {
      advice.push_back(
          fmt::format("device {} has no virtual memory management: update its driver, or leave it "
                      "out with CUDA_VISIBLE_DEVICES",
                      i));
    } else {
      try {
        Link link(driver, i);
        device["link_in"] = link.rate(true, false);
        device["link_out"] = link.rate(false, true);
        device["link_both"] = link.rate(true, true);
        for (const ChunkCost& cost : measure_chunk_costs(driver, i))
          device["chunk_costs"].push_back({{"bytes", cost.bytes},
                                           {"map", cost.map},
                                           {"set_access", cost.set_access},
                                           {"unmap", cost.unmap},
                                           {"chunk_seconds", cost.sum()}});
      } catch (const Error& e) {
        advice.push_back(
            fmt::format("the link of device {} could not be measured: {}", i, e.what()));
      }
    }
    devices.push_back(device);
  }
  return devices;
}

std::string rate_of(const nlohmann::json& device, const char* key) {
  return device.contains(key) ? fmt::format("{:.1f} GB/s", device[key].get<double>() / 1e9)
                              : "unknown";
}

void print(const nlohmann::json& report, const std::vector<std::string>& advice) {
  const auto line = [](std::string_view what, const std::string& value) {
    fmt::print("{:<24}{}\n", what, value);
  };
  line("driver", report["driver"]);
  if (report.contains("no_gpu")) line("  why no GPU", report["no_gpu"]);
  int number = 0;
  for (const auto& device : report["devices"]) {
    line(fmt::format("device {}", number++), device["name"]);
    line("  memory", fmt::format("{}, {} free", to_string(device["memory"].get<Bytes>()),
                                 to_string(device["free"].get<Bytes>())));
    line("  paging", device["virtual_memory_management"].get<bool>()
                         ? "yes, in units of " + to_string(device["granularity"].get<Bytes>())
                         : "no");
    line("  link", fmt::format("{} in, {} out, {} both at once", rate_of(device, "link_in"),
                               rate_of(device, "link_out"), rate_of(device, "link_both")));
    std::string calls;
    for (const auto& cost : device.value("chunk_costs", nlohmann::json::array()))
      calls += fmt::format("{}{:.1f} us at {}", calls.empty() ? "" : ", ",
                           cost["chunk_seconds"].get<double>() * 1e6,
                           to_string(cost["bytes"].get<Bytes>()));
    line("  driver, a chunk", calls.empty() ? "unknown" : calls);
    if (device.contains("peers")) line("  peers", device["peers"].dump());
  }
  line("host memory", fmt::format("{}, {} available", to_string(report["host_memory"].get<Bytes>()),
                                  to_string(report["host_available"].get<Bytes>())));
  line("  locked at most", report["locked_limit"].is_null()
                               ? "no limit"
                               : to_string(report["locked_limit"].get<Bytes>()));
  line("  default budget", to_string(report["host_budget"].get<Bytes>()));
  line("mappings at most", std::to_string(report["map_limit"].get<std::uint64_t>()));
  line("cores", std::to_string(report["cores"].get<long>()));
  for (const std::string& text : advice) fmt::print("\nTo do: {}\n", text);
  if (advice.empty()) fmt::print("\nNothing is missing.\n");
}

void run(bool json) {
  std::vector<std::string> advice;
  nlohmann::json report;
  std::string why;
  std::unique_ptr<vmm::Driver> driver;
  if (vmm::cuda_available(&why)) {
    driver = vmm::make_cuda_driver();
  } else {
    report["no_gpu"] = why;
    driver = vmm::make_host_driver();
  }
  report["driver"] = driver->name();
  report["devices"] = examine(*driver, advice);
  const auto pages = static_cast<Bytes>(sysconf(_SC_PHYS_PAGES));
  const Bytes memory = pages * static_cast<Bytes>(sysconf(_SC_PAGESIZE));
  report["host_memory"] = memory;
  report["host_available"] = graph::available_memory();
  report["host_budget"] = memory / 2;
  report["cores"] = sysconf(_SC_NPROCESSORS_ONLN);
  rlimit locked{};
  getrlimit(RLIMIT_MEMLOCK, &locked);
  if (locked.rlim_cur == RLIM_INFINITY)
    report["locked_limit"] = nullptr;
  else
    report["locked_limit"] = locked.rlim_cur;
  report["map_limit"] = number_in("/proc/sys/vm/max_map_count");
  // The host driver maps each resident chunk apart, with a gap to its neighbour in the worst case.
  if (driver->name() == "host") {
    const Bytes chunks = report["devices"][0]["memory"].get<Bytes>() / (Bytes{8} << 20);
    if (2 * chunks > report["map_limit"].get<std::uint64_t>())
      advice.push_back(
          fmt::format("{} chunks of 8 MiB may need more mappings than Linux allows: run `sysctl -w "
                      "vm.max_map_count={}`, or use bigger chunks (--chunk)",
                      chunks, 4 * chunks));
  }
  report["advice"] = advice;
  if (json)
    fmt::print("{}\n", report.dump(2));
  else
    print(report, advice);
}

}  // namespace

double measured_link(vmm::Driver& driver, int device) {
  return Link(driver, device).rate(true, false);
}

void add_doctor(CLI::App& app, int& status) {
  CLI::App* const command =
      app.add_subcommand("doctor", "what this machine has and what Holdall will use");
  auto json = std::make_shared<bool>(false);
  command->add_flag("--json", *json, "one JSON object");
  command->callback([json, &status] {
    run(*json);
    status = 0;
  });
}

}  // namespace holdall::apps

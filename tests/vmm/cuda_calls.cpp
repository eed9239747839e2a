// What the cuda driver says to libcuda, against a libcuda of scripted answers.
#include <dlfcn.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <functional>
#include <memory>
#include <thread>
#include <vector>

#include "engine/vmm/cuda/numa.hpp"
#include "engine/vmm/driver.hpp"
#include "engine/vmm/error.hpp"
#include "tests/vmm/cuda_fake.hpp"

namespace holdall {
namespace {

using namespace vmm;

class CudaCalls : public testing::Test {
 protected:
  CudaCalls() {
    setenv("HOLDALL_LIBCUDA", FAKE_LIBCUDA, 1);
    opened_ = dlopen(FAKE_LIBCUDA, RTLD_NOW);
    get_ = reinterpret_cast<FakeCudaControl (*)()>(dlsym(opened_, "fake_cuda"));
    get_().reset();
  }
  ~CudaCalls() override {
    for (const Event e : events_) static_cast<void>(driver().destroy_event(e));
    driver_.reset();
    dlclose(opened_);
  }

  FakeCuda& fake() { return *get_().fake; }
  FakeCudaControl control() { return get_(); }
  Driver& driver() {
    if (!driver_) driver_ = make_cuda_driver();
    return *driver_;
  }
  Stream stream(int device) {
    Stream made;
    EXPECT_EQ(driver().create_stream(made, device), Status::ok);
    return made;
  }
  Event event(int device) {
    Event made;
    EXPECT_EQ(driver().create_event(made, device), Status::ok);
    return events_.emplace_back(made);
  }
  std::string refusal() {
    try {
      make_cuda_driver();
      return "";
    } catch (const NoDevice& error) {
      return error.what();
    }
  }
  static bool has(const std::string& text, std::string_view part) {
    return text.find(part) != std::string::npos;
  }
  static std::byte* at(std::uint64_t address) { return reinterpret_cast<std::byte*>(address); }

  // Every call of the port that takes a context, each once; streams and events of device 1.
  std::vector<std::function<Status()>> every_call() {
    const Stream s = stream(1);
    Event e;
    EXPECT_EQ(driver().create_event(e, 1), Status::ok);
    return {
        [this] { return driver().reserve(place_, 2_MiB, 0, "x"); },
        [this] { return driver().unreserve(at(2_MiB), 2_MiB); },
        [this] {
          return driver().create(frame_, 2_MiB, {Place::device, 1});
        },
        [this] { return driver().map(at(2_MiB), 2_MiB, Frame{7}); },
        [this] {
          return driver().set_access(at(2_MiB), 2_MiB, {{{Place::device, 1}}});
        },
        [this] { return driver().unmap(at(2_MiB), 2_MiB); },
        [this] { return driver().release(Frame{7}); },
        [this] { return driver().pin(at(2_MiB), 2_MiB); },
        [this] { return driver().unpin(at(2_MiB)); },
        [this, s] { return driver().synchronize(s); },
        [this, s, e] { return driver().record(e, s); },
        [this, s, e] { return driver().wait(s, e); },
        [this, e] { return driver().query(e); },
        [this, e] { return driver().synchronize(e); },
        [this, s] { return driver().copy(at(8), at(16), 8, s); },
        [this, s] { return driver().fill(at(8), 0, 8, s); },
        [this, s] { return driver().host_call(s, [] {}); },
        [this, s] { return driver().is_capturing(s, flag_); },
        [this, e] { return driver().destroy_event(e); },
        [this, s] { return driver().destroy_stream(s); },
    };
  }

  std::byte* place_ = nullptr;
  Frame frame_{};
  bool flag_ = false;

 private:
  void* opened_ = nullptr;
  FakeCudaControl (*get_)() = nullptr;
  std::unique_ptr<Driver> driver_;
  std::vector<Event> events_;
};

// -- Which machines are refused.

TEST_F(CudaCalls, AnOldDriverIsRefusedByTheEntryThatItLacks) {
  fake().missing = {"cuMemSetAccess"};
  EXPECT_TRUE(has(refusal(), "cuMemSetAccess")) << refusal();
  EXPECT_TRUE(has(refusal(), "update the driver"));
}

TEST_F(CudaCalls, AFailedStartIsNamedWithItsRemedy) {
  fake().answers["cuInit"] = CUDA_ERROR_SYSTEM_NOT_READY;
  EXPECT_TRUE(has(refusal(), "CUDA_ERROR_SYSTEM_NOT_READY")) << refusal();
  EXPECT_TRUE(has(refusal(), "nvidia-fabricmanager"));
}

TEST_F(CudaCalls, NoGpuIsRefused) {
  fake().devices = 0;
  EXPECT_TRUE(has(refusal(), "CUDA_VISIBLE_DEVICES")) << refusal();
}

TEST_F(CudaCalls, GpusWithoutMemoryManagementAreRefusedByName) {
  fake().attributes[CU_DEVICE_ATTRIBUTE_VIRTUAL_MEMORY_MANAGEMENT_SUPPORTED] = 0;
  EXPECT_TRUE(has(refusal(), "device 0: Fake")) << refusal();
}

// -- Contexts.

TEST_F(CudaCalls, LookingForADeviceMakesNoContext) {
  EXPECT_TRUE(cuda_available());
  EXPECT_EQ(fake().count("cuDevicePrimaryCtxRetain"), 0);
}

TEST_F(CudaCalls, AContextIsRetainedAtFirstUseOnceAndReleasedAtTheEnd) {
  {
    const auto driver = make_cuda_driver();
    Frame frame{};
    for (int i = 0; i < 3; ++i)
      EXPECT_EQ(driver->create(frame, 2_MiB, {Place::device, 1}), Status::ok);
    EXPECT_EQ(fake().retained[0], 0);
    EXPECT_EQ(fake().retained[1], 1);
  }
  EXPECT_EQ(fake().retained[1], 0);
}

TEST_F(CudaCalls, ThreadsThatRaceRetainOnce) {
  driver();
  std::vector<std::jthread> threads;
  for (int i = 0; i < 4; ++i)
    threads.emplace_back([&] {
      for (int j = 0; j < 100; ++j) EXPECT_EQ(driver().unmap(at(2_MiB), 2_MiB), Status::ok);
    });
  threads.clear();
  EXPECT_EQ(fake().retained[0], 1);
  EXPECT_EQ(fake().count("cuCtxPushCurrent"), fake().count("cuCtxPopCurrent"));
}

TEST_F(CudaCalls, EveryCallLeavesTheCallersContextAndCaptureMode) {
  const CUcontext callers = control().context(0, false);
  for (const auto& call : every_call()) {
    control().contexts() = {callers};
    EXPECT_EQ(call(), Status::ok) << driver().last_error();
    EXPECT_EQ(control().contexts(), std::vector{callers});
    EXPECT_EQ(control().capture_mode(), CU_STREAM_CAPTURE_MODE_GLOBAL);
  }
  control().contexts().clear();
}

TEST_F(CudaCalls, EveryFailedCallLeavesThemToo) {
  const auto calls = every_call();
  for (const char* name :
       {"cuMemAddressReserve", "cuMemAddressFree",    "cuMemCreate",    "cuMemMap",
        "cuMemSetAccess",      "cuMemUnmap",          "cuMemRelease",   "cuMemHostRegister",
        "cuMemHostUnregister", "cuStreamSynchronize", "cuEventRecord",  "cuStreamWaitEvent",
        "cuEventQuery",        "cuEventSynchronize",  "cuMemcpyAsync",  "cuMemsetD8Async",
        "cuLaunchHostFunc",    "cuStreamIsCapturing", "cuEventDestroy", "cuStreamDestroy"})
    fake().answers[name] = CUDA_ERROR_INVALID_VALUE;
  for (const auto& call : calls) {
    EXPECT_EQ(call(), Status::invalid_value);
    EXPECT_TRUE(control().contexts().empty());
    EXPECT_EQ(control().capture_mode(), CU_STREAM_CAPTURE_MODE_GLOBAL);
  }
}

TEST_F(CudaCalls, AContextThatIsCurrentIsNotPushedAgain) {
  const Stream s = stream(1);
  control().contexts() = {control().context(1, true)};
  const int before = fake().count("cuCtxPushCurrent");
  EXPECT_EQ(driver().synchronize(s), Status::ok);
  EXPECT_EQ(fake().count("cuCtxPushCurrent"), before);
  control().contexts().clear();
}

TEST_F(CudaCalls, AContextThatCannotBePushedFailsTheCall) {
  const Event e = event(1);
  fake().answers["cuCtxPushCurrent"] = CUDA_ERROR_INVALID_CONTEXT;
  EXPECT_EQ(driver().query(e), Status::invalid_value);
  EXPECT_EQ(fake().count("cuEventQuery"), 0);
}

TEST_F(CudaCalls, WorkIsDoneInTheContextOfItsDevice) {
  EXPECT_EQ(driver().create(frame_, 2_MiB, {Place::device, 1}), Status::ok);
  EXPECT_EQ(fake().device_of("cuMemCreate"), 1);
  const Stream s = stream(0);
  EXPECT_EQ(fake().device_of("cuStreamCreate"), 0);
  EXPECT_EQ(driver().fill(at(8), 0, 8, s), Status::ok);
  EXPECT_EQ(fake().device_of("cuMemsetD8Async"), 0);
  EXPECT_EQ(driver().query(event(1)), Status::ok);
  EXPECT_EQ(fake().device_of("cuEventQuery"), 1);
}

TEST_F(CudaCalls, AStreamKnowsItsDevice) {
  int device = -1;
  EXPECT_EQ(driver().device_of(stream(1), device), Status::ok);
  EXPECT_EQ(device, 1);
  const Stream others = control().stream(control().context(1, false));
  device = -1;
  EXPECT_EQ(driver().device_of(others, device), Status::ok);
  EXPECT_EQ(device, 1);
}

TEST_F(CudaCalls, TheDefaultStreamIsTheCurrentContextsElseDeviceZeros) {
  int device = -1;
  EXPECT_EQ(driver().device_of(Stream(), device), Status::ok);
  EXPECT_EQ(device, 0);
  control().contexts() = {control().context(1, false)};
  EXPECT_EQ(driver().device_of(Stream(), device), Status::ok);
  EXPECT_EQ(device, 1);
  control().contexts().clear();
}

TEST_F(CudaCalls, AStreamOfTheHostDriverIsRefused) {
  EXPECT_EQ(driver().synchronize(Stream(reinterpret_cast<HostStream*>(&frame_))),
            Status::invalid_value);
  EXPECT_EQ(fake().count("cuStreamSynchronize"), 0);
}

TEST_F(CudaCalls, ADeviceThatIsNotThereIsNoDevice) {
  Stream made;
  EXPECT_EQ(driver().create_stream(made, 2), Status::no_device);
  EXPECT_EQ(driver().create(frame_, 2_MiB, {Place::device, -1}), Status::no_device);
  EXPECT_EQ(driver().set_access(at(2_MiB), 2_MiB, {{{Place::device, 9}}}), Status::no_device);
  EXPECT_EQ(driver().last_error(), "no device 9: there are 2, from 0");
  EXPECT_EQ(driver().health(2), Status::no_device);
}

// -- Errors.

TEST_F(CudaCalls, AnswersOfLibcudaBecomeStatuses) {
  const std::pair<CUresult, Status> table[] = {
      {CUDA_ERROR_OUT_OF_MEMORY, Status::out_of_memory},
      {CUDA_ERROR_NOT_READY, Status::not_ready},
      {CUDA_ERROR_INVALID_VALUE, Status::invalid_value},
      {CUDA_ERROR_INVALID_HANDLE, Status::invalid_value},
      {CUDA_ERROR_INVALID_CONTEXT, Status::invalid_value},
      {CUDA_ERROR_NOT_SUPPORTED, Status::not_supported},
      {CUDA_ERROR_NOT_PERMITTED, Status::not_supported},
      {CUDA_ERROR_INVALID_DEVICE, Status::no_device},
      {CUDA_ERROR_OPERATING_SYSTEM, Status::unknown},
  };
  for (const auto& [result, status] : table) {
    fake().answers["cuMemMap"] = result;
    EXPECT_EQ(driver().map(at(2_MiB), 2_MiB, Frame{7}), status) << result;
    EXPECT_EQ(driver().health(0), Status::ok);
  }
}

TEST_F(CudaCalls, TheNewestErrorIsInTheDriversOwnWords) {
  fake().answers["cuMemMap"] = CUDA_ERROR_INVALID_VALUE;
  EXPECT_EQ(driver().map(at(2_MiB), 2_MiB, Frame{7}), Status::invalid_value);
  EXPECT_EQ(driver().last_error(), "cuMemMap: CUDA_ERROR_INVALID_VALUE (invalid argument)");
}

TEST_F(CudaCalls, AStickyErrorLosesItsDeviceAlone) {
  const Event e = event(1);
  for (const CUresult result :
       {CUDA_ERROR_ILLEGAL_ADDRESS, CUDA_ERROR_LAUNCH_FAILED, CUDA_ERROR_ECC_UNCORRECTABLE}) {
    fake().answers["cuEventQuery"] = result;
    EXPECT_EQ(driver().query(e), Status::illegal_address);
  }
  const auto calls = fake().calls.size();
  EXPECT_EQ(driver().health(1), Status::illegal_address);
  EXPECT_EQ(driver().health(0), Status::ok);
  EXPECT_EQ(driver().fault(1)->what, "cuEventQuery: CUDA_ERROR_OTHER (something else)");
  EXPECT_FALSE(driver().fault(0));
  EXPECT_EQ(fake().calls.size(), calls);
}

TEST_F(CudaCalls, AfterALossMappingsAreMadeFromAHealthyDeviceWhichStaysSo) {
  const Event e = event(0);
  stream(1);
  fake().answers["cuEventQuery"] = CUDA_ERROR_ILLEGAL_ADDRESS;
  EXPECT_EQ(driver().query(e), Status::illegal_address);
  EXPECT_EQ(driver().unmap(at(2_MiB), 2_MiB), Status::ok);
  EXPECT_EQ(fake().device_of("cuMemUnmap"), 1);
  fake().answers["cuMemUnmap"] = CUDA_ERROR_ILLEGAL_ADDRESS;
  EXPECT_EQ(driver().unmap(at(2_MiB), 2_MiB), Status::illegal_address);
  EXPECT_EQ(driver().health(1), Status::ok);
}

TEST_F(CudaCalls, AStickyAnswerOfNoDeviceInParticularIsTheOnlyUsedOnes) {
  const Stream s = stream(1);
  fake().answers["cuStreamGetCtx"] = CUDA_ERROR_LAUNCH_FAILED;
  EXPECT_EQ(driver().synchronize(s), Status::illegal_address);
  EXPECT_EQ(driver().health(0), Status::ok);
  EXPECT_EQ(driver().health(1), Status::illegal_address);
}

TEST_F(CudaCalls, AmongSeveralUsedOnesItLosesNoneUntilOneAnswers) {
  const Event e = event(0);
  const Stream s = stream(1);
  fake().answers["cuStreamGetCtx"] = CUDA_ERROR_LAUNCH_FAILED;
  EXPECT_EQ(driver().synchronize(s), Status::illegal_address);
  EXPECT_EQ(driver().health(0), Status::ok);
  EXPECT_EQ(driver().health(1), Status::ok);
  fake().answers["cuEventQuery"] = CUDA_ERROR_LAUNCH_FAILED;
  EXPECT_EQ(driver().query(e), Status::illegal_address);
  EXPECT_EQ(driver().health(0), Status::illegal_address);
}

TEST_F(CudaCalls, AnEventInACaptureIsNotReady) {
  const Event e = event(0);
  fake().answers["cuEventQuery"] = CUDA_ERROR_CAPTURED_EVENT;
  EXPECT_EQ(driver().query(e), Status::not_ready);
  fake().answers["cuEventQuery"] = CUDA_ERROR_NOT_READY;
  EXPECT_EQ(driver().query(e), Status::not_ready);
}

// -- Frames and access.

TEST_F(CudaCalls, HostFramesAreMadeOnTheirNode) {
  EXPECT_EQ(driver().create(frame_, 2_MiB, {Place::host, 0}), Status::ok);
  EXPECT_EQ(fake().made.type, CU_MEM_ALLOCATION_TYPE_PINNED);
  EXPECT_EQ(fake().made.location.type, CU_MEM_LOCATION_TYPE_HOST_NUMA);
  EXPECT_EQ(fake().made.location.id, 0);
}

TEST_F(CudaCalls, ANodeWithoutMemoryIsNotAsked) {
  EXPECT_EQ(driver().create(frame_, 2_MiB, {Place::host, 9999}), Status::not_supported);
  EXPECT_EQ(fake().count("cuMemCreate"), 0);
}

TEST_F(CudaCalls, HostFramesOfNoNodeStandIn) {
  fake().attributes[CU_DEVICE_ATTRIBUTE_HOST_NUMA_VIRTUAL_MEMORY_MANAGEMENT_SUPPORTED] = 0;
  fake().attributes[static_cast<CUdevice_attribute>(145)] = 1;
  EXPECT_EQ(driver().create(frame_, 2_MiB, {Place::host, 0}), Status::ok);
  EXPECT_EQ(fake().made.location.type, CU_MEM_LOCATION_TYPE_HOST);
  EXPECT_EQ(driver().set_access(at(2_MiB), 2_MiB, {{{Place::host, 0}}}), Status::ok);
  EXPECT_EQ(fake().grants.at(0).location.type, CU_MEM_LOCATION_TYPE_HOST);
}

TEST_F(CudaCalls, GrantsSayWhoMayDoWhat) {
  const Grant grants[] = {{{Place::device, 0}, Protection::read_write},
                          {{Place::device, 1}, Protection::read},
                          {{Place::host, 0}, Protection::none}};
  EXPECT_EQ(driver().set_access(at(2_MiB), 2_MiB, grants), Status::ok);
  ASSERT_EQ(fake().grants.size(), 3u);
  EXPECT_EQ(fake().grants[0].location.type, CU_MEM_LOCATION_TYPE_DEVICE);
  EXPECT_EQ(fake().grants[0].location.id, 0);
  EXPECT_EQ(fake().grants[0].flags, CU_MEM_ACCESS_FLAGS_PROT_READWRITE);
  EXPECT_EQ(fake().grants[1].location.id, 1);
  EXPECT_EQ(fake().grants[1].flags, CU_MEM_ACCESS_FLAGS_PROT_READ);
  EXPECT_EQ(fake().grants[2].location.type, CU_MEM_LOCATION_TYPE_HOST_NUMA);
  EXPECT_EQ(fake().grants[2].flags, CU_MEM_ACCESS_FLAGS_PROT_NONE);
}

TEST_F(CudaCalls, ReserveAlignsToTheGranularity) {
  EXPECT_EQ(driver().reserve(place_, 2_MiB, 0, "x"), Status::ok);
  EXPECT_EQ(place_, at(32_MiB));  // the fake's answer for an alignment of 2 MiB
}

TEST_F(CudaCalls, InfoTellsTheDevice) {
  const DeviceInfo info = driver().info(1);
  EXPECT_EQ(info.name, "Fake");
  EXPECT_EQ(info.total, 8_GiB);
  EXPECT_EQ(info.free, 6_GiB);
  EXPECT_TRUE(info.supports_paging);
  EXPECT_EQ(info.compute_capability, 90);
  EXPECT_EQ(info.numa_node, 0);
  EXPECT_EQ(fake().device_of("cuMemGetInfo"), 1);
}

TEST_F(CudaCalls, NodesAreThoseWithMemory) {
  const auto root = std::filesystem::path(testing::TempDir()) / "holdall-nodes";
  std::filesystem::remove_all(root);
  const std::pair<const char*, const char*> nodes[] = {
      {"node0", "Node 0 MemTotal:        5466324 kB\n"},
      {"node1", "Node 1 MemTotal:        0 kB\n"},
      {"nodes", "Node 2 MemTotal:        1 kB\n"}};
  for (const auto& [name, text] : nodes) {
    std::filesystem::create_directories(root / name);
    std::ofstream(root / name / "meminfo") << text;
  }
  EXPECT_EQ(cuda::nodes_with_memory(root), std::vector{0});
  EXPECT_EQ(cuda::nodes_with_memory(root / "none"), std::vector{0});
  std::filesystem::remove_all(root);
}

// -- Work on streams.

class CudaCopies : public CudaCalls {
 protected:
  std::vector<Copy> copies(std::size_t n) {
    std::vector<Copy> made;
    for (std::size_t i = 1; i <= n; ++i) {
      made.push_back({at(i << 30), at(i << 20), i});
      expected_.push_back({i << 30, i << 20, i});
    }
    return made;
  }
  std::vector<FakeCuda::Moved> expected_;
};

TEST_F(CudaCopies, OneCopyGoesAlone) {
  EXPECT_EQ(driver().copy(copies(1), stream(0)), Status::ok);
  EXPECT_EQ(fake().count("cuMemcpyAsync"), 1);
  EXPECT_EQ(fake().moved, expected_);
}

TEST_F(CudaCopies, ManyGoInBatches) {
  EXPECT_EQ(driver().copy(copies(1300), stream(1)), Status::ok);
  EXPECT_EQ(fake().count("cuMemcpyBatchAsync"), 3);
  EXPECT_EQ(fake().count("cuMemcpyAsync"), 0);
  EXPECT_EQ(fake().device_of("cuMemcpyBatchAsync"), 1);
  EXPECT_EQ(fake().versions["cuMemcpyBatchAsync"], 12080);
  EXPECT_EQ(fake().moved, expected_);
}

TEST_F(CudaCopies, WithoutBatchesTheyGoOneByOne) {
  fake().missing = {"cuMemcpyBatchAsync"};
  EXPECT_EQ(driver().copy(copies(3), stream(0)), Status::ok);
  EXPECT_EQ(fake().moved, expected_);
}

TEST_F(CudaCopies, ARefusedBatchGoesOneByOne) {
  fake().answers["cuMemcpyBatchAsync"] = CUDA_ERROR_NOT_SUPPORTED;
  EXPECT_EQ(driver().copy(copies(3), stream(0)), Status::ok);
  EXPECT_EQ(fake().count("cuMemcpyAsync"), 3);
  EXPECT_EQ(fake().moved, expected_);
}

TEST_F(CudaCopies, TheDefaultStreamAndACaptureTakeNoBatch) {
  EXPECT_EQ(driver().copy(copies(2), Stream()), Status::ok);
  fake().capturing = true;
  EXPECT_EQ(driver().copy(copies(2), stream(0)), Status::ok);
  EXPECT_EQ(fake().count("cuMemcpyBatchAsync"), 0);
  EXPECT_EQ(fake().moved, expected_);
}

TEST_F(CudaCopies, EmptyOnesAreLeftOut) {
  auto some = copies(3);
  some[1].bytes = 0;
  expected_.erase(expected_.begin() + 1);
  EXPECT_EQ(driver().copy(some, stream(0)), Status::ok);
  EXPECT_EQ(fake().moved, expected_);
  EXPECT_EQ(driver().copy({}, stream(0)), Status::ok);
  EXPECT_EQ(driver().fill(at(8), 0, 0, stream(0)), Status::ok);
  EXPECT_EQ(fake().count("cuMemsetD8Async"), 0);
}

TEST_F(CudaCopies, AFailureStopsThem) {
  fake().answers["cuMemcpyBatchAsync"] = CUDA_ERROR_INVALID_VALUE;
  EXPECT_EQ(driver().copy(copies(1300), stream(0)), Status::invalid_value);
  EXPECT_EQ(fake().count("cuMemcpyBatchAsync"), 1);
}

TEST_F(CudaCalls, AHostCallRunsOnceAndIsLetGo) {
  const auto held = std::make_shared<int>(0);
  EXPECT_EQ(driver().host_call(stream(0), [held] { ++*held; }), Status::ok);
  EXPECT_EQ(*held, 1);
  EXPECT_EQ(held.use_count(), 1);
}

TEST_F(CudaCalls, AHostCallThatThrowsIsQuiet) {
  EXPECT_EQ(driver().host_call(stream(0), [] { throw 1; }), Status::ok);
}

TEST_F(CudaCalls, ARefusedHostCallIsLetGo) {
  const auto held = std::make_shared<int>(0);
  fake().answers["cuLaunchHostFunc"] = CUDA_ERROR_INVALID_HANDLE;
  EXPECT_EQ(driver().host_call(stream(0), [held] {}), Status::invalid_value);
  EXPECT_EQ(held.use_count(), 1);
}

TEST_F(CudaCalls, ACapturingStreamTakesNoHostCall) {
  fake().capturing = true;
  EXPECT_EQ(driver().host_call(stream(0), [] {}), Status::not_supported);
  EXPECT_EQ(fake().count("cuLaunchHostFunc"), 0);
}

TEST_F(CudaCalls, TheDefaultStreamCountsAsCapturingWhileAnotherCaptures) {
  fake().answers["cuStreamIsCapturing"] = CUDA_ERROR_STREAM_CAPTURE_IMPLICIT;
  EXPECT_EQ(driver().is_capturing(Stream(), flag_), Status::ok);
  EXPECT_TRUE(flag_);
}

TEST_F(CudaCalls, AStreamIsFinishedBeforeItIsDestroyed) {
  const Stream s = stream(0);
  fake().answers["cuStreamSynchronize"] = CUDA_ERROR_ILLEGAL_ADDRESS;
  EXPECT_EQ(driver().destroy_stream(s), Status::illegal_address);
  EXPECT_EQ(fake().count("cuStreamDestroy"), 1);
  EXPECT_EQ(driver().destroy_stream(Stream()), Status::invalid_value);
}

}  // namespace
}  // namespace holdall

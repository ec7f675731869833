// What a class that is graded on a GPU adds to a record, and what of it is no verdict yet.
#include <fcntl.h>
#include <sys/file.h>

#include <filesystem>
#include <fstream>
#include <future>

#include "common/catch2.hpp"
#include "grader/course/grade/gpus.hpp"
#include "grader/course/grade/measurements.hpp"
#include "grader/gpu/device_files.hpp"
#include "grader/gpu/turn.hpp"
#include "grader/os/scratch.hpp"
#include "grader/tests/bench.hpp"

using namespace grader;
namespace fs = std::filesystem;

namespace {

std::vector<Lab> labs_with_speed() {
  Lab lab;
  lab.speed.resize(1);
  lab.speed[0].stage = "1.2";
  return {lab};
}

Record speed(const std::string& verdict, const Record& suspect = Record::array()) {
  return {{"type", "float"}, {"verdict", verdict}, {"reason", "noise"}, {"suspect", suspect}};
}

Record stage(const std::string& id, const Record& gpu, const std::string& state = "passed") {
  Record one = {{"id", id}, {"state", state}};
  if (!gpu.is_null()) one["gpu"] = gpu;
  return one;
}

Record on_gpu(const std::string& state, const Record& speeds) {
  return {{"state", state}, {"headline", "the GPU is gone"}, {"speed", speeds}};
}

Record record_with(const std::vector<Record>& stages) {
  const Record lab = {{"stages", Record(stages)}};
  return {{"status", "GRADED"},
          {"gpu", {{"uuid", "GPU-1"}}},
          {"labs", Record(std::vector<Record>{lab})}};
}

std::vector<std::string> open_stages(const std::vector<Record>& stages) {
  std::vector<std::string> ids;
  for (const auto& one : undecided(record_with(stages), labs_with_speed()))
    ids.push_back(one.stage);
  return ids;
}

using Ids = std::vector<std::string>;

}  // namespace

TEST_CASE("undecided on a GPU: noise, doubt, a machine that failed, and nobody measured") {
  const Record pass = Record::array({speed("pass")}), none = Record::array();
  CHECK(open_stages({stage("1.2", on_gpu("passed", pass))}).empty());
  CHECK(open_stages({stage("1.2", on_gpu("failed", Record::array({speed("fail")})))}).empty());
  CHECK(open_stages({stage("1.2", on_gpu("failed", none))}).empty());  // wrong there: never timed
  CHECK(open_stages({stage("1.2", on_gpu("skipped", none))}).empty());
  CHECK(open_stages({stage("1.1", on_gpu("passed", none))}).empty());  // has no goal of speed
  CHECK(open_stages({stage("1.2", Record(), "failed")}).empty());      // wrong on sim
  const Record no_bar = Record::array({speed("not_measured")});
  CHECK(open_stages({stage("1.2", on_gpu("passed", no_bar))}).empty());

  const Record noisy = Record::array({speed("pass"), speed("inconclusive")});
  CHECK(open_stages({stage("1.2", on_gpu("passed", noisy))}) == Ids{"1.2"});
  const Record doubt = Record::array({speed("pass", Record::array({"events disagree"}))});
  CHECK(open_stages({stage("1.2", on_gpu("passed", doubt))}) == Ids{"1.2"});
  CHECK(open_stages({stage("1.2", on_gpu("passed", none))}) == Ids{"1.2"});
  CHECK(open_stages({stage("1.1", on_gpu("infra", none))}) == Ids{"1.1"});
  CHECK(open_stages({stage("1.1", Record())}) == Ids{"1.1"});

  Record failed = record_with({stage("1.2", on_gpu("infra", none))});
  failed["status"] = "INFRA_ERROR";  // all of it is graded again anyway
  CHECK(undecided(failed, labs_with_speed()).empty());
  CHECK(undecided(Record(), labs_with_speed()).empty());
}

TEST_CASE("a later measurement takes the place of one that decided nothing") {
  const Record noisy = Record::array({speed("inconclusive")}),
               pass = Record::array({speed("pass")});
  Record record = record_with(
      {stage("1.1", on_gpu("passed", Record::array())), stage("1.2", on_gpu("passed", noisy))});
  name_gpu(record);
  CHECK(undecided(record, labs_with_speed()).front().uuid == "GPU-1");
  CHECK(undecided(record, labs_with_speed()).front().why == "noise");

  Record later = record_with({stage("1.2", on_gpu("passed", pass))});
  later["gpu"]["uuid"] = "GPU-2";
  name_gpu(later);
  take_measurement(record, later, "1.2");
  const Record& kept = record.at("labs")[0].at("stages")[1].at("gpu");
  CHECK(kept.at("speed") == pass);
  CHECK(kept.at("uuid") == "GPU-2");
  CHECK(kept.at("attempts") == 2);
  CHECK(undecided(record, labs_with_speed()).empty());

  // A run that came to nothing changes nothing.
  const Record before = record;
  take_measurement(record, record_of_failure("the judge died"), "1.2");
  take_measurement(record, record_with({stage("1.2", Record(), "infra")}), "1.2");
  CHECK(record == before);
}

TEST_CASE("submissions are spread over the GPUs, and a second try goes to another one") {
  std::vector<gpu::Device> two(2);
  two[0].uuid = "GPU-1", two[0].name = "NVIDIA T4";
  two[1].uuid = "GPU-2", two[1].name = "NVIDIA H200";
  Gpus gpus(two, "CUDA 13.0");
  CHECK(gpus.about() == "NVIDIA H200, NVIDIA T4, CUDA 13.0");
  {
    const Gpus::Lease first(gpus, ""), second(gpus, "");
    CHECK(first.name() != second.name());
    const Gpus::Lease third(gpus, "GPU-1"), fourth(gpus, "GPU-1");
    CHECK(third.name() == "GPU-2");
    CHECK(fourth.name() == "GPU-2");
    const Gpus::Lease fifth(gpus, "");
    CHECK(fifth.name() == "GPU-1");  // GPU-2 has three
  }
  const Gpus::Lease again(gpus, "GPU-2");
  CHECK(again.name() == "GPU-1");
  Gpus one({two[0]}, "");
  const Gpus::Lease only(one, "GPU-1");
  CHECK(only.name() == "GPU-1");
}

TEST_CASE("a box sees the files of its own GPU and of no other") {
  const Scratch scratch(test::build_folder() / "tmp");
  const fs::path root = scratch.path();
  fs::create_directories(root / "dev/nvidia-caps");
  for (const char* name : {"nvidia0", "nvidia1", "nvidiactl", "nvidia-uvm", "nvidia-uvm-tools",
                           "nvidia-modeset", "null", "sda"})
    std::ofstream(root / "dev" / name) << "";
  const auto about = [&](const char* bus, const char* uuid, const char* number) {
    const fs::path folder = root / "proc/driver/nvidia/gpus" / bus;
    fs::create_directories(folder);
    std::ofstream(folder / "information")
        << "Model: \t\t NVIDIA H200\nIRQ:   \t\t 26\nGPU UUID: \t " << uuid << "\nDevice Minor: \t "
        << number << "\n";
  };
  about("0000:00:06.0", "GPU-aa", "1");
  about("0000:00:07.0", "GPU-bb", "0");
  using Files = std::vector<std::string>;
  CHECK(gpu::device_files("GPU-aa", root) ==
        Files{"/dev/nvidia-caps", "/dev/nvidia-uvm", "/dev/nvidia1", "/dev/nvidiactl"});
  CHECK(gpu::device_files("GPU-bb", root) ==
        Files{"/dev/nvidia-caps", "/dev/nvidia-uvm", "/dev/nvidia0", "/dev/nvidiactl"});
  // Nobody knows this one: all, or it would have none.
  CHECK(gpu::device_files("GPU-cc", root).size() == 5);
  CHECK(gpu::device_files("GPU-aa", root / "nothing").empty());
}

TEST_CASE("on one GPU they measure one after the other") {
  const Scratch scratch(test::build_folder() / "tmp");
  const fs::path folder = scratch.path();
  bool waited = false;
  const auto note = [&] { waited = true; };
  wire::UniqueFd first = gpu::take_turn("GPU-1", note, folder);
  CHECK(first);
  const wire::UniqueFd other = gpu::take_turn("GPU-2", note, folder);
  CHECK(other);
  CHECK_FALSE(waited);

  std::promise<void> knocking;
  auto second = std::async(std::launch::async, [&] {
    return gpu::take_turn(
        "GPU-1", [&] { knocking.set_value(); }, folder);
  });
  knocking.get_future().wait();
  CHECK(second.wait_for(std::chrono::milliseconds(50)) == std::future_status::timeout);
  first.reset();
  CHECK(second.get());

  // What is no folder keeps nobody from measuring, and a link is not followed.
  CHECK_FALSE(gpu::take_turn("GPU-1", note, folder / "nothing"));
  fs::create_symlink(folder / "target", folder / "gemm-lab-GPU-3");
  CHECK_FALSE(gpu::take_turn("GPU-3", note, folder));
  CHECK_FALSE(fs::exists(folder / "target"));
}

// The real GPU of this machine and the CUDA tools for it: what is there, whether they fit together,
// and which of the labs' rungs run on it.
//
// Nothing here needs CUDA: the driver is asked through nvidia-smi, nvcc about itself. A GPU that
// cannot be used is never an accident; it gives one sentence that says what is missing and what to
// do.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "grader/errors.hpp"
#include "grader/labs/lab.hpp"

namespace grader::gpu {

struct Version {
  int major = 0, minor = 0;
  std::string text() const { return std::to_string(major) + "." + std::to_string(minor); }
};

/// The first "12.4" after `word` in `text`; empty if there is none.
std::optional<Version> version_after(const std::string& text, const std::string& word);

/// A target of nvcc: 90 and "a" for sm_90a.
struct Arch {
  int number = 0;
  std::string suffix;
  std::string name() const { return "sm_" + std::to_string(number) + suffix; }
};

/// "90", "9.0", "sm_90", "90a", "compute_90": empty for anything else.
std::optional<Arch> parse_arch(const std::string& text);

/// True if machine code for `code` runs on a GPU of `device`: the same major version and no newer
/// minor one; with a suffix exactly the same (CUDA C++ Programming Guide, "Binary Compatibility").
bool runs_on(const Arch& code, int device);

/// One line of nvidia-smi.
struct Device {
  int index = 0;
  std::string name, uuid, driver;
  int arch = 0;  ///< compute capability, 90 for 9.0
  std::uint64_t memory_mib = 0, used_mib = 0;
};

/// What nvidia-smi knows.
struct Driver {
  std::vector<Device> devices;
  std::optional<Version> cuda;  ///< newest CUDA version that the driver can run
  std::string trouble;          ///< why there is no device: a sentence, "" if there is one
};

/// `csv`: of --query-gpu=index,name,uuid,compute_cap,driver_version,memory.total,memory.used
/// without header and units. Lines that cannot be read are left out.
std::vector<Device> parse_devices(const std::string& csv);

/// Those that a CUDA program sees, in its order. `value` as CUDA_VISIBLE_DEVICES: numbers as
/// nvidia-smi shows them or the beginnings of UUIDs; the list ends at the first entry that names
/// none. MIG entries select the GPU they name if that can be told.
std::vector<Device> visible_devices(const std::vector<Device>& all,
                                    const std::optional<std::string>& value);

Driver probe_driver();

struct GpuToolchain {
  std::string nvcc;             ///< path
  Version cuda;                 ///< of the toolkit
  std::string identity;         ///< last line of nvcc --version: part of every cache key
  std::string sanitizer;        ///< path of compute-sanitizer, "" = not installed
  std::vector<int> known_arch;  ///< what nvcc can compile for; empty: it does not say
};

/// Asks nvcc ($NVCC, $CUDA_HOME, PATH, /usr/local/cuda). Empty if there is none or it does not
/// answer.
std::optional<GpuToolchain> probe_nvcc();

/// What was found, put together; or why no GPU can be used.
struct Hardware {
  bool usable = false;
  bool seen = false;   ///< there is a GPU, usable or not
  std::string reason;  ///< one sentence: why the GPU is not used, or, if it is, why it was picked
  std::string advice;  ///< what to do about it; "" = nothing
  Device device;
  std::vector<Device> visible;  ///< in CUDA's order; `device` is the first
  Arch arch;                    ///< what student code is compiled for
  GpuToolchain tools;
  std::optional<Version> driver_cuda;
};

/// The decision alone, for tests. `arch`: the user's ARCH=, "" = as the GPU is.
Hardware decide(const Driver& driver, const std::optional<GpuToolchain>& tools,
                const std::optional<std::string>& visible, const std::string& arch);

/// Looks at this machine. From here on numbers of CUDA_VISIBLE_DEVICES are nvidia-smi's, for every
/// program that is started.
Hardware probe_hardware(const std::string& arch = "");

/// For DEVICE=gpu: what is missing, and what to do about it.
UserError no_gpu(const Hardware& hardware);

/// Why this rung does not run in this type on `arch`: a sentence; "" if it does.
std::string why_not(const Rung& rung, const std::string& type, const Arch& arch);

}  // namespace grader::gpu

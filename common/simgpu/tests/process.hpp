// Running commands from tests: no shell in between, output captured, a limit on time.
#pragma once

#include <chrono>
#include <string>
#include <utility>
#include <vector>

namespace simgpu::test {

struct Ran {
  int status = -1;  ///< exit status, or 128 + signal
  std::string out, err;
};

/// Runs `argv` in `folder` ("" = here) with `environment` added to this process's.
Ran run_process(const std::vector<std::string>& argv, const std::string& folder = "",
                const std::vector<std::pair<std::string, std::string>>& environment = {},
                std::chrono::seconds limit = std::chrono::seconds(600));

/// The folder of this build ("build"), absolute: where the libraries are.
std::string build_folder();
/// The project's root, absolute.
std::string root_folder();

/// A new folder that vanishes with the object.
class TemporaryFolder {
 public:
  TemporaryFolder();
  ~TemporaryFolder();
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;
  std::string operator/(const std::string& name) const { return path_ + "/" + name; }
  const std::string& path() const { return path_; }

 private:
  std::string path_;
};

std::string read_file(const std::string& path);
void write_file(const std::string& path, const std::string& text);

}  // namespace simgpu::test

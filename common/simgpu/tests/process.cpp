#include "common/simgpu/tests/process.hpp"

#include <fcntl.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <stdexcept>
#include <thread>

namespace simgpu::test {

namespace fs = std::filesystem;

std::string root_folder() {
  return fs::current_path().string();
}

std::string build_folder() {
  // The test program is <build>/tests/<name>.
  return fs::read_symlink("/proc/self/exe").parent_path().parent_path().string();
}

TemporaryFolder::TemporaryFolder() {
  std::string pattern =
      (fs::temp_directory_path() / "simgpu test.XXXXXX").string();  // a blank on purpose
  if (!::mkdtemp(pattern.data())) throw std::runtime_error("cannot make " + pattern);
  path_ = pattern;
}

TemporaryFolder::~TemporaryFolder() {
  std::error_code ignored;
  fs::remove_all(path_, ignored);
}

std::string read_file(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  if (!in) throw std::runtime_error("cannot read " + path);
  std::ostringstream text;
  text << in.rdbuf();
  return text.str();
}

void write_file(const std::string& path, const std::string& text) {
  std::ofstream out(path, std::ios::binary);
  out << text;
  if (!out) throw std::runtime_error("cannot write " + path);
}

Ran run_process(const std::vector<std::string>& argv, const std::string& folder,
                const std::vector<std::pair<std::string, std::string>>& environment,
                std::chrono::seconds limit) {
  const TemporaryFolder scratch;
  const std::string out = scratch / "out", err = scratch / "err";
  std::vector<char*> words;
  for (const std::string& word : argv) words.push_back(const_cast<char*>(word.c_str()));
  words.push_back(nullptr);
  const pid_t child = ::fork();
  if (child < 0) throw std::runtime_error("fork failed");
  if (child == 0) {
    const int null = ::open("/dev/null", O_RDONLY);
    const int to_out = ::open(out.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0600);
    const int to_err = ::open(err.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0600);
    if (null < 0 || to_out < 0 || to_err < 0) ::_exit(126);
    ::dup2(null, 0);
    ::dup2(to_out, 1);
    ::dup2(to_err, 2);
    if (!folder.empty() && ::chdir(folder.c_str()) != 0) ::_exit(126);
    for (const auto& [name, value] : environment) ::setenv(name.c_str(), value.c_str(), 1);
    ::execvp(words[0], words.data());
    ::_exit(127);
  }
  const auto deadline = std::chrono::steady_clock::now() + limit;
  int status = 0;
  while (true) {
    const pid_t done = ::waitpid(child, &status, WNOHANG);
    if (done == child) break;
    if (std::chrono::steady_clock::now() > deadline) {
      ::kill(child, SIGKILL);
      ::waitpid(child, &status, 0);
      break;
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  }
  Ran ran;
  ran.status = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  ran.out = read_file(out);
  ran.err = read_file(err);
  return ran;
}

}  // namespace simgpu::test

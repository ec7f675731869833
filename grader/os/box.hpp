// The box around every process that touches a stranger's file: compilers, runner, device worker,
// and what reads archives.
//
// bubblewrap builds it: user, pid, mount, network, ipc, uts and cgroup namespaces of its own, and a
// file system of /usr, this project's headers and the one submission, all of it read-only but for a
// compiler's folder for results and a small private /tmp. There is no /proc and no /sys, and of
// /dev only null and urandom. Inside, grader/course/box/box_init.cpp is process 1: it sets limits,
// Landlock and the system call filter, starts the one program and reports how it ended. With
// process 1 the kernel ends the whole tree, daemons included.
//
// A runner on a real GPU needs more: the driver's devices of that one GPU, and a /proc, its own
// namespace's, which the driver reads.
//
// Only a compiler may create processes, the others threads alone: a limit on memory holds for one
// process, and what a GPU times must be stopped as a whole between requests (gpu::Link::pause).
//
// `grade` makes what all boxes share (grader/course/box/kit.hpp) and hands the judge a file with
// BoxSettings. The judge itself is outside: it reads nothing that a stranger wrote but compilers'
// messages and the worker's replies.
#pragma once

#include <filesystem>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "grader/os/process.hpp"

namespace grader {

enum class BoxRole { compiler, runner, worker, unpacker, gpu_runner };
std::string_view to_string(BoxRole role);

/// What the box of one submission is made from.
struct BoxSettings {
  std::filesystem::path kit;     ///< what all boxes share: programs, filters, headers, library
  std::filesystem::path folder;  ///< this submission's own files, outside of the project
  std::optional<std::pair<unsigned, unsigned>> user;  ///< uid, gid of this submission alone
  std::string protection;  ///< in words, for reports: what of it this machine has
  /// Walls that are left out, for tests which show that the hostile corpus notices (its test has the
  /// list). Empty in every real run, and in reports where it is not.
  std::set<std::string> weakened;

  static BoxSettings read(const std::filesystem::path& file);
  void write(const std::filesystem::path& file) const;
};

/// What one boxed program sees beside /usr.
struct BoxView {
  BoxRole role = BoxRole::runner;
  std::vector<std::pair<std::filesystem::path, std::string>> read_only;  ///< (ours, in the box)
  std::optional<std::filesystem::path> out;  ///< ours; writable in the box as /out
  std::vector<std::string> rest;             ///< further folders the program needs, as they are
  std::vector<std::string> devices = {};     ///< files of /dev beside null and urandom
};

/// `spec` as it would run unboxed, with paths as in the box, becomes a spec that runs it boxed.
ProcessSpec boxed(const BoxSettings& settings, const BoxView& view, ProcessSpec spec);

}  // namespace grader

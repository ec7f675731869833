// The files of a submission by path, with a reason for each that is not taken. Nothing is ever
// written to a path that a student chose; names are only compared.
#pragma once

#include <cstddef>
#include <filesystem>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "grader/os/process.hpp"

namespace grader::intake {

struct Limits {
  std::size_t entries = 2000;
  std::size_t file_bytes = 1u << 20;     ///< one source file
  std::size_t total_bytes = 16u << 20;   ///< all of them together, unpacked
  std::size_t packed_bytes = 32u << 20;  ///< one archive, as it lies there
  int depth = 8;                         ///< folders below each other
};

/// Of a file or folder, as file systems have it. Archives may hold longer ones, on which a regular
/// expression of the C++ library runs out of stack.
constexpr std::size_t most_name_bytes = 255;

struct TreeFile {
  std::string path;  ///< '/' between parts
  /// Only of sources (*.cu), archives and Gradescope's list; of all others no byte is read.
  std::string bytes;
  std::string problem;  ///< why it is not taken, "" = nothing against it; then bytes is empty
};

struct Tree {
  std::vector<TreeFile> files;       ///< sorted by path
  std::vector<std::string> remarks;  ///< about the whole: "more than 2000 entries"
};

/// A zip, or a tar that may be compressed with gzip, bzip2, xz or zstd, judged by its name.
bool is_archive_name(std::string_view name);
/// An archive of a kind that is not opened: rar, 7z.
bool is_foreign_archive(std::string_view name);
constexpr const char* foreign_archive = "an archive of another kind than zip and tar: not opened";
/// The name without the ending of an archive.
std::string without_archive_ending(const std::string& name);

/// All files below root/at, without following a link.
Tree tree_of_folder(const std::filesystem::path& root, const std::filesystem::path& at,
                    const Limits& limits = {});

/// Runs build/bin/unpack to its end: in a box (box::Unpacker), or as it is.
using Unpack = std::function<RunResult(ProcessSpec)>;
RunResult unpack_unboxed(ProcessSpec spec);
/// Longer than its processor time; a busy machine keeps it waiting.
constexpr std::chrono::seconds unpack_patience{60};

/// The archive's files, unpacked into memory by a process of its own with limits on time and memory.
/// If it is no archive or a broken one, the tree is empty and says why.
Tree tree_of_archive(std::string_view bytes, const Unpack& unpack, const Limits& limits = {});

/// Opens the archives among the files, and archives in those: what is in "work.zip" then has the path
/// "work.zip/lab1/gemm.cu".
void open_archives(Tree& tree, const Unpack& unpack, const Limits& limits = {});

/// For reports: control, invisible and reordering characters as visible escapes, one line, at most
/// 80 bytes.
std::string shown(std::string_view name);

}  // namespace grader::intake

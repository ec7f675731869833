// Steps that several commands share.
#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "grader/commands/commands.hpp"
#include "grader/compile/compile.hpp"
#include "grader/labs/lab.hpp"
#include "grader/os/process.hpp"

namespace grader {

/// Absolute paths; the build folder exists and can be written to, or UserError says why not.
Workplace workplace(const Place& place);

/// All labs, with the instructor's overrides if a file is given.
std::vector<Lab> load_labs(const std::filesystem::path& root, const std::filesystem::path& course);

const Lab& lab_with_id(const std::vector<Lab>& labs,
                       int id);  ///< or UserError listing those there are
const Lab& lab_of_stage(const std::vector<Lab>& labs,
                        const std::string& id);  ///< or UserError listing the stages

/// A file of the lab to judge, relative to the root.
std::filesystem::path source_of(const Lab& lab, const std::filesystem::path& root, bool solution,
                                const std::string& file);

/// Where all files of a lab are, for a build. `given` (--file) stands for the file of its name, or
/// for the lab's first; the others are taken from its folder.
SourceOf sources_of(const Lab& lab, const std::filesystem::path& root, bool solution,
                    const std::filesystem::path& given);

/// uid and gid of "nobody" if this process is root and nobody could work in `build`; else nothing.
std::optional<std::pair<unsigned, unsigned>> lesser_user(const Workplace& place);

/// How much is done side by side for whoever waits.
unsigned usable_cores();

/// What reports say where no box was around a stranger's code.
inline constexpr const char* no_protection = "none but limits (UNSAFE=1)";

/// Of the sources, for results; GEMM_LAB_COMMIT= where they were sent without their history.
std::string commit_of(const std::filesystem::path& root);

/// The program that grades labs, for the programs beside it.
std::filesystem::path grader_program();
/// It as a process of its own that checks `sources` on the simulated GPU, one stage after the other,
/// with CLANG= as it is here. `json`: where the result goes, "-" = its output. `visible_gpu`: on the
/// real GPU of this name in CUDA_VISIBLE_DEVICES, too.
ProcessSpec check_alone(const Workplace& place, const std::filesystem::path& sources,
                        const std::string& json, const std::string& visible_gpu = "");

/// ARCH= as the user chose it; "" if the Makefile asked the GPU.
std::string chosen_arch();

}  // namespace grader

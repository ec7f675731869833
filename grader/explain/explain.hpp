// What `make explain` shows: the counters of one run of each rung, put on the lines of the
// student's source, with what the worst accesses look like.
//
// A model and three views (HTML page, terminal text, JSON) of it. Everything in the model that a
// student wrote or caused (source, names, messages, addresses) is hostile: the views escape it.
//
// Which line an instruction belongs to: functions of our headers (threadIdx, MatrixView, wmma, ...)
// carry no line of their own, so that what is inlined from them counts at the line that calls. A
// helper in the student's file keeps its lines, and they stand for all of its callers: clang's PTX
// names no call site (.loc without inlined_at, clang 14 to 22).
// Nothing here is a time: wavefronts and sectors are amounts of work.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "common/simgpu/device.hpp"
#include "grader/goals.hpp"

namespace grader::explain {

// ---- one access, drawn

/// A shared access bank by bank. `phases`: the lanes that the hardware serves together, one group
/// after the other; `banks` shows the phase that takes most wavefronts.
struct BankMap {
  struct Phase {
    std::uint32_t lanes = 0;
    unsigned wavefronts = 0;
  };
  struct Word {
    std::uint64_t address = 0;  ///< byte offset in shared memory, a multiple of 4
    std::uint32_t lanes = 0;
  };
  std::vector<Phase> phases;
  unsigned shown = 0;                       ///< index into phases
  std::array<std::vector<Word>, 32> banks;  ///< distinct words, by first lane
  unsigned worst_bank = 0;
  unsigned wavefronts = 0, ideal = 0;  ///< of all phases
};
/// Empty (no phases) for a sample that cannot be: a width that no instruction has, no lane.
BankMap bank_map(const simgpu::AccessSample& sample);

/// A global access sector by sector, in order of addresses.
struct SectorMap {
  struct Sector {
    std::uint64_t address = 0;           ///< a multiple of 32
    std::uint32_t lanes = 0, bytes = 0;  ///< masks: who touches it, and which of its bytes
  };
  std::vector<Sector> sectors;
  std::optional<std::int64_t>
      stride;  ///< bytes from each active lane to the next, if all are equal
};
SectorMap sector_map(const simgpu::AccessSample& sample);

/// "lanes 0, 4, 8, ... 28", "lanes 0-7", "lane 3".
std::string lanes_in_words(std::uint32_t lanes);

/// The maps as text of at most 80 columns, for terminals and screen readers.
std::vector<std::string> bank_text(const simgpu::AccessSample& sample);
std::vector<std::string> sector_text(const simgpu::AccessSample& sample);

// ---- the model

/// What one line does to one object in one way: the instructions of a kernel that share line, kind
/// of access and object.
struct Site {
  unsigned line = 0;  ///< 0: in another file
  simgpu::AccessSample worst;
  std::uint64_t requests = 0, cost = 0, ideal = 0;
  bool uniform = true;  ///< every request costs the same
  std::uint64_t waste() const { return cost > ideal ? cost - ideal : 0; }
};

struct Line {
  unsigned number = 0;  ///< in the student's file; 0 = all other files
  simgpu::Counts counts;
};

/// Sums over kinds of access, as the columns of the page have them.
struct Columns {
  std::uint64_t instructions = 0;  ///< of warps
  std::uint64_t multiply_adds = 0;
  std::uint64_t global_requests = 0, sectors = 0, ideal_sectors = 0;
  std::uint64_t shared_requests = 0, wavefronts = 0, ideal_wavefronts = 0;
  std::uint64_t local_requests = 0, barriers = 0;
};
Columns columns(const simgpu::Counts& counts, const std::string& type);

enum class State {
  right,     ///< and no findings
  wrong,     ///< the counts are of a wrong result
  findings,  ///< races, bounds ...: the result may be right, the kernel is not
  failed,    ///< crashed, hung, refused ...: there may be counts
  not_started,
  skipped,  ///< cannot run on the simulated GPU
};
std::string_view to_string(State state);

struct Rung {
  std::string name, title, type;
  Extents shape;
  State state = State::not_started;
  std::string headline;  ///< one sentence: how it ended
  std::vector<std::string> details;
  std::vector<simgpu::LaunchReport> launches;  ///< lines and samples of them are folded into:
  simgpu::Counts total;
  std::vector<Line> lines;                    ///< by number
  std::vector<Site> sites;                    ///< the most wasteful first
  std::vector<simgpu::BufferCounts> buffers;  ///< A, B, C, scratch; `bytes` 0 = unknown
  std::vector<std::string> summary;           ///< sentences, without markup

  bool counted() const { return !lines.empty(); }
  const Line* line(unsigned number) const;
};

struct Document {
  static constexpr int schema = 1;
  int lab = 0;
  std::string title, file, compiler;
  std::string build_headline;  ///< "" = built
  std::vector<std::string> build_details, warnings;
  std::string source;  ///< bytes as they were read
  std::vector<Rung> rungs;
};

/// Folds the launches of a run into lines, sites and sentences. `student_file` as the compiler
/// wrote it into the line table.
void fold(Rung& rung, const std::string& student_file);

/// Lines sorted by the largest of their shares (of warp instructions, sectors, wavefronts).
struct HotLine {
  unsigned number = 0;
  Columns columns;
  double instructions = 0, sectors = 0, wavefronts = 0;  ///< shares, 0..1
  double largest() const;
};
std::vector<HotLine> hot_lines(const Rung& rung, std::size_t most = 12);

/// One sentence on a site: what it takes, what would do, which lanes are in each other's way.
std::string sentence(const Site& site, const Rung& rung);

/// "load of a_tile, 4 bytes a lane".
std::string what(const simgpu::AccessSample& sample);

/// "16×16", "8×4×2".
std::string dim_text(const simgpu::Dim3& extents);

/// The two most wasteful sites that are worth a drawing; if nothing is wasted the busiest. Null if
/// there is none.
const Site* worst(const Rung& rung, simgpu::MemorySpace space);

// ---- views

std::string html(const Document& document);
std::string text(const Document& document, bool colour);
std::string json(const Document& document);

/// Source lines as the compiler counts them: ended by \n, \r\n or \r.
std::vector<std::string_view> source_lines(std::string_view source);

}  // namespace grader::explain

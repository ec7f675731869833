// From a wrong result to the name of the bug.
//
// A pure library: no processes, no files, no clock. The judge hands over what it saw (Evidence) and
// a way to run the rung once more on inputs of our choice (run_probe); diagnose() tests its
// hypotheses in a fixed order and names the first that explains *every* wrong element, by
// recomputing the wrong formula and comparing exactly on integer data. If none does, it says so and
// draws a map of the wrong tiles. All texts are in grader/messages.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "common/float16.hpp"
#include "common/simgpu/device.hpp"
#include "grader/messages.hpp"
#include "grader/operation.hpp"
#include "grader/verdict.hpp"

namespace grader::diag {

enum class ElementType : std::uint8_t { int32, float32, float64, float16, bfloat16 };
std::size_t size_of(ElementType type);  ///< in bytes
/// The type of C for operands of this type: float32 for the 16-bit types.
ElementType result_type(ElementType type);
/// Bits of a significand: integers up to 2 to that power are exact. 31 for int32.
int significant_bits(ElementType type);

/// A matrix as bytes, exactly as it lies in device memory: (rows - 1) * ld + cols elements (0 if
/// empty), padding included.
struct Matrix {
  ElementType type = ElementType::float32;
  int rows = 0, cols = 0, ld = 0;
  std::vector<std::byte> storage;

  Matrix() = default;
  /// Zero-filled.
  Matrix(ElementType t, int rows_, int cols_, int ld_);

  std::size_t elements() const;  ///< in storage, with padding
  std::size_t index(int row, int col) const {
    return static_cast<std::size_t>(row) * static_cast<std::size_t>(ld) +
           static_cast<std::size_t>(col);
  }
  double at(std::size_t element) const;  ///< every type fits a double exactly
  double at(int row, int col) const { return at(index(row, col)); }
  std::vector<double> values() const;           ///< rows x cols, dense: for loops over all of them
  void set(std::size_t element, double value);  ///< value must be representable
  void set(int row, int col, double value) { set(index(row, col), value); }
  /// Bit for bit the same element in both: how "never written" is told from "written with the same
  /// kind of NaN".
  bool same_bits(const Matrix& other, std::size_t element) const;

  template <typename T>
  static Matrix of(std::span<const T> storage_, int rows_, int cols_, int ld_) {
    static_assert(std::is_same_v<T, std::int32_t> || is_real<T>);
    Matrix m(std::is_same_v<T, std::int32_t> ? ElementType::int32
             : std::is_same_v<T, float>      ? ElementType::float32
             : std::is_same_v<T, Half>       ? ElementType::float16
             : std::is_same_v<T, BFloat16>   ? ElementType::bfloat16
                                             : ElementType::float64,
             rows_, cols_, ld_);
    if (storage_.size_bytes() == m.storage.size() && !storage_.empty())
      std::memcpy(m.storage.data(), storage_.data(), m.storage.size());
    return m;
  }
};

/// The lab's reference tile; 0 = the lab has none of that name.
struct Tile {
  int bm = 0, bn = 0, bk = 0, tm = 0, tn = 0;
  int wm = 0, wn = 0;  ///< what one warp computes of it
};

/// A launch that the runtime refused.
struct LaunchFailure {
  std::string kernel;        ///< demangled, may be empty
  simgpu::Dim3 grid, block;  ///< all 0: the launch did not get as far as that
  unsigned dynamic_shared_bytes = 0;
  std::string error;  ///< "cudaErrorInvalidConfiguration"; may carry a longer text
  /// Refused before anything looked at its shape: the kernel is not in the code.
  bool has_shape() const { return !(grid == simgpu::Dim3{0, 0, 0} && block == grid); }
};

/// A memset of C: bytes begin..end-1 of it, behind so many launches.
struct Fill {
  std::uint64_t begin = 0, end = 0;
  std::size_t launches = 0;
};

/// One call of the rung: what it was given and what it left.
struct Run {
  Matrix a, b, c_before, c_after;
  std::optional<Matrix> a_after, b_after;      ///< absent: not looked at, taken as unchanged
  std::vector<simgpu::LaunchReport> launches;  ///< findings are taken from here
  std::vector<Fill> fills;                     ///< in order
  std::optional<LaunchFailure> failed_launch;
};

/// Runs the rung on other data. M, N, K and leading dimensions are those of the matrices: device
/// allocations of exactly those sizes, C filled with `c_before` (NaN poison included) first. Empty
/// if it could not be run.
using Probe =
    std::function<std::optional<Run>(const Matrix& a, const Matrix& b, const Matrix& c_before)>;

/// Makes a call once more and samples the first accesses of one of its warps
/// (simgpu::LaunchOptions::sampled_warp). Empty if that is not possible.
using Follow = std::function<std::optional<Run>(const Run& run, const simgpu::WarpOf& warp)>;

struct Evidence {
  Operation operation = Operation::product;
  LaunchBy launch = LaunchBy::student;      ///< nobody is asked to change what the lab gives
  ElementType type = ElementType::float32;  ///< of A and B; C has result_type() of it
  Tile tile;
  Run run;  ///< the call that failed, at the smallest failing shape
  /// Limit of the componentwise error in units of u of C's type (floating types).
  double allowed_units = 32;
  bool small_integers =
      false;  ///< run.a and run.b are integers -8..8: the result must be bit-exact
  /// The same shape with small integers was right: then indices are right and this is about
  /// precision.
  bool integers_passed = false;
  std::optional<Run> repeat;  ///< the same inputs again; a different result means a race
  Probe run_probe;            ///< may be empty: fewer hypotheses can then be tested
  Probe run_unchecked;  ///< the same without a look for races, several times as fast; may be empty
  Follow follow;        ///< may be empty: then nobody says what a thread's own accesses are
};

/// The call that the numbers of a diagnosis are of.
struct Seen {
  int m = 0, n = 0, k = 0;
  bool strided = false;  ///< some leading dimension is larger than the width
  friend bool operator==(const Seen&, const Seen&) = default;
};
Seen seen_in(const Run& run);

/// What to look at first: a text, and its key in the catalogue if whoever names more may still want to
/// know it. A text that is assigned is meant for the case at hand, and has none.
class NextStep {
 public:
  NextStep() = default;
  NextStep(std::string text, std::string key, std::vector<messages::Gap> gaps)
      : text_(std::move(text)), key_(std::move(key)), gaps_(std::move(gaps)) {}
  /// The catalogue's text of `key`.
  static NextStep of(const std::string& key, const std::vector<messages::Gap>& gaps) {
    return {messages::text(key, gaps), key, gaps};
  }
  NextStep& operator=(std::string text) {
    text_ = std::move(text);
    key_.clear();
    gaps_.clear();
    return *this;
  }
  /// Where the lab gives the launch: what "KEY.given" says, if the catalogue has it.
  void word_for_given_launch() {
    if (const std::string form = key_ + ".given"; !key_.empty() && messages::exists(form))
      text_ = messages::text(form, gaps_);
  }
  operator const std::string&() const { return text_; }
  bool empty() const { return text_.empty(); }
  template <typename Part>
  std::size_t find(const Part& part) const {
    return text_.find(part);
  }
  const std::string& key() const { return key_; }
  /// What the text was given for the gap `name`; "" if it has none of that name.
  std::string gap(std::string_view name) const {
    for (const messages::Gap& g : gaps_)
      if (g.name == name) return g.value;
    return "";
  }

 private:
  std::string text_, key_;
  std::vector<messages::Gap> gaps_;
};

struct Diagnosis {
  std::string
      id;  ///< "B-TRANSPOSED"; "none" when nothing is wrong; "UNEXPLAINED" when no hypothesis fits
  Verdict verdict = Verdict::none;
  std::string headline;              ///< one cause, one line
  std::vector<std::string> details;  ///< places, sizes, a small matrix or a tile map; one line each
  NextStep next_step;
  std::optional<Seen> seen;  ///< empty: the failing call itself
  simgpu::SourceLine place;  ///< of the finding that is named; line 0: none is
};

/// Names the bug. Never throws for wrong results; a failing probe only makes the answer less
/// precise.
Diagnosis diagnose(const Evidence& evidence);

/// A finding of the simulated GPU in words. `run` (may be null) gives the leading dimensions behind
/// "A[3][17]".
Diagnosis explain(const simgpu::Finding& finding, const Tile& tile, const Run* run,
                  ElementType type);

/// The finding to report first: faults before uninitialised reads before races before barriers'
/// consequences. Null if there is none.
const simgpu::Finding* worst_finding(const std::vector<simgpu::LaunchReport>& launches);

/// "tiled_kernel<32, int>": without the type of its result and its parameters.
std::string kernel_name(const std::string& demangled);

/// A launch that was refused, in words.
Diagnosis explain(const LaunchFailure& failure);

/// A missed goal: headline and next step of the catalogue for `id` ("UNCOALESCED", "NO-REUSE",
/// ...); `sentence` is the lab's own sentence with the numbers.
Diagnosis explain_goal(const std::string& id, const std::string& sentence);

}  // namespace grader::diag

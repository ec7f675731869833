// Small pieces of sentences shared by the parts of the diagnosis.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "grader/diagnose/diagnose.hpp"
#include "grader/messages.hpp"

namespace grader::diag {

/// A shared array of at most so many bytes may have been meant as each thread's own.
constexpr std::uint64_t kMostOfOneThread = 512;

std::string dims(const simgpu::Dim3& d);         ///< "64 x 32"
std::string coordinates(const simgpu::Dim3& d);  ///< "(3, 0)"
/// The number in its block of the thread that makes an access: x counts first.
inline std::uint64_t number_of(const simgpu::Access& access, const simgpu::Dim3& block) {
  return (std::uint64_t{access.thread.z} * block.y + access.thread.y) * block.x + access.thread.x;
}
/// "lab4_bank_conflict/given/round_trips.cuh"; "" if the line is in a lab's own file.
std::string header_of(const simgpu::SourceLine& where);
/// Where to look first: of two parties the one in the lab's own file, if the other is in a header.
simgpu::SourceLine place_of(const simgpu::Finding& finding);
/// "line 31"; "line 31 of round_trips.cuh" where that is in a header, which is given.
std::string line_of(const simgpu::SourceLine& where);
std::string element(const std::string& name, std::int64_t row, std::int64_t col);  ///< "A[3][17]"
std::string from_to(std::int64_t first, std::int64_t last);  ///< "3..7"; "3" if that is all
/// "rows 3..7", "row 3".
std::string from_to(const std::string& what, std::int64_t first, std::int64_t last);
std::string counted(std::int64_t count, const char* what);  ///< "1 column", "16 columns"
/// "the first row", "the first 2 rows"; "the last row", "the last 2 rows".
std::string first_of(std::int64_t count, const std::string& what);
std::string last_of(std::int64_t count, const std::string& what);
std::string factors(bool of_a, bool of_b);   ///< "A", "B", "A and B"; one of them at least
std::string times_text(std::int64_t count);  ///< "once", "twice", "3 times"
/// A shared array's own name: the last identifier of what may be a mangled or qualified symbol.
std::string short_name(const std::string& object);

/// Whether an access is to memory that the launcher has allocated.
bool is_scratch(const simgpu::Access& at);

/// An element was read before anybody stored it: adds which elements of its array had been stored by then.
/// `width`: bytes of an element; `row`: elements per row of the array, 0 if unknown; `launch`: the one in
/// which it happened, may be null.
void add_stored(const simgpu::Finding& finding, const std::string& name, std::int64_t width,
                std::int64_t row, const simgpu::LaunchReport* launch, Diagnosis& d);

/// The length of a row of the array of `finding`, if what had been stored of it by then shows rows with padding; else 0.
std::int64_t stored_row_length(const simgpu::Finding& finding, std::int64_t width);

/// The same if A or B is smaller than its tile, and all of it but no zeros around it had been stored: asks
/// who stores those. `run` may be null.
void ask_of_edge(const simgpu::Finding& finding, const Tile& tile, const Run* run,
                 std::int64_t width, Diagnosis& d);

/// Scratch memory has several matrices like C, of which only the first ones have been stored: asks for the blocks of the
/// others. `run` may be null.
void ask_of_missing_parts(const simgpu::Finding& finding, const Run* run, std::int64_t width,
                          Diagnosis& d);

/// An element just past the last row of `m` has two names, "A[8][0]" and "A[7][9]": a sentence that gives
/// both; "" if the access lies elsewhere.
std::string also_at(const simgpu::Access& access, const Matrix& m);

/// Names the element of memory that a thread waits for in vain, and the elements near it that hold other
/// values.
void name_flag(const simgpu::Finding& finding, Diagnosis& d);

/// Why a launch as a whole used up its budget: it is too large, its threads do too much, or
/// they wait over and over.
std::string variant_of_endless(const simgpu::LaunchReport* launch, const Run* run);

/// Somebody waits for a phase of an mbarrier that never ends.
bool is_open_phase(simgpu::FindingCause cause);

/// Adds the other waits that never end: a thread that is missing at one barrier may be stuck at another.
void add_others_waiting(const simgpu::Finding& finding, const simgpu::LaunchReport* launch,
                        Diagnosis& d);

/// The variant for a race over a tile. If one party is the copy engine or a `wgmma`, no barrier need be
/// missing. `launch` may be null.
std::string variant_of_tile_race(const simgpu::Finding& finding,
                                 const simgpu::LaunchReport* launch);

/// A misaligned access: the variant of the diagnosis that fits, and the values for its gaps.
struct Misaligned {
  std::string variant;
  std::vector<messages::Gap> gaps;
};
/// `matrix`: the operand that is accessed, or null; `array`: the name of what is accessed, "" if it is no
/// array's; `width`: bytes of an element.
Misaligned misaligned(const simgpu::Access& access, const Matrix* matrix, const std::string& array,
                      std::int64_t width);

/// Bytes of an element of an array that is no operand, in a rung of `type`. Sums may be wider than the
/// operands; the width of the instruction that reads or stores one shows it.
std::int64_t width_of(const simgpu::Access& access, ElementType type);

/// Which sentences of OOB fit an access. `launch`: the one that it belongs to, or null; `width`: bytes of
/// an element.
std::string variant_of_bounds(const simgpu::Access& at, const simgpu::LaunchReport* launch,
                              std::int64_t width);

/// An access leaves scratch memory that has room for exactly the tiles of A, or of B: asks for the number of
/// the tile, or the place in it. `run` may be null.
void ask_of_packed_tile(const simgpu::Finding& finding, const Tile& tile, const Run* run,
                        std::int64_t width, Diagnosis& d);

/// If pairs of the lab's tiles fill dynamic shared memory exactly, adds which row of which tile an access to
/// it means. `run` may be null.
void add_place_in_ring(const simgpu::Finding& finding, const Tile& tile, const Run* run,
                       const simgpu::LaunchReport* launch, std::int64_t width, Diagnosis& d);

/// How many pairs of the lab's tiles fill an array in shared memory exactly; 0 if they do not.
std::int64_t places_in_ring(const simgpu::Access& at, const Tile& tile,
                            const simgpu::LaunchReport& launch, std::int64_t width);

/// A diagnosis with the catalogue's sentences for `id`, or for `id.variant` if a variant is given.
Diagnosis say(const std::string& id, const std::string& variant,
              const std::vector<messages::Gap>& gaps);

}  // namespace grader::diag

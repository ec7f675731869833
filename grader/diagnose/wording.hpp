// Small pieces of sentences shared by the parts of the diagnosis.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "grader/diagnose/diagnose.hpp"
#include "grader/messages.hpp"

namespace grader::diag {

/// Bytes of an array that may have been meant to be each thread's own.
constexpr std::uint64_t kMostOfOneThread = 512;

std::string dims(const simgpu::Dim3& d);         ///< "64 x 32"
std::string coordinates(const simgpu::Dim3& d);  ///< "(3, 0)"
/// Of the thread that makes an access, in its block: x counts first.
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
/// A shared array's own name: the last identifier of what may be a mangled or qualified symbol.
std::string short_name(const std::string& object);

/// Whether an access is to memory that the launcher has allocated.
bool is_scratch(const simgpu::Access& at);

/// Adds which elements of an array had been stored when one was read that had not. `width`: bytes of
/// an element; `row`: elements of a row of it, 0 if that is not known; `launch`: that it happened in, may be
/// null.
void add_stored(const simgpu::Finding& finding, const std::string& name, std::int64_t width,
                std::int64_t row, const simgpu::LaunchReport* launch, Diagnosis& d);

/// The same where nothing but what exists of A or B, in its only tile, had been stored: asks who stores
/// zeros into the rest. `run` may be null.
void ask_of_edge(const simgpu::Finding& finding, const Tile& tile, const Run* run,
                 std::int64_t width, Diagnosis& d);

/// What a place right behind the last row of `m` may be as well, if rows follow each other; "" if the
/// access is no such place.
std::string also_at(const simgpu::Access& access, const Matrix& m);

/// Says for which element of memory somebody waits for ever, and which elements beside it hold something
/// else than that one.
void name_flag(const simgpu::Finding& finding, Diagnosis& d);

/// Of a launch that used its budget up as a whole: it is too large, or its threads wait again and again.
std::string variant_of_endless(const simgpu::LaunchReport* launch);

/// Adds who else waits for ever: what is missing at one barrier may be held up at another.
void add_others_waiting(const simgpu::Finding& finding, const simgpu::LaunchReport* launch,
                        Diagnosis& d);

/// A race of a tile with what copies into it or reads it by itself: no barrier need be missing. `launch`
/// may be null.
std::string variant_of_tile_race(const simgpu::Finding& finding,
                                 const simgpu::LaunchReport* launch);

/// An access that is not aligned: which of the diagnosis' sentences fit, and what they tell.
struct Misaligned {
  std::string variant;
  std::vector<messages::Gap> gaps;
};
/// `matrix`: what it is an access to, if that is one of the operands; `array`: what that is called, "" if
/// it belongs to nothing; `width`: bytes of an element.
Misaligned misaligned(const simgpu::Access& access, const Matrix* matrix, const std::string& array,
                      std::int64_t width);

/// Bytes of an element of an array that is no operand, in a rung of `type`: sums are kept in wider numbers
/// than what is multiplied, and the type of what reads or stores one says so.
std::int64_t width_of(const simgpu::Access& access, ElementType type);

/// Which sentences of OOB fit an access. `launch`: the one that it belongs to, or null; `width`: bytes of
/// an element.
std::string variant_of_bounds(const simgpu::Access& at, const simgpu::LaunchReport* launch,
                              std::int64_t width);

/// Asks for the number of a tile, or its place in it, where an access leaves scratch memory that has room for
/// just the tiles of A, or of B. `run` may be null.
void ask_of_packed_tile(const simgpu::Finding& finding, const Tile& tile, const Run* run,
                        std::int64_t width, Diagnosis& d);

/// Adds which row of which tile an access to dynamic shared memory is, if pairs of the lab's tiles fill that.
/// `run` may be null.
void add_place_in_ring(const simgpu::Finding& finding, const Tile& tile, const Run* run,
                       const simgpu::LaunchReport* launch, std::int64_t width, Diagnosis& d);

/// How many pairs of the lab's tiles an array in shared memory has room for, if they fill it; else 0.
std::int64_t places_in_ring(const simgpu::Access& at, const Tile& tile,
                            const simgpu::LaunchReport& launch, std::int64_t width);

/// A diagnosis with the catalogue's sentences for `id`, or for `id.variant` if a variant is given.
Diagnosis say(const std::string& id, const std::string& variant,
              const std::vector<messages::Gap>& gaps);

}  // namespace grader::diag

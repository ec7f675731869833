// The hypotheses, by family. Each returns a diagnosis only if it explains every wrong element of
// every case.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "grader/diagnose/case.hpp"
#include "grader/diagnose/diagnose.hpp"

namespace grader::diag {

using Cases = std::vector<Case>;

/// C was stored with other indices: WRONG-LD and C-TRANSPOSED of C; SWAPPED-EXTENTS of guard or
/// grid.
std::optional<Diagnosis> explain_stores(const Evidence& evidence, const Cases& cases);

/// The same for guards and grids alone, which explain_stores() asks last.
std::optional<Diagnosis> explain_extents(const Evidence& evidence, const Cases& cases);

/// Right where rows are contiguous, wrong where the rows of one matrix are further apart: WRONG-LD.
std::optional<Diagnosis> explain_pitch(const Evidence& evidence, const Cases& cases);

/// A or B was read with other indices: A-TRANSPOSED, B-TRANSPOSED, WRONG-LD, SWAPPED-EXTENTS of the
/// loop, tiles of an operand exchanged, stuck or late: TILE-MAP, K-TILE-REPEATED, STALE-TILE.
std::optional<Diagnosis> explain_loads(const Evidence& evidence, const Cases& cases);

/// Tensor cores only: registers of a fragment hold other elements than the layout says:
/// FRAGMENT-MAP.
std::optional<Diagnosis> explain_fragments(const Evidence& evidence, const Cases& cases);

/// Each piece of 2 to 16 neighbours along k arrives in reverse order: TILE-MAP.
std::optional<Diagnosis> explain_pieces(const Evidence& evidence, const Cases& cases);

/// The columns of a shared tile are XOR-permuted by row: SWIZZLE-MISMATCH.
std::optional<Diagnosis> explain_swizzles(const Evidence& evidence, const Cases& cases);

/// Everything wrong was never written: UNWRITTEN, WARP-PART.
std::optional<Diagnosis> explain_unwritten(const Evidence& evidence, const Cases& cases);

/// A memset, or a kernel that reads nothing, stored over C after a kernel had computed it: OVERWRITTEN.
std::optional<Diagnosis> explain_overwritten(Operation operation, const Run& run);

/// ALL-ZERO, ACCUMULATES; all NaN from finite numbers: ACC-INIT.
std::optional<Diagnosis> explain_simple(const Cases& cases);

/// All of C is NaN at some shapes and right at others: what do the former have that the latter lack? Looks at K first.
/// Only if there are no findings: a race for scratch memory makes NaN, too.
std::optional<Diagnosis> nan_at_some_shapes(const Cases& cases);

/// C is all zeros if the last k-tile is not full. What does it hold if that tile is full? K-ONLY-LAST.
std::optional<Diagnosis> explain_zeros(const Evidence& evidence, const Cases& cases);

/// What has been summed up so far is added once more after each step, or k-tile: K-TILE-REPEATED.
std::optional<Diagnosis> explain_running_sums(const Evidence& evidence, const Cases& cases);

/// How often each k was counted, by probes: K-MISSING, K-TILE-*, K-ONLY-LAST, STALE-TILE.
std::optional<Diagnosis> explain_sums(const Evidence& evidence, const Cases& cases);

/// One or more k-tiles begin between the right places, judging by how often each k was added:
/// K-TILE-REPEATED. `shared`: by several blocks.
enum class Starts : std::uint8_t { one, any };
std::optional<Diagnosis> name_starts(const std::vector<int>& counts, const std::vector<int>& tiles,
                                     Starts which, bool shared);

/// Of two groups of k in a k-tile of `tile`, one is added twice and the other never, as if two sets of
/// fragments did not take turns: K-TILE-REPEATED.
std::optional<Diagnosis> name_alternating(const std::vector<int>& counts, int tile);

/// The sum has as many k-tiles as M or N would take: SWAPPED-EXTENTS.
std::optional<Diagnosis> explain_depth(const Evidence& evidence, const Cases& cases);

/// Where each element of C came from, by probes: TILE-MAP; accumulators that were not cleared:
/// ACC-INIT.
std::optional<Diagnosis> explain_places(const Evidence& evidence, const Cases& cases);

/// The same if this explains some of the wrong elements, but not all.
Diagnosis unexplained(const Evidence& evidence, const Case& c);

/// The right sums with a wrong start, a wrong sign or a wrong operator: ACC-INIT, WRONG-SIGN,
/// WRONG-OPERATOR; every thread's small arrays exchanged in the outer product: TILE-MAP.
std::optional<Diagnosis> explain_arithmetic(const Evidence& evidence, const Cases& cases);

/// One of a thread's two small arrays is read at the other one's index: TILE-MAP. Asked before
/// explain_places(), which sees the same elements in several places.
std::optional<Diagnosis> explain_factors(const Evidence& evidence, const Cases& cases);

/// A copy that is 0 exactly in the pieces of 16 bytes that lie wholly in the matrix, or exactly in the others: ALL-ZERO.
std::optional<Diagnosis> explain_lost_pieces(const Evidence& evidence, const Cases& cases);

/// A or B was read at indices that follow i, j and k in another way, by probes: WRONG-INDEX. Rows of
/// A, or columns of B, that merely change places are left to explain_places().
std::optional<Diagnosis> explain_indices(const Evidence& evidence, const Cases& cases);

/// The same for a call that left its matrices: with M = N = K, wrong indices stay inside.
std::optional<Diagnosis> explain_indices_inside(const Evidence& evidence, const Cases& cases);

/// Which element of A or B was multiplied in each step, by probes: WRONG-ELEMENT.
std::optional<Diagnosis> explain_sources(const Evidence& evidence, const Cases& cases);

/// What element (i, j) of C = A * B is, and what its products are without their signs, summed.
struct ExactSum {
  double sum = 0, magnitude = 0;
};
ExactSum exact_sum(const Run& run, int i, int j);

/// C is all zeros with small integers, which have no small parts, and not with other numbers: the product
/// of the big parts is missing. PART-LOST.
std::optional<Diagnosis> explain_parts(const Evidence& evidence, const Cases& cases);
/// All zeros from tensor cores: they get the values of a factor for its bits.
std::optional<Diagnosis> explain_values_for_bits(const Evidence& evidence, const Cases& cases);

/// Only so many bits of each number in A or B count, as products with K = 1 show: LOW-PRECISION.
std::optional<Diagnosis> explain_bits_kept(const Evidence& evidence);

/// What is multiplied is not the number that A or B holds but something made of it: WRONG-VALUE.
std::optional<Diagnosis> explain_values(const Evidence& evidence, const Cases& cases);

/// C does not change with the numbers of A, or not with those of B: WRONG-MATRIX.
std::optional<Diagnosis> explain_unused(const Evidence& evidence, const Cases& cases);

/// Wrong only for data that is not small integers: LOW-PRECISION. `factor`: error over limit.
Diagnosis low_precision(const Evidence& evidence, const Run& run, double factor);

/// The part of C that is wrong, in rows and columns: "rows 4..7 of every 8"; "" if it has no such form.
std::string wrong_part(const Evidence& evidence, const Case& c);
/// The same of the elements that are so.
std::string part_where(const Evidence& evidence, const Case& c,
                       const std::function<bool(int, int)>& is);
/// The part that is right, where the rest is wrong.
std::string right_part(const Evidence& evidence, const Case& c);

/// A factor is used that was never loaded: a part of C is not 0 though all of A, or of B, is: ACC-INIT.
std::optional<Diagnosis> explain_unset(const Evidence& evidence, const Cases& cases);

/// Elements also hold sums that belong to others in their row or column, by probes: SUMS-MIXED.
std::optional<Diagnosis> explain_mixed(const Evidence& evidence, const Cases& cases);

/// Tensor cores: a fragment begins each step with the sums of another one: SUMS-MIXED.
std::optional<Diagnosis> explain_accumulators(const Evidence& evidence, const Cases& cases);

/// The same call is right once rows of A or B begin at multiples of 16 bytes: ROWS-UNALIGNED.
std::optional<Diagnosis> explain_alignment(const Evidence& evidence, const Cases& cases);

/// Only where it is wrong is known: WRONG-PART.
std::optional<Diagnosis> explain_part(const Evidence& evidence, const Cases& cases);

/// An access outside of A, B or C: which index went too far, seen with rows far apart. Sets the
/// headline, the next step and the place; nothing if that cannot be seen.
void name_index(const Evidence& evidence, const Run& run, const simgpu::Finding& finding,
                Diagnosis& d);

/// The finding to name first: the worst one, except that a read of an element nobody stored comes after
/// two stores to one place of the same memory. Null if there is none.
const simgpu::Finding* first_cause(const std::vector<simgpu::LaunchReport>& launches);

/// Two threads stored to one element of C.
bool stored_twice(const Run& run);

/// Two lines store to one place of a shared array, and to no other array: they look like the arms of one condition,
/// which must agree on the place of an element. Sets the next step, or returns false.
bool ask_of_arms(const Evidence& evidence, const Run& run, const simgpu::LaunchReport& launch,
                 const simgpu::Finding& finding, Diagnosis& d);

/// The threads of a block fill all `elements` of an array side by side, `span` at a time, in so many `rounds`, and go
/// on. Sets the next step, or returns false: that is not so.
bool ask_of_rounds(const std::string& name, std::int64_t span, std::int64_t rounds,
                   std::int64_t elements, Diagnosis& d);

/// A barrier that some threads do not reach, or an instruction that stopped the kernel: what it was for. Sets the next
/// step, or leaves it.
void ask_of_stop(const Run& run, const simgpu::Finding& finding, Diagnosis& d);

/// A finding in shared memory: which elements the threads in question access in that line, in order, and
/// what follows from it. Adds details, and may set the next step.
void show_accesses(const Evidence& evidence, const Run& run, const simgpu::Finding& finding,
                   Diagnosis& d);

/// A read from shared memory of what nobody has stored: whether only some of the block's threads store there, or some
/// less often than others. Sets the next step, or leaves it.
void ask_who_stores(const Evidence& evidence, const Run& run, const simgpu::LaunchReport& launch,
                    const simgpu::Finding& finding, Diagnosis& d);

/// A read from a ring of tiles while a copy is still under way: has it left the tile that its line reads? Sets
/// the next step, or leaves it.
void ask_of_left_tile(const Evidence& evidence, const Run& run, const simgpu::Finding& finding,
                      Diagnosis& d);

/// A read from a ring of tiles while a copy to the same place is under way: which place, and is it a number of a
/// place that is wrong? Sets the next step, or leaves it.
void ask_of_place_copied(const Evidence& evidence, const Run& run, const simgpu::Finding& finding,
                         Diagnosis& d);

/// A read ahead, for the step after the last one, from a place of the ring to which nothing was copied.
/// Sets the next step, or leaves it.
bool ask_of_step_behind(const Evidence& evidence, const Run& run, const simgpu::Finding& finding,
                        Diagnosis& d);

/// An access past the end of a ring of tiles, at `element`: whether the thread ran on to the place after the last one.
/// It did if it accesses the same element of another place, among its `own` (empty: they are not known). Sets the next
/// step, or leaves it.
bool ask_of_place_behind(const Evidence& evidence, const simgpu::Access& at,
                         const simgpu::LaunchReport& launch, const std::vector<std::int64_t>& own,
                         std::int64_t element, Diagnosis& d);

/// The lanes of one warp begin with the elements `first` of such a tile as ask_of_warp() knows, further apart than a warp's
/// part is long: they do not lie in one part. Sets the next step, or returns false.
bool ask_of_lanes_apart(const Evidence& evidence, const std::vector<std::int64_t>& first,
                        const simgpu::Access& at, const std::string& name, Diagnosis& d);

/// Lane 0 of warp number `warp` begins with element `first`, beyond row 0 of a product's tile with bk rows, where warps
/// have parts of its columns: the part begins at the wrong place, whatever lanes add. Sets the next step, or returns
/// false.
bool ask_of_warp(const Evidence& evidence, std::int64_t first, const simgpu::Access& at,
                 std::uint64_t warp, Diagnosis& d);

/// Threads along x fill an array side by side, but those of the next row of a 2D block begin further on than the row has
/// elements: threadIdx.y counts for more threads than there are along x. Sets the next step, or returns false.
bool ask_of_rows_of_threads(const simgpu::Dim3& block, const simgpu::Dim3& thread,
                            const std::vector<std::int64_t>& first, std::int64_t count,
                            Diagnosis& d);

/// Threads numbered from `number` on that begin with the elements `first` of an array of `elements`, in pieces of `count`:
/// whether / and % of their numbers have taken two different lengths of a row. Sets the next step, or leaves it.
bool ask_of_numbering(const Evidence& evidence, const simgpu::Dim3& block,
                      const std::vector<std::int64_t>& first, std::int64_t number,
                      std::int64_t count, std::int64_t elements, Diagnosis& d);

/// Accesses past the end of shared memory, or reads of what nobody stored, that begin with the second k-tile:
/// asks what counts the rounds there. Sets the next step, or leaves it.
void ask_of_round(const Evidence& evidence, const Run& run, const simgpu::Finding& finding,
                  Diagnosis& d);

/// Two threads race in a tile in shared memory: says whether within one round, or with the next one. A missing barrier
/// before the reads shows in a single round already; one after the reads needs a second.
void name_race(const Evidence& evidence, const Run& run, const simgpu::Finding& finding,
               Diagnosis& d);

/// An access outside of A or B in a call that never reads the other of the two. Sets the next step, or leaves it.
void ask_of_other_matrix(const Run& run, const simgpu::Finding& finding, Diagnosis& d);

/// A fragment reaches elements of its tile that nobody stored: it begins at a column that is no multiple of its columns.
/// Sets the next step, or leaves it.
void ask_of_fragment_begin(const Evidence& evidence, const Run& run,
                           const simgpu::LaunchReport& launch, const simgpu::Finding& finding,
                           Diagnosis& d);

/// A sentence about which lanes read which rows of a tile that begins at element `begin` of its array, if a row belongs
/// to each group of so many lanes; else "".
std::string lanes_of_row(const Evidence& evidence, const Run& run,
                         const simgpu::LaunchReport& launch, const simgpu::Access& at,
                         std::int64_t begin, std::int64_t columns);

/// Which elements nobody stored says more than which two threads met, if they are the last ones of each
/// thread's part, or tiles inside C.
bool is_telling_part(const Evidence& evidence, const Cases& cases);

/// In a whole tile every thread stores as many elements, and fewer than it should: "" otherwise.
std::string too_few_stores(const Evidence& evidence);

/// Blocks in one row compute a tile each, counted row by row, and the launch has fewer of them than C has tiles. Sets the
/// next step, or leaves it.
void ask_of_fewer_blocks(const Tile& tile, const Case& c, Diagnosis& d);

/// Whole rows of a tile are missing, from `first` on, and several blocks share it: one of them stores too little. Or "".
std::string shares_missing(const Evidence& evidence, const Case& c, int first);

/// The first warps of a block store to C and the later ones do not, though its whole tile lies in C: what should
/// begin anew with each warp may count the threads of the block instead. Else "". (In a block of several rows
/// threadIdx.x begins anew as well, and need not reach the next warp.)
std::string later_warps_missing(const Evidence& evidence);

/// How many blocks share each tile of C, in the launch of `kernel`, if it has more than one for each, all in
/// one row; else 0.
unsigned blocks_per_tile(const Evidence& evidence, const Run& run, const std::string& kernel);

/// Two threads store to one element of C, or to one place of scratch memory: asks what tells their
/// places apart. Sets the next step, or leaves it.
void ask_of_parts(const Evidence& evidence, const Run& run, const simgpu::Finding& finding,
                  Diagnosis& d);

/// The same, from what each of the two threads stores: their rows overlap, or their columns, or the blocks
/// that they belong to. False: that cannot be seen, or says nothing.
bool ask_of_overlap(const Evidence& evidence, const Run& run, const simgpu::Finding& finding,
                    Diagnosis& d);

/// Two warps of a block store to one element of C: where each begins, if the second begins inside of the part of
/// the first. False: it does not, or that cannot be seen.
bool ask_where_warps_begin(const Evidence& evidence, const Run& run, const simgpu::Finding& finding,
                           Diagnosis& d);

/// Tile edges worth trying, most likely first: the lab's own, the block's, the usual ones. All > 1.
std::vector<int> square_tiles(const Evidence& evidence);
std::vector<int> k_tiles(const Evidence& evidence);

/// The case to show: the failing call's own shape if it is telling, else the first that is wrong.
const Case& shown(const Cases& cases);

/// Adds shape, count, first wrong element and, for small matrices, the whole of C.
void describe(const Evidence& evidence, const Case& c, Diagnosis& diagnosis);

/// "launched: grid 2 x 1, block 32 x 32; C is 33 x 17", and how many blocks C needs where that is
/// known; "" if the call had several launches.
std::string launched(const Evidence& evidence, const Case& c);

std::string number(double value);  ///< "12", "0.1234567", "NaN"

}  // namespace grader::diag

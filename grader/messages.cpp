#include "grader/messages.hpp"

#include <array>
#include <iterator>
#include <stdexcept>

namespace grader::messages {
namespace {

struct Entry {
  std::string_view key, text;
};

// Rules for these sentences: the first line names one cause; places are (row, column), never a flat
// index; the next step is something to look at, not a compliment and not a lecture. Brackets [i][j]
// are as in the student's source.
constexpr Entry kCatalogue[] = {
    // ---- the launch
    Entry{"LAUNCH.headline", "launch failed: {reason}"},
    Entry{"LAUNCH.next",
          "Look at the launch configuration in the launcher: <<<grid, block, shared bytes>>>."},
    Entry{"LAUNCH.empty.headline",
          "launch failed: the grid is {grid} for a C of {rows} x {cols}; there is nothing to "
          "compute"},
    Entry{"LAUNCH.empty.next", "Return before the launch when C has no elements."},
    Entry{"LAUNCH.threads", "block is {block} = {threads} threads, the limit is 1024"},
    Entry{"LAUNCH.zero", "{what} is {size}: no extent may be 0"},
    Entry{"LAUNCH.shared",
          "{bytes} bytes of dynamic shared memory, more than {limit} need cudaFuncSetAttribute"},
    Entry{"LAUNCH.other", "{error}"},

    // ---- what was written
    Entry{"UNWRITTEN.all.headline", "C was never written"},
    Entry{"UNWRITTEN.all.next",
          "Does the kernel store its result, and is the kernel launched at all?"},
    Entry{"UNWRITTEN.k0.headline",
          "for K = 0 C was never written; an empty sum is 0, so C must be all zeros"},
    Entry{"UNWRITTEN.k0.next", "Return early only when C is empty (M or N is 0), not when K is."},
    Entry{"UNWRITTEN.rows.headline", "{place} {was} never written: {what}"},
    Entry{"UNWRITTEN.rows.next", "{hint}"},
    Entry{"UNWRITTEN.periodic.headline",
          "{count} of {total} elements of C were never written, the same places in "
          "every {tile} tile"},
    Entry{"UNWRITTEN.periodic.next",
          "Which thread should store {place}? Follow that thread's origin and its loops over the "
          "tile."},
    Entry{"UNWRITTEN.some.headline",
          "{count} of {total} elements of C were never written, first {place}"},
    Entry{"UNWRITTEN.some.next", "Which thread should store {place}? What keeps it from doing so?"},
    Entry{"UNWRITTEN.hint.grid",
          "Does the grid round up? It needs (extent + tile - 1) / tile blocks."},
    Entry{"UNWRITTEN.hint.guard",
          "Does one guard throw away a whole tile whose first elements still belong to C?"},
    Entry{"UNWRITTEN.hint.bound", "Which bound, of the loop, the grid or the guard, ends there?"},
    Entry{"WARP-PART.headline", "only warp {warp} of {warps} stored its part of each tile"},
    Entry{"WARP-PART.next", "Which condition lets only some warps reach the store?"},
    Entry{"ALL-ZERO.headline", "C is all zeros"},
    Entry{"ALL-ZERO.next", "Is the accumulator ever added to, and is it what gets stored?"},
    Entry{"INPUT-MODIFIED.headline", "your kernel wrote to {place}"},
    Entry{"INPUT-MODIFIED.next", "A and B are inputs. Which store has the wrong pointer or index?"},

    // ---- memory
    Entry{"OOB.headline", "{where} {verb} {object}, {how}"},
    Entry{"OOB.next",
          "Compare the index with the extents for exactly this thread; is there a guard before the "
          "access?"},
    Entry{"OOB.row.headline",
          "elements beyond the end of a row of {matrix} are {verb}: columns {columns} are its "
          "padding"},
    Entry{"OOB.row.next",
          "Rows may be further apart than they are wide (ld > columns). Guard the column, not only "
          "the "
          "end of the matrix."},
    Entry{"MISALIGNED.headline",
          "{where}: {width}-byte {verb} at an address that is {rest} mod {width}{why}"},
    Entry{"MISALIGNED.next",
          "A vector access needs an address that is a multiple of its size: test the leading "
          "dimension and the column, or use single elements there."},
    Entry{"USE-AFTER-FREE.headline", "{where} {verb} memory that has been freed ({object})"},
    Entry{"USE-AFTER-FREE.next", "Free scratch memory only after the last kernel that uses it."},
    Entry{"NULL-POINTER.headline", "{where} {verb} through a null pointer"},
    Entry{"NULL-POINTER.next", "Which pointer was never set, or belongs to an empty allocation?"},
    Entry{"HOST-POINTER.headline", "{where} {verb} through a host pointer"},
    Entry{"HOST-POINTER.next", "A kernel can only reach device memory: cudaMalloc and copy first."},
    Entry{"ASYNC-NOT-WAITED.headline",
          "{where} reads {object}, which the asynchronous copy of {copy} may still be writing"},
    Entry{"ASYNC-NOT-WAITED.next",
          "A cp.async has arrived only after its thread waited for the group "
          "(__pipeline_wait_prior, cp.async.wait_group); other threads see it after a barrier that "
          "follows. Count the groups that may stay open."},
    Entry{"UNINIT.headline", "{where} reads {object}, which nobody wrote"},
    Entry{"UNINIT.next",
          "Who fills this element? At the edges of the matrices a tile must be filled with zeros, "
          "not left "
          "as it is."},

    // ---- threads
    Entry{
        "RACE-RAW.headline",
        "{reader} reads {object} while {writer} of the same round writes it: a __syncthreads() is "
        "missing between them"},
    Entry{"RACE-RAW.next",
          "All threads must have finished writing the tile before any thread reads it."},
    Entry{"RACE-WAR.headline",
          "{writer} overwrites {object} for the next round while {reader} still reads it: a "
          "__syncthreads() is missing after the reads"},
    Entry{"RACE-WAR.next",
          "All threads must have finished reading the tile before any thread overwrites it."},
    Entry{"RACE-WAW.headline", "{object} is written by two threads: {writer} and {other}"},
    Entry{"RACE-WAW.next", "Give each element one owner: work out the index for both threads."},
    Entry{"RACE-GLOBAL.headline",
          "{reader} reads {object} while another block or thread writes it in {writer}"},
    Entry{"RACE-GLOBAL.next",
          "Blocks run in any order. What one thread writes another may read only after a barrier, "
          "and "
          "only within a block; between blocks it takes another launch."},
    Entry{"RACE.headline", "two runs on the same data gave different results, first at {place}"},
    Entry{"RACE.next", "Look for a value that depends on which thread comes first."},
    Entry{"BARRIER-DIVERGENT.headline",
          "{where}: __syncthreads() is reached by some threads of a block and not by the others"},
    Entry{"BARRIER-DIVERGENT.next",
          "Put the barrier outside every if that depends on the thread; guard the loads and stores "
          "instead."},
    Entry{"BARRIER-EARLY-EXIT.headline",
          "{where}: __syncthreads() waits for threads that have already returned"},
    Entry{"BARRIER-EARLY-EXIT.next",
          "Threads outside C must stay until the last barrier: let them load zeros and skip the "
          "store."},
    Entry{"BARRIER-MISMATCH.headline",
          "warps of one block wait at different barriers: {where} and {other}"},
    Entry{"BARRIER-MISMATCH.next",
          "Every thread of a block must pass the same barriers equally often. Which loop bound "
          "depends on the thread?"},
    Entry{"DEADLOCK.headline", "the block can never go on: {detail}"},
    Entry{"DEADLOCK.next", "Which threads reach the barrier, and which cannot?"},
    Entry{"ENDLESS.headline", "the kernel did not end within its budget of instructions ({where})"},
    Entry{"ENDLESS.next",
          "Does the loop's variable change, and does the condition ever become false?"},
    Entry{"UNSUPPORTED.headline", "the simulated GPU cannot run this: {detail}"},
    Entry{"UNSUPPORTED.next",
          "This is a limit of the simulated GPU, not necessarily a bug in your code."},
    Entry{"TRAP.headline", "{where}: the kernel stopped itself: {detail}"},
    Entry{"TRAP.next", "Look at the condition that leads there."},

    // ---- indices
    Entry{"A-TRANSPOSED.headline", "C[i][j] took A[k][i] instead of A[i][k]"},
    Entry{"A-TRANSPOSED.next",
          "Element (i, k) of A lies at i * lda + k. Which factor belongs to which index?"},
    Entry{"B-TRANSPOSED.headline", "C[i][j] took B[j][k] instead of B[k][j]"},
    Entry{"B-TRANSPOSED.next",
          "Element (k, j) of B lies at k * ldb + j. Which factor belongs to which index?"},
    Entry{"C-TRANSPOSED.headline", "C is stored transposed: the sum for C[i][j] went to C[j][i]"},
    Entry{"C-TRANSPOSED.next",
          "Element (i, j) of C lies at i * ldc + j. Which factor belongs to which index?"},
    Entry{"TRANSPOSED.copy.headline", "C is {matrix} transposed: C[i][j] holds {matrix}[j][i]"},
    Entry{"TRANSPOSED.copy.next",
          "Follow one element in and out of the tile: which index is the row each time?"},
    Entry{"SWAPPED-EXTENTS.guard.headline",
          "M and N are exchanged: the guard lets {rows} rows and {cols} columns through, "
          "C has {m} and {n}"},
    Entry{"SWAPPED-EXTENTS.guard.next",
          "Rows of C go up to M, columns up to N. Square matrices hide this."},
    Entry{"SWAPPED-EXTENTS.grid.headline",
          "M and N are exchanged: the grid covers {rows} rows and {cols} columns, C has {m} "
          "and {n}"},
    Entry{"SWAPPED-EXTENTS.grid.next",
          "Blocks along x are columns (N), blocks along y rows (M). Square matrices hide this."},
    Entry{"SWAPPED-EXTENTS.mapping.headline",
          "the kernel counts rows with x, the grid counts columns with x: only {rows} rows and "
          "{cols} columns of C ({m} "
          "x {n}) are reached"},
    Entry{"SWAPPED-EXTENTS.mapping.next",
          "Choose which of x and y is the row, and mean the same in the kernel and in the launch "
          "configuration."},
    Entry{"SWAPPED-EXTENTS.k.headline",
          "the sum runs over {name} = {value} terms; there are K = {k}"},
    Entry{"SWAPPED-EXTENTS.k.next", "K is the number of columns of A and of rows of B."},
    Entry{"WRONG-LD.headline",
          "{matrix} is indexed with leading dimension {name} = {value}; it is {ld}"},
    Entry{"WRONG-LD.next",
          "Rows start ld elements apart, which need not be the width: take it from the view. "
          "Square dense "
          "matrices hide this."},

    Entry{"WRONG-LD.width.headline",
          "{matrices} are indexed as if rows were as far apart as they are wide; the leading "
          "dimension is larger"},

    // ---- the sum over k
    Entry{"K-MISSING.headline", "{what} missing from the sum"},
    Entry{"K-MISSING.next", "Write down the first and the last k of the loop, and its step."},
    Entry{"K-TILE-MISSING.headline", "k-tile {tile} ({range}) is missing from the sum{note}"},
    Entry{"K-TILE-MISSING.next",
          "How many k-tiles are there? (K + BK - 1) / BK, the last one may be partial."},
    Entry{"K-TILE-REPEATED.headline", "{what}"},
    Entry{"K-TILE-REPEATED.next",
          "What moves the tile on from one round to the next? Check it for A and for B."},
    Entry{"K-TILE-EXTRA.headline",
          "one k-tile too many is added: the sum goes on after k = {last}"},
    Entry{"K-TILE-EXTRA.next", "How many k-tiles are there? (K + BK - 1) / BK."},
    Entry{"K-ONLY-LAST.headline", "only the last k {unit} survives: is it = instead of += ?"},
    Entry{"K-ONLY-LAST.next",
          "Set the accumulator to 0 once, before the loop, and add to it inside."},
    Entry{"ACCUMULATES.headline", "C holds its old content + A * B: += where = was meant?"},
    Entry{"ACCUMULATES.next",
          "What C held before the call must not matter: store the sum, do not add it."},
    Entry{"ACC-INIT.headline", "accumulators keep the previous sum: {what}"},
    Entry{"ACC-INIT.elements",
          "each element of a thread's tile also holds the sums of the elements before it"},
    Entry{"ACC-INIT.tiles", "a block's second tile also holds the sums of its first"},
    Entry{"ACC-INIT.fragments",
          "each {tile} fragment of a warp also holds the sums of the fragments before it"},
    Entry{"ACC-INIT.never.headline",
          "C is NaN for finite operands: an accumulator starts with what nobody has set"},
    Entry{"ACC-INIT.next", "Set the accumulators to 0 where a new element or tile begins."},
    Entry{"STALE-TILE.headline", "{what}"},
    Entry{"STALE-TILE.next",
          "Beyond K a tile must be filled with zeros, and a tile must be complete before it is "
          "used."},

    // ---- tiles
    Entry{"TILE-MAP.swap.headline", "inside each {tile} tile rows and columns are exchanged"},
    Entry{"TILE-MAP.swap.next",
          "C[{i}][{j}] holds what belongs to C[{i2}][{j2}]. Which of the two indices is the row?"},
    Entry{"TILE-MAP.inside.headline", "elements change places inside each {tile} tile"},
    Entry{"TILE-MAP.blocks.headline", "whole {tile} tiles of C change places"},
    Entry{
        "TILE-MAP.inside.next",
        "C[{i}][{j}] holds what belongs to C[{i2}][{j2}]. Follow that thread from load to store."},
    Entry{
        "TILE-MAP.all.next",
        "C[{i}][{j}] holds what belongs to C[{i2}][{j2}]. Follow that thread from load to store."},
    Entry{"TILE-MAP.blocks.next",
          "C[{i}][{j}] holds what belongs to C[{i2}][{j2}]. Which of blockIdx.x and blockIdx.y is "
          "the tile's row?"},
    Entry{"TILE-MAP.all.headline", "the elements of C are right but in the wrong places"},
    Entry{"TILE-MAP.operand.headline",
          "inside each {tile} tile of {matrix} rows and columns are exchanged"},
    Entry{"TILE-MAP.operand.next",
          "Store and read the shared tile with the same meaning of its two indices."},
    Entry{"TILE-MAP.pieces.headline",
          "each {count} neighbours in a row of A (or in a column of B) arrive in reverse order"},
    Entry{
        "TILE-MAP.pieces.next",
        "Element e of a piece belongs e places after its first: follow one piece from the load to "
        "the tile."},
    Entry{"FRAGMENT-MAP.headline", "{what} of each {tile} fragment of {matrix} are exchanged"},
    Entry{"FRAGMENT-MAP.columns.headline",
          "the columns of each 16 x 8 fragment of C overlap: c0 and c1 belong to columns 2 * (lane "
          "% 4) "
          "and the next, not to lane % 4"},
    Entry{"FRAGMENT-MAP.next",
          "Which lane and register holds which element? Write down row and column for lanes 0, 1 "
          "and 4 "
          "from the layout of the instruction, and compare with your loads and stores."},
    Entry{"SWIZZLE-MISMATCH.headline",
          "the columns of {matrix}'s tile are XOR-permuted by row: store and load use different "
          "swizzles"},
    Entry{"SWIZZLE-MISMATCH.next",
          "Compute the swizzled index in one function, and call it wherever the tile is written or "
          "read."},
    Entry{"TILE-MAP.copy.headline",
          "C[{i}][{j}] holds {matrix}[{i2}][{j2}]: elements change places on their way "
          "through the tile"},
    Entry{"TILE-MAP.copy.next",
          "Follow one element in and out of the tile: which index is the row each time?"},

    // ---- precision
    Entry{"LOW-PRECISION.headline",
          "right indices, too little precision: {factor} times over the limit{guess}"},
    Entry{"LOW-PRECISION.next",
          "In which type are the products summed? Small integers hide this, they are exact in any "
          "type."},
    Entry{"LOW-PRECISION.int.headline", "right for small numbers, wrong for large ones{guess}"},
    Entry{"LOW-PRECISION.guess.result11", ", looks like half-precision sums"},
    Entry{"LOW-PRECISION.guess.result24", ", looks like sums in float"},
    Entry{"LOW-PRECISION.guess.input11", ", looks like inputs rounded to 11 bits (half or TF32)"},
    Entry{"LOW-PRECISION.guess.input8", ", looks like inputs rounded to 8 bits (bfloat16)"},
    Entry{"LOW-PRECISION.guess.input24", ", looks like inputs rounded to float"},

    // ---- goals; the sentence with the numbers is the lab's own
    Entry{"UNCOALESCED.headline", "right, but {sentence}"},
    Entry{"UNCOALESCED.next",
          "Neighbouring threads (threadIdx.x) should touch neighbouring addresses: which index of "
          "the matrix "
          "does threadIdx.x move?"},
    Entry{"NO-REUSE.headline", "right, but {sentence}"},
    Entry{"NO-REUSE.next",
          "Each loaded element should serve several multiply-adds: keep it in a register for a "
          "whole row or "
          "column of the thread's tile."},
    Entry{"NO-SHARED.headline", "right, but {sentence}"},
    Entry{"NO-SHARED.next",
          "The threads of a block share operands: fetch each tile once into shared memory and read "
          "it from "
          "there."},
    Entry{"LOCAL-MEMORY.headline", "right, but {sentence}"},
    Entry{"LOCAL-MEMORY.next",
          "A register array must be indexed with constants: unroll every loop over it (#pragma "
          "unroll, "
          "constant bounds)."},
    Entry{"REGISTERS.headline", "right, but {sentence}"},
    Entry{"REGISTERS.next",
          "A thread has 255 registers, and fewer threads fit the more each needs: use a smaller "
          "tile."},
    Entry{"BANK-CONFLICT.headline", "right, but {sentence}"},
    Entry{"BANK-CONFLICT.next",
          "The 32 lanes of a warp should touch 32 different banks (address / 4 mod 32), or the "
          "same word."},
    Entry{"NOT-VECTORISED.headline", "right, but {sentence}"},
    Entry{"NOT-VECTORISED.next",
          "Move four neighbouring floats at once (float4), where address and edge allow it."},
    Entry{"ASYNC-IDLE.headline", "right, but {sentence}"},
    Entry{"ASYNC-IDLE.next",
          "Start the copy of a later tile, multiply this one, and only then wait for the next."},
    Entry{"NO-TENSOR.headline", "right, but {sentence}"},
    Entry{"NO-TENSOR.next", "Let the tensor cores do the multiply-adds."},
    Entry{"BARRIERS.headline", "right, but {sentence}"},
    Entry{"BARRIERS.next",
          "Two barriers per k-tile are enough: one after filling the tile, one after using it."},
    Entry{"STORES.headline", "right, but {sentence}"},
    Entry{"STORES.next", "Store each element of C once, after the loop over K."},
    Entry{"GOAL.headline", "right, but {sentence}"},
    Entry{"GOAL.next", "Compare the counts per line: `make explain`."},

    // ---- none of them
    Entry{"none.headline", "correct"},
    Entry{"none.next", ""},
    Entry{"UNEXPLAINED.headline", "{count} of {total} elements of C are wrong, first {place}"},
    Entry{
        "UNEXPLAINED.next",
        "Compute that element by hand for a small case: `make run` with the sizes above runs one."},

    // ---- details
    Entry{"detail.first", "first wrong element: C[{i}][{j}] = {got}, expected {expected}{tile}"},
    Entry{"detail.tile", "; {size} tile ({ti}, {tj}), inside it ({ii}, {jj})"},
    Entry{"detail.thread", "; block ({bx}, {by}), thread ({tx}, {ty})"},
    Entry{"detail.count", "{wrong} of {total} elements are wrong (C = {m} x {n}, K = {k})"},
    Entry{"detail.error",
          "the largest error is {factor} times the limit, {units} * 2^-{bits} * (|A||B|)[i][j]"},
    Entry{"detail.nan", "{count} elements are not finite (NaN or infinity)"},
    Entry{"detail.finding", "thread {thread}, block {block}{times}"},
    Entry{"detail.party", "{what}: {where}, thread {thread}, block {block}"},
    Entry{"detail.map", "tiles of {bm} x {bn} elements with something wrong (x), right (.):"},
    Entry{"detail.matrix", "computed (wrong elements marked *), expected:"},
    Entry{"detail.shape", "seen with C = {m} x {n}, K = {k}"},
    Entry{"detail.also", "it also goes out of bounds: {sentence}"},
#include "grader/messages_bench.inc"
#include "grader/messages_check.inc"
#include "grader/messages_gpu.inc"
#include "grader/messages_speed.inc"
#include "grader/messages_sweep.inc"
};

constexpr bool all_differ() {
  for (std::size_t i = 0; i < std::size(kCatalogue); ++i)
    for (std::size_t j = 0; j < i; ++j)
      if (kCatalogue[i].key.size() == kCatalogue[j].key.size() &&
          kCatalogue[i].key == kCatalogue[j].key)
        return false;
  return true;
}
static_assert(all_differ(), "a key stands in the catalogue twice: one of its texts is never shown");

const Entry* find(std::string_view key) {
  for (const Entry& entry : kCatalogue)
    if (entry.key == key) return &entry;
  return nullptr;
}

}  // namespace

bool exists(std::string_view key) {
  return find(key) != nullptr;
}

std::vector<std::string_view> keys() {
  std::vector<std::string_view> all;
  for (const Entry& entry : kCatalogue) all.push_back(entry.key);
  return all;
}

std::string_view raw(std::string_view key) {
  const Entry* entry = find(key);
  if (entry == nullptr) throw std::out_of_range("no message " + std::string(key));
  return entry->text;
}

std::string text(std::string_view key, const std::vector<Gap>& gaps) {
  const std::string_view pattern = raw(key);
  std::string result;
  for (std::size_t at = 0; at < pattern.size();) {
    if (pattern[at] != '{') {
      result += pattern[at++];
      continue;
    }
    const std::size_t end = pattern.find('}', at);
    if (end == std::string_view::npos)
      throw std::out_of_range("open gap in message " + std::string(key));
    const std::string_view name = pattern.substr(at + 1, end - at - 1);
    bool filled = false;
    for (std::size_t i = 0; i < gaps.size() && !filled; ++i) {
      if (gaps[i].first != name) continue;
      result += gaps[i].second;
      filled = true;
    }
    if (!filled)
      throw std::out_of_range("message " + std::string(key) + " needs a value for {" +
                              std::string(name) + "}");
    at = end + 1;
  }
  return result;
}

}  // namespace grader::messages

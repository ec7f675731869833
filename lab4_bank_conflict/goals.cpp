// What lab 4 is about, as numbers: every access to shared memory takes as few wavefronts as its
// width allows, operands move 16 bytes at a time, and the lanes of a warp share what they read.
#include <algorithm>

#include "grader/goals.hpp"

namespace {

using grader::Extents;
using grader::Observed;
using grader::Parameters;

std::int64_t ceil_div(std::int64_t n, std::int64_t d) {
  return (n + d - 1) / d;
}

std::int64_t at(const Parameters& p, const char* name) {
  return static_cast<std::int64_t>(p.at(name));
}

/// How many BM x BN x BK tiles a product takes.
std::int64_t tiles(const Extents& e, const Parameters& p) {
  return ceil_div(e.m, at(p, "BM")) * ceil_div(e.n, at(p, "BN")) * ceil_div(e.k, at(p, "BK"));
}

/// Elements in 16 bytes.
std::int64_t piece(std::uint64_t bytes) {
  return static_cast<std::int64_t>(16 / bytes);
}

/// 8-byte elements take two words per bank.
std::int64_t words(std::uint64_t bytes) {
  return static_cast<std::int64_t>(bytes / 4);
}

// ---- 4.1: eight warps of 4 x 4 elements per lane

/// Per warp and k, TM reads of a_tile and TN of b_tile, each one wavefront per word; every element
/// of both tiles is stored once, 32 at a time. In PTX's own scalar accesses, which is an upper
/// bound for what remains after ptxas has merged some.
double scalar_wavefronts(const Extents& e, const Parameters& p, std::uint64_t bytes) {
  const std::int64_t bm = at(p, "BM"), bn = at(p, "BN"), bk = at(p, "BK");
  const std::int64_t tm = at(p, "TM"), tn = at(p, "TN");
  const std::int64_t warps = bm / tm * (bn / tn) / 32;
  return p.at("slack") * static_cast<double>(tiles(e, p) * words(bytes) *
                                             (warps * bk * (tm + tn) + (bm + bn) * bk / 32));
}

// ---- 4.2 to 4.4: pieces of 16 bytes

/// Shared accesses per tile with TM x TN elements per thread: a piece of A or B per VEC rows or
/// columns and k; A stored element by element, B by pieces.
std::int64_t pieces(const Parameters& p, std::uint64_t bytes) {
  const std::int64_t bm = at(p, "BM"), bn = at(p, "BN"), bk = at(p, "BK"), v = piece(bytes);
  const std::int64_t tm = at(p, "TM"), tn = at(p, "TN");
  const std::int64_t warps = bm / tm * (bn / tn) / 32;
  return warps * bk * (tm / v + tn / v) + bm * bk / 32 + bn * bk / v / 32;
}
double shared_requests(const Extents& e, const Parameters& p, std::uint64_t bytes) {
  return p.at("slack") * static_cast<double>(tiles(e, p) * pieces(p, bytes));
}

/// A 16-byte access takes four wavefronts at best when all its addresses differ: `share` of that.
double few_conflicts(const Extents& e, const Parameters& p, std::uint64_t bytes) {
  return p.at("share") * static_cast<double>(tiles(e, p) * 4 * pieces(p, bytes));
}

double global_requests(const Extents& e, const Parameters& p, std::uint64_t bytes) {
  const std::int64_t elements = (at(p, "BM") + at(p, "BN")) * at(p, "BK");
  return p.at("slack") * static_cast<double>(tiles(e, p) * elements / (32 * piece(bytes)));
}

/// Two wavefronts per piece: what remains of four when lanes n and n ^ 1, or n and n ^ 2, read the
/// same piece.
double paired_wavefronts(const Extents& e, const Parameters& p, std::uint64_t bytes) {
  const std::int64_t v = piece(bytes), tm = at(p, "TM"), tn = at(p, "TN");
  const std::int64_t warps = at(p, "BM") / tm * (at(p, "BN") / tn) / 32;
  return p.at("slack") *
         static_cast<double>(tiles(e, p) * warps * at(p, "BK") * 2 * (tm / v + tn / v));
}

double nothing(const Extents&, const Parameters&, std::uint64_t) {
  return 0;
}
double live_registers_bound(const Extents&, const Parameters& p, std::uint64_t) {
  return p.at("registers");
}

double wavefronts(const Observed& o) {
  return static_cast<double>(o.total.shared_load.wavefronts + o.total.shared_store.wavefronts);
}
double load_wavefronts(const Observed& o) {
  return static_cast<double>(o.total.shared_load.wavefronts);
}
/// Wavefronts that another layout would save. Either as written or as ptxas merges loads: what it
/// makes of them is not the author's fault.
double excess(const simgpu::SharedCounts& s) {
  return static_cast<double>(std::min(s.wavefronts - std::min(s.wavefronts, s.ideal_wavefronts),
                                      s.raw_wavefronts - s.raw_ideal_wavefronts));
}
double excess_wavefronts(const Observed& o) {
  return excess(o.total.shared_load) + excess(o.total.shared_store);
}
double requests(const Observed& o) {
  return static_cast<double>(o.total.shared_load.raw_requests + o.total.shared_store.raw_requests);
}
double loads(const Observed& o) {
  return static_cast<double>(o.total.global_load.requests);
}
double local_accesses(const Observed& o) {
  return static_cast<double>(o.total.local_load_requests + o.total.local_store_requests);
}
double live_registers(const Observed& o) {
  return o.live_registers;
}

const char* const conflicts =
    "Lanes of a warp touch different words of one bank. Eight rows that begin in the same bank: "
    "let each "
    "begin one bank further, or permute the columns.";
const char* const conflicts_of_pieces =
    "The eight lanes of a quarter warp should touch 32 different banks with their 16 bytes, and 32 "
    "lanes "
    "that store single elements as well: is the transposed tile padded?";
const char* const scalar_shared =
    "More accesses to shared memory than with 16 bytes each: read both fragments and store B's "
    "pieces with "
    "move16.";
const char* const scalar_global =
    "More loads from global memory than with 16 bytes each, although every row begins at a "
    "multiple of 16.";
const char* const lanes_apart =
    "A warp reads more than two wavefronts per piece. Let lanes n and n ^ 1 read the same rows, "
    "and n and "
    "n ^ 2 the same columns, and let each warp have a tile of its own.";
const char* const in_local_memory =
    "An array lies in local memory: it stays in registers only if every index is known when the "
    "kernel is "
    "compiled (#pragma unroll).";
const char* const too_many_registers =
    "More registers are alive at once than a thread can have: ptxas will spill them to local "
    "memory.";

const std::vector<Extents> inside = {{256, 256, 256}};
const std::vector<Extents> rows_of_16_bytes = {{256, 256, 256}, {131, 132, 124}};

/// BM, BN, BK, TM and TN of the reference, with one more parameter.
Parameters reference(const char* name, double value) {
  return {{"BM", 128}, {"BN", 128}, {"BK", 8}, {"TM", 8}, {"TN", 8}, {name, value}};
}

grader::Goal no_conflicts(const char* stage) {
  return {stage,
          "excess_wavefronts",
          "wavefronts above ideal",
          "BANK-CONFLICT",
          conflicts_of_pieces,
          reference("share", 0.01),
          excess_wavefronts,
          few_conflicts};
}
grader::Goal few_requests(const char* stage) {
  return {stage,         "shared_requests",       "shared requests", "NOT-VECTORISED",
          scalar_shared, reference("slack", 1.5), requests,          shared_requests};
}
grader::Goal registers_only(const char* stage) {
  return {stage,          "local_accesses", "local memory accesses",
          "LOCAL-MEMORY", in_local_memory,  {},
          local_accesses, nothing};
}
grader::Goal few_registers(const char* stage) {
  return {stage,          "live_registers",     "live registers",
          "REGISTERS",    too_many_registers,   {{"registers", 255}},
          live_registers, live_registers_bound, inside};
}
grader::Goal wide_loads(const char* stage) {
  return {stage,
          "load_requests",
          "loads from global",
          "NOT-VECTORISED",
          scalar_global,
          reference("slack", 1.5),
          loads,
          global_requests,
          rows_of_16_bytes};
}

const std::vector<grader::Goal> goals = {
    {"4.1",
     "shared_wavefronts",
     "shared wavefronts",
     "BANK-CONFLICT",
     conflicts,
     {{"BM", 64}, {"BN", 64}, {"BK", 32}, {"TM", 4}, {"TN", 4}, {"slack", 1.05}},
     wavefronts,
     scalar_wavefronts},

    no_conflicts("4.2"),
    few_requests("4.2"),
    wide_loads("4.2"),
    registers_only("4.2"),
    few_registers("4.2"),

    {"4.3", "load_wavefronts", "shared load wavefronts", "BANK-CONFLICT", lanes_apart,
     reference("slack", 1.1), load_wavefronts, paired_wavefronts},
    no_conflicts("4.3"),
    few_requests("4.3"),
    wide_loads("4.3"),
    registers_only("4.3"),
    few_registers("4.3"),
};

const grader::GoalList registered("lab4_bank_conflict", goals);

}  // namespace

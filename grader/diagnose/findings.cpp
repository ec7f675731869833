// What the simulated GPU found, in words.
#include <algorithm>
#include <cctype>
#include <optional>
#include <stdexcept>
#include <string>

#include <fmt/core.h>

#include "grader/diagnose/diagnose.hpp"
#include "grader/diagnose/wording.hpp"
#include "grader/messages.hpp"

namespace grader::diag {

using simgpu::Access;
using simgpu::AccessType;
using simgpu::Actor;
using simgpu::Finding;
using simgpu::FindingCause;
using simgpu::FindingKind;
using simgpu::MemorySpace;

std::int64_t width_of(const Access& access, ElementType type) {
  return std::max(static_cast<std::int64_t>(access.number_bytes),
                  static_cast<std::int64_t>(size_of(type)));
}

namespace {

const Matrix* operand(const std::string& label, const Run* run) {
  if (run == nullptr) return nullptr;
  if (label == "A") return &run->a;
  if (label == "B") return &run->b;
  if (label == "C") return &run->c_before;
  return nullptr;
}

/// Bytes of one element of what is accessed: C's may be wider than those of A and B.
std::int64_t element_width(const Access& access, const Run* run, ElementType type) {
  const Matrix* const matrix =
      access.space == MemorySpace::global ? operand(access.object, run) : nullptr;
  return matrix != nullptr ? static_cast<std::int64_t>(size_of(matrix->type))
                           : width_of(access, type);
}

/// The launch that a finding belongs to, if the run is known.
const simgpu::LaunchReport* launch_of(const Finding& finding, const Run* run) {
  if (run == nullptr) return nullptr;
  for (const simgpu::LaunchReport& launch : run->launches)
    if (launch.kernel == finding.kernel) return &launch;
  return nullptr;
}

/// Width of one row of a shared array, where its size leaves little doubt: one element per thread
/// of a square block, or the lab's tile of A or B in a block of the lab's size. 0 = unknown: better
/// no index than a wrong one.
std::int64_t shared_row(const std::string& name, std::int64_t elements, const Tile& tile,
                        const simgpu::LaunchReport* launch) {
  if (launch != nullptr) {
    const std::int64_t side = launch->block.x;
    if (launch->block.y == launch->block.x && launch->block.z == 1 && elements == side * side)
      return side;
    const std::int64_t threads =
        static_cast<std::int64_t>(launch->block.x) * launch->block.y * launch->block.z;
    const int tm = std::max(1, tile.tm), tn = std::max(1, tile.tn);
    if (threads != static_cast<std::int64_t>(tile.bm / tm) * (tile.bn / tn)) return 0;
  }
  const auto first =
      static_cast<char>(std::toupper(static_cast<unsigned char>(name.empty() ? 'x' : name[0])));
  if (first == 'A' && tile.bk > 0 && elements == static_cast<std::int64_t>(tile.bm) * tile.bk)
    return tile.bk;
  if (first == 'B' && tile.bn > 0 && elements == static_cast<std::int64_t>(tile.bk) * tile.bn)
    return tile.bn;
  return 0;
}

/// An index below 0 leads before a thread's first local array, to an address that has wrapped around: by how
/// many bytes; 0 if this is none.
std::uint64_t bytes_before_frame(const Access& access) {
  const std::uint64_t bytes = std::uint64_t{0} - access.address;
  const bool wrapped = access.space == MemorySpace::local && access.object.empty() &&
                       static_cast<std::int64_t>(access.address) < 0;
  return wrapped ? bytes : 0;
}

/// "As[3][17]", "B[128][5]", "Bs, byte 1032 of 1024": the array and, if known, the element.
std::string object_name(const Access& access, const Tile& tile, const Run* run, ElementType type,
                        const simgpu::LaunchReport* launch) {
  const auto width = element_width(access, run, type);
  if (access.object.empty()) {
    switch (access.space) {
      case MemorySpace::shared:
        return messages::text("part.shared_at", {{"byte", access.address}});
      case MemorySpace::local:
        if (bytes_before_frame(access) > 0) return messages::text("part.local");
        return messages::text("part.local_at", {{"byte", access.address}});
      default:
        return messages::text("part.no_array");
    }
  }
  // A launcher's allocations are numbered over all calls: a number that tells a reader nothing.
  const bool scratch = access.object.starts_with("scratch ");
  const std::string name = scratch                               ? messages::text("part.scratch")
                           : access.space == MemorySpace::shared ? short_name(access.object)
                                                                 : access.object;
  const bool whole = access.offset >= 0 && access.offset % width == 0;
  if (const Matrix* matrix = operand(name, run);
      access.space == MemorySpace::global && matrix != nullptr && whole && matrix->ld > 0) {
    const std::int64_t index = access.offset / width;
    return element(name, index / matrix->ld, index % matrix->ld);
  }
  if (whole) {
    const std::int64_t row =
        access.space == MemorySpace::shared
            ? shared_row(name, static_cast<std::int64_t>(access.object_bytes) / width, tile, launch)
            : 0;
    const std::int64_t index = access.offset / width;
    if (row > 0) return element(name, index / row, index % row);
    return messages::text("part.element_of", {{"index", index}, {"name", name}});
  }
  return messages::text("part.byte_of", {{"byte", access.offset}, {"name", name}});
}

std::string verb(const Access& access) {
  switch (access.type) {
    case AccessType::load:
      return "reads";
    case AccessType::store:
      return "writes";
    case AccessType::atomic:
      break;
  }
  return "updates";
}

/// "one past its end", "4 rows past its last", "before its start".
std::string how_far(const Access& access, const Run* run, ElementType type) {
  const auto width = element_width(access, run, type);
  if (const std::uint64_t bytes = bytes_before_frame(access); bytes > 0)
    return messages::text("part.bytes_before", {{"bytes", bytes}});
  if (access.object.empty()) return messages::text("part.outside");
  if (access.offset < 0) {
    // Unsigned: a wild pointer can lie as far before as no positive int64_t says.
    const auto before = std::uint64_t{0} - static_cast<std::uint64_t>(access.offset),
               size = static_cast<std::uint64_t>(width);
    return messages::text("part.elements_before", {{"elements", (before - 1) / size + 1}});
  }
  const auto size = static_cast<std::int64_t>(access.object_bytes);
  if (const Matrix* matrix = operand(access.object, run);
      matrix != nullptr && access.space == MemorySpace::global) {
    return messages::text(
        access.offset < size ? "part.matrix_end.partly" : "part.matrix_end",
        {{"matrix", access.object}, {"rows", matrix->rows}, {"columns", matrix->cols}});
  }
  const std::int64_t past = access.offset - size;
  return messages::text(past < 0    ? "part.array_end.partly"
                        : past == 0 ? "part.array_end.one"
                                    : "part.array_end",
                        {{"past", past / width + 1}, {"elements", size / width}});
}

std::string times(const Finding& finding) {
  if (finding.occurrences <= 1) return "";
  return messages::text("part.times_here", {{"times", finding.occurrences}});
}

std::string party(const std::string& what, const Access& access) {
  return messages::text(access.where.line == 0 ? "detail.party.nowhere" : "detail.party",
                        {{"what", what},
                         {"where", line_of(access.where)},
                         {"thread", coordinates(access.thread)},
                         {"block", coordinates(access.block)}});
}

bool is_tile_race(const Finding& finding) {
  return finding.kind == FindingKind::shared_race && finding.other.has_value();
}

/// One thread reaches shared memory of another block of its cluster; not both store.
bool is_in_cluster(const Finding& finding) {
  return is_tile_race(finding) && finding.at.block != finding.other->block &&
         finding.at.actor == Actor::thread && finding.other->actor == Actor::thread &&
         (finding.at.type == AccessType::load || finding.other->type == AccessType::load);
}

/// The same, but that block may not have begun, or have ended: no access is the other party.
bool is_beyond_life(const Finding& finding) {
  return is_in_cluster(finding) && finding.other->where.line == 0;
}

Verdict verdict_of(const std::string& id) {
  if (id == "none") return Verdict::accepted;
  if (id == "LOW-PRECISION" || id == "PART-LOST" || id == "SUMS-CUT-OFF") return Verdict::precision;
  if (id == "ENDLESS") return Verdict::timeout;
  if (id == "UNSUPPORTED") return Verdict::unsupported;
  if (id == "LAUNCH") return Verdict::runtime_error;
  return Verdict::wrong_answer;
}

}  // namespace

Diagnosis say(const std::string& id, const std::string& variant,
              const std::vector<messages::Gap>& gaps) {
  Diagnosis d;
  d.id = id;
  d.verdict = verdict_of(id);
  const std::string key = variant.empty() ? id : id + "." + variant;
  // A sentence with an open gap is still better than no diagnosis; tests see to it that none is
  // open.
  const auto sentence = [&gaps](const std::string& of) {
    try {
      return messages::text(of, gaps);
    } catch (const std::out_of_range&) {
      return messages::exists(of) ? std::string(messages::raw(of)) : std::string();
    }
  };
  d.headline = sentence(key + ".headline");
  const std::string next = (messages::exists(key + ".next") ? key : id) + ".next";
  d.next_step = NextStep(sentence(next), next, gaps);
  return d;
}

namespace {

/// Two lanes of one warp of one block, as far as threads are numbered by x alone; both store.
bool same_warp(const Finding& finding) {
  if (!finding.other) return false;
  const Access &x = finding.at, &y = *finding.other;
  return x.block == y.block && x.thread.y == 0 && y.thread.y == 0 && x.thread.z == 0 &&
         y.thread.z == 0 && x.thread.x / 32 == y.thread.x / 32 && x.type != AccessType::load &&
         y.type != AccessType::load;
}

std::string race_id(const Finding& finding) {
  if (is_in_cluster(finding)) return "BARRIER-CLUSTER";
  const Access& other = finding.other ? *finding.other : finding.at;
  if (finding.at.type != AccessType::load && other.type != AccessType::load) return "RACE-WAW";
  if (!is_tile_race(finding)) return "RACE-GLOBAL";
  return finding.at.type == AccessType::load ? "RACE-RAW" : "RACE-WAR";
}

/// The catalogue's entry for each kind of finding.
std::string id_of(const Finding& finding) {
  switch (finding.kind) {
    case FindingKind::out_of_bounds:
      return "OOB";
    case FindingKind::misaligned:
      return "MISALIGNED";
    case FindingKind::use_after_free:
      return "USE-AFTER-FREE";
    case FindingKind::null_pointer:
      return "NULL-POINTER";
    case FindingKind::host_pointer:
      return "HOST-POINTER";
    case FindingKind::write_to_constant:
      return "INPUT-MODIFIED";
    case FindingKind::uninitialised_read:
      return "UNINIT";
    case FindingKind::async_not_waited:
      return "ASYNC-NOT-WAITED";
    case FindingKind::proxy_fence_missing:
      return "PROXY-FENCE";
    case FindingKind::swizzle_mismatch:
      return "TMA-SWIZZLE";
    case FindingKind::product_registers:
      return "WGMMA-REGISTERS";
    case FindingKind::shared_race:
    case FindingKind::global_race:
      return race_id(finding);
    case FindingKind::divergent_barrier:
      return "BARRIER-DIVERGENT";
    case FindingKind::exited_before_barrier:
      return "BARRIER-EARLY-EXIT";
    case FindingKind::mismatched_barrier:
      return "BARRIER-MISMATCH";
    case FindingKind::deadlock:
      return "DEADLOCK";
    case FindingKind::budget_exceeded:
      return "ENDLESS";
    case FindingKind::unsupported:
      return "UNSUPPORTED";
    case FindingKind::trap:
    case FindingKind::assertion:
    case FindingKind::stack_overflow:
    case FindingKind::division_by_zero:
      return "TRAP";
    case FindingKind::will_spill:
      break;
  }
  return "LOCAL-MEMORY";
}

/// The only coordinate in which two threads that store to one place differ; "" if there are several.
std::string only_difference(const Access& x, const Access& y) {
  std::string name;
  int count = 0;
  const auto compare = [&](std::uint32_t one, std::uint32_t other, const char* of) {
    if (one == other) return;
    name = of;
    ++count;
  };
  compare(x.block.x, y.block.x, "blockIdx.x");
  compare(x.block.y, y.block.y, "blockIdx.y");
  compare(x.block.z, y.block.z, "blockIdx.z");
  compare(x.thread.x, y.thread.x, "threadIdx.x");
  compare(x.thread.y, y.thread.y, "threadIdx.y");
  compare(x.thread.z, y.thread.z, "threadIdx.z");
  return count == 1 ? name : "";
}

/// By how much two threads differ in the coordinate that only_difference() names.
std::uint32_t steps_between(const Access& x, const Access& y) {
  const auto apart = [](const simgpu::Dim3& one, const simgpu::Dim3& other) {
    const auto of = [](std::uint32_t a, std::uint32_t b) { return a < b ? b - a : a - b; };
    return of(one.x, other.x) + of(one.y, other.y) + of(one.z, other.z);
  };
  return apart(x.block, y.block) + apart(x.thread, y.thread);
}

/// Stores of two lines in shared memory: one of them may mean the array beside.
bool of_two_lines(const Finding& finding) {
  const Access &at = finding.at, &other = *finding.other;
  return at.space == MemorySpace::shared && at.where.line != 0 && other.where.line != 0 &&
         at.where.line != other.where.line && at.actor == Actor::thread &&
         other.actor == Actor::thread;
}

/// A layout of lanes is asked for only where a warp multiplies together.
bool has_fragments(const Finding& finding, const Run* run) {
  const simgpu::LaunchReport* const launch = launch_of(finding, run);
  return launch == nullptr || !launch->total.tensor_ops.empty();
}

std::string variant_of_stores(const Finding& finding, const Run* run) {
  const Access &at = finding.at, &other = *finding.other;
  if (at.space == MemorySpace::shared && at.bytes > 0 && at.object_bytes == at.bytes)
    return "single";
  // A thread is no party of its own stores: it meets its own copy, which is still under way.
  if (at.block == other.block && at.thread == other.thread)
    return other.actor == Actor::engine && at.offset != other.offset ? "overlap" : "again";
  if (finding.kind == FindingKind::global_race && same_warp(finding) && has_fragments(finding, run))
    return "lanes";
  if (of_two_lines(finding)) return "lines";
  if (const std::string one = only_difference(at, other); !one.empty()) {
    if (at.space == MemorySpace::shared && at.actor == Actor::thread &&
        at.object_bytes <= kMostOfOneThread && one.starts_with("threadIdx"))
      return "shared";
    if (one == "threadIdx.x" && steps_between(at, other) % 32 == 0 &&
        (at.actor == Actor::thread || at.actor == Actor::warp))
      return at.actor == Actor::thread ? "warps" : "part";
    return at.space != MemorySpace::shared || at.actor != Actor::thread ? "one" : "tile";
  }
  return at.block == other.block ? "" : "blocks";
}

std::string variant_of_race(const Finding& finding, const Run* run) {
  if (!finding.other) return "";
  if (is_in_cluster(finding)) return is_beyond_life(finding) ? "" : "race";
  if (race_id(finding) == "RACE-WAW") return variant_of_stores(finding, run);
  if (is_tile_race(finding)) return variant_of_tile_race(finding, launch_of(finding, run));
  return is_scratch(finding.at) ? "scratch" : "";
}

bool without_k(const Run* run) {
  return run != nullptr && run->a.cols == 0 && run->a.rows > 0;
}

Misaligned misaligned(const Access& at, const Run* run, ElementType type) {
  const bool shared = at.space == MemorySpace::shared;
  return misaligned(at, shared ? nullptr : operand(at.object, run),
                    shared ? short_name(at.object) : at.object, element_width(at, run, type));
}

std::string variant_of_unwritten(const Access& at) {
  return at.space == MemorySpace::local      ? "local"
         : at.actor == Actor::wgmma          ? "wgmma"
         : at.object.starts_with("scratch ") ? "scratch"
                                             : "";
}

/// Three fences are of one kind: for registers of a wgmma, which lie in no memory; for an mbarrier that a
/// copy reports to; and for what threads have stored.
std::string variant_of_fence(const Access& at) {
  return at.bytes == 0 ? "registers" : at.type == AccessType::atomic ? "mbarrier" : "";
}

/// It is known which element of global memory is waited for.
bool is_at_flag(const Finding& finding) {
  return finding.cause == FindingCause::awaited_memory && finding.at.space == MemorySpace::global &&
         finding.at.bytes > 0 && !finding.at.object.empty();
}

std::string variant_of_deadlock(const Finding& finding) {
  return is_open_phase(finding.cause)                    ? "mbarrier"
         : is_at_flag(finding)                           ? "flag"
         : finding.cause == FindingCause::awaited_memory ? "memory"
                                                         : "";
}

std::string variant_of_trap(FindingCause cause) {
  if (cause == FindingCause::trap_instruction) return "";
  if (cause == FindingCause::late_bytes) return "late";
  return cause == FindingCause::unlike_operands ? "warpgroup" : "misuse";
}

std::string variant_outside(const Finding& finding, const Run* run, ElementType type) {
  if (finding.cause == FindingCause::longer_source ||
      finding.cause == FindingCause::negative_source)
    return "longer";  // the place is right
  if (bytes_before_frame(finding.at) > 0) return "local.before";
  const std::string variant =
      variant_of_bounds(finding.at, launch_of(finding, run), element_width(finding.at, run, type));
  if (variant != "fragment" || finding.cause != FindingCause::named_row) return variant;
  return finding.at.thread.x % 32 < 16 ? "fragment.row" : "fragment.second";
}

std::string variant_of_copy(const Finding& finding) {
  if (!finding.other) return "end";
  if (finding.cause == FindingCause::earlier_phase) return "engine.before";
  if (finding.cause == FindingCause::short_phase) return "engine.short";
  if (finding.other->actor == Actor::engine) return "engine";
  if (finding.cause == FindingCause::refilled_place) return "again";
  return finding.cause == FindingCause::unpublished_copy ? "others" : "";
}

/// Which of a diagnosis' sentences fit: the cause is another where the place, or who is there, is.
std::string variant_of(const Finding& finding, const Run* run, ElementType type) {
  const Actor actor = finding.at.actor;
  switch (finding.kind) {
    case FindingKind::misaligned:
      return misaligned(finding.at, run, type).variant;
    case FindingKind::out_of_bounds:
      return variant_outside(finding, run, type);
    case FindingKind::deadlock:
      return variant_of_deadlock(finding);
    case FindingKind::divergent_barrier:
      return actor == Actor::warp || actor == Actor::wgmma ? "warp" : "";
    case FindingKind::budget_exceeded:
      if (actor == Actor::launch) return variant_of_endless(launch_of(finding, run), run);
      return without_k(run) ? "k0" : "";
    case FindingKind::uninitialised_read:
      return variant_of_unwritten(finding.at);
    case FindingKind::async_not_waited:
      return variant_of_copy(finding);
    case FindingKind::shared_race:
    case FindingKind::global_race:
      return variant_of_race(finding, run);
    case FindingKind::null_pointer:
      return without_k(run) ? "k0" : "";
    case FindingKind::proxy_fence_missing:
      return variant_of_fence(finding.at);
    case FindingKind::trap:
      return variant_of_trap(finding.cause);
    default:
      return "";
  }
}

/// Who reads and who writes, where two parties met: a race, or a copy that was not waited for.
std::vector<messages::Gap> party_gaps(const Finding& finding, const std::string& object) {
  const Access& at = finding.at;
  const Access& other = finding.other ? *finding.other : at;
  const bool at_reads = at.type == AccessType::load;
  const bool both_write = !at_reads && other.type != AccessType::load;
  const Access& reader = at_reads ? at : other;
  const Access& writer = at_reads ? other : at;
  if (finding.kind == FindingKind::async_not_waited)
    return {{"where", line_of(reader.where)},
            {"object", object},
            {"copy", line_of(writer.where)},
            {"detail", finding.detail}};
  std::string lines = line_of(at.where);
  if (other.where != at.where) lines += " and " + line_of(other.where);
  const std::string difference = only_difference(at, other);
  return {{"object", object},
          {"reader", line_of(reader.where)},
          {"writer", line_of(both_write ? at.where : writer.where)},
          {"lines", lines},
          {"name", short_name(at.object)},
          {"difference", difference.empty() ? messages::text("part.indices") : difference},
          {"steps", steps_between(at, other)},
          {"one", std::min(at.thread.x, other.thread.x) % 32},
          {"other", std::max(at.thread.x, other.thread.x) % 32},
          {"part", at.thread.x / 4 == other.thread.x / 4   ? "lane % 4"
                   : at.thread.x % 4 == other.thread.x % 4 ? "lane / 4"
                                                           : messages::text("part.lane_parts")},
          {"length", other.bytes},
          {"apart", at.offset < other.offset ? other.offset - at.offset : at.offset - other.offset},
          {"detail", finding.detail}};
}

bool is_between_two(const Finding& finding) {
  return finding.kind == FindingKind::async_not_waited ||
         finding.kind == FindingKind::shared_race || finding.kind == FindingKind::global_race;
}

/// The engine's own sentence is told where it knows more than ours: how many threads, where the
/// others are, and what a copy or a product of its own still waits for.
bool engine_knows_more(const Finding& finding) {
  // Of a warp that races with an ordinary store there is nothing that the two lines do not say; and a barrier
  // between two warps that store to one place would only let the later one win.
  if (finding.kind == FindingKind::shared_race && finding.at.actor == Actor::warp &&
      finding.other && (finding.other->actor == Actor::thread || race_id(finding) == "RACE-WAW"))
    return false;
  // A copy that its thread should have waited for, or published by a barrier: so says the next step.
  if (finding.cause == FindingCause::unwaited_copy ||
      finding.cause == FindingCause::unpublished_copy)
    return false;
  if (finding.kind == FindingKind::async_not_waited || finding.at.actor != Actor::thread)
    return true;
  return !is_between_two(finding) && finding.kind != FindingKind::out_of_bounds &&
         finding.kind != FindingKind::misaligned && finding.kind != FindingKind::uninitialised_read;
}

/// What to tell of the engine's sentence. Of two parties it says first who they are and where they
/// met, as the headline does, and behind a colon what would keep them apart.
std::string what_engine_adds(const Finding& finding) {
  if (!engine_knows_more(finding)) return "";
  if (!is_between_two(finding) || !finding.other) return finding.detail;
  const std::size_t colon = finding.detail.find(": ");
  return colon == std::string::npos ? "" : finding.detail.substr(colon + 2);
}

std::string noun(const Access& access) {
  switch (access.type) {
    case AccessType::load:
      return "read";
    case AccessType::store:
      return "write";
    case AccessType::atomic:
      break;
  }
  return "atomic";
}

}  // namespace

Diagnosis explain(const Finding& finding, const Tile& tile, const Run* run, ElementType type) {
  const Access& at = finding.at;
  const std::string where = line_of(at.where),
                    object = object_name(at, tile, run, type, launch_of(finding, run));
  const std::vector<messages::Gap> gaps =
      is_between_two(finding) ? party_gaps(finding, object)
      : finding.kind == FindingKind::misaligned
          ? misaligned(at, run, type).gaps
          : std::vector<messages::Gap>{
                {"where", where},
                {"verb", verb(at)},
                {"object", object},
                {"how", how_far(at, run, type)},
                {"bytes", at.bytes},
                {"width", element_width(at, run, type)},
                {"size", at.object_bytes},
                {"count", at.bytes / element_width(at, run, type)},
                {"lane", at.thread.x % 32},
                {"place", object + " (" + where + ")"},
                {"other", finding.other ? line_of(finding.other->where)
                                        : messages::text("part.another_line")},
                {"detail", finding.detail},
                {"sentence", finding.detail}};
  Diagnosis d = say(id_of(finding), variant_of(finding, run, type), gaps);
  if (const simgpu::LaunchReport* launch = launch_of(finding, run);
      launch != nullptr && finding.kind == FindingKind::budget_exceeded)
    d.details.push_back(messages::text("detail.launch", {{"grid", dims(launch->grid)},
                                                         {"block", dims(launch->block)},
                                                         {"m", run->c_before.rows},
                                                         {"n", run->c_before.cols}}));
  if (is_estimate(finding.kind)) d.verdict = Verdict::partial;

  if (is_between_two(finding) && finding.other && !is_beyond_life(finding)) {
    d.details.push_back(party(noun(at), at));
    d.details.push_back(party(noun(*finding.other), *finding.other) + times(finding));
  } else if (at.actor != Actor::launch) {  // then no thread stands out
    d.details.push_back(messages::text("detail.finding", {{"thread", coordinates(at.thread)},
                                                          {"block", coordinates(at.block)},
                                                          {"times", times(finding)}}));
  }
  if (const Matrix* const matrix = operand(at.object, run);
      matrix != nullptr && at.space == MemorySpace::global)
    if (const std::string text = also_at(at, *matrix); !text.empty()) d.details.push_back(text);
  const bool scratch = at.space == MemorySpace::global && operand(at.object, run) == nullptr;
  if (finding.kind == FindingKind::uninitialised_read && !at.object.empty() &&
      (scratch || at.space == MemorySpace::shared)) {
    const auto width = element_width(at, run, type);
    const std::string name = scratch ? messages::text("part.scratch") : short_name(at.object);
    const auto elements = static_cast<std::int64_t>(at.object_bytes) / width;
    add_stored(finding, name, width,
               scratch ? 0 : shared_row(name, elements, tile, launch_of(finding, run)),
               launch_of(finding, run), d);
  }
  ask_of_edge(finding, tile, run, element_width(at, run, type), d);
  ask_of_missing_parts(finding, run, element_width(at, run, type), d);
  ask_of_packed_tile(finding, tile, run, element_width(at, run, type), d);
  add_place_in_ring(finding, tile, run, launch_of(finding, run), element_width(at, run, type), d);
  if (finding.kind == FindingKind::deadlock) {
    if (is_at_flag(finding)) name_flag(finding, d);
    add_others_waiting(finding, launch_of(finding, run), d);
  }
  if (const std::string more = what_engine_adds(finding);
      !more.empty() && d.headline.find(more) == std::string::npos)
    d.details.push_back(more);
  return d;
}

Diagnosis explain_goal(const std::string& id, const std::string& sentence) {
  const std::string known =
      messages::exists(id + ".headline") &&
              messages::raw(id + ".headline").find("{sentence}") != std::string_view::npos
          ? id
          : "GOAL";
  Diagnosis d = say(known, "", {{"sentence", sentence}});
  d.id = id;
  d.verdict = Verdict::partial;
  return d;
}

}  // namespace grader::diag

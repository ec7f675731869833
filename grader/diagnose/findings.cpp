// What the simulated GPU found, in words.
#include <algorithm>
#include <cctype>
#include <optional>
#include <stdexcept>
#include <string>

#include "grader/diagnose/diagnose.hpp"
#include "grader/diagnose/wording.hpp"
#include "grader/messages.hpp"

namespace grader::diag {

using simgpu::Access;
using simgpu::AccessType;
using simgpu::Finding;
using simgpu::FindingKind;
using simgpu::MemorySpace;

std::string dims(const simgpu::Dim3& d) {
  std::string text = std::to_string(d.x) + " x " + std::to_string(d.y);
  return d.z == 1 ? text : text + " x " + std::to_string(d.z);
}

std::string coordinates(const simgpu::Dim3& d) {
  const std::string z = d.z == 0 ? "" : ", " + std::to_string(d.z);
  return "(" + std::to_string(d.x) + ", " + std::to_string(d.y) + z + ")";
}

std::string line_of(const simgpu::SourceLine& where) {
  return where.line == 0 ? "an instruction without a line" : "line " + std::to_string(where.line);
}

std::string element(const std::string& name, std::int64_t row, std::int64_t col) {
  return name + "[" + std::to_string(row) + "][" + std::to_string(col) + "]";
}

namespace {

/// A shared array's own name: the last identifier of what may be a mangled or qualified symbol.
std::string short_name(const std::string& object) {
  std::size_t end = object.size();
  while (end > 0 && std::isalnum(static_cast<unsigned char>(object[end - 1])) == 0 &&
         object[end - 1] != '_')
    --end;
  std::size_t begin = end;
  while (begin > 0 && (std::isalnum(static_cast<unsigned char>(object[begin - 1])) != 0 ||
                       object[begin - 1] == '_'))
    --begin;
  const std::string name = object.substr(begin, end - begin);
  return name.empty() ? object : name;
}

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
  return static_cast<std::int64_t>(size_of(matrix != nullptr ? matrix->type : type));
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

/// "As[3][17]", "B[128][5]", "Bs, byte 1032 of 1024": the array and, if its shape is known, the
/// element.
std::string object_name(const Access& access, const Tile& tile, const Run* run, ElementType type,
                        const simgpu::LaunchReport* launch) {
  const auto width = element_width(access, run, type);
  if (access.object.empty()) {
    switch (access.space) {
      case MemorySpace::shared:
        return "shared memory at byte " + std::to_string(access.address);
      case MemorySpace::local:
        return "a local array at byte " + std::to_string(access.address);
      default:
        return "memory that belongs to no array";
    }
  }
  const std::string name =
      access.space == MemorySpace::shared ? short_name(access.object) : access.object;
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
    return "element " + std::to_string(index) + " of " + name;
  }
  return "byte " + std::to_string(access.offset) + " of " + name;
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
  if (access.object.empty()) return "outside every array";
  if (access.offset < 0) {
    // Unsigned: a wild pointer can lie as far before as no positive int64_t says.
    const auto before = std::uint64_t{0} - static_cast<std::uint64_t>(access.offset),
               size = static_cast<std::uint64_t>(width);
    return std::to_string((before - 1) / size + 1) + " element(s) before its start";
  }
  const auto size = static_cast<std::int64_t>(access.object_bytes);
  if (const Matrix* matrix = operand(access.object, run);
      matrix != nullptr && access.space == MemorySpace::global) {
    const std::string is = access.object + " is " + std::to_string(matrix->rows) + " x " +
                           std::to_string(matrix->cols);
    return (access.offset < size ? "partly past its end: " : "past its end: ") + is;
  }
  const std::int64_t past = access.offset - size;
  const std::string has = "it has " + std::to_string(size / width) + " elements";
  if (past < 0) return "partly past its end: " + has;
  if (past == 0) return "one past its end: " + has;
  return std::to_string(past / width + 1) + " past its end: " + has;
}

std::string times(const Finding& finding) {
  if (finding.occurrences <= 1) return "";
  return "; " + std::to_string(finding.occurrences) + " times at this place";
}

std::string party(const std::string& what, const Access& access) {
  return messages::text("detail.party", {{"what", what},
                                         {"where", line_of(access.where)},
                                         {"thread", coordinates(access.thread)},
                                         {"block", coordinates(access.block)}});
}

bool is_tile_race(const Finding& finding) {
  return finding.kind == FindingKind::shared_race && finding.other.has_value();
}

/// Smaller is reported first: causes before their consequences.
int rank(const Finding& finding) {
  switch (finding.kind) {
    case FindingKind::null_pointer:
    case FindingKind::host_pointer:
    case FindingKind::use_after_free:
    case FindingKind::unsupported:
      return 0;
    case FindingKind::misaligned:
      return 1;
    case FindingKind::write_to_constant:
      return 2;
    // Threads that pass by a barrier meet the wrong one later, and are gone when the others reach
    // the last.
    case FindingKind::divergent_barrier:
      return 3;
    case FindingKind::mismatched_barrier:
      return 4;
    case FindingKind::exited_before_barrier:
      return 5;
    case FindingKind::out_of_bounds:
      return 6;
    case FindingKind::trap:
    case FindingKind::assertion:
    case FindingKind::stack_overflow:
    case FindingKind::division_by_zero:
      return 7;
    // Before the race: what was not waited for often lacks its barrier as well.
    case FindingKind::async_not_waited:
      return 8;
    case FindingKind::shared_race:
      return 9;
    case FindingKind::deadlock:
      return 10;
    case FindingKind::uninitialised_read:
      return 11;
    case FindingKind::global_race:
      return 12;
    case FindingKind::budget_exceeded:
      return 13;
    case FindingKind::will_spill:
      break;
  }
  return 99;
}

}  // namespace

Diagnosis say(const std::string& id, const std::string& variant,
              const std::vector<messages::Gap>& gaps) {
  Diagnosis d;
  d.id = id;
  d.verdict = id == "none"            ? "ACCEPTED"
              : id == "LOW-PRECISION" ? "PRECISION"
              : id == "ENDLESS"       ? "TIMEOUT"
              : id == "UNSUPPORTED"   ? "UNSUPPORTED"
              : id == "LAUNCH"        ? "RUNTIME_ERROR"
                                      : "WRONG_ANSWER";
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
  d.next_step = sentence((messages::exists(key + ".next") ? key : id) + ".next");
  return d;
}

const Finding* worst_finding(const std::vector<simgpu::LaunchReport>& launches) {
  const Finding* worst = nullptr;
  for (const simgpu::LaunchReport& launch : launches)
    for (const Finding& finding : launch.findings)
      if (rank(finding) < 99 && (worst == nullptr || rank(finding) < rank(*worst)))
        worst = &finding;
  return worst;
}

Diagnosis explain(const Finding& finding, const Tile& tile, const Run* run, ElementType type) {
  const Access& at = finding.at;
  const std::string where = line_of(at.where),
                    object = object_name(at, tile, run, type, launch_of(finding, run));
  Diagnosis d;
  bool parties = false;
  switch (finding.kind) {
    case FindingKind::out_of_bounds:
      d = say("OOB", "",
              {{"where", where},
               {"verb", verb(at)},
               {"object", object},
               {"how", how_far(at, run, type)}});
      break;
    case FindingKind::misaligned: {
      const unsigned width = std::max(1u, at.bytes);
      std::string why;
      if (const Matrix* matrix = operand(at.object, run); matrix != nullptr && matrix->ld % 2 == 1)
        why = " (the leading dimension of " + at.object + ", " + std::to_string(matrix->ld) +
              ", is odd)";
      d = say("MISALIGNED", "",
              {{"where", where},
               {"width", std::to_string(width)},
               {"verb", at.type == AccessType::load    ? "load"
                        : at.type == AccessType::store ? "store"
                                                       : "atomic"},
               {"rest", std::to_string(at.address % width)},
               {"why", why}});
      break;
    }
    case FindingKind::use_after_free:
      d = say("USE-AFTER-FREE", "", {{"where", where}, {"verb", verb(at)}, {"object", object}});
      break;
    case FindingKind::null_pointer:
      d = say("NULL-POINTER", "", {{"where", where}, {"verb", verb(at)}});
      break;
    case FindingKind::host_pointer:
      d = say("HOST-POINTER", "", {{"where", where}, {"verb", verb(at)}});
      break;
    case FindingKind::write_to_constant:
      d = say("INPUT-MODIFIED", "", {{"place", object + " (" + where + ")"}});
      break;
    case FindingKind::uninitialised_read:
      d = say("UNINIT", "", {{"where", where}, {"object", object}});
      break;
    case FindingKind::async_not_waited: {
      parties = true;
      const Access other = finding.other.value_or(at);
      const bool at_reads = at.type == AccessType::load;
      d = say("ASYNC-NOT-WAITED", "",
              {{"where", line_of(at_reads ? at.where : other.where)},
               {"object", object},
               {"copy", line_of(at_reads ? other.where : at.where)}});
      break;
    }
    case FindingKind::shared_race:
    case FindingKind::global_race: {
      parties = true;
      const Access other = finding.other.value_or(at);
      const bool both_write = at.type != AccessType::load && other.type != AccessType::load;
      const Access& reader = at.type == AccessType::load ? at : other;
      const Access& writer = at.type == AccessType::load ? other : at;
      const std::vector<messages::Gap> gaps = {
          {"object", object},
          {"reader", line_of(reader.where)},
          {"writer", line_of(both_write ? at.where : writer.where)},
          {"other", line_of(other.where)}};
      if (both_write)
        d = say("RACE-WAW", "", gaps);
      else if (!is_tile_race(finding))
        d = say("RACE-GLOBAL", "", gaps);
      else
        d = say(at.type == AccessType::load ? "RACE-RAW" : "RACE-WAR", "", gaps);
      break;
    }
    case FindingKind::divergent_barrier:
      d = say("BARRIER-DIVERGENT", "", {{"where", where}});
      break;
    case FindingKind::exited_before_barrier:
      d = say("BARRIER-EARLY-EXIT", "", {{"where", where}});
      break;
    case FindingKind::mismatched_barrier:
      d = say("BARRIER-MISMATCH", "",
              {{"where", where},
               {"other", finding.other ? line_of(finding.other->where) : "another line"}});
      break;
    case FindingKind::deadlock:
      d = say("DEADLOCK", "", {{"detail", finding.detail}});
      break;
    case FindingKind::budget_exceeded:
      d = say("ENDLESS", "", {{"where", where}});
      break;
    case FindingKind::unsupported:
      d = say("UNSUPPORTED", "", {{"detail", finding.detail}});
      break;
    case FindingKind::trap:
    case FindingKind::assertion:
    case FindingKind::stack_overflow:
    case FindingKind::division_by_zero:
      d = say("TRAP", "", {{"where", where}, {"detail", finding.detail}});
      break;
    case FindingKind::will_spill:
      d = say("LOCAL-MEMORY", "", {{"sentence", finding.detail}});
      d.verdict = "PARTIAL";
      break;
  }
  if (parties && finding.other) {
    const auto what = [](const Access& access) {
      return access.type == AccessType::load    ? "read"
             : access.type == AccessType::store ? "write"
                                                : "atomic";
    };
    d.details.push_back(party(what(at), at));
    d.details.push_back(party(what(*finding.other), *finding.other) + times(finding));
  } else {
    d.details.push_back(messages::text("detail.finding", {{"thread", coordinates(at.thread)},
                                                          {"block", coordinates(at.block)},
                                                          {"times", times(finding)}}));
  }
  // The engine's own sentence where it knows more than ours: how many threads, and where the others
  // are.
  const bool said =
      finding.kind == FindingKind::async_not_waited || finding.kind == FindingKind::shared_race ||
      finding.kind == FindingKind::global_race || finding.kind == FindingKind::out_of_bounds ||
      finding.kind == FindingKind::misaligned || finding.kind == FindingKind::uninitialised_read;
  if (!said && !finding.detail.empty() && d.headline.find(finding.detail) == std::string::npos)
    d.details.push_back(finding.detail);
  return d;
}

Diagnosis explain(const LaunchFailure& failure) {
  const auto zero = [](const simgpu::Dim3& d) { return d.x == 0 || d.y == 0 || d.z == 0; };
  const std::uint64_t threads =
      static_cast<std::uint64_t>(failure.block.x) * failure.block.y * failure.block.z;
  std::string reason;
  if (zero(failure.grid))
    reason = messages::text("LAUNCH.zero", {{"what", "the grid"}, {"size", dims(failure.grid)}});
  else if (zero(failure.block))
    reason = messages::text("LAUNCH.zero", {{"what", "the block"}, {"size", dims(failure.block)}});
  else if (threads > 1024)
    reason = messages::text("LAUNCH.threads",
                            {{"block", dims(failure.block)}, {"threads", std::to_string(threads)}});
  else if (failure.dynamic_shared_bytes > (48u << 10))
    reason = messages::text(
        "LAUNCH.shared",
        {{"bytes", std::to_string(failure.dynamic_shared_bytes)}, {"limit", "49152"}});
  else
    reason = messages::text("LAUNCH.other", {{"error", failure.error}});
  Diagnosis d = say("LAUNCH", "", {{"reason", reason}});
  d.details.push_back((failure.kernel.empty() ? "" : failure.kernel + ": ") + "grid " +
                      dims(failure.grid) + ", block " + dims(failure.block));
  if (reason != failure.error && !failure.error.empty()) d.details.push_back(failure.error);
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
  d.verdict = "PARTIAL";
  return d;
}

}  // namespace grader::diag

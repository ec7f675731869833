// How often each k was added, read off by probes.
//
// With A all ones and B[k][j] = 4^d at the d-th k of a window and 0 elsewhere, the base-4 digits of
// C[i][j] say how often each k of that window went into C[i][j]. Where that is more than three times,
// the same with powers of 64.
#include <algorithm>
#include <cmath>
#include <set>
#include <tuple>
#include <utility>

#include <fmt/core.h>

#include "grader/diagnose/hypotheses.hpp"
#include "grader/diagnose/steps.hpp"
#include "grader/diagnose/wording.hpp"

namespace grader::diag {
namespace {

/// Digits of `bits` bits that sums of operands of a type hold exactly, each operand a power of
/// 2^bits.
int digits_of(ElementType type, int bits) {
  const int digits = significant_bits(result_type(type)) / bits;
  return type == ElementType::float16 ? std::min(digits, 15 / bits + 1) : digits;  // to 2^15
}

/// counts[(i * n + j) * k + t]: how often step t was counted in C[i][j], less than 2^bits times.
using Counts = std::vector<std::uint8_t>;

/// `start`: what each element of C holds where all factors are 0; empty: 0.
std::optional<Counts> count_steps(const Evidence& evidence, const Case& c, int bits,
                                  const std::vector<double>& start = {}) {
  const int digits = digits_of(evidence.type, bits);
  Counts counts(c.correct.size() * static_cast<std::size_t>(c.k));
  for (int first = 0; first < c.k; first += digits) {
    const auto code = [&](int k) {
      return k >= first && k < first + digits ? std::ldexp(1.0, bits * (k - first)) : 0.0;
    };
    const Matrix& a = c.run.a;
    const Matrix& b = c.run.b;
    const std::optional<Run> run = probe(
        evidence, filled(evidence.type, a.rows, a.cols, a.ld - a.cols, [](int, int) { return 1; }),
        filled(evidence.type, b.rows, b.cols, b.ld - b.cols, [&](int k, int) { return code(k); }));
    if (!run) return std::nullopt;
    const int width = std::min(digits, c.k - first);
    for (int i = 0; i < c.m; ++i) {
      for (int j = 0; j < c.n; ++j) {
        const double value = run->c_after.at(i, j) - (start.empty() ? 0 : start[c.at(i, j)]);
        if (!(value >= 0) || value >= std::ldexp(1.0, bits * digits) || value != std::floor(value))
          return std::nullopt;
        auto rest = static_cast<std::uint64_t>(value);
        for (int d = 0; d < width; ++d, rest >>= bits)
          counts[c.at(i, j) * static_cast<std::size_t>(c.k) + static_cast<std::size_t>(first + d)] =
              static_cast<std::uint8_t>(rest % (1u << bits));
        if (rest != 0) return std::nullopt;
      }
    }
  }
  return counts;
}

/// Do these counts reproduce the wrong result exactly?
bool reproduces(const Case& c, const Counts& counts, const std::vector<double>& start = {}) {
  const std::vector<double> a = c.run.a.values();
  std::vector<double> columns;  // of B, one after the other
  columns.reserve(static_cast<std::size_t>(c.k) * static_cast<std::size_t>(c.n));
  for (int j = 0; j < c.n; ++j)
    for (int k = 0; k < c.k; ++k) columns.push_back(c.run.b.at(k, j));
  const std::uint8_t* count = counts.data();
  for (int i = 0; i < c.m; ++i) {
    const double* const row = a.data() + static_cast<std::ptrdiff_t>(i) * c.k;
    const double* of_b = columns.data();
    for (int j = 0; j < c.n; ++j) {
      double sum = start.empty() ? 0 : start[c.at(i, j)];
      for (int k = 0; k < c.k; ++k) sum += *count++ * row[k] * *of_b++;
      if (sum != c.got(i, j)) return false;
    }
  }
  return true;
}

/// What a thread asks before it fetches an element of an operand that has nothing to do with that.
struct Asked {
  bool of_c;  ///< whether its column (of an element of A) or its row (of B) of C exists
  bool of_k;  ///< whether the k exists that it fetches of the other operand
};

/// A thread that fetches an element of A and one of B for tiles of one element per thread, and asks
/// only once whether they exist. Thread (x, y) fetches A at k = x and B at k = y of its tile.
bool kept(const Case& c, int tile, const Asked& a, const Asked& b, int i, int j, int k) {
  const int of_k = k % tile, k0 = k - of_k;
  return (!a.of_c || j / tile * tile + of_k < c.n) && (!a.of_k || k0 + i % tile < c.k) &&
         (!b.of_c || i / tile * tile + of_k < c.m) && (!b.of_k || k0 + j % tile < c.k);
}

bool counted_as_kept(const Case& c, const Counts& counts, int tile, const Asked& a,
                     const Asked& b) {
  for (int i = 0; i < c.m; ++i)
    for (int j = 0; j < c.n; ++j)
      for (int k = 0; k < c.k; ++k)
        if (counts[c.at(i, j) * static_cast<std::size_t>(c.k) + static_cast<std::size_t>(k)] !=
            (kept(c, tile, a, b, i, j, k) ? 1 : 0))
          return false;
  return true;
}

std::optional<Diagnosis> name_one_guard(const Tile& t, const Case& c, const Counts& counts) {
  if (t.tm > 1 || t.tn > 1 || t.bm < 2 || t.bm != t.bn) return std::nullopt;
  constexpr Asked kNothing{false, false}, kWays[] = {{true, false}, {false, true}, {true, true}};
  for (const Asked& way : kWays)
    for (const auto& [a, b, what] : {std::tuple{way, way, messages::text("part.a_and_of_b")},
                                     {way, kNothing, "A"},
                                     {kNothing, way, "B"}})
      if (counted_as_kept(c, counts, t.bm, a, b))
        return say("K-MISSING", "guard", {{"what", what}});
  return std::nullopt;
}

/// Inside each k-tile the loop over fragments goes on by less than a fragment is deep.
std::optional<Diagnosis> name_short_window(const Profile& p, const std::vector<int>& tiles) {
  const auto k = static_cast<int>(p.size());
  for (const int tile : tiles)
    for (const int width : {4, 8, 16})
      for (const int step : {1, 2, 4, 8}) {
        if (step >= width || width >= tile) break;
        Profile windows(p.size());
        for (int i = 0; i < k; ++i)
          for (int w = 0; w < tile / width; ++w) {
            const int inside = i % tile - w * step;
            if (inside >= 0 && inside < width) ++windows[static_cast<std::size_t>(i)];
          }
        if (windows == p)
          return say("K-TILE-REPEATED", "window", {{"step", step}, {"width", width}});
      }
  return std::nullopt;
}

/// Two or three k-tiles, the last of them not a single step, tell most; digits count to 3.
const Case* most_telling(const Cases& cases, const std::vector<int>& tiles) {
  const auto telling = [&](const Case& c) {
    if (tiles.empty()) return c.k > 3 ? 1 : 0;
    const int tile = tiles.front();
    return c.k > 2 * tile && c.k <= 3 * tile && c.k % tile != 1 ? 2 : c.k > tile ? 1 : 0;
  };
  const Case* chosen = nullptr;
  for (const Case& c : cases)
    if (c.wrong > 0 && c.k > 0 && (chosen == nullptr || telling(c) > telling(*chosen))) chosen = &c;
  return chosen;
}

/// The different sets of counts that elements have, all ones left out; none if there are too many
/// to be one bug.
std::set<Profile> profiles_of(const Case& c, const Counts& counts) {
  std::set<Profile> profiles;
  for (std::size_t e = 0; e < c.correct.size(); ++e) {
    Profile p(static_cast<std::size_t>(c.k));
    for (std::size_t k = 0; k < p.size(); ++k) p[k] = counts[e * p.size() + k];
    profiles.insert(std::move(p));
    if (profiles.size() > 64) return {};
  }
  profiles.erase(Profile(static_cast<std::size_t>(c.k), 1));
  return profiles;
}

/// The counts of the first element that is wrong.
Profile first_wrong_profile(const Case& c, const Counts& counts) {
  Profile p(static_cast<std::size_t>(c.k), 1);
  std::size_t e = 0;
  while (e < c.state.size() && c.state[e] == State::right) ++e;
  for (std::size_t k = 0; k < p.size() && e < c.state.size(); ++k) p[k] = counts[e * p.size() + k];
  return p;
}

/// All elements of a tile of C have one set of steps, and tiles have different ones.
bool differ_by_tile(const Case& c, const Counts& counts, const Tile& t) {
  const auto depth = static_cast<std::size_t>(c.k);
  const auto same = [&](std::size_t one, std::size_t other) {
    const auto from = [&](std::size_t e) {
      return counts.begin() + static_cast<std::ptrdiff_t>(e * depth);
    };
    return std::equal(from(one), from(one) + static_cast<std::ptrdiff_t>(depth), from(other));
  };
  if (t.bm < 1 || t.bn < 1) return false;
  bool differ = false;
  for (int i = 0; i < c.m; ++i)
    for (int j = 0; j < c.n; ++j) {
      if (!same(c.at(i, j), c.at(i / t.bm * t.bm, j / t.bn * t.bn))) return false;
      differ |= !same(c.at(i, j), 0);
    }
  return differ;
}

/// One of several sets of steps is named: best that of the element that is shown as well.
std::optional<Diagnosis> name_shown_steps(const std::set<Profile>& profiles, const Profile& shown,
                                          const std::vector<int>& tiles, bool shared) {
  const int tile = tiles.empty() ? 1 : tiles.front();
  const bool varied = profiles.size() > 1;
  std::optional<Diagnosis> d = name_steps(*profiles.begin(), tile, varied, shared);
  if (!d || d->id != "K-MISSING") return d;
  const std::optional<Diagnosis> own = name_steps(shown, tile, varied, shared);
  return own && own->id == d->id ? own : d;
}

/// Which pieces of a larger tile hold products, where the same ones do in every tile: elements of a
/// thread's, fragments of a warp's.
std::optional<Diagnosis> name_pieces(const Case& c, int rows, int cols, int high, int wide) {
  if (high < 1 || wide < 1 || rows <= high || cols <= wide) return std::nullopt;
  if (rows % high != 0 || cols % wide != 0) return std::nullopt;
  const int down = rows / high, across = cols / wide;
  const auto piece = [&](int i, int j) {
    return static_cast<std::size_t>(i % rows / high * across + j % cols / wide);
  };
  std::vector<bool> made(static_cast<std::size_t>(down) * static_cast<std::size_t>(across));
  for (int i = 0; i < c.m; ++i)
    for (int j = 0; j < c.n; ++j)
      if (c.got(i, j) != 0) made[piece(i, j)] = true;
  for (int i = 0; i < c.m; ++i)
    for (int j = 0; j < c.n; ++j)
      if (made[piece(i, j)] ? c.state_at(i, j) != State::right : c.got(i, j) != 0)
        return std::nullopt;
  constexpr int kMostListed = 4;
  std::string list;
  int count = 0;
  for (int p = 0; p < down * across; ++p)
    if (made[static_cast<std::size_t>(p)] && ++count <= kMostListed)
      list += fmt::format("{}[{}][{}]", list.empty() ? "" : ", ", p / across, p % across);
  if (count == 0 || count == down * across) return std::nullopt;
  if (count > kMostListed) list += " ...";
  const bool single = high == 1 && wide == 1;
  return say("ALL-ZERO", "pieces",
             {{"what", single ? messages::text("part.elements")
                              : messages::text("part.fragments",
                                               {{"size", fmt::format("{} x {}", high, wide)}})},
              {"whose", single ? "thread" : "warp"},
              {"tile", fmt::format("{} x {}", rows, cols)},
              {"list", list}});
}

std::optional<Diagnosis> name_any_pieces(const Tile& t, const Case& c) {
  for (const auto& [high, wide] : {std::pair{16, 16}, std::pair{16, 8}, std::pair{8, 8}})
    if (on_tensor_cores({c}))
      if (auto d = name_pieces(c, t.wm, t.wn, high, wide)) return d;
  return name_pieces(c, t.tm, t.tn, 1, 1);
}

/// Some elements have no products, and all others are right.
Diagnosis name_zeros(const Evidence& evidence, const Case& c) {
  if (const std::string part = wrong_part(evidence, c); !part.empty())
    return say("ALL-ZERO", "where", {{"part", part}});
  if (auto d = name_any_pieces(evidence.tile, c)) return *std::move(d);
  return say("ALL-ZERO", "some", {{"wrong", c.wrong}, {"total", c.size()}});
}

/// Elements without any product, others with all of theirs: places of C, not steps, are left out.
std::optional<Diagnosis> name_empty(const Evidence& evidence, const Case& c,
                                    const std::set<Profile>& profiles) {
  const Profile nothing(static_cast<std::size_t>(c.k));
  if (profiles.count(nothing) == 0) return std::nullopt;
  const bool only_zero = profiles.size() == 1;
  if (only_zero && c.wrong == c.size()) return std::nullopt;
  const Tile& t = evidence.tile;
  const auto zero = [&c](int i, int j) { return c.got(i, j) == 0; };
  int rows = -1, cols = -1;  // from which row, or column, of each thread's part on
  for (int i = c.m; i-- > 0;)
    for (int j = c.n; j-- > 0;)
      if (zero(i, j) && c.state_at(i, j) != State::right) {
        rows = t.tm > 1 && (rows < 0 || i % t.tm < rows) ? i % t.tm : rows;
        cols = t.tn > 1 && (cols < 0 || j % t.tn < cols) ? j % t.tn : cols;
      }
  const auto all_from = [&](int first, int count, bool by_row) {
    if (first < 1) return false;
    for (int i = 0; i < c.m; ++i)
      for (int j = 0; j < c.n; ++j)
        if (const bool beyond = (by_row ? i : j) % count >= first;
            beyond != zero(i, j) && (beyond || c.state_at(i, j) != State::right))
          return false;  // a right 0 may be anywhere
    return true;
  };
  if (all_from(rows, t.tm, true))
    return say("ALL-ZERO", "part",
               {{"what", "rows"}, {"places", from_to("row", rows, t.tm - 1)}, {"count", t.tm}});
  if (all_from(cols, t.tn, false))
    return say(
        "ALL-ZERO", "part",
        {{"what", "columns"}, {"places", from_to("column", cols, t.tn - 1)}, {"count", t.tn}});
  if (!only_zero) return std::nullopt;
  return name_zeros(evidence, c);
}

/// A step is missing, and in its place stands what follows from no factor: a product of registers that
/// nobody set.
std::optional<Diagnosis> name_unset_step(const Evidence& evidence, const Case& c) {
  if (worst_finding(c.run.launches) != nullptr) return std::nullopt;  // it may come from there
  const auto zeros = [&evidence](const Matrix& m) {
    return filled(evidence.type, m.rows, m.cols, m.ld - m.cols, [](int, int) { return 0.0; });
  };
  const std::optional<Run> none = probe(evidence, zeros(c.run.a), zeros(c.run.b));
  if (!none) return std::nullopt;
  std::vector<double> start(c.correct.size());
  for (int i = 0; i < c.m; ++i)
    for (int j = 0; j < c.n; ++j) start[c.at(i, j)] = none->c_after.at(i, j);
  if (std::all_of(start.begin(), start.end(), [](double x) { return x == 0; })) return std::nullopt;
  const std::optional<Counts> counts = count_steps(evidence, c, 2, start);
  if (!counts || !reproduces(c, *counts, start)) return std::nullopt;
  const std::set<Profile> profiles = profiles_of(c, *counts);
  if (profiles.size() != 1) return std::nullopt;
  const Profile& p = *profiles.begin();
  std::vector<int> missing;
  for (int k = 0; k < c.k; ++k) {
    const int times = p[static_cast<std::size_t>(k)];
    if (times > 1) return std::nullopt;
    if (times == 0) missing.push_back(k);
  }
  if (missing.empty()) return std::nullopt;
  Diagnosis d = say("K-MISSING", "unset",
                    {{"what", missing_steps(missing, c.k)},
                     {"range", contiguous(missing) ? steps(missing.front(), missing.back())
                                                   : fmt::format("k = {}", missing.front())}});
  describe(evidence, c, d);
  return d;
}

/// What the profile `p` of some elements looks like. `alone`: all elements have it. `shared`: see name_tiles().
std::optional<Diagnosis> name_profile(const Evidence& evidence, const Case& c, const Counts& counts,
                                      const Profile& p, bool alone, bool shared) {
  const std::vector<int> tiles = k_tiles(evidence);
  std::optional<Diagnosis> d = name_one_guard(evidence.tile, c, counts);
  if (!d) d = name_short_step(p, tiles, shared);
  if (!d && alone) d = name_starts(p, tiles, Starts::one, shared);
  if (!d && on_tensor_cores({c})) d = name_short_window(p, tiles);
  if (!d) d = name_parts_of_tiles(p, tiles);
  for (const int tile : tiles)
    if (!d && c.k > tile && c.k % tile != 1)
      d = name_tiles(p, tile, shared);  // a tile of one step is a step
  return d ? d : name_starts(p, tiles, Starts::any, shared);
}

/// Terms are missing from some elements of each tile, and all of them are in the rest: no loop over k is to blame.
void tell_part(const Evidence& evidence, const Case& c, Diagnosis& d) {
  if (c.wrong == c.size() || (d.id != "K-MISSING" && d.id != "K-TILE-MISSING")) return;
  const std::string part = wrong_part(evidence, c);
  if (part.empty()) return;
  d.details.push_back(messages::text("detail.sums.part", {{"part", part}}));
  d.next_step = messages::text("K-MISSING.part.next", {{"part", part}});
}

/// Exactly the blocks whose tile hangs over an edge of C are wrong.
bool wrong_at_edges(const Tile& t, const Case& c) {
  if (t.bm < 2 || t.bn < 2 || (c.m % t.bm == 0 && c.n % t.bn == 0)) return false;
  const auto whole = [](int at, int tile, int extent) { return at / tile * tile + tile <= extent; };
  bool some = false;
  for (int i = 0; i < c.m; ++i)
    for (int j = 0; j < c.n; ++j) {
      const bool inside = whole(i, t.bm, c.m) && whole(j, t.bn, c.n);
      if (inside && c.state_at(i, j) != State::right) return false;
      some |= inside;
    }
  return some;
}

/// Some elements have each of their products several times, and the others once: that is no matter of k.
std::optional<Diagnosis> name_repeated_part(const Evidence& evidence, const Case& c,
                                            const Profile& p) {
  if (c.wrong == c.size() || p.front() < 2 ||
      std::any_of(p.begin(), p.end(), [&p](int times) { return times != p.front(); }))
    return std::nullopt;
  const bool edges = wrong_at_edges(evidence.tile, c);
  std::string part = edges ? std::string(messages::raw("part.edges")) : wrong_part(evidence, c);
  if (part.empty()) part = messages::raw("part.some");
  return say("K-TILE-REPEATED", edges ? "all.edges" : "all.part",
             {{"times", p.front()}, {"part", part}});
}

/// Every product of every element is added so many times.
Diagnosis name_all_repeated(const Evidence& evidence, const Case& c, int times) {
  // A pass that splits numbers stores their parts.
  const bool parts =
      evidence.type == ElementType::float32 && (on_tensor_cores({c}) || stores_scratch(c));
  const auto root = static_cast<int>(std::lround(std::sqrt(times)));
  const bool square = !parts && evidence.type != ElementType::int32 && root * root == times;
  return say("K-TILE-REPEATED",
             parts    ? "twice"
             : square ? "square"
                      : "all",
             {{"times", times}, {"root", root}});
}

std::optional<Diagnosis> name_sums(const Evidence& evidence, const Case& c) {
  std::optional<Counts> counts = count_steps(evidence, c, 2);
  if (!counts || !reproduces(c, *counts)) counts = count_steps(evidence, c, 6);
  if (!counts || !reproduces(c, *counts)) return name_unset_step(evidence, c);
  const std::set<Profile> profiles = profiles_of(c, *counts);
  if (profiles.empty()) return std::nullopt;
  const auto [least, most] = std::minmax_element(counts->begin(), counts->end());
  std::optional<Diagnosis> d = name_empty(evidence, c, profiles);
  if (!d && *least == *most && *least > 1) d = name_all_repeated(evidence, c, *least);
  const Profile& p = *profiles.begin();
  if (!d && profiles.size() == 1) d = name_repeated_part(evidence, c, p);
  const bool shared =
      shares_sums(c) || blocks_per_tile(evidence, c.run, c.run.launches.back().kernel) > 1;
  if (!d) d = name_profile(evidence, c, *counts, p, profiles.size() == 1, shared);
  if (!d)
    d = name_shown_steps(profiles, first_wrong_profile(c, *counts), k_tiles(evidence), shared);
  if (!d) return std::nullopt;
  if (profiles.size() > 1)
    d->details.push_back(messages::text("detail.profiles", {{"sets", profiles.size()}}));
  else
    tell_part(evidence, c, *d);
  describe(evidence, c, *d);
  if (shared && profiles.size() > 1 && differ_by_tile(c, *counts, evidence.tile))
    d->next_step = messages::text("K-TILE-REPEATED.by_tile.next");
  if (evidence.tile.wm > 0 && d->next_step.key() == "K-MISSING.next")
    d->next_step = messages::text("K-MISSING.loaded.next");
  // Steps may be missing because another kernel was launched than the one that is looked at.
  if (d->id == "K-MISSING" && c.run.launches.size() == 1)
    d->details.push_back(messages::text("detail.launch.kernel",
                                        {{"kernel", kernel_name(c.run.launches.front().kernel)}}));
  return d;
}

}  // namespace

std::optional<Diagnosis> explain_zeros(const Evidence& evidence, const Cases& cases) {
  if (evidence.operation != Operation::product || !evidence.run_probe || evidence.tile.bk < 2)
    return std::nullopt;
  const Case& c = shown(cases);
  const auto whole =
      probe_case(evidence,
                 {c.m, c.n, 4 * std::max(32, evidence.tile.bk), c.run.a.ld - c.run.a.cols,
                  c.run.b.ld - c.run.b.cols, c.run.c_before.ld - c.run.c_before.cols},
                 31);
  if (!whole || whole->wrong == 0) return std::nullopt;
  auto d = name_sums(evidence, *whole);
  return d && d->id == "K-ONLY-LAST" ? d : std::nullopt;
}

namespace {

std::optional<Diagnosis> found_in(const Evidence& evidence, const Case& c) {
  const simgpu::Finding* const finding = worst_finding(c.run.launches);
  if (finding == nullptr) return std::nullopt;
  Diagnosis d = explain(*finding, evidence.tile, &c.run, evidence.type);
  ask_of_place_copied(evidence, c.run, *finding, d);
  d.seen = seen_in(c.run);
  d.place = place_of(*finding);
  return d;
}

}  // namespace

std::optional<Diagnosis> explain_sums(const Evidence& evidence, const Cases& cases) {
  if (evidence.operation != Operation::product || !evidence.run_probe) return std::nullopt;
  if (auto d = explain_running_sums(evidence, cases)) return d;
  const std::vector<int> tiles = k_tiles(evidence);
  const Case* const chosen = most_telling(cases, tiles);
  if (chosen == nullptr) return std::nullopt;
  std::optional<Diagnosis> d = name_sums(evidence, *chosen);
  // The last of a few k-tiles may be any one: is it the last of more, too?
  if (d && d->id == "K-TILE-MISSING" && !tiles.empty()) {
    const Run& run = chosen->run;
    const auto longer = probe_case(evidence,
                                   {chosen->m, chosen->n, 6 * tiles.front(), run.a.ld - run.a.cols,
                                    run.b.ld - run.b.cols, run.c_before.ld - run.c_before.cols},
                                   23);
    if (longer && longer->wrong > 0) {
      if (auto said = name_sums(evidence, *longer)) return said;
      if (auto found = found_in(evidence, *longer)) return found;
    }
  }
  return d;
}

}  // namespace grader::diag

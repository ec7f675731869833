// M and N exchanged: C ends at the wrong row or column, by a guard, by the grid, or by what x and y
// mean.
#include <algorithm>
#include <functional>

#include <fmt/core.h>

#include "grader/diagnose/hypotheses.hpp"
#include "grader/diagnose/wording.hpp"

namespace grader::diag {
namespace {

/// Where what was stored of C ends.
struct Ends {
  int rows = 0, cols = 0;
};

/// Exactly the elements before these ends were stored, rightly, in every case, and some are missing.
/// Columns beyond C's own may have run on into the next row: what they hit is not known.
bool ends_at(const Cases& cases, const std::function<Ends(const Case&)>& ends) {
  bool any = false;
  for (const Case& c : cases) {
    const auto [rows, cols] = ends(c);
    const int overrun = cols - c.run.c_after.ld;
    for (int i = 0; i < c.m; ++i)
      for (int j = 0; j < c.n; ++j) {
        if (i > 0 && j < overrun) continue;
        const State state = c.state_at(i, j);
        if (state != (i < rows && j < cols ? State::right : State::untouched)) return false;
        any |= state == State::untouched;
      }
  }
  return any;
}

Diagnosis name(const Evidence& evidence, const char* variant, int rows, int cols, const Case& c) {
  Diagnosis d =
      say("SWAPPED-EXTENTS", variant, {{"rows", rows}, {"cols", cols}, {"m", c.m}, {"n", c.n}});
  describe(evidence, c, d);
  return d;
}

unsigned blocks(int extent, unsigned block) {
  return (static_cast<unsigned>(extent) + block - 1) / block;
}

/// A tile of 8-byte elements is half as high, or half as wide.
Tile tile_of_doubles(Tile t, const Cases& cases) {
  const auto given = [&](int m, int n) {
    return std::all_of(cases.begin(), cases.end(), [&](const Case& k) {
      const simgpu::Dim3& grid = k.run.launches[0].grid;
      return grid.x == blocks(k.n, static_cast<unsigned>(n)) &&
             grid.y == blocks(k.m, static_cast<unsigned>(m));
    });
  };
  if (!given(t.bm, t.bn) && given(t.bm / 2, t.bn)) t.bm /= 2;
  if (!given(t.bm, t.bn) && given(t.bm, t.bn / 2)) t.bn /= 2;
  return t;
}

std::optional<Diagnosis> exchanged_in_launch(const Evidence& evidence, const Cases& cases) {
  const Case& c = shown(cases);
  // What the grid covers is known; was it computed from the other extent, or do x and y mean other
  // things in the kernel?
  const auto all_single = std::all_of(cases.begin(), cases.end(), [](const Case& k) {
    return k.run.launches.size() == 1 && k.run.launches[0].grid.z == 1 &&
           k.run.launches[0].block.z == 1;
  });
  if (!all_single) return std::nullopt;
  // One thread per element, or the lab's tile per block.
  Tile t = evidence.tile;
  const bool tiles = (t.tm * t.tn > 1 || t.wm > 0) && t.bm > 0 && t.bn > 0;
  if (tiles && size_of(evidence.type) == 8) t = tile_of_doubles(t, cases);
  const auto across_of = [&](const Case& k) {
    return tiles ? static_cast<unsigned>(t.bn) : k.run.launches[0].block.x;
  };
  const auto down_of = [&](const Case& k) {
    return tiles ? static_cast<unsigned>(t.bm) : k.run.launches[0].block.y;
  };
  const auto x_of = [&](const Case& k) {
    return static_cast<int>(k.run.launches[0].grid.x * across_of(k));
  };
  const auto y_of = [&](const Case& k) {
    return static_cast<int>(k.run.launches[0].grid.y * down_of(k));
  };
  const auto grid_of = [&](const Case& k, int along_x, int along_y) {
    const simgpu::LaunchReport& launch = k.run.launches[0];
    return launch.grid.x == blocks(along_x, across_of(k)) &&
           launch.grid.y == blocks(along_y, down_of(k));
  };
  // Each count of blocks may be right, and only stand in the other's place.
  const auto counts_exchanged = [&](const Case& k) {
    const simgpu::LaunchReport& launch = k.run.launches[0];
    return launch.grid.x == blocks(k.m, down_of(k)) && launch.grid.y == blocks(k.n, across_of(k));
  };
  const auto all = [&](auto holds) { return std::all_of(cases.begin(), cases.end(), holds); };
  if ((all([&](const Case& k) { return grid_of(k, k.m, k.n); }) || all(counts_exchanged)) &&
      ends_at(cases, [&](const Case& k) {
        return Ends{std::min(y_of(k), k.m), std::min(x_of(k), k.n)};
      }))
    return name(evidence, "grid", y_of(c), x_of(c), c);
  // Blocks that lie the other way reach as many rows of tiles as there should be columns of them.
  const auto mapped = [&](const Case& k) {
    const int rows = static_cast<int>(k.run.launches[0].grid.x * down_of(k)),
              cols = static_cast<int>(k.run.launches[0].grid.y * across_of(k));
    return std::pair{std::min(rows, k.m), std::min(cols, k.n)};
  };
  if (tiles && all([&](const Case& k) { return grid_of(k, k.n, k.m); }) &&
      ends_at(cases, [&](const Case& k) {
        return Ends{mapped(k).first, mapped(k).second};
      }))
    return name(evidence, "blocks", mapped(c).first, mapped(c).second, c);
  if (!tiles && all([&](const Case& k) { return grid_of(k, k.n, k.m); }) &&
      ends_at(cases, [&](const Case& k) {
        return Ends{std::min(x_of(k), k.m), std::min(y_of(k), k.n)};
      }))
    return name(evidence, "mapping", std::min(x_of(c), c.m), std::min(y_of(c), c.n), c);
  return std::nullopt;
}

}  // namespace

std::optional<Diagnosis> explain_extents(const Evidence& evidence, const Cases& cases) {
  if (evidence.operation != Operation::product) return std::nullopt;
  // Extents exchanged. One shape alone would also fit a bound that merely happens to have that
  // value.
  std::int64_t telling = 0;
  for (const Case& c : cases) telling += c.wrong > 0 && c.m != c.n;
  if (telling < 2) return std::nullopt;
  const Case& c = shown(cases);
  // Where only one of the two bounds is wrong, the other explains as much.
  if (ends_at(cases, [](const Case& k) { return Ends{k.m, k.m}; }))
    return name(evidence, "columns", c.m, c.m, c);
  if (ends_at(cases, [](const Case& k) { return Ends{k.n, k.n}; }))
    return name(evidence, "rows", c.n, c.n, c);
  if (ends_at(cases, [](const Case& k) { return Ends{k.n, k.m}; }))
    return name(evidence, "guard", c.n, c.m, c);
  return exchanged_in_launch(evidence, cases);
}

namespace {

/// Each element of C is the sum of the products before that k.
bool ends_before(const Case& c, int depth) {
  for (int i = 0; i < c.m; ++i)
    for (int j = 0; j < c.n; ++j) {
      double sum = 0;
      for (int k = 0; k < std::min(c.k, depth); ++k) sum += c.run.a.at(i, k) * c.run.b.at(k, j);
      if (sum != c.got(i, j)) return false;
    }
  return true;
}

int extent_of(const Case& c, bool rows) {
  return rows ? c.m : c.n;
}

/// Every case has as many k-tiles as its M (or N) takes.
bool ends_with(const Cases& cases, bool rows, int tile) {
  return std::all_of(cases.begin(), cases.end(), [&](const Case& c) {
    return ends_before(c, tiles_of(extent_of(c, rows), tile) * tile);
  });
}

Diagnosis ends_too_early(const Evidence& evidence, const Case& c, bool rows, int tile) {
  const int count = tiles_of(extent_of(c, rows), tile);
  Diagnosis d = say("SWAPPED-EXTENTS", "tiles",
                    {{"count", counted(count, "k-tile")},
                     {"name", rows ? "M" : "N"},
                     {"value", extent_of(c, rows)},
                     {"k", c.k},
                     {"needed", tiles_of(c.k, tile)}});
  describe(evidence, c, d);
  return d;
}

/// Whether a call a little longer than one such tile along M (or N), thin otherwise, with five tiles along K, ends there
/// as well; true if it cannot be made. Where blocks share a sum and only one part is stored, a stage's shapes may match
/// an extent by chance.
bool ends_there_again(const Evidence& evidence, bool rows, int tile) {
  constexpr int kThin = 8;
  const int extent = tile + 1;
  Cases again;
  if (auto c = probe_case(evidence,
                          {rows ? extent : kThin, rows ? kThin : extent, 5 * tile, 0, 0, 0}, 67))
    again.push_back(std::move(*c));
  return ends_with(again, rows, tile);
}

}  // namespace

std::optional<Diagnosis> explain_depth(const Evidence& evidence, const Cases& cases) {
  if (evidence.operation != Operation::product) return std::nullopt;
  const auto shorter = std::find_if(cases.begin(), cases.end(),
                                    [](const Case& c) { return c.wrong > 0 && c.k > 0; });
  if (shorter == cases.end()) return std::nullopt;
  for (const int tile : k_tiles(evidence)) {
    const bool rows = ends_with(cases, true, tile), columns = ends_with(cases, false, tile);
    if (!rows && !columns) continue;
    if (rows != columns) {
      if (ends_there_again(evidence, rows, tile))
        return ends_too_early(evidence, *shorter, rows, tile);
      continue;
    }
    // As many k-tiles either way: not in a call of one tile by two.
    Cases apart;
    if (auto c = probe_case(evidence, {tile, 2 * tile, 4 * tile, 0, 0, 0}, 59))
      apart.push_back(std::move(*c));
    for (const bool by_rows : {true, false})
      if (!apart.empty() && ends_with(apart, by_rows, tile) &&
          ends_there_again(evidence, by_rows, tile))
        return ends_too_early(evidence, apart.front(), by_rows, tile);
  }
  return std::nullopt;
}

namespace {

/// Of so many more elements than its width that the rows of a matrix stay aligned.
constexpr int kStoresApart = 16;

/// A memset of as many bytes as C has elements, in one go: where rows lie apart it ends before C does.
const Fill* fill_of_dense_c(const Run& run) {
  const Matrix& c = run.c_before;
  const auto bytes = std::uint64_t{size_of(c.type)} * static_cast<unsigned>(c.rows) *
                     static_cast<unsigned>(c.cols);
  const auto of_all = [&](const Fill& f) { return f.begin == 0 && f.end == bytes; };
  const auto fill = std::find_if(run.fills.begin(), run.fills.end(), of_all);
  return fill == run.fills.end() ? nullptr : &*fill;
}

bool wrong_at(const std::optional<Case>& c) {
  return c && (c->wrong > 0 || c->out_of_bounds);
}

}  // namespace

std::optional<Diagnosis> explain_pitch(const Evidence& evidence, const Cases& cases) {
  if (!evidence.run_probe) return std::nullopt;
  const auto dense = [](const Case& c) {
    return c.run.a.ld == c.run.a.cols && c.run.b.ld == c.run.b.cols &&
           c.run.c_before.ld == c.run.c_before.cols;
  };
  if (std::any_of(cases.begin(), cases.end(),
                  [&](const Case& c) { return c.wrong > 0 && dense(c); }))
    return std::nullopt;
  // No row ends inside a piece, and all are aligned: the same way through the code, but for the rows.
  const int rows = std::max(64, evidence.tile.bm), side = 64;
  const auto run = [&](int a, int b, int c) {
    return probe_case(evidence, {rows, side, side, a, b, c}, 41);
  };
  if (const auto together = run(0, 0, 0); !together || wrong_at(together)) return std::nullopt;
  for (const char matrix : {'A', 'B', 'C'}) {
    const auto apart = run(matrix == 'A' ? kStoresApart : 0, matrix == 'B' ? kStoresApart : 0,
                           matrix == 'C' ? kStoresApart : 0);
    if (!wrong_at(apart)) continue;
    const bool filled = matrix == 'C' && fill_of_dense_c(apart->run) != nullptr;
    Diagnosis d = say("WRONG-LD", filled ? "fill" : "apart",
                      {{"last", element("C", (rows * side - 1) / (side + kStoresApart),
                                        (rows * side - 1) % (side + kStoresApart))},
                       {"rows", rows},
                       {"matrix", std::string(1, matrix)},
                       {"cols", side},
                       {"ld", side + kStoresApart}});
    describe(evidence, *apart, d);
    return d;
  }
  return std::nullopt;
}

}  // namespace grader::diag

#include "grader/sweep/sentences.hpp"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <tuple>
#include <utility>

#include "grader/messages.hpp"

namespace grader::sweep {
namespace {

using messages::text;

std::string shown(double value) {
  char out[32];
  std::snprintf(out, sizeof out, value >= 100 ? "%.0f" : "%.3g", value);
  return out;
}

/// 0.02 -> "2 %", 3.5 -> "350 %": a time as a fraction of another.
std::string per_cent(double ratio) {
  char out[32];
  std::snprintf(out, sizeof out, ratio < 0.1 ? "%.2g %%" : "%.0f %%", 100 * ratio);
  return out;
}

std::string joined(const std::vector<std::string>& parts, const char* comma) {
  std::string out;
  for (const auto& part : parts) out += (out.empty() ? "" : comma) + part;
  return out;
}

std::string axis(const std::string& experiment) {
  const std::string key = "sweep.axis." + experiment;
  return messages::exists(key) ? text(key) : experiment;
}

/// The points of one size that have a time, in the order of the sweep.
using Curve = std::vector<const Point*>;

std::vector<std::pair<int, Curve>> by_size(const std::vector<Point>& points) {
  std::vector<std::pair<int, Curve>> curves;
  for (const Point& point : points) {
    auto found = std::find_if(curves.begin(), curves.end(),
                              [&](const auto& one) { return one.first == point.n; });
    if (found == curves.end()) found = curves.insert(curves.end(), {point.n, {}});
    if (point.ms && *point.ms > 0) found->second.push_back(&point);
  }
  for (auto& [n, curve] : curves)
    std::stable_sort(curve.begin(), curve.end(),
                     [](const Point* p, const Point* q) { return p->x < q->x; });
  std::stable_sort(curves.begin(), curves.end(),
                   [](const auto& p, const auto& q) { return p.first < q.first; });
  return curves;
}

std::size_t fastest(const Curve& curve) {
  return static_cast<std::size_t>(
      std::min_element(curve.begin(), curve.end(),
                       [](const Point* p, const Point* q) { return *p->ms < *q->ms; }) -
      curve.begin());
}

bool same(double a, double b) {
  return a <= b * (1 + kFlat) && b <= a * (1 + kFlat);
}

/// The range of the times as a fraction of the smallest.
double spread(const Curve& curve) {
  double low = *curve.front()->ms, high = low;
  for (const Point* point : curve)
    low = std::min(low, *point->ms), high = std::max(high, *point->ms);
  return high / low - 1;
}

bool flat(const Curve& curve) {
  return spread(curve) <= kFlat;
}

std::string all_changes(const Point& from, const Point& to, int multiprocessors) {
  const auto clauses = changes(from, to, multiprocessors);
  if (!clauses.empty()) return joined(clauses, "; ");
  const bool modelled = from.wavefronts > 0 && to.wavefronts > 0;
  return text(modelled ? "sweep.turn.unexplained" : "sweep.turn.accesses");
}

std::string size_minimum(const std::vector<Point>& points, std::vector<const Point*>& crossing) {
  // The fastest variant at each n, as runs.
  struct Run {
    const Point* first;
    int from, to;
  };
  std::vector<Run> runs;
  for (const auto& [n, curve] : by_size(points)) {
    if (curve.empty()) continue;
    const Point* best = curve[fastest(curve)];
    if (!runs.empty()) {
      // Another variant takes over when it is faster by more than what is called flat.
      const Point* holder = nullptr;
      for (const Point* point : curve)
        if (point->variant == runs.back().first->variant) holder = point;
      if (holder != nullptr && same(*holder->ms, *best->ms)) {
        runs.back().to = n;
        continue;
      }
      crossing.clear();
      if (holder != nullptr) crossing = {holder, best};
    }
    runs.push_back({best, n, n});
  }
  if (runs.empty()) return {};
  if (runs.size() == 1) return text("sweep.sizes.only", {{"variant", runs[0].first->variant}});
  std::vector<std::string> parts;
  for (const Run& run : runs)
    parts.push_back(text(run.from == run.to ? "sweep.sizes.run.one" : "sweep.sizes.run",
                         {{"variant", run.first->variant},
                          {"from", std::to_string(run.from)},
                          {"to", std::to_string(run.to)}}));
  return text("sweep.sizes.runs", {{"runs", joined(parts, "; ")}});
}

}  // namespace

std::vector<std::string> changes(const Point& from, const Point& to, int multiprocessors) {
  std::vector<std::string> all;
  const auto clause = [&](const char* key, const std::string& a, const std::string& b) {
    all.push_back(
        text(std::string("sweep.change.") + key,
             {{"from", a}, {"to", b}, {"multiprocessors", std::to_string(multiprocessors)}}));
  };
  const auto whole = [](long long value) { return std::to_string(value); };
  if (from.local_bytes != to.local_bytes)
    clause("local", whole(from.local_bytes), whole(to.local_bytes));
  if (from.wavefronts > 0 && to.wavefronts > 0 && from.wavefronts != to.wavefronts)
    clause("wavefronts", shown(from.wavefronts), shown(to.wavefronts));
  if (from.experiment == "stages" && from.x != to.x)
    clause("stages", whole(from.x - 1), whole(to.x - 1));
  // Of larger tiles each element that is fetched is used more often. Occupancy and registers are
  // the price, not the reason.
  if (from.experiment == "tile shape" && from.blocks > 0 && to.blocks > 0 &&
      from.blocks != to.blocks)
    clause("tile", whole(1LL * from.n * from.n / from.blocks),
           whole(1LL * to.n * to.n / to.blocks));
  if (std::min(from.threads, 32) != std::min(to.threads, 32))
    clause("lanes", whole(std::min(from.threads, 32)), whole(std::min(to.threads, 32)));
  if (from.blocks != to.blocks && std::min(from.blocks, to.blocks) < 2LL * multiprocessors)
    clause("blocks", whole(from.blocks), whole(to.blocks));
  if (from.occupancy > 0 && to.occupancy > 0 &&
      (from.occupancy > to.occupancy * 1.1 || to.occupancy > from.occupancy * 1.1))
    clause("occupancy", shown(100 * from.occupancy), shown(100 * to.occupancy));
  if (std::abs(from.registers - to.registers) >= 8)
    clause("registers", whole(from.registers), whole(to.registers));
  if (all.size() > 4) all.resize(4);
  return all;
}

std::string minimum_sentence(const std::vector<Point>& curves) {
  // What is said of a size; sizes of which the same is said are named together.
  struct Said {
    std::string where, end;
    std::vector<std::string> sizes;
    double ms = 0;
    int n = 0;
    int kind = 0;  ///< 0 minimum, 1 flat, 2 too few
    double spread = 0;
  };
  std::vector<Said> all;
  for (const auto& [n, curve] : by_size(curves)) {
    Said said;
    said.n = n;
    if (curve.size() < 2) {
      said.kind = 2;
    } else if (flat(curve)) {
      said.kind = 1;
      said.spread = spread(curve);
    } else {
      const std::size_t best = fastest(curve);
      std::size_t from = best, to = best;
      while (from > 0 && same(*curve[from - 1]->ms, *curve[best]->ms)) --from;
      while (to + 1 < curve.size() && same(*curve[to + 1]->ms, *curve[best]->ms)) ++to;
      const Point& p = *curve[from];
      const std::string name = axis(p.experiment);
      said.where = from == to
                       ? text("sweep.minimum.at", {{"axis", name}, {"x", p.x_shown()}})
                       : text("sweep.minimum.range",
                              {{"axis", name}, {"x", p.x_shown()}, {"y", curve[to]->x_shown()}});
      // A choice has no end; a number has.
      if (p.label.empty() && from == to && (from == 0 || to + 1 == curve.size()))
        said.end = text("sweep.minimum.end");
      said.ms = *curve[best]->ms;
    }
    const auto before = std::find_if(all.begin(), all.end(), [&](const Said& s) {
      return s.kind == said.kind && s.where == said.where && s.end == said.end;
    });
    if (before == all.end()) {
      all.push_back(said);
      all.back().sizes = {std::to_string(n)};
    } else {
      before->sizes.push_back(std::to_string(n));
      before->ms = said.ms, before->n = n;
      before->spread = std::max(before->spread, said.spread);
    }
  }
  std::vector<std::string> parts;
  for (const Said& s : all) {
    const std::string sizes = joined(s.sizes, ", ");
    if (s.kind == 2)
      parts.push_back(text("sweep.minimum.single", {{"sizes", sizes}}));
    else if (s.kind == 1)
      parts.push_back(
          text("sweep.minimum.flat", {{"sizes", sizes}, {"percent", shown(100 * s.spread)}}));
    else
      parts.push_back(text("sweep.minimum", {{"sizes", sizes},
                                             {"where", s.where},
                                             {"end", s.end},
                                             {"ms", shown(s.ms)},
                                             {"n", std::to_string(s.n)}}));
  }
  return joined(parts, " ");
}

std::string turn_sentence(const std::vector<Point>& curves, int multiprocessors) {
  // The largest size that has a curve, and among those one that is not flat.
  const auto all = by_size(curves);
  const Curve* chosen = nullptr;
  int n = 0;
  for (const auto& [size, curve] : all)
    if (curve.size() >= 2 && !flat(curve)) chosen = &curve, n = size;
  if (chosen == nullptr) {
    const bool any =
        std::any_of(all.begin(), all.end(), [](const auto& one) { return one.second.size() >= 2; });
    return any ? text("sweep.turn.none", {{"percent", shown(100 * kFlat)}}) : std::string();
  }
  const Curve& curve = *chosen;
  const std::size_t best = fastest(curve);
  const std::string name = axis(curve[0]->experiment);
  const auto say = [&](const char* key, const Point& x, const Point& y) {
    return text(key, {{"n", std::to_string(n)},
                      {"axis", name},
                      {"x", x.x_shown()},
                      {"y", y.x_shown()},
                      {"ratio", per_cent(*y.ms / *x.ms)},
                      {"changes", all_changes(x, y, multiprocessors)}});
  };
  if (!curve[0]->label.empty()) {
    const auto slowest = std::max_element(
        curve.begin(), curve.end(), [](const Point* p, const Point* q) { return *p->ms < *q->ms; });
    return say("sweep.turn.choice", **slowest, *curve[best]);
  }
  std::vector<std::string> parts;
  // What had to change from the slowest point before the minimum; then the step in which the time
  // first leaves it for good.
  if (best > 0) {
    const auto slowest =
        std::max_element(curve.begin(), curve.begin() + static_cast<std::ptrdiff_t>(best),
                         [](const Point* p, const Point* q) { return *p->ms < *q->ms; });
    if (!same(*(*slowest)->ms, *curve[best]->ms))
      parts.push_back(say("sweep.turn.before", **slowest, *curve[best]));
  }
  std::size_t last = best;
  while (last + 1 < curve.size() && same(*curve[last + 1]->ms, *curve[best]->ms)) ++last;
  if (last + 1 < curve.size())
    parts.push_back(say("sweep.turn.beyond", *curve[last], *curve[last + 1]));
  return joined(parts, " ");
}

std::vector<Sentences> sentences(const Results& results) {
  std::vector<Sentences> all;
  std::vector<std::pair<std::tuple<std::string, std::string, std::string>, std::vector<Point>>>
      families;
  for (const Point& point : results.points) {
    const bool over_sizes = point.experiment == "size";
    const std::tuple key{point.experiment, over_sizes ? std::string() : point.variant, point.type};
    auto found = std::find_if(families.begin(), families.end(),
                              [&](const auto& family) { return family.first == key; });
    if (found == families.end()) found = families.insert(families.end(), {key, {}});
    found->second.push_back(point);
  }
  for (const auto& [key, points] : families) {
    if (std::none_of(points.begin(), points.end(), [](const Point& p) { return p.ms.has_value(); }))
      continue;
    Sentences s;
    std::tie(s.experiment, s.variant, s.type) = key;
    if (s.experiment == "size") {
      std::vector<const Point*> crossing;
      s.minimum = size_minimum(points, crossing);
      s.turn =
          crossing.size() == 2
              ? text(
                    "sweep.sizes.turn",
                    {{"n", std::to_string(crossing[0]->n)},
                     {"x", crossing[0]->variant},
                     {"y", crossing[1]->variant},
                     {"ratio", per_cent(*crossing[1]->ms / *crossing[0]->ms)},
                     {"changes", all_changes(*crossing[0], *crossing[1], results.multiprocessors)}})
              : text("sweep.sizes.none");
    } else {
      s.minimum = minimum_sentence(points);
      s.turn = turn_sentence(points, results.multiprocessors);
    }
    all.push_back(std::move(s));
  }
  return all;
}

}  // namespace grader::sweep

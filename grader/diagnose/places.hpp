// Where each element of C comes from, as probes have shown it.
#pragma once

#include <string>
#include <vector>

#include "grader/diagnose/hypotheses.hpp"

namespace grader::diag {

struct Place {
  int row = 0, col = 0;
  bool marked = false;  ///< copies: 1 was added, for what the tile holds beyond the edge
  friend bool operator==(const Place& x, const Place& y) {
    return x.row == y.row && x.col == y.col;
  }
};
/// For what nobody wrote, and for sums of zeros that were filled in: these may belong anywhere.
constexpr Place kUnknown{-1, -1};

/// The first element in row-major order that comes from another place.
Place first_moved(const Case& c, const std::vector<Place>& places);

/// What two places of C hold at once: then it is what was read, not where it went.
bool some_twice(const std::vector<Place>& places);

/// What the places of a copy show besides the fact that elements have moved: the cause and true if they show one, else
/// `formula` ("" if none is known).
bool name_copy(const Evidence& evidence, const Case& c, const std::vector<Place>& places,
               const std::string& formula, Diagnosis& d);

}  // namespace grader::diag

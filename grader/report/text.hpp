// Text for a terminal of 80 columns: widths, wrapping, colour.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace grader::report {

/// Columns that UTF-8 text takes: code points, which is exact for what the grader prints.
std::size_t width(const std::string& text);

/// Cut to `columns`, with "..." at the end if something is missing.
std::string fit(const std::string& text, std::size_t columns);

/// Padded on the right to `columns` (never cut).
std::string pad(const std::string& text, std::size_t columns);

/// Broken at blanks into lines of at most `columns`; a word that is longer is broken hard. A line
/// that starts with blanks (a matrix, a source excerpt) is kept as it is, only cut.
std::vector<std::string> wrap(const std::string& text, std::size_t columns);

/// Whether to colour: NO_COLOR beats CLICOLOR_FORCE beats CLICOLOR=0 and TERM=dumb beats "is a
/// terminal".
bool use_colour(int fd);

enum class Style { plain, good, bad, warn, dim, bold };
std::string styled(const std::string& text, Style style, bool colour);

/// `pattern` with its named {gaps} filled; values without a gap are left over. Throws
/// std::out_of_range if a gap has no value.
std::string fill(std::string_view pattern,
                 const std::vector<std::pair<std::string_view, std::string>>& values);

/// 1234567 -> "1 234 567"; small values with a fraction get two decimals.
std::string number(double value);

}  // namespace grader::report

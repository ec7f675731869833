// Names that look alike are one: file systems and archives write an accented letter as one character or as a letter
// and a mark, and what nobody sees tells nobody apart.
#pragma once

#include <string>

namespace grader::intake {

/// A name without the case of its letters and without characters that one cannot see, and with a mark and its letter
/// as one character where there is one (Unicode's NFC). What is not UTF-8 stays as it is.
std::string canonical(const std::string& name);
/// Such a name with plain letters in place of those with accents or strokes, as in a list that somebody typed.
std::string without_accents(const std::string& name);

}  // namespace grader::intake

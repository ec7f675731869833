// Names that look alike are one: file systems and archives write an accented letter as one character or as a letter
// and a mark, and what nobody sees tells nobody apart.
#pragma once

#include <string>

namespace grader::intake {

/// A name in lower case, without characters that one cannot see, and with a mark and its letter as one character
/// where there is one.
std::string canonical(const std::string& name);
/// Such a name, with letters in place of those that have marks.
std::string without_accents(const std::string& canonical);

}  // namespace grader::intake

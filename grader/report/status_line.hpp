// What a program is at, while somebody waits.
#pragma once

#include <string>

namespace grader::report {

/// One line on stderr that rewrites itself; nothing at all where stderr is no terminal. It is gone
/// when the object is.
class StatusLine {
 public:
  StatusLine();
  ~StatusLine() { clear(); }
  StatusLine(const StatusLine&) = delete;
  StatusLine& operator=(const StatusLine&) = delete;
  /// Cut off at the width of a narrow terminal.
  void show(const std::string& what) const;
  void clear() const;
  bool on_terminal() const { return terminal_; }

 private:
  bool terminal_;
};

}  // namespace grader::report

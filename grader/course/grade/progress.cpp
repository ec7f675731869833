#include "grader/course/grade/progress.hpp"

#include <algorithm>
#include <iostream>

#include "grader/os/escape.hpp"
#include "grader/report/text.hpp"

namespace grader {

void Progress::done(std::size_t count, std::size_t all, const std::string& id,
                    const std::string& status, bool kept, bool failed) {
  if (!kept) ++graded_;
  const std::string who = report::fit(printable(id), 40) + ": " + status;
  if (!line_.on_terminal() || failed) {
    line_.clear();
    std::cerr << "[" << count << "/" << all << "] " << who << (kept ? " (kept from before)" : "")
              << '\n';
  }
  if (!line_.on_terminal()) return;
  const auto spent = std::chrono::steady_clock::now() - begin_;
  const auto left =
      spent * static_cast<long>(all - count) / static_cast<long>(std::max<std::size_t>(graded_, 1));
  const auto minutes = std::chrono::duration_cast<std::chrono::minutes>(left).count();
  const std::size_t full = 20 * count / std::max<std::size_t>(all, 1);
  std::string line = "[" + std::string(full, '#') + std::string(20 - full, '.') + "] " +
                     std::to_string(count) + "/" + std::to_string(all);
  if (graded_ > 0 && count < all)
    line += minutes > 0 ? ", about " + std::to_string(minutes) + " min left" : ", < 1 min left";
  line_.show(line + "  " + who);
}

}  // namespace grader

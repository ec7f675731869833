// Threads that wait for ever: who waits where.
#include "grader/diagnose/wording.hpp"

namespace grader::diag {

void add_others_waiting(const simgpu::Finding& finding, const simgpu::LaunchReport* launch,
                        Diagnosis& d) {
  constexpr int kMostTold = 2;
  if (launch == nullptr) return;
  int told = 0;
  for (const simgpu::Finding& other : launch->findings)
    if (other.kind == finding.kind && &other != &finding && told++ < kMostTold)
      d.details.push_back(messages::text("detail.also_waits", {{"sentence", other.detail}}));
}

}  // namespace grader::diag

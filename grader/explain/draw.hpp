// Drawings of one access, for the page of `make explain`.
#pragma once

#include "grader/explain/explain.hpp"
#include "grader/explain/fragments.hpp"

namespace grader::explain {

/// The banks that a shared access asks, or the sectors that a global one touches, as SVG. `id` is
/// unique on the page.
Markup draw_banks(const simgpu::AccessSample& sample, unsigned line, const std::string& id);
Markup draw_sectors(const simgpu::AccessSample& sample, unsigned line, const std::string& id);

}  // namespace grader::explain

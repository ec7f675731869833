// A kernel with a call of a mathematical function between two accesses.
#pragma once

#include <string>

#include "common/simgpu/ptx/parser.hpp"

namespace simgpu::test {

/// `before` sets %d1, which `function` is called with; `after` finds what it returns in %d2. Both may use
/// %f1 to %f3, and s, 64 bytes of shared memory.
inline ptx::Module around_call(const std::string& before, const std::string& function,
                               const std::string& after) {
  return ptx::parse(
      ".version 7.0\n.target sm_80\n.address_size 64\n"
      ".extern .func (.param .b64 r) " +
      function +
      "(.param .b64 a);\n"
      ".visible .entry k()\n{\n.reg .f32 %f<4>; .reg .f64 %d<4>; .shared .align 8 .b8 s[64];\n" +
      before + "\n{ .param .b64 a0; st.param.f64 [a0], %d1; .param .b64 r0;\ncall.uni (r0), " +
      function + ", (a0); ld.param.f64 %d2, [r0]; }\n" + after + "\nret;\n}\n");
}

}  // namespace simgpu::test

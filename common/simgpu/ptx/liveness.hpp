// How many registers a kernel needs: liveness on PTX, corrected for what ptxas folds away.
//
// PTX has unlimited registers, ptxas has 255 of 32 bits a thread; only ptxas's own answer is true.
// This estimate is for machines without it: to see a register tile grow, and to warn of spills.
//
// How far off it is (register_calibration.csv: ptxas 13.0 for sm_80, clang 14 and 22, kernels that
// do not spill):
//   50 kernels the two constants were fitted on: mean error 3.6 registers (5 %), worst 28
//   258 of the labs and of a program, not looked at: mean error 6.6 registers (13 %), worst 31
// Of 342 kernels ptxas spills 34. 10 of them are foretold, and none of the others; of what is
// not foretold it spills at most 128 bytes. Reports tell of those 6 that no launch bounds limit.
// ptxas uses registers that cost no occupancy freely (a kernel that needs 18 gets 32, one of 91
// gets 128 if the launch bounds allow it), so too low is the usual error; small kernels are worst
// in per cent.
#pragma once

#include <cstdint>

#include "common/simgpu/ptx/module.hpp"

namespace simgpu::ptx {

struct RegisterPressure {
  unsigned live = 0;      ///< peak of live 32-bit registers, after what ptxas folds away
  unsigned estimate = 0;  ///< what ptxas would allocate if there were no limit
  /// Registers a thread may have: 255, or less where launch bounds or .maxnreg say so (a
  /// multiprocessor has 65536, given out in units of 8 a thread).
  unsigned limit = 255;
  unsigned carried = 0;  ///< 32-bit registers that a loop carries from turn to turn, at the most
  unsigned needed = 0;   ///< the same, or more where no order of the loads needs less
  /// Certain spills: `needed` is over the limit. `live` says less: it is that of clang's order, which
  /// may load far ahead, and ptxas brings instructions into an order of its own.
  bool spills = false;
  unsigned predicates = 0;        ///< peak of live predicates
  std::uint32_t instruction = 0;  ///< where the peak is
  Location where;
  /// false: the function is too large to analyse, the numbers are lower bounds
  bool complete = true;

  unsigned allocated() const { return estimate < limit ? estimate : limit; }
};

RegisterPressure estimate_registers(const Module& module, const Function& function);

}  // namespace simgpu::ptx

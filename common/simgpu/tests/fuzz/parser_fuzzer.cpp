// libFuzzer target for everything that reads PTX text:
//   clang++ -std=c++20 -O1 -g -fsanitize=fuzzer,address,undefined -I.
//   common/simgpu/tests/fuzz/parser_fuzzer.cpp
//     common/simgpu/ptx/*.cpp common/simgpu/count/{alignment,doubled_sums,early_reads,fused_sums,load_merging,local_arrays,local_vectors,store_merging}.cpp -o build/parser_fuzzer
//   build/parser_fuzzer -max_total_time=60 CORPUS common/simgpu/tests/ptx
#include <cstddef>
#include <cstdint>
#include <string>

#include "common/simgpu/count/doubled_sums.hpp"
#include "common/simgpu/count/fused_sums.hpp"
#include "common/simgpu/count/load_merging.hpp"
#include "common/simgpu/count/local_vectors.hpp"
#include "common/simgpu/count/store_merging.hpp"
#include "common/simgpu/ptx/liveness.hpp"
#include "common/simgpu/ptx/names.hpp"
#include "common/simgpu/ptx/parser.hpp"
#include "common/simgpu/ptx/used_bytes.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  simgpu::ptx::Limits limits;
  limits.instructions = limits.registers = limits.registers_per_function = 1u << 16;
  try {
    const simgpu::ptx::Module module =
        simgpu::ptx::parse(std::string(reinterpret_cast<const char*>(data), size), limits);
    for (const simgpu::ptx::Function& function : module.functions) {
      simgpu::ptx::demangle(function.name);
      simgpu::ptx::estimate_registers(module, function);
      simgpu::count::merge_shared_loads(module, function,
                                        simgpu::count::find_narrowed_loads(function));
      simgpu::count::merge_shared_stores(module, function);
      const auto vectors = simgpu::count::find_local_vectors(module, function);
      simgpu::count::merge_local_loads(module, function, vectors);
      simgpu::count::merge_local_stores(module, function, vectors);
      simgpu::count::find_doubled_sums(function);
      simgpu::count::find_fusions(function);
      simgpu::ptx::find_moved_bytes(function);
    }
  } catch (const simgpu::ptx::ParseError&) {
  }
  return 0;
}

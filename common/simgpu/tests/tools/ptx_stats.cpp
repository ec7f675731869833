// Prints, as CSV, the static figures of every kernel in the given PTX files:
//   file,kernel,live,estimate,limit,spills,raw,lds16,lds32,lds64,lds128
// where raw counts the ld.shared of the text and ldsN those of N bits left after merging. Used by
// calibrate_registers.py and check_load_merging.py.
#include <fstream>
#include <iostream>
#include <sstream>

#include "common/simgpu/count/load_merging.hpp"
#include "common/simgpu/ptx/liveness.hpp"
#include "common/simgpu/ptx/parser.hpp"

int main(int argc, char** argv) {
  for (int i = 1; i < argc; ++i) {
    std::ifstream file(argv[i], std::ios::binary);
    std::stringstream text;
    text << file.rdbuf();
    try {
      const simgpu::ptx::Module module = simgpu::ptx::parse(text.str());
      for (const simgpu::ptx::Function& function : module.functions) {
        if (!function.is_entry || function.is_declaration) continue;
        const simgpu::ptx::RegisterPressure r = simgpu::ptx::estimate_registers(module, function);
        std::cout << argv[i] << ',' << function.name << ',' << r.live << ',' << r.estimate << ','
                  << r.limit << ',' << r.spills;
        const auto merged = simgpu::count::merge_shared_loads(
            module, function, simgpu::count::find_narrowed_loads(function));
        unsigned raw = 0, by_bytes[17] = {};
        for (std::size_t k = 0; k < merged.size(); ++k) {
          const simgpu::ptx::Instruction& instruction = function.body[k];
          raw += instruction.op == simgpu::ptx::Opcode::ld &&
                 instruction.mod.space == simgpu::ptx::Space::shared;
          ++by_bytes[merged[k].bytes];
        }
        std::cout << ',' << raw << ',' << by_bytes[2] << ',' << by_bytes[4] << ',' << by_bytes[8]
                  << ',' << by_bytes[16] << '\n';
      }
    } catch (const simgpu::ptx::ParseError& error) {
      std::cerr << argv[i] << ": " << error.what() << '\n';
      return 1;
    }
  }
}

#include "grader/gpu/object_gate.hpp"

#include <elf.h>

#include <algorithm>
#include <cstring>
#include <set>
#include <sstream>

#include "common/simgpu/ptx/names.hpp"
#include "grader/messages.hpp"
#include "grader/os/escape.hpp"
#include "grader/os/process.hpp"

namespace grader::gpu {
namespace {

using messages::text;

/// Copies a structure out of the file; false if it lies outside.
template <typename T>
bool take(std::string_view bytes, std::uint64_t offset, T& into) {
  if (offset > bytes.size() || bytes.size() - offset < sizeof(T)) return false;
  std::memcpy(&into, bytes.data() + offset, sizeof(T));
  return true;
}

/// The zero-terminated string at `offset` of a string table; empty if it does not end inside.
std::optional<std::string> string_at(std::string_view table, std::uint64_t offset) {
  if (offset >= table.size()) return {};
  const auto end = table.find('\0', offset);
  if (end == std::string_view::npos) return {};
  return std::string(table.substr(offset, end - offset));
}

std::optional<std::string_view> contents(std::string_view bytes, const Elf64_Shdr& section) {
  if (section.sh_type == SHT_NOBITS) return std::string_view();
  if (section.sh_offset > bytes.size() || section.sh_size > bytes.size() - section.sh_offset)
    return {};
  return bytes.substr(section.sh_offset, section.sh_size);
}

bool starts(std::string_view word, std::string_view with) {
  return word.substr(0, with.size()) == with;
}

// What nvcc and clang put into every object with kernels.
const std::set<std::string, std::less<>> registration = {
    "__cudaRegisterFatBinary",    "__cudaRegisterFatBinaryEnd", "__cudaUnregisterFatBinary",
    "__cudaRegisterFunction",     "__cudaRegisterVar",          "__cudaPushCallConfiguration",
    "__cudaPopCallConfiguration", "__cudaInitModule",           "__cudaGetKernel",
    "__cudaLaunchKernel",         "__cudaRegisterManagedVar",   "cudaLaunchKernel",
    "__cudaRegisterHostVar",
};

// The runtime API that launchers may use: what the simulated GPU's runtime has too, less what
// reaches the host (a launcher has no business with copies to the CPU) or other devices.
const std::set<std::string, std::less<>> runtime_calls = {
    "cudaLaunchKernelExC",
    "cudaLaunchCooperativeKernel",
    "cudaFuncSetAttribute",
    "cudaFuncGetAttributes",
    "cudaFuncSetCacheConfig",
    "cudaGetLastError",
    "cudaPeekAtLastError",
    "cudaGetErrorString",
    "cudaGetErrorName",
    "cudaGetDevice",
    "cudaGetDeviceCount",
    "cudaGetDeviceProperties",
    "cudaGetDeviceProperties_v2",
    "cudaDeviceGetAttribute",
    "cudaDeviceSynchronize",
    "cudaDeviceSetCacheConfig",
    "cudaDeviceGetCacheConfig",
    "cudaOccupancyMaxActiveBlocksPerMultiprocessor",
    "cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags",
    "cudaOccupancyAvailableDynamicSMemPerBlock",
    "cudaMalloc",
    "cudaMallocAsync",
    "cudaMallocPitch",
    "cudaFree",
    "cudaFreeAsync",
    "cudaMemset",
    "cudaMemsetAsync",
    "cudaMemset2D",
    "cudaMemset2DAsync",
    "cudaMemcpy",
    "cudaMemcpyAsync",
    "cudaMemcpy2D",
    "cudaMemcpy2DAsync",
    "cudaMemcpyToSymbol",
    "cudaMemcpyToSymbolAsync",
    "cudaGetSymbolAddress",
    "cudaGetSymbolSize",
    "cudaMemGetInfo",
    "cudaPointerGetAttributes",
    "cudaStreamCreate",
    "cudaStreamCreateWithFlags",
    "cudaStreamDestroy",
    "cudaStreamSynchronize",
    "cudaStreamWaitEvent",
    "cudaStreamQuery",
    "cudaEventCreate",
    "cudaEventCreateWithFlags",
    "cudaEventDestroy",
    "cudaEventRecord",
    "cudaEventSynchronize",
    "cudaEventElapsedTime",
};

// C functions behind CUDA_CHECK, assert, printf while debugging, and what compilers make of loops.
const std::set<std::string, std::less<>> c_functions = {
    "memcpy",
    "memset",
    "memmove",
    "memcmp",
    "strlen",
    "strcmp",
    "strncmp",
    "snprintf",
    "vsnprintf",
    "printf",
    "fprintf",
    "vfprintf",
    "puts",
    "putchar",
    "fputs",
    "fputc",
    "fwrite",
    "fflush",
    "stdout",
    "stderr",
    "malloc",
    "calloc",
    "realloc",
    "free",
    "abort",
    "atexit",
    "__assert_fail",
    "sqrt",
    "sqrtf",
    "ceil",
    "ceilf",
    "floor",
    "floorf",
    "fabs",
    "fmin",
    "fmax",
    "fminf",
    "fmaxf",
    "pow",
    "powf",
    "log2",
    "log2f",
    "exp",
    "expf",
    "log",
    "logf",
    "round",
    "lround",
    "fma",
    "fmaf",
    "ldexp",
    "frexp",
    "nearbyint",
    "rint",
    "trunc",
    "truncf",
    "roundf",
    "rintf",
    "__stack_chk_fail",
    "__stack_chk_guard",
    "__dso_handle",
    "__tls_get_addr",
    "_GLOBAL_OFFSET_TABLE_",
    "_Unwind_Resume",
    "__gxx_personality_v0",
    "__printf_chk",
    "__fprintf_chk",
    "__snprintf_chk",
    "__vsnprintf_chk",
    "__memcpy_chk",
    "__memset_chk",
    "__memmove_chk",
};

/// Parts of the C++ library that start threads, open files or reach the system. Mangled beginnings.
constexpr std::string_view refused_cxx[] = {
    "_ZNSt6thread",          "_ZNSt7jthread",
    "_ZNSt14basic_ifstream", "_ZNSt14basic_ofstream",
    "_ZNSt13basic_fstream",  "_ZNSt13basic_filebuf",
    "_ZNSt10filesystem",     "_ZNSt18condition_variable",
};

/// Beginnings of C names, and why they are refused; the first that fits.
constexpr struct {
  std::string_view beginning, why;
} refused_c[] = {
    {"cublas", "library"},
    {"cudnn", "library"},
    {"cusparse", "library"},
    {"cusolver", "library"},
    {"cutensor", "library"},
    {"cufft", "library"},
    {"cblas_", "library"},
    {"sgemm", "library"},
    {"dgemm", "library"},
    {"nccl", "library"},
    {"npp", "library"},
    {"dlopen", "loader"},
    {"dlmopen", "loader"},
    {"dlsym", "loader"},
    {"dlvsym", "loader"},
    {"dladdr", "loader"},
    {"dl_iterate_phdr", "loader"},
    {"__libc_dlopen", "loader"},
    {"nvrtc", "compiler"},
    {"nvJitLink", "compiler"},
    {"nvPTXCompiler", "compiler"},
    {"__nvrtc", "compiler"},
    {"nvFatbin", "compiler"},
    {"pthread_", "thread"},
    {"thrd_", "thread"},
    {"posix_spawn", "thread"},
};
/// The same for whole names.
constexpr struct {
  std::string_view name, why;
} refused_names[] = {
    {"cudaGetDriverEntryPoint", "driver"},
    {"cudaGetDriverEntryPointByVersion", "driver"},
    {"cudaGetExportTable", "driver"},
    {"clone", "thread"},
    {"fork", "thread"},
    {"vfork", "thread"},
};

/// Why an undefined symbol is refused; "" if it is not.
std::string_view refusal(std::string_view name) {
  if (registration.count(name) || runtime_calls.count(name) || c_functions.count(name)) return "";
  if (starts(name, "_Z")) {
    for (const auto beginning : refused_cxx)
      if (starts(name, beginning)) return "system";
    // The C++ library, operators new and delete, and type information. Other mangled names belong
    // to nobody who could define them: the linker will say so in its own words.
    return "";
  }
  if (starts(name, "__cxa_")) return "";
  for (const auto& one : refused_c)
    if (starts(name, one.beginning)) return one.why;
  for (const auto& one : refused_names)
    if (name == one.name) return one.why;
  if (name.size() > 2 && starts(name, "cu") && name[2] >= 'A' && name[2] <= 'Z') return "driver";
  if (starts(name, "cuda") || starts(name, "__cuda")) return "runtime";
  return "unknown";
}

std::string shown(const std::string& symbol) {
  return printable(simgpu::ptx::written_out(symbol).value_or(symbol)).substr(0, 120);
}

/// A definition that would take the place of somebody else's function for the whole program.
bool interposes(const ObjectSymbol& symbol) {
  const std::string_view name = symbol.name;
  // The compiler's own pointer to the function that handles exceptions.
  if (symbol.weak && name == "DW.ref.__gxx_personality_v0") return false;
  if (!starts(name, "_Z")) return true;  // C names are the C library's, the runtime's and ours
  if (symbol.weak) return false;         // templates and inline functions of the headers
  return starts(name, "_Zn") || starts(name, "_Zd") || starts(name, "_ZS") ||
         starts(name, "_ZNS") || starts(name, "_ZNKS") || starts(name, "_ZN10__cxxabiv1");
}

}  // namespace

namespace {

using Headers = std::vector<Elf64_Shdr>;

/// The section headers, and which of them holds their names; empty if this is no 64-bit object.
std::optional<std::pair<Headers, std::uint64_t>> section_headers(std::string_view bytes) {
  Elf64_Ehdr header;
  if (!take(bytes, 0, header) || std::memcmp(header.e_ident, ELFMAG, SELFMAG) != 0 ||
      header.e_ident[EI_CLASS] != ELFCLASS64 || header.e_ident[EI_DATA] != ELFDATA2LSB ||
      header.e_type != ET_REL || header.e_shentsize != sizeof(Elf64_Shdr))
    return {};
  // Objects with many sections keep the counts in the first one.
  Elf64_Shdr first{};
  if (!take(bytes, header.e_shoff, first)) return {};
  const std::uint64_t count = header.e_shnum ? header.e_shnum : first.sh_size;
  const std::uint64_t names_at =
      header.e_shstrndx == SHN_XINDEX ? first.sh_link : header.e_shstrndx;
  if (count > bytes.size() / sizeof(Elf64_Shdr) || names_at >= count) return {};
  Headers headers(count);
  for (std::uint64_t i = 0; i < count; ++i)
    if (!take(bytes, header.e_shoff + i * sizeof(Elf64_Shdr), headers[i])) return {};
  return std::pair{std::move(headers), names_at};
}

ObjectSymbol symbol_of(const Elf64_Sym& entry, std::string name) {
  ObjectSymbol symbol;
  symbol.name = std::move(name);
  symbol.defined = entry.st_shndx != SHN_UNDEF;
  const unsigned type = ELF64_ST_TYPE(entry.st_info), bind = ELF64_ST_BIND(entry.st_info);
  symbol.local = bind == STB_LOCAL;
  symbol.weak = bind == STB_WEAK || bind == STB_GNU_UNIQUE;
  symbol.ifunc = type == STT_GNU_IFUNC;
  symbol.file_or_section = type == STT_FILE || type == STT_SECTION;
  return symbol;
}

/// Appends the named symbols of one table. False: it reaches beyond the file or its strings.
bool read_symbols(std::string_view bytes, const Headers& headers, const Elf64_Shdr& section,
                  std::vector<ObjectSymbol>& symbols) {
  const auto table = contents(bytes, section);
  if (!table || section.sh_link >= headers.size()) return false;
  const auto strings = contents(bytes, headers[section.sh_link]);
  if (!strings) return false;
  for (std::uint64_t at = 0; at + sizeof(Elf64_Sym) <= table->size(); at += sizeof(Elf64_Sym)) {
    Elf64_Sym entry;
    take(*table, at, entry);
    const auto name = string_at(*strings, entry.st_name);
    if (!name) return false;
    if (!name->empty()) symbols.push_back(symbol_of(entry, *name));
  }
  return true;
}

}  // namespace

std::optional<ObjectFile> read_object(std::string_view bytes) {
  const auto found = section_headers(bytes);
  if (!found) return {};
  const auto& [headers, names_at] = *found;
  const auto names = contents(bytes, headers[names_at]);
  if (!names) return {};
  ObjectFile object;
  for (const auto& section : headers) {
    if (section.sh_type == SHT_NULL) continue;
    const auto name = string_at(*names, section.sh_name);
    if (!name) return {};
    object.sections.push_back({*name, section.sh_size});
    if (section.sh_type == SHT_SYMTAB && !read_symbols(bytes, headers, section, object.symbols))
      return {};
  }
  return object;
}

std::string GateFinding::sentence() const {
  return text("gate." + kind, {{"symbol", symbol}});
}

std::vector<GateFinding> inspect_object(const ObjectFile& object) {
  std::vector<GateFinding> findings;
  std::set<std::pair<std::string, std::string>> seen;
  const auto add = [&](std::string_view kind, const std::string& symbol) {
    if (seen.emplace(kind, symbol).second) findings.push_back({std::string(kind), shown(symbol)});
  };
  bool kernels = false;
  for (const auto& symbol : object.symbols) {
    if (symbol.file_or_section) continue;
    kernels = kernels || symbol.name == "__cudaRegisterFatBinary";
    if (symbol.ifunc) add("ifunc", symbol.name);
    if (!symbol.defined) {
      if (const auto why = refusal(symbol.name); !why.empty()) add(why, symbol.name);
    } else if (!symbol.local && interposes(symbol)) {
      add("interposed", symbol.name);
    }
  }
  std::uint64_t constructors = 0;
  for (const auto& section : object.sections) {
    for (const char* early :
         {".preinit_array", ".ctors", ".dtors", ".fini_array", ".init", ".fini"})
      if (section.name == early || section.name.rfind(std::string(early) + ".", 0) == 0)
        if (section.size != 0) add("constructor", section.name);
    if (section.name == ".init_array" || section.name.rfind(".init_array.", 0) == 0)
      constructors += section.size;
  }
  // One pointer: the function that nvcc generates to register the kernels.
  if (constructors > (kernels ? 8u : 0u)) add("constructor", ".init_array");
  return findings;
}

std::vector<GateFinding> inspect_object(std::string_view bytes) {
  const auto object = read_object(bytes);
  if (!object) return {{"unreadable", "gemm.o"}};
  return inspect_object(*object);
}

std::vector<GateFinding> inspect_disassembly(const std::string& listing) {
  std::istringstream stream(listing);
  for (std::string line; std::getline(stream, line);) {
    // "   4:\tsyscall": address, then the instruction, each behind a tab.
    const auto tab = line.rfind('\t');
    const auto colon = line.find(":\t");
    if (colon == std::string::npos || tab == std::string::npos) continue;
    const std::string code = line.substr(colon + 2);
    for (const char* word : {"syscall", "sysenter", "int    $0x80", "svc\t"})
      if (code.rfind(word, 0) == 0)
        return {
            {"instruction", std::string(word).substr(0, std::string(word).find_first_of(" \t"))}};
  }
  return {};
}

}  // namespace grader::gpu

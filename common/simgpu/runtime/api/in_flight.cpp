#include "common/simgpu/runtime/api/in_flight.hpp"

#include <signal.h>
#include <sys/mman.h>

#include <algorithm>
#include <cstdlib>
#include <mutex>
#include <string_view>
#include <utility>

namespace simgpu::runtime {
namespace {

/// Held by the fault handler, too: nothing that is locked away is touched meanwhile.
std::mutex& guard() {
  static auto* const mutex = new std::mutex;
  return *mutex;
}

std::uintptr_t page_of(std::uintptr_t address) {
  return address / kPage * kPage;
}

struct sigaction before;  // what handled faults before us

}  // namespace

struct FaultHandler {
  static void handle(int signal, siginfo_t* info, void* context) {
    if (InFlight::get().touched(reinterpret_cast<std::uintptr_t>(info->si_addr))) return;
    // Not ours: as if this handler were not there, nor one that wanted to be called once.
    if ((static_cast<unsigned>(before.sa_flags) & SA_RESETHAND) != 0) {
      struct sigaction by_default = {};
      by_default.sa_handler = SIG_DFL;
      sigaction(SIGSEGV, &by_default, nullptr);
    }
    if ((before.sa_flags & SA_SIGINFO) != 0 && before.sa_sigaction != nullptr)
      return before.sa_sigaction(signal, info, context);
    if (before.sa_handler != SIG_DFL && before.sa_handler != SIG_IGN)
      return before.sa_handler(signal);
    sigaction(SIGSEGV, &before, nullptr);  // the instruction faults once more
  }
  static void install() {
    static const bool once = [] {
      struct sigaction ours = {};
      ours.sa_sigaction = handle;
      ours.sa_flags = SA_SIGINFO | SA_NODEFER;
      sigaction(SIGSEGV, &ours, &before);
      return true;
    }();
    (void)once;
  }
};

InFlight& InFlight::get() {
  static auto* const one = new InFlight;  // programs use memory until their very end
  return *one;
}

void InFlight::protect(const Use& use, bool locked) const {
  const std::uintptr_t first = page_of(use.first), end = page_of(use.end + kPage - 1);
  mprotect(reinterpret_cast<void*>(first), end - first,
           !locked             ? PROT_READ | PROT_WRITE
           : use.device_writes ? PROT_NONE
                               : PROT_READ);
}

void InFlight::begin(const void* object, std::size_t from, std::size_t bytes, bool device_writes,
                     const std::string& user) {
  static const bool wanted = [] {
    const char* const checks = std::getenv("SIMGPU_CHECKS");
    return checks == nullptr || std::string_view(checks) != "0";
  }();
  if (!wanted) return;
  FaultHandler::install();
  const std::lock_guard<std::mutex> lock(guard());
  constexpr std::size_t kMost = 1024;  // a program that never waits
  if (bytes == 0 || uses_.size() >= kMost) return;
  const std::uintptr_t start = reinterpret_cast<std::uintptr_t>(object), first = start + from;
  uses_.push_back({start, first, first + bytes, device_writes, user});
  if (pauses_ == 0) protect(uses_.back(), true);
}

void InFlight::end() {
  const std::lock_guard<std::mutex> lock(guard());
  for (const Use& use : uses_) protect(use, false);
  uses_.clear();
}

void InFlight::forget(const void* host, std::size_t bytes) {
  const std::lock_guard<std::mutex> lock(guard());
  const auto first = reinterpret_cast<std::uintptr_t>(host);
  std::erase_if(uses_, [&](const Use& u) { return u.first < first + bytes && first < u.end; });
}

void InFlight::open(bool is_open) {
  const std::lock_guard<std::mutex> lock(guard());
  if (is_open ? pauses_++ != 0 : --pauses_ != 0) return;
  // Readers first: pages that both sorts of uses share stay locked.
  if (is_open)
    for (const Use& use : uses_) protect(use, false);
  else
    for (const bool writes : {false, true})
      for (const Use& use : uses_)
        if (use.device_writes == writes) protect(use, true);
}

bool InFlight::touched(std::uintptr_t address) {
  const std::lock_guard<std::mutex> lock(guard());
  const std::uintptr_t page = page_of(address);
  bool ours = false;
  for (const Use& use : uses_) {
    if (page_of(use.first) > page || page >= use.end) continue;
    ours = true;
    if (address < use.first || address >= use.end) continue;  // beside it
    constexpr std::size_t kMost = 8;
    if (touches_.size() < kMost)
      touches_.push_back("the host " +
                         std::string(use.device_writes ? "reads or writes" : "writes") + " byte " +
                         std::to_string(address - use.object) + " of memory that " + use.user +
                         (use.device_writes ? " writes" : " reads") +
                         ", and has not waited for that: cudaDeviceSynchronize() or "
                         "cudaStreamSynchronize() must come first");
  }
  if (!ours) return false;
  // Said once: all that the pages of these uses hold is open from now on.
  for (const Use& use : uses_)
    if (page_of(use.first) <= page && page < use.end) protect(use, false);
  std::erase_if(uses_, [&](const Use& u) { return page_of(u.first) <= page && page < u.end; });
  return true;
}

std::vector<std::string> InFlight::take_touches() {
  const std::lock_guard<std::mutex> lock(guard());
  return std::exchange(touches_, {});
}

}  // namespace simgpu::runtime

#include "common/simgpu/runtime/wire/message.hpp"

namespace simgpu::runtime::wire {

bool shape_of(std::uint16_t type, std::size_t& body, std::size_t& max_tail) {
  const auto shape = [&](std::size_t body_bytes, std::size_t tail_bytes) {
    body = body_bytes;
    max_tail = tail_bytes;
    return true;
  };
  switch (static_cast<Type>(type)) {
    case Type::hello:
      return shape(sizeof(Hello), kMaxTail);
    case Type::returned:
      return shape(sizeof(Returned), kMaxText);
    case Type::threw:
      return shape(sizeof(Threw), kMaxText);
    case Type::allocate:
      return shape(sizeof(Allocate), 0);
    case Type::release:
      return shape(sizeof(Release), 0);
    case Type::fill:
      return shape(sizeof(Fill), 0);
    case Type::copy:
      return shape(sizeof(Copy), 0);
    case Type::copy_in:
      return shape(sizeof(CopyIn), kMaxData);
    case Type::copy_out:
      return shape(sizeof(CopyOut), 0);
    case Type::find:
      return shape(sizeof(Find), 0);
    case Type::memory_info:
      return shape(sizeof(MemoryInfo), 0);
    case Type::variable:
      return shape(sizeof(Variable), kMaxName);
    case Type::kernel_info:
      return shape(sizeof(KernelInfo), kMaxName);
    case Type::set_max_dynamic_shared:
      return shape(sizeof(SetMaxDynamicShared), kMaxName);
    case Type::launch:
      return shape(sizeof(Launch), kMaxName + kMaxArguments);
    case Type::note_unsupported:
      return shape(sizeof(NoteUnsupported), kMaxText);
    case Type::note_error:
      return shape(sizeof(NoteError), kMaxText);
    case Type::model:
      return shape(sizeof(Model), 0);
    case Type::call:
      return shape(sizeof(Call), 0);
    case Type::ask:
      return shape(sizeof(Ask), 0);
    case Type::goodbye:
      return shape(sizeof(Goodbye), 0);
    case Type::reply:
      return shape(sizeof(Reply), kMaxTail);
  }
  return false;
}

}  // namespace simgpu::runtime::wire

#include "grader/judge/protocol.hpp"

namespace wire {

using namespace grader::protocol;
using simgpu::runtime::CallResult;

template Bytes encode(const LoadRequest&);
template Bytes encode(const CallRequest&);
template Bytes encode(const AskRequest&);
template Bytes encode(const LoadReply&);
template Bytes encode(const CallReply&);
template Bytes encode(const CallResult&);
template LoadRequest decode(const Bytes&, const char*);
template CallRequest decode(const Bytes&, const char*);
template AskRequest decode(const Bytes&, const char*);
template LoadReply decode(const Bytes&, const char*);
template CallReply decode(const Bytes&, const char*);
template CallResult decode(const Bytes&, const char*);

}  // namespace wire

// Names of types, state spaces and special registers as PTX spells them.
#include <array>
#include <utility>

#include "common/simgpu/ptx/opcodes.hpp"

namespace simgpu::ptx {
namespace {

constexpr std::array<std::pair<std::string_view, Type>, 28> kTypeNames{{
    {"pred", Type::pred},     {"b8", Type::b8},     {"b16", Type::b16},
    {"b32", Type::b32},       {"b64", Type::b64},   {"b128", Type::b128},
    {"u8", Type::u8},         {"u16", Type::u16},   {"u32", Type::u32},
    {"u64", Type::u64},       {"s8", Type::s8},     {"s16", Type::s16},
    {"s32", Type::s32},       {"s64", Type::s64},   {"f16", Type::f16},
    {"f16x2", Type::f16x2},   {"bf16", Type::bf16}, {"bf16x2", Type::bf16x2},
    {"tf32", Type::tf32},     {"f32", Type::f32},   {"f64", Type::f64},
    {"e4m3", Type::e4m3},     {"e5m2", Type::e5m2}, {"e4m3x2", Type::e4m3x2},
    {"e5m2x2", Type::e5m2x2}, {"s4", Type::s4},     {"u4", Type::u4},
    {"b1", Type::b1},
}};

struct Special32 {
  std::string_view name;
  Special special;
};
constexpr Special32 kSpecials[] = {
    {"%tid.x", Special::tid_x},
    {"%tid.y", Special::tid_y},
    {"%tid.z", Special::tid_z},
    {"%ntid.x", Special::ntid_x},
    {"%ntid.y", Special::ntid_y},
    {"%ntid.z", Special::ntid_z},
    {"%ctaid.x", Special::ctaid_x},
    {"%ctaid.y", Special::ctaid_y},
    {"%ctaid.z", Special::ctaid_z},
    {"%nctaid.x", Special::nctaid_x},
    {"%nctaid.y", Special::nctaid_y},
    {"%nctaid.z", Special::nctaid_z},
    {"%laneid", Special::laneid},
    {"%warpid", Special::warpid},
    {"%nwarpid", Special::nwarpid},
    {"%smid", Special::smid},
    {"%nsmid", Special::nsmid},
    {"%gridid", Special::gridid},
    {"%clock", Special::clock},
    {"%clock_hi", Special::clock_hi},
    {"%clock64", Special::clock64},
    {"%globaltimer", Special::globaltimer},
    {"%globaltimer_lo", Special::globaltimer_lo},
    {"%globaltimer_hi", Special::globaltimer_hi},
    {"%lanemask_eq", Special::lanemask_eq},
    {"%lanemask_le", Special::lanemask_le},
    {"%lanemask_lt", Special::lanemask_lt},
    {"%lanemask_ge", Special::lanemask_ge},
    {"%lanemask_gt", Special::lanemask_gt},
    {"%dynamic_smem_size", Special::dynamic_smem_size},
    {"%total_smem_size", Special::total_smem_size},
    {"%cluster_ctaid.x", Special::cluster_ctaid_x},
    {"%cluster_ctaid.y", Special::cluster_ctaid_y},
    {"%cluster_ctaid.z", Special::cluster_ctaid_z},
    {"%cluster_nctaid.x", Special::cluster_nctaid_x},
    {"%cluster_nctaid.y", Special::cluster_nctaid_y},
    {"%cluster_nctaid.z", Special::cluster_nctaid_z},
    {"%clusterid.x", Special::clusterid_x},
    {"%clusterid.y", Special::clusterid_y},
    {"%clusterid.z", Special::clusterid_z},
    {"%nclusterid.x", Special::nclusterid_x},
    {"%nclusterid.y", Special::nclusterid_y},
    {"%nclusterid.z", Special::nclusterid_z},
    {"%cluster_ctarank", Special::cluster_ctarank},
    {"%cluster_nctarank", Special::cluster_nctarank},
    {"%is_explicit_cluster", Special::is_explicit_cluster},
    {"WARP_SZ", Special::warp_size},
    {"%simgpu_unset", Special::unset},
    {"%simgpu_unset_part", Special::unset_part},
    {"%simgpu_unset_whole", Special::unset_whole},
};
constexpr std::string_view kUnsupportedSpecials[] = {
    "%aggr_smem_size", "%pm", "%envreg", "%reserved_smem", "%current_graph_exec",
};

}  // namespace

std::optional<Type> type_from_name(std::string_view name) {
  for (const auto& [text, type] : kTypeNames)
    if (text == name) return type;
  return std::nullopt;
}

std::string_view to_string(Type type) {
  for (const auto& [text, value] : kTypeNames)
    if (value == type) return text;
  return "none";
}

std::string_view to_string(Space space) {
  switch (space) {
    case Space::none:
      return "none";
    case Space::reg:
      return "reg";
    case Space::generic:
      return "generic";
    case Space::global:
      return "global";
    case Space::shared:
      return "shared";
    case Space::cluster:
      return "shared::cluster";
    case Space::local:
      return "local";
    case Space::constant:
      return "const";
    case Space::param:
      return "param";
  }
  return "none";
}

std::optional<Special> special_from_name(std::string_view name) {
  for (const Special32& s : kSpecials)
    if (s.name == name) return s.special;
  return std::nullopt;
}

bool is_unsupported_special(std::string_view name) {
  for (const std::string_view prefix : kUnsupportedSpecials)
    if (name.substr(0, prefix.size()) == prefix) return true;
  return false;
}

}  // namespace simgpu::ptx

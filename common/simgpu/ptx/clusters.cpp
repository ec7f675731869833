#include "common/simgpu/ptx/clusters.hpp"

#include <charconv>

#include "common/simgpu/ptx/lexer.hpp"

namespace simgpu::ptx {

namespace {
constexpr std::string_view kTag = "B12cluster_dims";  // an ABI tag, with its length
}  // namespace

bool has_clusters(std::string_view mangled) {
  return mangled.find(kTag) != std::string_view::npos;
}

std::string without_cluster_tag(std::string mangled) {
  if (const std::size_t at = mangled.find(kTag); at != std::string::npos)
    mangled.erase(at, kTag.size());
  return mangled;
}

Clusters read_clusters(std::string_view text) {
  Clusters clusters;
  std::string_view kernel;
  bool named = true, bounded = false;
  for (Lexer lexer(text);;) {
    if (lexer.peek().is('{')) {
      if (!lexer.skip_braces()) return clusters;  // it has looked at all that is left
      continue;
    }
    const Token token = lexer.next();
    if (token.kind == Token::Kind::end || token.kind == Token::Kind::bad) return clusters;
    if (!named && token.kind == Token::Kind::identifier) kernel = token.text, named = true;
    if (bounded && token.kind == Token::Kind::number) {
      std::uint32_t packed = 0;
      std::from_chars(token.text.data(), token.text.data() + token.text.size(), packed);
      clusters[kernel] = {packed & 255, packed >> 8 & 255, packed >> 16 & 255};
    }
    bounded = token.is_directive(".maxntid");
    if (token.is_directive(".entry")) named = false;
  }
}

}  // namespace simgpu::ptx

#include "grader/messages.hpp"

#include "grader/os/embed.hpp"

namespace {

GRADER_EMBED(author_catalogue, "grader/author/messages.toml")

const grader::messages::Addition addition(author_catalogue());

}  // namespace

#include "grader/messages.hpp"

#include "grader/os/embed.hpp"

namespace {

GRADER_EMBED(course_catalogue, "grader/course/messages.toml")

const grader::messages::Addition addition(course_catalogue());

}  // namespace

// What the grader's files include beside common/standard.hpp, compiled once with it (mk/toolchain.mk).
// No file may count on it: each includes what it uses.
#include <fmt/core.h>
#include <fmt/format.h>

#include <cmath>
#include <condition_variable>
#include <deque>
#include <fstream>
#include <future>
#include <nlohmann/json.hpp>
#include <numeric>
#include <utility>

#include "common/standard.hpp"

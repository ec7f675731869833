// What nearly every test includes, compiled once (Makefile). As with common/standard.hpp, no file
// may count on it.
#include "common/catch2.hpp"
#include "common/standard.hpp"

// A bench as people read it on a terminal of 80 columns.
#pragma once

#include <string>
#include <vector>

#include "grader/bench/record.hpp"

namespace grader::bench {

/// One table per kind of number: percent of cuBLAS at even shapes with TFLOP/s at 4096, then odd,
/// thin and flat ones. Where there is no cuBLAS for a type, TFLOP/s stand instead, which is said.
/// Rows in the order of the labs.
std::vector<std::string> tables(const Results& results);

std::vector<std::string> cpu_table(const Results& results);

/// A rung that is slower than the one before it in its lab's order, by more than `margin`.
struct Step {
  std::string type, before, after;
  struct At {
    Shape shape;
    double factor = 0;  ///< after / before in TFLOP/s, paired through cuBLAS where there is one
  };
  std::vector<At> at;
};
std::vector<Step> slower_steps(const Results& results, double margin = 0.03);

/// Sentences: steps that go down, what was skipped and why, what is wrong.
std::vector<std::string> sentences(const Results& results);

}  // namespace grader::bench

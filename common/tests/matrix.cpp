#include "common/matrix.hpp"

#include <cstring>
#include <set>
#include <stdexcept>
#include <string>

#include "common/catch2.hpp"
#include "common/cuda_error_hints.hpp"
#include "common/inputs.hpp"

TEST_CASE("a matrix holds exactly the elements it needs") {
  CHECK(HostMatrix<float>(3, 4, 10).storage().size() == 24);
  CHECK(HostMatrix<float>(1, 4, 10).storage().size() == 4);
  CHECK(HostMatrix<float>(3, 4).storage().size() == 12);
  CHECK(HostMatrix<float>(0, 4).storage().empty());
  CHECK(HostMatrix<float>(4, 0, 7).storage().empty());
}

TEST_CASE("views and elements agree") {
  HostMatrix<std::int32_t> m(3, 4, 6);
  m(2, 3) = 7;
  m.view()(1, 0) = 5;
  const MatrixView<const std::int32_t> view = m.view();
  CHECK(view(2, 3) == 7);
  CHECK(view.data[2 * 6 + 3] == 7);
  CHECK(m.storage().back() == 7);
  CHECK(m(1, 0) == 5);
  m.fill(1);
  m.fill_padding(9);
  CHECK(view(0, 3) == 1);
  CHECK(view.data[4] == 9);
  CHECK(view.data[11] == 9);
  CHECK(view.data[12] == 1);
}

TEST_CASE("impossible matrices are refused with the numbers") {
  std::string message;
  try {
    HostMatrix<float> m(3, 8, 7);
  } catch (const std::invalid_argument& error) {
    message = error.what();
  }
  CHECK(message == "leading dimension 7 is less than the 8 columns of a row");
  CHECK_THROWS_AS(HostMatrix<float>(-1, 3), std::invalid_argument);
}

TEST_CASE("inputs are the same on every machine") {
  inputs::SplitMix64 a(0);
  CHECK(a() == 0xe220a8397b1dcdafu);  // first output for seed 0, published with the generator
  inputs::Pcg b(1), again(1), other(2);
  const std::uint64_t first = b();
  CHECK(first == again());
  CHECK(first != other());
}

TEST_CASE("integers cover their range and padding is poison") {
  inputs::SplitMix64 random(3);
  HostMatrix<float> m(40, 40, 43);
  inputs::integers(m, random);
  std::set<float> seen;
  for (int row = 0; row < 40; ++row)
    for (int col = 0; col < 40; ++col) seen.insert(m(row, col));
  CHECK(seen.size() == 17);
  CHECK(*seen.begin() == -8);
  CHECK(*seen.rbegin() == 8);
  const float poison = inputs::poison<float>();
  CHECK(std::memcmp(&m.storage()[41], &poison, sizeof poison) == 0);
}

TEMPLATE_TEST_CASE("zero-mean inputs have mean zero and stay in range", "", float, double) {
  inputs::Pcg random(8);
  HostMatrix<TestType> m(200, 200);
  inputs::zero_mean(m, random);
  double sum = 0, square = 0;
  int in_range = 0;
  for (const TestType value : m.storage()) {
    in_range += value >= -1 && value < 1;
    sum += static_cast<double>(value);
    square += static_cast<double>(value) * static_cast<double>(value);
  }
  CHECK(in_range == 40000);
  CHECK(std::abs(sum / 40000) < 0.015);  // five standard errors
  CHECK(std::abs(square / 40000 - 1.0 / 3) < 0.01);
}

TEST_CASE("rounding to 11 bits is to nearest") {
  CHECK(inputs::round_to_11_bits(1.0) == 1.0);
  CHECK(inputs::round_to_11_bits(1.0 + 1.0 / 2048) == 1.0 + 1.0 / 1024);
  CHECK(inputs::round_to_11_bits(-3.0) == -3.0);
}

TEST_CASE("CUDA errors come with a hint") {
  CHECK(std::string(cuda_error_hint("cudaErrorInvalidConfiguration")).find("1024") !=
        std::string::npos);
  CHECK(std::string(cuda_error_hint("cudaErrorSomethingElse")).empty());
}

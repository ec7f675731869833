// A matrix on the host that owns its elements.
#pragma once

#include <cstddef>
#include <stdexcept>
#include <string>
#include <vector>

#include "common/matrix.hpp"

/// How many elements a rows x cols matrix with leading dimension ld needs, 0 if it is empty. The
/// last row has no padding, so one step beyond the last element is one step beyond the allocation.
inline std::size_t matrix_storage(int rows, int cols, int ld) {
  if (rows < 0 || cols < 0)
    throw std::invalid_argument("a matrix cannot have " + std::to_string(rows) + " rows and " +
                                std::to_string(cols) + " columns");
  if (ld < cols)
    throw std::invalid_argument("leading dimension " + std::to_string(ld) + " is less than the " +
                                std::to_string(cols) + " columns of a row");
  if (rows == 0 || cols == 0) return 0;
  return (static_cast<std::size_t>(rows) - 1) * static_cast<std::size_t>(ld) +
         static_cast<std::size_t>(cols);
}

/// rows x cols elements, row-major, ld >= cols from row to row; exactly matrix_storage() in all.
template <typename T>
class HostMatrix {
 public:
  HostMatrix() = default;

  /// Dense, value-initialised (zero). Throws std::invalid_argument for negative extents.
  HostMatrix(int rows, int cols) : HostMatrix(rows, cols, cols) {}

  /// Throws std::invalid_argument if ld < cols.
  HostMatrix(int rows, int cols, int ld)
      : rows_(rows), cols_(cols), ld_(ld), storage_(matrix_storage(rows, cols, ld)) {}

  int rows() const { return rows_; }
  int cols() const { return cols_; }
  int ld() const { return ld_; }

  T& operator()(int row, int col) { return storage_[index(row, col)]; }
  const T& operator()(int row, int col) const { return storage_[index(row, col)]; }

  /// Every element, padding included.
  void fill(const T& value) { storage_.assign(storage_.size(), value); }

  /// The padding between rows only.
  void fill_padding(const T& value) {
    if (storage_.empty()) return;
    for (int row = 0; row + 1 < rows_; ++row)
      for (int col = cols_; col < ld_; ++col) storage_[index(row, col)] = value;
  }

  /// All elements in memory order, padding included.
  std::vector<T>& storage() { return storage_; }
  const std::vector<T>& storage() const { return storage_; }

  MatrixView<T> view() { return {storage_.data(), rows_, cols_, ld_}; }
  MatrixView<const T> view() const { return {storage_.data(), rows_, cols_, ld_}; }
  MatrixView<const T> const_view() const { return view(); }

 private:
  std::size_t index(int row, int col) const {
    return static_cast<std::size_t>(row) * static_cast<std::size_t>(ld_) +
           static_cast<std::size_t>(col);
  }

  int rows_ = 0, cols_ = 0, ld_ = 0;
  std::vector<T> storage_;
};

// Indices beyond the end of an array: what the checked code prints, and what the source says of it.
#include "grader/compile/array_bounds.hpp"

#include "common/catch2.hpp"

using namespace grader;

namespace {

ArrayIndex index_at(unsigned line, unsigned column, std::int64_t index, const std::string& type) {
  ArrayIndex found;
  found.line = line, found.column = column, found.index = index, found.type = type;
  return found;
}

const std::string kSource =
    "  T b_k[TN];\n"
    "  __shared__ T tile[BK][BN], ring[3][BK][BN];\n"
    "  sum += b_k[i];\n"
    "  sum += tile[k + 1][col];\n"
    "  sum += tile[0][i];\n"
    "  const T* end = &b_k[TN];\n"
    "  copy(ring[place][k]);\n"
    "  f.b_k [b_k[2]] = 1;\n";

}  // namespace

TEST_CASE("a line of the checked code is read, whatever stands around it") {
  const auto found = array_index_in(
      "hello\narray bounds 7 42 -1 3 0 1 4 5 6 'unsigned int[4][2]' lab 2/gemm.cu\nbye\n");
  REQUIRE(found);
  CHECK(found->line == 7);
  CHECK(found->column == 42);
  CHECK(found->index == -1);
  CHECK(found->thread[0] == 3);
  CHECK(found->thread[2] == 1);
  CHECK(found->block[2] == 6);
  CHECK(found->type == "unsigned int[4][2]");
  CHECK(found->file == "lab 2/gemm.cu");
  for (const char* other : {"", "array bounds", "array bounds 7 42 1 0 0 0 0 0 0 int[4] f.cu\n",
                            "array bounds 7 x 1 0 0 0 0 0 0 'int[4]' f.cu\n"})
    CHECK_FALSE(array_index_in(other));
}

TEST_CASE("an overrun is told in the words of the source") {
  const auto one = overrun_of(index_at(3, 10, 4, "float[4]"), kSource);
  REQUIRE(one);
  CHECK(one->access == "b_k[4]");
  CHECK(one->length == 4);
  CHECK_FALSE(one->inner);
  CHECK_FALSE(one->rows);

  const auto row = overrun_of(index_at(4, 10, 64, "double[64]"), kSource);
  REQUIRE(row);
  CHECK(row->access == "tile[k + 1][64]");
  CHECK(row->row == "tile[k + 1]");
  CHECK(row->inner);

  const auto rows = overrun_of(index_at(4, 10, 8, "double[8][64]"), kSource);
  REQUIRE(rows);
  CHECK(rows->access == "tile[8]");
  CHECK(rows->rows);
  CHECK_FALSE(rows->inner);

  const auto place = overrun_of(index_at(7, 8, 16, "float[16][8]"), kSource);
  REQUIRE(place);
  CHECK(place->access == "ring[place][16]");
  CHECK(place->inner);

  const auto member = overrun_of(index_at(8, 5, 9, "float[4]"), kSource);
  REQUIRE(member);
  CHECK(member->access == "b_k[9]");
}

TEST_CASE("code that may mean what it does is no overrun") {
  CHECK_FALSE(overrun_of(index_at(6, 19, 4, "float[4]"), kSource));    // the end, for an address
  CHECK(overrun_of(index_at(6, 19, 5, "float[4]"), kSource));          // beyond it
  CHECK_FALSE(overrun_of(index_at(5, 10, 64, "float[64]"), kSource));  // one long row
  CHECK_FALSE(overrun_of(index_at(3, 9, 4, "float[4]"), kSource));     // no name there
  CHECK_FALSE(overrun_of(index_at(3, 10, 4124, "float[4096]"), kSource));  // a tile, not registers
  CHECK_FALSE(overrun_of(index_at(30, 1, 4, "float[4]"), kSource));
  CHECK_FALSE(overrun_of(index_at(3, 900, 4, "float[4]"), kSource));
  CHECK_FALSE(overrun_of(index_at(3, 10, 4, "float"), kSource));
}

// What nobody has written, on its way through ldmatrix, mma, stmatrix and movmatrix: a finding where a result that comes
// from it is used, and none where it is thrown away.
#include <cstdint>
#include <string>
#include <vector>

#include "common/catch2.hpp"
#include "common/simgpu/tests/harness.hpp"

namespace simgpu::test {
namespace {

/// One warp. %r1: the lane, %r2: that of lane & 15, %r3 and %r4: the addresses of `a` and `b`, 16 x 16 halves each, %rd1: a
/// word of its own in global memory.
std::string kernel(const std::string& body) {
  return ptx_module(
      ".visible .entry k(.param .u64 out)\n{\n.reg .pred %p<5>; .reg .b16 %h<3>; .reg .b32 %r<40>; "
      ".reg .b64 %rd<4>;\n.shared .align 16 .b8 a[512]; .shared .align 16 .b8 b[512];\n"
      "mov.u32 %r1, %tid.x; and.b32 %r2, %r1, 15; mov.u32 %r3, a; mov.u32 %r4, b;\n"
      "ld.param.u64 %rd1, [out]; mul.wide.u32 %rd2, %r1, 4; add.u64 %rd1, %rd1, %rd2;\n" +
      body + "\nret;\n}\n");
}

/// The arrays of which something was used that nobody has written, or that something was.
std::string used(const std::string& body, const std::string& marked = "") {
  Gpu gpu(kernel(body), {}, marked.empty() ? marked : kernel(marked));
  const DevicePtr out = gpu.upload(std::vector<std::uint32_t>(32, 1), "out");
  std::string all;
  for (const Finding& f : gpu.run("k", {1, 1, 1}, {32, 1, 1}, 0u, LaunchOptions{}, out).findings) {
    INFO(f.detail);
    CHECK(f.kind == FindingKind::uninitialised_read);
    all += (f.cause == FindingCause::unset_value ? "variable" : f.at.object) + " ";
  }
  return all;
}

std::string number(unsigned n) {
  return std::to_string(n);
}

/// Lane l writes row l / 2, eight elements at l % 2 * 8, except lines `left` where `columns` says which.
std::string fill(const char* array, int left, bool columns = false) {
  std::string text =
      "shr.u32 %r5, %r1, 1; and.b32 %r6, %r1, 1; shl.b32 %r7, %r1, 4;\nadd.u32 %r7, "
      "%r7, ";
  text += std::string(array) == "a" ? "%r3;\n" : "%r4;\n";
  if (!columns) {
    return text + "setp.ne.s32 %p1, %r5, " + std::to_string(left) +
           ";\n@%p1 st.shared.v4.u32 [%r7], {%r1, %r1, %r1, %r1};\n";
  }
  for (int k = 0; k < 8; ++k)
    text += "mad.lo.u32 %r8, %r6, 8, " + std::to_string(k) + "; setp.ne.s32 %p1, %r8, " +
            std::to_string(left) + "; @%p1 st.shared.u16 [%r7+" + std::to_string(2 * k) + "], 1;\n";
  return text;
}

/// %r10 to %r13: A of m16n8k16, of which `matrices` come at a time.
std::string load_a(unsigned matrices) {
  std::string text;
  for (unsigned m = 0; m < 4; m += matrices) {
    // Lane l names row l % 8 of matrix m + l / 8: row 8 (m % 2), column 8 (m / 2).
    text +=
        "shr.u32 %r5, %r1, 3; add.u32 %r5, %r5, " + number(m) +
        "; and.b32 %r5, %r5, 3; and.b32 %r6, %r5, 1; and.b32 %r7, %r1, 7;\n"
        "mad.lo.u32 %r6, %r6, 8, %r7; shl.b32 %r6, %r6, 5; and.b32 %r5, %r5, 2; shl.b32 %r5, %r5, "
        "3; add.u32 %r6, %r6, %r5; add.u32 %r6, %r6, %r3;\nldmatrix.sync.aligned.m8n8.x" +
        number(matrices) + ".shared.b16 {";
    for (unsigned k = 0; k < matrices; ++k) text += (k == 0 ? "%r1" : ", %r1") + number(m + k);
    text += "}, [%r6];\n";
  }
  return text;
}

/// %r14, %r15: B, from the first 8 columns of an array [k][n], or from the first 8 rows of one [n][k].
std::string load_b(bool by_k) {
  if (by_k)
    return "shl.b32 %r5, %r2, 5; add.u32 %r5, %r5, %r4;\n"
           "ldmatrix.sync.aligned.m8n8.x2.trans.shared.b16 {%r14, %r15}, [%r5];\n";
  return "and.b32 %r5, %r2, 7; shl.b32 %r5, %r5, 5; and.b32 %r6, %r2, 8; shl.b32 %r6, %r6, 1;\n"
         "add.u32 %r5, %r5, %r6; add.u32 %r5, %r5, %r4;\n"
         "ldmatrix.sync.aligned.m8n8.x2.shared.b16 {%r14, %r15}, [%r5];\n";
}

const std::string kProduct =
    "mov.u32 %r16, 0; mov.u32 %r17, 0; mov.u32 %r18, 0; mov.u32 %r19, 0;\n"
    "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%r16, %r17, %r18, %r19}, {%r10, %r11, %r12, "
    "%r13}, {%r14, %r15}, {%r16, %r17, %r18, %r19};\n";

/// Stores element (row, column) of D, and nothing else of it.
std::string store_of(unsigned row, unsigned column) {
  return "setp.eq.u32 %p2, %r1, " + number(row % 8 * 4 + column / 2) +
         "; @%p2 st.global.u32 [%rd1], %r1" + number(6 + row / 8 * 2 + column % 2) + ";\n";
}

TEST_CASE("a row of A that nobody has written counts in that row of D", "[finding][init]") {
  for (const unsigned matrices : {1u, 2u, 4u})
    for (const int left : {0, 5, 8, 15}) {
      const std::string product = fill("a", left) + fill("b", -1) + "bar.sync 0;\n" +
                                  load_a(matrices) + load_b(true) + kProduct;
      CHECK(used(product).empty());
      for (unsigned row = 0; row < 16; ++row) {
        INFO("x" << matrices << ", row " << left << " unset, row " << row << " stored");
        CHECK(used(product + store_of(row, (3 * row) % 8)) ==
              (static_cast<int>(row) == left ? "a " : ""));
      }
    }
}

TEST_CASE("a column of B that nobody has written counts in that column of D", "[finding][init]") {
  for (const bool by_k : {false, true})
    for (const int left : {0, 3, 7, 8}) {  // column 8 takes no part
      const std::string product = fill("a", -1) + fill("b", left, by_k) + "bar.sync 0;\n" +
                                  load_a(4) + load_b(by_k) + kProduct;
      for (unsigned column = 0; column < 8; ++column) {
        INFO((by_k ? "[k][n]" : "[n][k]")
             << ", column " << left << " unset, " << column << " stored");
        CHECK(used(product + store_of(2 * column, column)) ==
              (static_cast<int>(column) == left ? "b " : ""));
      }
    }
}

TEST_CASE("a part of K that nobody has written counts everywhere in D", "[finding][init]") {
  const std::string whole = fill("a", -1) + fill("b", -1) + "bar.sync 0;\n";
  CHECK(used(fill("a", 13, true) + fill("b", -1) + "bar.sync 0;\n" + load_a(4) + load_b(true) +
             kProduct + store_of(9, 4)) == "a ");
  CHECK(used(fill("a", -1) + fill("b", 13) + "bar.sync 0;\n" + load_a(4) + load_b(true) + kProduct +
             store_of(9, 4)) == "b ");
  CHECK(used(whole + load_a(4) + load_b(true) + kProduct + store_of(9, 4)).empty());
  // It is set to zero between ldmatrix and the product.
  CHECK(used(fill("a", 13) + fill("b", -1) + "bar.sync 0;\n" + load_a(4) +
             "mov.u32 %r11, 0; mov.u32 %r13, 0;\n" + load_b(true) + kProduct + store_of(13, 4))
            .empty());
  // Rows 8 to 15 are of another register.
  CHECK(used(fill("a", 13) + fill("b", -1) + "bar.sync 0;\n" + load_a(4) +
             "mov.u32 %r10, 0; mov.u32 %r12, 0;\n" + load_b(true) + kProduct + store_of(13, 4)) ==
        "a ");
}

TEST_CASE("marks follow a chain of products, and end where D is written anew", "[finding][init]") {
  const std::string again = kProduct.substr(kProduct.find("mma"));  // with the sums that it has
  const std::string first =
      fill("a", 4) + fill("b", -1) + "bar.sync 0;\n" + load_a(4) + load_b(true) + kProduct;
  const std::string clean = "mov.u32 %r10, 0; mov.u32 %r12, 0;\n";
  CHECK(used(first + clean + again + store_of(4, 1)) == "a ");
  CHECK(used(first + clean + again + store_of(5, 1)).empty());
  CHECK(used(first + clean + kProduct + store_of(4, 1)).empty());
  // Sums of halves, two in a register.
  const std::string halves =
      "mov.u32 %r20, 0; mov.u32 %r21, 0;\nmma.sync.aligned.m16n8k16.row.col.f16.f16.f16.f16 {%r20, "
      "%r21}, {%r10, %r11, %r12, %r13}, {%r14, %r15}, {%r20, %r21};\n";
  const auto of_row = [&](unsigned row) {
    return used(first + halves + "setp.eq.u32 %p2, %r1, " + number(row % 8 * 4) +
                "; @%p2 st.global.u32 [%rd1], %r2" + number(row / 8) + ";\n");
  };
  CHECK(of_row(4) == "a ");
  CHECK(of_row(3).empty());
  CHECK(of_row(12).empty());
}

TEST_CASE("a product of integers, bytes and doubles follows its own rows", "[finding][init]") {
  // A of m8n8k4: element (l / 4, l % 4), which lane 9 has from memory that nobody has written.
  const auto doubles = [](unsigned lane) {
    return used(
        "shl.b32 %r5, %r1, 3; add.u32 %r5, %r5, %r3; setp.ne.u32 %p1, %r1, 9;\n.reg .b64 "
        "%f<5>; mov.b64 %f2, 0; mov.b64 %f3, 0; mov.b64 %f4, 0;\n@%p1 st.shared.b64 [%r5], "
        "%f2;\nld.shared.b64 %f1, [%r5];\n"
        "mma.sync.aligned.m8n8k4.row.col.f64.f64.f64.f64 {%f3, %f4}, {%f1}, {%f2}, {%f3, "
        "%f4};\ncvt.u32.u64 %r6, %f4; setp.eq.u32 %p2, %r1, " +
        number(lane) + "; @%p2 st.global.u32 [%rd1], %r6;\n");
  };
  CHECK(doubles(8) == "a ");
  CHECK(doubles(11) == "a ");
  CHECK(doubles(12).empty());
  // B of m16n8k32: column l / 4.
  const auto bytes = [](unsigned column) {
    return used(
        "shl.b32 %r5, %r1, 2; add.u32 %r5, %r5, %r4; setp.ne.u32 %p1, %r1, 9;\n@%p1 "
        "st.shared.u32 [%r5], %r1;\nld.shared.u32 %r14, [%r5]; mov.u32 %r15, 0;\n"
        "mov.u32 %r16, 0; mov.u32 %r17, 0; mov.u32 %r18, 0; mov.u32 %r19, 0;\n"
        "mma.sync.aligned.m16n8k32.row.col.s32.s8.s8.s32 {%r16, %r17, %r18, %r19}, {%r1, %r1, "
        "%r1, %r1}, {%r14, %r15}, {%r16, %r17, %r18, %r19};\n" +
        store_of(11, column));
  };
  CHECK(bytes(2) == "b ");
  CHECK(bytes(1).empty());
  CHECK(bytes(3).empty());
}

TEST_CASE("a fragment of ldmatrix that is used without a product", "[finding][init]") {
  const auto n = [](const std::string& use) {
    return used(fill("a", 2) + "bar.sync 0;\n" + load_a(4) + use);
  };
  const auto stored = [&](const char* value, unsigned lane) {
    return n("setp.eq.u32 %p2, %r1, " + number(lane) + "; @%p2 st.global.u32 [%rd1], " + value +
             ";\n");
  };
  CHECK(n("").empty());
  CHECK(stored("%r10", 8) == "a ");
  CHECK(stored("%r12", 11) == "a ");
  CHECK(stored("%r10", 12).empty());
  CHECK(stored("%r11", 8).empty());
  // It decides.
  CHECK(n("setp.eq.u32 %p2, %r10, 7; @%p2 st.global.u32 [%rd1], %r1;\n") == "a ");
  CHECK(n("setp.eq.u32 %p2, %r11, 7; @%p2 st.global.u32 [%rd1], %r1;\n").empty());
  // The upper halves of a transposed matrix hold its odd rows.
  const auto half = [&](const char* which, int left) {
    return used(
        fill("a", left) +
        "bar.sync 0;\nshl.b32 %r5, %r2, 5; add.u32 %r5, %r5, %r3;\n"
        "ldmatrix.sync.aligned.m8n8.x1.trans.shared.b16 {%r10}, [%r5];\nmov.b32 {%h1, %h2}, "
        "%r10; setp.eq.u32 %p2, %r1, 1; cvt.u32.u16 %r6, " +
        std::string(which) + "; add.u32 %r6, %r6, 1; @%p2 st.global.u32 [%rd1], %r6;\n");
  };
  CHECK(half("%h1", 2) == "a ");
  CHECK(half("%h2", 2).empty());
  CHECK(half("%h2", 3) == "a ");
  CHECK(half("%h1", 3).empty());
  CHECK(half("%h1", 4).empty());
}

TEST_CASE("stmatrix and movmatrix carry the marks of rows", "[finding][init]") {
  // Row 3 of the first matrix is unset, and goes to `b`: as it is, transposed by stmatrix, or by movmatrix.
  const auto n = [](const std::string& move, const std::string& trans, unsigned row,
                    unsigned column) {
    return used(fill("a", 3) + "bar.sync 0;\n" + load_a(1) + move +
                "shl.b32 %r5, %r2, 4; add.u32 %r5, %r5, %r4;\nstmatrix.sync.aligned.m8n8.x1" +
                trans + ".shared.b16 [%r5], {%r10};\nbar.sync 0;\nld.shared.u16 %h1, [b+" +
                number(16 * row + 2 * column) +
                "]; cvt.u32.u16 %r6, %h1; add.u32 %r6, %r6, 1; st.global.u32 [%rd1], %r6;\n");
  };
  const std::string transpose = "movmatrix.sync.aligned.m8n8.trans.b16 %r10, %r10;\n";
  CHECK(n("", "", 3, 6) == "a ");
  CHECK(n("", "", 6, 3).empty());
  CHECK(n("", ".trans", 6, 3) == "a ");
  CHECK(n("", ".trans", 3, 6).empty());
  CHECK(n(transpose, "", 6, 3) == "a ");
  CHECK(n(transpose, "", 3, 6).empty());
  CHECK(n(transpose, ".trans", 3, 6) == "a ");
  // What stmatrix writes over it is set.
  CHECK(
      used("shl.b32 %r5, %r2, 4; add.u32 %r5, %r5, %r3;\n"
           "stmatrix.sync.aligned.m8n8.x1.shared.b16 [%r5], {%r1};\nbar.sync 0;\n"
           "ldmatrix.sync.aligned.m8n8.x1.shared.b16 {%r10}, [%r5]; st.global.u32 [%rd1], %r10;\n")
          .empty());
}

TEST_CASE("a variable that nothing has set goes through shared memory into a product",
          "[finding][init]") {
  // Lanes 8 and 9 put theirs into row 4 of `a`.
  const auto n = [](const std::string& then) {
    const auto text = [&](const std::string& value) {
      return fill("a", -1) + fill("b", -1) + "mov.u32 %r9, " + value +
             ";\nshl.b32 %r5, %r1, 4; add.u32 %r5, %r5, %r3; and.b32 %r6, %r1, 30; setp.eq.u32 %p1, "
             "%r6, 8;\n@%p1 st.shared.u32 [%r5+4], %r9;\nbar.sync 0;\n" +
             load_a(4) + load_b(true) + kProduct + then;
    };
    return used(text("0"), text("%simgpu_unset"));
  };
  CHECK(n("").empty());
  CHECK(n(store_of(4, 2)) == "variable ");
  CHECK(n(store_of(5, 2)).empty());
  CHECK(n(store_of(12, 2)).empty());
}

}  // namespace
}  // namespace simgpu::test

// cp.async.bulk.tensor and cp.reduce.async.bulk.tensor (PTX ISA 9.7.9.27): boxes of tensors, by their
// maps.
#include <algorithm>
#include <cstring>

#include "common/simgpu/exec/bulk_copy.hpp"
#include "common/simgpu/exec/memory_ops.hpp"
#include "common/simgpu/exec/tensor_rows.hpp"
#include "common/simgpu/tensor_map.hpp"

namespace simgpu::exec::bulk {

using check::BulkCopy;

namespace {

/// The map that an instruction names, checked; false after a finding.
bool read_map(const Place& at, std::uint64_t address, TensorMap* map) {
  BlockRun& run = at.run;
  constexpr unsigned kMapBytes = 128;
  std::byte bytes[kMapBytes];
  // Of a __grid_constant__ parameter, clang makes a copy in local memory.
  for (unsigned k = 0; k < kMapBytes; k += 8) {
    const Target t = resolve(run, at.w, at.lane, ptx::Space::generic, address + k, 8, false);
    if (t.fault != Target::Fault::none) {
      report_fault(run, at.w, at.lane, at.op, AccessType::load, 8, address + k, t);
      return false;
    }
    std::memcpy(bytes + k, t.data, 8);
  }
  check_map_fence(run, at.w, at.lane, at.op.pc, address);
  const bool aligned = address % 64 == 0;
  std::memcpy(map, bytes, sizeof *map);
  if (aligned && map->valid()) return true;
  refuse(at, aligned ? FindingKind::trap : FindingKind::misaligned, MemorySpace::global, address,
         aligned ? "the bytes that the copy takes for a tensor map are none that "
                   "cuTensorMapEncodeTiled has made"
                 : "a tensor map lies at a multiple of 64 bytes");
  return false;
}

using Origin = std::int64_t[TensorMap::kMostRank];

/// Where an H200 executes a box: else its instruction is illegal. Measured (driver 580.159.04, CUDA
/// 13.0), with traversal strides of 1, for copies of 1 to 3 dimensions, swizzled or not.
bool is_legal(const Place& at, const TensorMap& m, const Origin& origin, bool stores) {
  const std::int64_t begin = origin[0] * tensor_element_bytes(m.type);
  if (m.step[0] == 1 && begin % 16 != 0) {
    refuse(at, FindingKind::trap, MemorySpace::global, m.base,
           "illegal instruction: the box begins at " + std::to_string(origin[0]) +
               " along the rows, " + std::to_string(begin) +
               " bytes from their beginning, and hardware takes multiples of 16 bytes",
           FindingCause::box_place);
    return false;
  }
  for (unsigned d = 0; stores && d < m.rank; ++d)
    if (origin[d] < 0) {
      refuse(at, FindingKind::trap, MemorySpace::global, m.base,
             "illegal instruction: the box begins at " + std::to_string(origin[d]) +
                 " of dimension " + std::to_string(d) +
                 "; a load may begin before the tensor, a store or a reduction may not",
             FindingCause::box_place);
      return false;
    }
  return true;
}

/// The map that a copy names and the box's first element; false after a finding.
bool read_box(const Place& at, const BulkForm& form, bool stores, TensorMap* map, Origin& origin) {
  if (!read_map(at, address_of(at, form.global, form.global_offset), map)) return false;
  if (map->rank != form.coordinates.size()) {
    refuse(at, FindingKind::trap, MemorySpace::global, map->base,
           "a copy of a " + std::to_string(form.coordinates.size()) + "d box with the map of a " +
               std::to_string(map->rank) + "d tensor");
    return false;
  }
  for (unsigned d = 0; d < map->rank; ++d)
    origin[d] = lanes_of<std::int32_t>(at.w, form.coordinates[d])[at.lane];
  return is_legal(at, *map, origin, stores);
}

/// Walks the rows of a box: rows along the innermost dimension.
class Box {
 public:
  Box(const TensorMap& m, const Origin& origin) : m_(m) {
    std::copy(std::begin(origin), std::end(origin), origin_);
    for (unsigned d = 1; d < m.rank; ++d) rows_ *= m.extent(d);
  }
  std::uint32_t rows() const { return rows_; }
  std::uint32_t row_bytes() const { return m_.extent(0) * tensor_element_bytes(m_.type); }
  /// Address of the first element of row `r` if coordinate 0 is 0; false: outside of the tensor.
  bool row(std::uint32_t r, std::uint64_t* address) const {
    std::uint64_t at = m_.base;
    for (unsigned d = 1; d < m_.rank; ++d) {
      const std::int64_t c = origin_[d] + std::int64_t{r % m_.extent(d)} * m_.step[d];
      r /= m_.extent(d);
      if (c < 0 || c > std::int64_t{m_.last[d]}) return false;
      at += static_cast<std::uint64_t>(c) * m_.stride[d - 1];
    }
    *address = at;
    return true;
  }
  /// Elements [first, last) of a row are inside of the tensor.
  std::pair<std::uint32_t, std::uint32_t> inside() const {
    const std::int64_t step = m_.step[0], n = m_.extent(0), c = origin_[0],
                       size = std::int64_t{m_.last[0]} + 1;
    const std::int64_t first = c >= 0 ? 0 : std::min(n, (-c + step - 1) / step);
    const std::int64_t last = c >= size ? 0 : std::min(n, (size - c + step - 1) / step);
    return {static_cast<std::uint32_t>(first), static_cast<std::uint32_t>(std::max(first, last))};
  }

 private:
  const TensorMap& m_;
  Origin origin_;
  std::uint32_t rows_ = 1;
};

/// Reads a row's elements [first, last) from global memory. False after a finding.
bool read_row(const Place& at, const TensorMap& m, std::uint64_t row, std::int64_t origin,
              std::uint32_t first, std::uint32_t last, std::byte* to, Traffic& traffic) {
  const unsigned size = tensor_element_bytes(m.type);
  const auto place = [&](std::uint32_t k) {
    return row + static_cast<std::uint64_t>(origin + std::int64_t{k} * m.step[0]) * size;
  };
  if (m.step[0] == 1) {
    const std::uint32_t bytes = (last - first) * size;
    const std::byte* from = global_piece(at, place(first), bytes, AccessType::load);
    if (from == nullptr) return false;
    traffic.add(place(first), bytes);
    std::memcpy(to + first * size, from, bytes);
    return true;
  }
  for (std::uint32_t k = first; k < last; ++k) {
    const std::byte* from = global_piece(at, place(k), size, AccessType::load);
    if (from == nullptr) return false;
    traffic.add(place(k), size);
    std::memcpy(to + k * size, from, size);
  }
  return true;
}

/// A store ends with whole 16 bytes, also where the tensor's row ends within them (measured on an H200:
/// stores and reductions of elements of 1 to 8 bytes): of `count` elements of a row of the box, those
/// up to this one are stored.
std::uint32_t end_of_store(const TensorMap& m, std::uint32_t last, std::uint32_t count) {
  const std::uint32_t of_16 = 16 / tensor_element_bytes(m.type);
  if (m.step[0] != 1 || last == count) return last;
  return std::min(count, (last + of_16 - 1) / of_16 * of_16);
}

}  // namespace

void tensor_load(const Place& at, const BulkForm& form) {
  BlockRun& run = at.run;
  TensorMap m;
  Origin origin = {};
  if (!read_box(at, form, false, &m, origin)) return;
  const std::uint64_t named = address_of(at, form.shared, form.shared_offset),
                      to = memory::in_block(named);
  const std::uint32_t bytes = m.box_bytes();
  const std::uint32_t first = shared_place(at, to, bytes, 128, true);
  const Destinations all =
      destinations(at, form.multicast, named, address_of(at, form.barrier, form.barrier_offset));
  if (first == UINT32_MAX || all.count == 0) return;
  BulkCopy& c = new_copy(all, first, bytes);
  c.swizzle = static_cast<std::uint8_t>(m.swizzle);
  c.data.resize((bytes + 127) / 128 * 128 + 128);
  const Box box(m, origin);
  const auto [inside, end] = box.inside();
  const std::uint32_t row_bytes = box.row_bytes(), size = tensor_element_bytes(m.type);
  std::vector<std::byte>& row = run.proxy.row;
  row.resize(row_bytes);
  Traffic traffic(m.base);
  bool fine = true;
  for (std::uint32_t r = 0; r < box.rows(); ++r) {
    std::uint64_t address = 0;
    const bool exists = box.row(r, &address) && inside < end;
    if (!exists || inside != 0 || end * size != row_bytes) fill_outside(row.data(), row_bytes, m);
    if (exists && fine)
      fine = read_row(at, m, address, origin[0], inside, end, row.data(), traffic);
    convert_row(row.data(), row_bytes, m.type);
    const std::uint64_t start = to + std::uint64_t{r} * row_bytes;
    for (std::uint32_t k = 0; k < row_bytes; k += kChunk) {
      const std::uint64_t place = swizzled(start + k, m.swizzle) - to;
      if (place + kChunk <= c.data.size())
        std::memcpy(c.data.data() + place, row.data() + k, kChunk);
    }
  }
  traffic.count(run, at.op, false);
  issue_to_all(at, c, all);
}

void tensor_store(const Place& at, const BulkForm& form) {
  BlockRun& run = at.run;
  TensorMap m;
  Origin origin = {};
  if (!read_box(at, form, true, &m, origin)) return;
  check::Reduction reduction;
  if (form.reduces_tensor) {
    reduction = tensor_reduction(m.type, form.reduction.operation);
    if (reduction.width == 0)
      return refuse(at, FindingKind::trap, MemorySpace::global, m.base,
                    "the elements of this tensor have no such reduction");
  }
  const std::uint64_t named = address_of(at, form.shared, form.shared_offset),
                      from = memory::in_block(named);
  const std::uint32_t bytes = m.box_bytes();
  const std::uint32_t first = own_place(at, named, bytes, 128);
  if (first == UINT32_MAX) return;
  begin_store(at, first, bytes);
  const Box box(m, origin);
  const std::uint32_t row_bytes = box.row_bytes(), size = tensor_element_bytes(m.type);
  const auto [inside, last] = box.inside();
  const std::uint32_t end = end_of_store(m, last, row_bytes / size);
  std::vector<std::byte>& row = run.proxy.row;
  row.resize(row_bytes);
  Traffic traffic(m.base);
  for (std::uint32_t r = 0; r < box.rows(); ++r) {
    std::uint64_t address = 0;
    if (!box.row(r, &address) || inside >= last) continue;
    for (std::uint32_t k = 0; k < row_bytes; k += kChunk) {
      const std::uint64_t place =
          swizzled(from + std::uint64_t{r} * row_bytes + k, m.swizzle) - memory::kSharedBase;
      if (place + kChunk <= run.launch->shared_bytes)
        std::memcpy(row.data() + k, run.shared.data() + place, kChunk);
    }
    const bool dense = m.step[0] == 1;
    for (std::uint32_t k = inside; k < end; k = dense ? end : k + 1) {
      const std::uint32_t piece = dense ? (end - inside) * size : size;
      const std::uint64_t to =
          address + static_cast<std::uint64_t>(origin[0] + std::int64_t{k} * m.step[0]) * size;
      const bool reduces = reduction.width != 0;
      std::byte* data =
          global_piece(at, to, piece, reduces ? AccessType::atomic : AccessType::store);
      if (data == nullptr) return;
      if (reduces)
        reduce(reduction, row.data() + k * size, piece, data);
      else
        std::memcpy(data, row.data() + k * size, piece);
      traffic.add(to, piece);
    }
  }
  traffic.count(run, at.op, true);
}

}  // namespace simgpu::exec::bulk

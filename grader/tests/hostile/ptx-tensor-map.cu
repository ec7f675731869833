// what: tensor maps made by hand: bytes of all ones, of the inputs and of nothing, boxes at the smallest and largest coordinates
// expect: WRONG_ANSWER ACCEPTED LOCKED
// at: GLOBAL
struct alignas(64) Map { unsigned long long words[16]; };
__global__ void boxes(const __grid_constant__ Map map, const Map* other, int place, int form) {
  __shared__ alignas(128) unsigned char room[4096]; __shared__ unsigned long long bar;
  const unsigned to = (unsigned)__cvta_generic_to_shared(room), at = (unsigned)__cvta_generic_to_shared(&bar);
  asm volatile("mbarrier.init.shared::cta.b64 [%0], 1;" :: "r"(at));
  const Map* const from = form & 1 ? other : &map;
  if (form < 2) asm volatile("cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1, {%2, %2}], [%3];" :: "r"(to), "l"(from), "r"(place), "r"(at));
  else if (form < 4) asm volatile("cp.async.bulk.tensor.5d.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1, {%2, %2, %2, %2, %2}], [%3];" :: "r"(to), "l"(from), "r"(place), "r"(at));
  else if (form < 6) asm volatile("cp.async.bulk.tensor.2d.global.shared::cta.bulk_group [%1, {%2, %2}], [%0];" :: "r"(to), "l"(from), "r"(place));
  else asm volatile("cp.reduce.async.bulk.tensor.2d.global.shared::cta.add.bulk_group [%1, {%2, %2}], [%0];" :: "r"(to), "l"(from), "r"(place));
}
// at: INSERT
if (c.rows && c.cols) {
  Map ones, none{}; std::memset(&ones, 255, sizeof ones);
  for (int form = 0; form < 8; ++form)
    for (int place : {0, -2147483647 - 1, 2147483647})
      for (const Map* other : {(const Map*)&c(0, 0), (const Map*)nullptr, (const Map*)~63ull})
        boxes<<<1, 1, 0, stream>>>(form & 2 ? ones : none, other, place, form), cudaGetLastError();
}

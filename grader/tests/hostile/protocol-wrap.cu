// what: sizes that wrap around, in messages as they should be
// expect: RUNTIME_ERROR ACCEPTED LOCKED
// at: GLOBAL
@REMOTE@
// at: INSERT
const auto at = [](const void* p) { return reinterpret_cast<std::uint64_t>(p); };
const std::uint64_t in = at(&a(0, 0)), to = at(&c(0, 0)), most = ~std::uint64_t{0}, none = 0, one = 1;
for (std::uint64_t bytes : {most, most - 3, most / 2 + 1, std::uint64_t{1} << 32}) {
  if (hostile::request(hostile::fill, to + 4, bytes, std::uint8_t{0}) == 0) hostile::escaped("fill");
  if (hostile::request(hostile::copy, to, in, bytes, none, none, one) == 0) hostile::escaped("copy");
  if (hostile::request(hostile::copy_out, in, bytes) == 0) hostile::escaped("copy_out");
  if (hostile::request(hostile::release, in + bytes) == 0) hostile::escaped("release");
}
if (hostile::request(hostile::copy_in, in, std::vector<std::byte>(4)) == 0) hostile::escaped("copy_in");
for (std::uint64_t pitch : {none, one, most - 3, most / 2 + 1})
  if (hostile::request(hostile::copy, to, in, std::uint64_t{4}, pitch, pitch, most) == 0) hostile::escaped("rows");

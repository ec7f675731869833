// what: messages as they should be, with every field at its limit: grids, clusters, arguments, names with NULs, settings
// expect: RUNTIME_ERROR ACCEPTED LOCKED
// at: GLOBAL
@REMOTE@
// at: INSERT
const std::uint32_t most = ~0u, one = 1, none = 0, half = 1u << 31;
const std::string odd = std::string("_Z", 2) + std::string(200, '\0') + "\x1b[2J", own = "_Z14fixture_kernelIKffEv10MatrixViewIT_ES1_S0_IT0_E", empty;
for (const std::string& name : {odd, own, empty, std::string(1000, 'Z'), std::string("_ZN") + std::string(900, '9')}) {
  hostile::request(hostile::variable, name); hostile::request(hostile::kernel_info, name);
  for (std::uint32_t bytes : {most, half, none}) hostile::request(hostile::set_max_dynamic_shared, bytes, name);
  for (std::uint32_t x : {most, half, one, none})
    for (std::uint32_t cluster : {most, half, none, 8u})
      for (std::size_t bytes : {0u, 7u, 72u, 4096u})
        if (hostile::request(hostile::launch, x, most, one, one, x, most, cluster, cluster, one, most, name, std::vector<std::byte>(bytes)) == 0) hostile::escaped("launch");
}

// what: corners of the kernel that no launcher needs
// expect: ACCEPTED ACCEPTED ACCEPTED
// at: INSERT
const struct { long number; const char* name; } calls[] = {{SYS_bpf, "bpf"}, {SYS_perf_event_open, "perf_event_open"},
  {SYS_userfaultfd, "userfaultfd"}, {425, "io_uring_setup"}, {SYS_keyctl, "keyctl"}, {SYS_add_key, "add_key"},
  {SYS_kexec_load, "kexec_load"}, {SYS_init_module, "init_module"}, {SYS_open_by_handle_at, "open_by_handle_at"},
  {SYS_seccomp, "seccomp"}, {447, "memfd_secret"}, {SYS_memfd_create, "memfd_create"}, {SYS_shmget, "shmget"}, {SYS_mq_open, "mq_open"}};
for (const auto& call : calls) {
  errno = 0;
  if (syscall(call.number, 0, 0, 0, 0, 0) >= 0 || errno != ENOSYS) hostile::escaped(call.name);
}

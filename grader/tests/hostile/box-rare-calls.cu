// what: every system call that has no business here, by its number, by that of another interface, and by an interrupt
// expect: ACCEPTED ACCEPTED ACCEPTED
// at: INSERT
static bool once = false;
if (!once) {
  once = true;
  const long calls[] = {SYS_ptrace, SYS_process_vm_readv, SYS_process_vm_writev, SYS_memfd_create, SYS_execveat, SYS_io_uring_setup, SYS_userfaultfd,
    SYS_perf_event_open, SYS_socket, SYS_socketpair, SYS_bpf, SYS_keyctl, SYS_add_key, SYS_pidfd_open, SYS_pidfd_getfd, SYS_kcmp, SYS_shmget, SYS_msgget, SYS_semget,
    SYS_mq_open, SYS_inotify_init1, SYS_fanotify_init, SYS_timerfd_create, SYS_signalfd4, SYS_splice, SYS_vmsplice, SYS_tee, SYS_sendfile,
    SYS_setpriority, SYS_ioprio_set, SYS_mlockall, SYS_mbind, SYS_move_pages, SYS_migrate_pages, SYS_modify_ldt, SYS_iopl, SYS_ioperm, SYS_personality,
    SYS_acct, SYS_vhangup, SYS_setns, SYS_unshare, SYS_chroot, SYS_pivot_root, SYS_mount, SYS_umount2, SYS_quotactl, SYS_swapon, SYS_syslog, SYS_seccomp, SYS_clone3,
    SYS_name_to_handle_at, SYS_open_by_handle_at, SYS_lookup_dcookie, SYS_sched_setscheduler, SYS_sched_setattr, SYS_mknod, SYS_flock, SYS_rename, SYS_unlink,
    SYS_symlink, SYS_link, SYS_mkdir, SYS_truncate, SYS_chmod, SYS_chown, SYS_utimensat, SYS_setxattr, SYS_getxattr, SYS_remap_file_pages, SYS_set_mempolicy,
    428 /* open_tree */, 430 /* fsopen */, 442 /* mount_setattr */, 444 /* landlock */, 447 /* memfd_secret */, 448 /* process_mrelease */, 453 /* map_shadow_stack */, 463 /* setxattrat */};
  for (const long number : calls) {
    errno = 0;
    if (syscall(number, -1, -1, -1, -1, -1, -1) != -1 || errno != ENOSYS) { std::printf("%ld: ", number); hostile::escaped("a call is there"); }
    errno = 0;
    if (syscall(number | 0x40000000, -1, -1, -1, -1, -1, -1) != -1 || errno != ENOSYS) hostile::escaped("a call of x32 is there");
  }
}

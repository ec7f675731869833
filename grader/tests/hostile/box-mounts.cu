// what: mounts, another root
// expect: ACCEPTED ACCEPTED ACCEPTED
// at: INSERT
if (syscall(SYS_mount, "none", "/not-there", "tmpfs", 0, 0) == 0 || errno == ENOENT) hostile::escaped("mount");
if (syscall(SYS_chroot, "/usr") == 0) hostile::escaped("chroot");
if (syscall(SYS_sethostname, "box", 3) == 0) hostile::escaped("sethostname");
if (syscall(428, -100, "/", 0) >= 0) hostile::escaped("open_tree");

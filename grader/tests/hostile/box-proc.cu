// what: other processes, their environment and command lines
// expect: ACCEPTED ACCEPTED ACCEPTED
// at: INSERT
if (DIR* all = opendir("/proc")) { if (readdir(all) && readdir(all) && readdir(all)) hostile::escaped("/proc"); closedir(all); }
if (open("/proc/1/environ", O_RDONLY) >= 0 || open("/proc/self/mem", O_RDWR) >= 0) hostile::escaped("/proc/1");

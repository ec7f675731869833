// what: settings of a process: its name, its parent's death, orphans, speculation, and a filter of its own
// expect: ACCEPTED ACCEPTED ACCEPTED
// at: INSERT
prctl(PR_SET_NAME, "\x1b[2J=1+1<b>", 0, 0, 0);
prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0);
prctl(PR_SET_DUMPABLE, 1, 0, 0, 0);
if (prctl(PR_SET_MM, 1, 0x10000, 0, 0) == 0) hostile::escaped("PR_SET_MM");
if (prctl(PR_CAPBSET_READ, 21, 0, 0, 0) == 1 && prctl(47 /* PR_CAP_AMBIENT */, 2, 21, 0, 0) == 0) hostile::escaped("an ambient capability");

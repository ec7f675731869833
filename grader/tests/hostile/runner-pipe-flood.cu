// what: prints without an end from many processes at once, to both channels, and stops reading
// expect: TIMEOUT ACCEPTED LOCKED
// at: INSERT
for (int i = 0; i < 8; ++i) if (fork() == 0) for (static char lines[65536];;) if (write(1 + i % 2, lines, sizeof lines) < 0) _exit(0);
for (;;) pause();

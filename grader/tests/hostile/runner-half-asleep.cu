// what: works a little and sleeps a little, so that it seems to wait for a processor
// expect: TIMEOUT ACCEPTED LOCKED
// at: INSERT
for (volatile unsigned long i = 0;;) { while (++i % 2000000); usleep(10000); }

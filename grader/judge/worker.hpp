// The device worker: a disposable process that owns the simulated GPU for one runner.
//
// It is started by a Session with the judge's socket as descriptor 3 and the runner's channel as
// descriptor 4, and where it can be had the runner's /proc/<pid>/stat as 5. It parses PTX that a stranger wrote and executes it; whatever happens to it, only
// this one session is lost. It writes no file and reports only through the judge's socket.
#pragma once

namespace grader {

/// Serves the judge until the socket closes. Returns the exit status.
int device_worker_main();

}  // namespace grader

// The device worker: a disposable process that owns the simulated GPU for one runner.
//
// A Session starts it with the judge's socket as descriptor 3, the runner's channel as 4 and, if it
// could be opened, the runner's /proc/<pid>/stat as 5. It parses and executes PTX that a stranger
// wrote; whatever happens to it, only this one session is lost. It writes no files and reports only
// through the judge's socket.
#pragma once

namespace grader {

/// Serves the judge until the socket closes. Returns the exit status: 0, 2 for a message that is no
/// request, 70 if it could not go on.
int device_worker_main();

}  // namespace grader

# The report of `grader check --json` as the result of a runner of GitHub Classroom.
[.labs[].stages[] | select(.state != "skipped")] as $stages
| { version: 1,
    status: (if any($stages[]; .state == "infra") then "error" elif all($stages[]; .state == "passed") then "pass" else "fail" end),
    max_score: ([$stages[] | select(.kind == "core") | .points] | add // 0),
    tests: [$stages[] | { name: "\(.id) \(.title)",
                          status: (if .state == "passed" then "pass" elif .state == "infra" then "error" else "fail" end),
                          score: (.earned // 0),
                          message: ([.headline, .next_step] | map(select(. != "")) | join("\n")),
                          test_code: "make check (stage \(.id))",
                          filename: .file, line_no: .line, duration: ((.seconds // 0) * 1000 | floor) }] }

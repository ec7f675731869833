#!/bin/bash
# Every wrong kernel of the labs is rejected with its diagnosis, every other right one accepted. Prints a table.
exec "${BUILD:-build}/bin/measure" mutants

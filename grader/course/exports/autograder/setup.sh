#!/bin/bash
# Runs once, as root, when Gradescope builds the image: Ubuntu 22.04 or 24.04, no GPU.
set -e
cd "${AUTOGRADER:-/autograder}/source/gemm-lab"
export DEBIAN_FRONTEND=noninteractive YES=1
apt-get update
apt-get install -y --no-install-recommends make git python3
# What the archive has not (toml++ on 22.04) lies in deps/.
make -s setup STAFF=1 DEPS="$PWD/deps"
make -s grade-programs DEPS="$PWD/deps"

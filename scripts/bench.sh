#!/bin/sh
# Runs every benchmark in turn, or those whose names are given: npm run bench -- streams
set -eu
cd "$(dirname "$0")/.."
. scripts/setup.sh

ensure_installed
ensure_built
[ "$#" -gt 0 ] || set -- '*'
for name in "$@"; do
  for bench in dist/test/bench/$name.bench.js; do
    node --expose-gc "$bench"
  done
done

#!/bin/sh
set -eu
cd "$(dirname "$0")/.."
. scripts/setup.sh

ensure_installed
# Tests run from the sources; only those that start the apps as processes need the build.
ensure_built || echo 'The build failed: tests that start the apps will fail too.' >&2
exec node --experimental-vm-modules --no-warnings node_modules/jest/bin/jest.js "$@"

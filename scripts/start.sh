#!/bin/sh
set -eu
cd "$(dirname "$0")/.."
. scripts/setup.sh

ensure_installed
ensure_built
# exec: a signal sent by npm reaches the server, not a shell that stands between them.
exec node dist/apps/demo/src/main.js "$@"

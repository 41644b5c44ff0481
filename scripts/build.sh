#!/bin/sh
set -eu
cd "$(dirname "$0")/.."
. scripts/setup.sh

ensure_installed
ensure false build_dist

# Sourced by the scripts beside it, with the repository's root as working directory. Says nothing when there is nothing
# to do; what it does say goes to stderr.

# One set-up at a time: `npm start` and `npm run sut` may be called side by side on a fresh clone. The lock is a symbolic
# link (made atomically) whose target is the pid of its holder.
setup_lock="${TMPDIR:-/tmp}/nestjs-a2a-setup-$(id -u)-$(pwd -P | cksum | cut -d ' ' -f 1)"

lock_setup() {
  attempts=0
  until ln -s "$$" "$setup_lock" 2>/dev/null; do
    holder=$(readlink "$setup_lock") || holder=
    if [ -n "$holder" ] && ! kill -0 "$holder" 2>/dev/null; then
      rm -f "$setup_lock"
    fi
    attempts=$((attempts + 1))
    [ "$attempts" -lt 600 ] || break
    sleep 1
  done
  setup_step=
  trap 'unlock_setup; exit 129' HUP
  trap 'unlock_setup; exit 130' INT
  trap 'unlock_setup; exit 143' TERM
}

unlock_setup() {
  trap - HUP INT TERM
  # npm puts off a milder signal until the install is done; what it leaves behind now, the next set-up replaces.
  [ -z "$setup_step" ] || kill -s KILL "$setup_step" 2>/dev/null
  rm -f "$setup_lock"
}

# A foreground child would keep the shell from hearing a signal until that child has ended.
run_setup_step() {
  echo "> $*" >&2
  "$@" </dev/null >&2 &
  setup_step=$!
  setup_status=0
  wait "$setup_step" || setup_status=$?
  setup_step=
  return "$setup_status"
}

# npm writes node_modules/.package-lock.json at the end of an install.
is_installed() {
  [ -f node_modules/.package-lock.json ] && [ -z "$(find package-lock.json -newer node_modules/.package-lock.json)" ]
}

is_built() {
  [ -f dist/.stamp ] && [ -z "$(
    find src libs apps test/bench package.json package-lock.json nest-cli.json tsconfig*.json \
      -newer dist/.stamp ! -name '*.spec.ts' 2>/dev/null | head -n 1
  )" ]
}

install_packages() {
  # `npm ci` would empty the folder that a link leads to, which may be another checkout's.
  [ ! -L node_modules ] || rm node_modules
  # The development packages hold the compiler, also where NODE_ENV is "production".
  run_setup_step npm ci --include=dev --no-audit --no-fund --loglevel error
}

build_dist() {
  # The stamp has the time at which the build began: what changes meanwhile makes it stale.
  began=$(mktemp) || return
  run_setup_step node node_modules/@nestjs/cli/bin/nest.js build && mkdir -p dist && touch -r "$began" dist/.stamp
  build_status=$?
  rm -f "$began"
  return "$build_status"
}

# ensure CHECK STEP: runs STEP unless CHECK holds, before or once the lock is ours.
ensure() {
  ! "$1" || return 0
  lock_setup
  ensure_status=0
  "$1" || "$2" || ensure_status=$?
  unlock_setup
  return "$ensure_status"
}

ensure_installed() {
  ensure is_installed install_packages
}

ensure_built() {
  ensure is_built build_dist
}

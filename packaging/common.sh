# shellcheck shell=sh disable=SC2034
# What packaging/run, packaging/test and packaging/deb share; read with "."

# What the build needs beside the toolchain, and what the toolchain itself needs.
build_packages="binutils git libc6-dev libstdc++-12-dev libncurses6 \
libssl-dev libcap-dev libcurl4-openssl-dev libmicrohttpd-dev"
# What the Debian package needs beside that.
deb_packages="chrpath debhelper dh-apparmor dpkg-dev lintian"

# How programs are built that are to be used: what is tested is what is shipped. The Swift runtime goes
# into them, because no machine has it; all symbols are resolved at the start, and their table is then
# read-only.
release_flags="--configuration release --static-swift-stdlib \
-Xlinker -z -Xlinker relro -Xlinker -z -Xlinker now"

say() { printf '==> %s\n' "$*"; }

# Ends with one sentence.
fail() {
    printf 'error: %s\n' "$*" >&2
    exit 1
}

# Prints those of the given Debian packages that are not installed.
missing_packages() {
    for package in "$@"; do
        state=$(dpkg-query --show --showformat='${db:Status-Status}' "$package" 2>/dev/null || true)
        [ "$state" = installed ] || printf '%s ' "$package"
    done
}

# Installs what is missing of the given Debian packages, without starting any service of theirs.
need_packages() {
    command -v dpkg-query >/dev/null ||
        fail "this is not a Debian machine; install what provides: $*"
    missing=$(missing_packages "$@")
    [ -n "$missing" ] || return 0
    [ "$(id -u)" = 0 ] ||
        fail "missing: ${missing% }; as root: apt-get update && apt-get install ${missing% }"
    say "installing $missing"
    apt-get update --quiet=2
    forbid_services
    trap allow_services EXIT
    trap 'exit 130' INT TERM
    status=0
    # The list is words on purpose.
    # shellcheck disable=SC2086
    DEBIAN_FRONTEND=noninteractive apt-get install --quiet=2 --yes --no-install-recommends \
        $missing || status=$?
    trap - EXIT INT TERM
    allow_services
    [ $status = 0 ] || fail "apt-get could not install ${missing% }"
}

# need_python MODULE PACKAGE: Python with a module, which pip has in a package.
need_python() {
    command -v python3 >/dev/null || need_packages python3
    python3 -c "import $1" 2>/dev/null && return
    python3 -m pip --version >/dev/null 2>&1 || need_packages python3-pip
    say "installing $2"
    # Debian's own Python wants to be asked twice; others do not know the question.
    python3 -m pip install --quiet "$2" 2>/dev/null ||
        python3 -m pip install --quiet --break-system-packages "$2" ||
        fail "pip could not install $2"
}

# Packages of servers start them when they are installed, unless this file forbids it.
policy=/usr/sbin/policy-rc.d

forbid_services() {
    # One that is there already is from an installation that was cut off.
    [ ! -e $policy ] || [ -e $policy.before-detour ] || mv $policy $policy.before-detour
    printf '#!/bin/sh\nexit 101\n' >$policy
    chmod 755 $policy
}

allow_services() {
    rm -f $policy
    [ ! -e $policy.before-detour ] || mv $policy.before-detour $policy
}

# Sets $swift to a toolchain's swift, version 6.3 or later.
need_swift() {
    swift=$(command -v swift || true)
    [ -n "$swift" ] || swift=/opt/swift/usr/bin/swift
    [ -x "$swift" ] ||
        fail "no Swift toolchain: put swift 6.3 on the PATH, see https://www.swift.org/install/"
    said=$("$swift" --version 2>&1) || fail "$swift does not run: $(echo "$said" | tail -n 1)"
    version=$(echo "$said" | sed -n 's/.*Swift version \([0-9]*\.[0-9]*\).*/\1/p')
    major=${version%%.*}
    minor=${version#*.}
    [ "${major:-0}" -gt 6 ] || { [ "${major:-0}" -eq 6 ] && [ "${minor:-0}" -ge 3 ]; } ||
        fail "Swift 6.3 or later is needed; $swift is ${version:-of unknown version}"
}

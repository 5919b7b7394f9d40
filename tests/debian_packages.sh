# Sourced by what installs packages that tests need. It wants: the function found, which says whether all is there; name
# and packages; missing ("x is not here"), it ("it" or "them"), untested, and instead: what to do without apt-get.
# There already: nothing happens, and nothing is asked of the network. Not there: installed, if this user may.
# Otherwise one line says what will be skipped. Never a reason for `make test` to stop.
# shellcheck shell=sh disable=SC2154  # the variables above

skipped() { # why, and what to do about it
    echo "$name: $1; $untested (those tests are skipped). $2"
    exit 0
}

if found; then
    exit 0
fi

if ! command -v apt-get >/dev/null; then
    skipped "$missing, and neither is apt-get" "$instead"
fi

by_hand="To run them: apt-get install $packages"
if [ "$(id -u)" -eq 0 ]; then
    as_root=''
elif command -v sudo >/dev/null && sudo -n true </dev/null >/dev/null 2>&1; then
    as_root='sudo -n'
else
    skipped "$missing, and this user may not install $it" "$by_hand (as root)"
fi

apt() { # seconds, then what apt-get is to do; dpkg wants the administrator's directories on PATH
    limit=$1
    shift
    # shellcheck disable=SC2086  # as_root is no word or two of them
    $as_root env DEBIAN_FRONTEND=noninteractive PATH="$PATH:/usr/local/sbin:/usr/sbin:/sbin" \
        timeout --foreground "$limit" apt-get -qq -o DPkg::Lock::Timeout=60 -o Acquire::Retries=2 \
        -o Acquire::http::Timeout=20 -o Acquire::https::Timeout=20 "$@" </dev/null 2>&1
}

echo "$name: installing $packages"
# Whether the lists could be brought up to date shows when the packages are fetched. Fetching comes first, on its own:
# it is what may take for ever, and an installation is better not stopped half-way.
# shellcheck disable=SC2086  # two packages, two words
if ! said=$(
    apt 120 update || true
    apt 600 install --yes --no-install-recommends --download-only $packages &&
        apt 600 install --yes --no-install-recommends $packages
) || ! found; then
    reason=$(printf '%s\n' "$said" | sed -n 's/^E: //p' | tail -n 1)
    skipped "apt-get could not install $packages (${reason:-no reason given})" "$by_hand"
fi

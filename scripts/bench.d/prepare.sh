# What the benchmarks of the command line need before they start: the programs to compare with, GNU time, and the binary. Sourced by
# bench-seal and bench-folder, which give their arguments along and say which peers they know.
#
# The peers go to target/tools, where `rm -r target` finds them; only what Debian packages comes from apt, and only for root. A peer that
# cannot be had is skipped, and the page says so.

root="$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)"
target="$(realpath -m "${CARGO_TARGET_DIR:-$root/target}")"
tools="$target/tools"
export PATH="$tools/bin:$PATH"
bench="$(basename "$0")"

driver() { PYTHONPATH="$root/scripts/bench.d" exec python3 -B "$root/scripts/$bench.d" "$@"; }

# The driver checks the arguments; here only those matter that decide what has to be there.
value() { # option, arguments …
    local wanted="$1" previous=""
    shift
    for argument; do
        [[ $previous == "$wanted" ]] && echo "$argument"
        [[ $argument == "$wanted="* ]] && echo "${argument#*=}"
        previous="$argument"
    done
    return 0
}

skipped=""
skip() { # name, why
    echo "skipped: $1: $2"
    skipped+="$1"$'\t'"$2"$'\n'
}

# Programs by Debian's names.
apt() { # program, package
    command -v "$1" >/dev/null && return
    [[ $(id -u) == 0 ]] && command -v apt-get >/dev/null || return 1
    echo "installing $2"
    { apt-get update && DEBIAN_FRONTEND=noninteractive apt-get install -y --no-install-recommends "$2"; } >/dev/null 2>&1 || true
    command -v "$1" >/dev/null
}

# From crates.io, with the compiler that is this machine's default (hence `cd /`): the one that the workspace names is for the workspace.
crate() { # program, arguments of cargo install …
    local program="$1"
    shift
    command -v "$program" >/dev/null && return
    echo "building $program (once; its messages: $tools/$program.log)"
    (cd / && CARGO_TARGET_DIR="$tools/build" cargo install --locked --root "$tools" "$@") >"$tools/$program.log" 2>&1
}

age() {
    command -v age >/dev/null && return
    if command -v go >/dev/null; then
        echo "building age (once)"
        GOBIN="$tools/bin" go install filippo.io/age/cmd/...@latest 2>"$tools/age.log" && return
    fi
    apt age age
}

# It may ask for a newer compiler than there is, and often builds all the same; if not, it is skipped. OpenSSL is its faster engine.
nkcryptotool() {
    crate nkct nkct --ignore-rust-version --no-default-features --features backend-openssl
}

# Debian's 7zip calls itself 7zz where it is not the newest, p7zip 7z.
sevenzip() {
    command -v 7z >/dev/null || apt 7zz 7zip || apt 7z p7zip-full
}

peer() { # name
    case $1 in
    age) age || skip age "neither the Go module proxy nor Debian's packages could give it" ;;
    rage) crate rage rage || skip rage "it could not be built from crates.io" ;;
    gpg) apt gpg gpg && apt gpg-agent gpg-agent || skip gpg "not installed, and not installable here" ;;
    gpgtar) apt gpg gpg && apt gpg-agent gpg-agent && apt gpgtar gnupg-utils || skip gpgtar "not installed, and not installable here" ;;
    openssl) apt openssl openssl || skip openssl "not installed, and not installable here" ;;
    nkCryptoTool) nkcryptotool || skip nkCryptoTool "it could not be built from crates.io (package nkct)" ;;
    7z) sevenzip || skip 7z "not installed, and not installable here" ;;
    esac
}

# Everything, then the driver: it takes over and does not return.
start() { # the peers that the benchmark knows, its arguments …
    local peers="$1" asked binary build argument
    shift
    # Help needs nothing.
    for argument; do [[ $argument == -h || $argument == --help ]] && driver --help; done

    mkdir -p "$tools"
    asked="$(value --peers "$@")"
    for argument in $(tr ',' ' ' <<<"${asked:-$peers}"); do peer "$argument"; done
    # Peak memory is measured through GNU time: what the shell calls `time` is something else.
    type -P time >/dev/null || apt time time || skip "GNU time" "not installed: no peak memory"

    binary="$(value --binary "$@")"
    if [[ -z $binary ]]; then
        echo "building deadpan"
        (cd "$root" && cargo build --quiet --release --package deadpan)
        binary="$target/release/deadpan"
        build="release profile of the workspace, $(cd "$root" && rustc --version), revision $(git -C "$root" describe --always --dirty 2>/dev/null || echo unknown)"
    else
        binary="$(realpath "$binary")"
        build="a binary that was given with --binary"
    fi
    "$binary" --version >/dev/null || { echo "error: $binary does not run" >&2; exit 1; }
    export BENCH_BINARY="$binary" BENCH_BUILD="$build" BENCH_SKIPPED="${skipped%$'\n'}" BENCH_TARGET="$target"
    cd "$root"
    driver "$@"
}

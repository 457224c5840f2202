# For the examples' scripts `run`, which source this file. The current folder becomes that of the example.
set -euo pipefail

here="$(cd "$(dirname "${BASH_SOURCE[1]}")" && pwd)"
examples="$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)"
cd "$here"
build="$examples/target/$(basename "$here")"
mkdir -p "$build"
failed=0
unset CARGO_TARGET_DIR

# need PROGRAM HINT: exit code 77 if the program is missing.
need() {
    command -v "$1" >/dev/null && return
    printf 'skipped: %s is not installed\nhint: %s\n' "$1" "$2" >&2
    exit 77
}

# repository HINT: exit code 2 outside of Deadpan's repository.
repository() {
    [[ -f $examples/../../crates/lab/Cargo.toml ]] && return
    printf 'error: %s is not in a copy of the repository of Deadpan\nhint: %s\n' "$examples" "$1" >&2
    exit 2
}

# Sets DEADPAN to the command-line program, which is built unless the variable names one.
deadpan() {
    [[ -z ${DEADPAN:-} ]] || return 0
    local root="$examples/../.."
    repository "set DEADPAN to a deadpan program, or run this in a copy of the repository"
    cargo build --quiet --release --manifest-path "$root/Cargo.toml" --target-dir "$root/target" -p deadpan
    export DEADPAN="$root/target/release/deadpan"
}

# example leaky|mended: runs the Rust program of that version.
example() {
    cargo build --quiet --locked --release --manifest-path "$here/$1/Cargo.toml" --target-dir "$examples/target" >&2
    "$examples/target/release/$(basename "$here")-$1"
}

# verdict trace|timing OPTIONS …: judges a function of a library or of a worker.
verdict() {
    python3 "$examples/verdict.py" "$@"
}

# python_packages leaky|mended: installs the packages of this version and lets Python see them, and no others.
python_packages() {
    local packages="$build/$1"
    if [[ ! -d $packages ]]; then
        PIP_ROOT_USER_ACTION=ignore PIP_DISABLE_PIP_VERSION_CHECK=1 python3 -m pip install --quiet --no-deps \
            --require-hashes --target "$packages.part" -r "$1.txt" >&2
        mv "$packages.part" "$packages"
    fi
    export PYTHONPATH="$packages"
}

# expect leaky|mended COMMAND …: prints the command's line. A leaky version must end with 10, a mended one with 0.
expect() {
    local what="$1" status=0 line
    shift
    [[ $1 != example ]] || repository "run this in a copy of the repository; examples in Rust are built with its lab"
    line="$("$@")" || status=$?
    printf '%s: %s\n' "$what" "${line:-nothing}"
    case "$what:$status" in
        leaky:10 | mended:0) ;;
        *)
            printf 'not as expected: the %s version ended with %d\n' "$what" "$status" >&2
            failed=1
            ;;
    esac
}

trap '(($? == 0 && failed)) && exit 1' EXIT

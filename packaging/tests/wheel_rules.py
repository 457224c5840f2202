"""Checks that a wheel keeps what its tag promises: packaging/tests/wheel_rules.py WHEEL"""

import re
import subprocess
import sys
import tempfile
import zipfile

import macho

# PEP 599, for what a Rust library can need.
MANYLINUX2014 = {
    "libc.so.6", "libm.so.6", "libdl.so.2", "librt.so.1", "libpthread.so.0", "libgcc_s.so.1", "ld-linux-x86-64.so.2",
    "ld-linux-aarch64.so.1",
}
# Libraries of every Windows, and those of Python and of the C runtime that Python needs itself.
WINDOWS = re.compile(r"^(python3|kernel32|kernelbase|ntdll|advapi32|bcrypt|bcryptprimitives|crypt32|ws2_32|userenv|"
                     r"shell32|ole32|msvcrt|secur32|iphlpapi|psapi|api-ms-win-[a-z0-9-]+)\.dll$")


def readelf(*arguments):
    """Returns what readelf prints."""
    return subprocess.run(["readelf", "--wide", *arguments], check=True, capture_output=True, text=True).stdout


def elf(path, tag):
    """Checks a library for Linux."""
    needed = set(re.findall(r"\(NEEDED\).*\[(.*)\]", readelf("--dynamic", path)))
    machine = re.search(r"Machine:\s+(.*)", readelf("--file-header", path)).group(1)
    assert ("X86-64" in machine) == tag.endswith("x86_64"), f"the library is for {machine}"
    if "musllinux" in tag:
        assert needed <= {"libc.so", "libc.musl-x86_64.so.1", "libc.musl-aarch64.so.1"}, f"needs {needed}"
        return
    assert needed <= MANYLINUX2014, f"needs {needed - MANYLINUX2014}"
    versions = re.findall(r"GLIBC_([0-9.]+)", readelf("--version-info", path))
    newest = max(tuple(map(int, version.split("."))) for version in versions)
    assert newest <= (2, 17), f"needs the glibc {newest}"


def windows(path):
    """Checks a library for Windows."""
    text = subprocess.run(["objdump", "-p", path], check=True, capture_output=True, text=True).stdout
    needed = {name.lower() for name in re.findall(r"DLL Name: (.*)", text)}
    strange = {name for name in needed if not WINDOWS.match(name)}
    assert needed and not strange, f"needs {strange}"
    # A linker that loses rustc's list of exports makes a library that exports thousands of functions of Rust.
    table = text.partition("[Ordinal/Name Pointer] Table")[2].partition("\n\n")[0]
    exported = {line.split()[-1] for line in table.splitlines() if line.strip()}
    rust = sorted(name for name in exported if name.startswith(("_R", "_ZN")))
    assert "PyInit__native" in exported, "no module of Python"
    assert not rust, f"exports {len(rust)} functions of Rust, among them {rust[0]}"


def macos(path):
    """Checks a library for macOS."""
    with open(path, "rb") as file:
        found = macho.read(file.read())
    assert found.kind in (macho.DYLIB, macho.BUNDLE), "no library"
    assert "_PyInit__native" in found.exported, "no module of Python"
    # The interpreter, which loads this library, has the functions of Python. For each other function, the library must
    # name the library that has the function.
    strange = {name for name in found.wanted if not name.startswith(("_Py", "__Py"))}
    assert found.wanted and not strange, f"no library has {strange}"


def main():
    """Checks the wheel and prints its name."""
    wheel = sys.argv[1]
    tag = wheel.removesuffix(".whl").rsplit("-", 1)[1]
    with zipfile.ZipFile(wheel) as archive, tempfile.TemporaryDirectory() as folder:
        native = [name for name in archive.namelist() if name.endswith((".so", ".pyd"))]
        assert len(native) == 1, f"libraries: {native}"
        assert not archive.testzip()
        path = archive.extract(native[0], folder)
        if "linux" in tag:
            elf(path, tag)
        elif "win" in tag and "macos" not in tag:
            windows(path)
        else:
            macos(path)
        assert any(name.endswith("/METADATA") for name in archive.namelist())
    print(f"ok: {tag} needs what it may")


main()

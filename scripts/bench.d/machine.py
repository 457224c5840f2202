"""Describes the machine on which the figures were measured."""

import os
import platform


def describe(folder):
    yield "CPU", f"{_field('/proc/cpuinfo', 'model name')}, {os.cpu_count()} cores{_hypervisor()}"
    yield (
        "memory",
        f"{int(_field('/proc/meminfo', 'MemTotal').split()[0]) / (1 << 20):.1f} GiB, huge pages {_chosen()}",
    )
    yield "system", f"{platform.system()} {platform.release()}"
    yield "file system", _file_system(folder)
    yield (
        "dirty pages",
        f"background writes above {_vm('dirty_background_ratio')} %, writers wait above {_vm('dirty_ratio')} %",
    )


def load():
    """Returns the average number of runnable processes in the last minute."""
    return os.getloadavg()[0]


def available(folder):
    """Returns the free bytes in the file system of `folder` for this user."""
    state = os.statvfs(folder)
    return state.f_bavail * state.f_frsize


def inodes(folder):
    """Returns the number of files that the file system has room for. Some file systems have no such limit."""
    state = os.statvfs(folder)
    return state.f_favail if state.f_files else 1 << 60


def memory():
    """Returns the bytes that are free for the page cache."""
    return int(_field("/proc/meminfo", "MemAvailable").split()[0]) << 10


def _read(path):
    try:
        with open(path) as file:
            return file.read().strip()
    except OSError:
        return "?"


def _field(path, name):
    for line in _read(path).splitlines():
        key, _, value = line.partition(":")
        if key.strip() == name:
            return value.strip()
    return "0 unknown"


def _hypervisor():
    return ", a virtual machine" if " hypervisor" in _field("/proc/cpuinfo", "flags") else ""


def _chosen():
    text = _read("/sys/kernel/mm/transparent_hugepage/enabled")
    return text.partition("[")[2].partition("]")[0] or "unknown"


def _vm(name):
    return _read(f"/proc/sys/vm/{name}")


def _file_system(folder):
    """Returns the type and options of the mount that holds `folder`: the longest mount point that is a prefix of it."""
    folder, best = os.path.realpath(folder), ("", "unknown", "")
    for line in _read("/proc/mounts").splitlines():
        _, point, kind, options = line.split()[:4]
        if os.path.commonpath([folder, point]) == point and len(point) >= len(best[0]):
            best = (point, kind, options)
    return f"{best[1]} ({best[2]})"

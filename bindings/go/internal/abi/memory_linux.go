//go:build !deadpan_cgo && !android && (amd64 || arm64)

package abi

import (
	"fmt"
	"os"
	"runtime"
	"syscall"
	"unsafe"
)

// Package syscall lacks these numbers. They are the same on all architectures.
const (
	memfdCloseOnExec  = 0x1
	memfdAllowSealing = 0x2
	memfdExecutable   = 0x10 // since Linux 6.3, which may refuse to execute other memory
	addSeals          = 1033
	allSeals          = 0xf // no writing, growing, shrinking, and no change of these seals
)

// openInMemory loads the library from memory that has no name in a file system. So no file can be replaced, and no
// folder is needed from which the system loads libraries.
func openInMemory(data []byte) (uintptr, error) {
	create := map[string]uintptr{"amd64": 319, "arm64": 279}[runtime.GOARCH]
	name := []byte("libdeadpan.so\x00")
	flags := uintptr(memfdCloseOnExec | memfdAllowSealing | memfdExecutable)
	descriptor, _, code := syscall.Syscall(create, uintptr(unsafe.Pointer(&name[0])), flags, 0)
	if code == syscall.EINVAL {
		descriptor, _, code = syscall.Syscall(create, uintptr(unsafe.Pointer(&name[0])), flags&^memfdExecutable, 0)
	}
	if code != 0 {
		return 0, fmt.Errorf("memfd_create: %w", code)
	}
	file := os.NewFile(descriptor, "libdeadpan.so")
	defer file.Close()
	if _, err := file.Write(data); err != nil {
		return 0, err
	}
	if _, _, code := syscall.Syscall(syscall.SYS_FCNTL, descriptor, addSeals, allSeals); code != 0 {
		return 0, fmt.Errorf("fcntl: %w", code)
	}
	// glibc returns a library that is loaded already if the path is the same. Other code may have loaded a library from
	// a descriptor with this number, and closed the descriptor. The dot makes the path another one.
	return open(fmt.Sprintf("/proc/self/fd/./%d", descriptor))
}

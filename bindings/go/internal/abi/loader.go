//go:build !deadpan_cgo && (darwin || linux) && !android && !ios && (amd64 || arm64 || ppc64le || riscv64)

package abi

import "github.com/ebitengine/purego"

// noSystem is empty on this system. On other systems, noSystem contains the message that there is no library for the
// system.
const noSystem = ""

func loadLibrary(path string) (uintptr, error) {
	return purego.Dlopen(path, purego.RTLD_NOW|purego.RTLD_LOCAL)
}

func findSymbol(library uintptr, name string) (uintptr, error) {
	return purego.Dlsym(library, name)
}

func callAddress(address uintptr, arguments ...uintptr) uintptr {
	result, _, _ := purego.SyscallN(address, arguments...)
	return result
}

func callbackTo(function any) uintptr {
	return purego.NewCallback(function)
}

//go:build !deadpan_cgo && !((darwin || linux) && !android && !ios && (amd64 || arm64 || ppc64le || riscv64))

package abi

import (
	"errors"
	"runtime"
)

// The package also compiles on systems without libdeadpan, so that programs for several systems do not need their own
// build tags. On systems without libdeadpan, each call returns Missing with this text.
const noSystem = "there is no libdeadpan for " + runtime.GOOS + "/" + runtime.GOARCH + `
use Linux or macOS of 64 bits, or build libdeadpan for this system and use the build tag deadpan_cgo`

func loadLibrary(string) (uintptr, error) {
	return 0, errors.New(noSystem)
}

func (embeddedLibrary) open() (uintptr, error) {
	return 0, errors.New(noSystem)
}

func findSymbol(uintptr, string) (uintptr, error) {
	return 0, errors.New(noSystem)
}

func callAddress(uintptr, ...uintptr) uintptr {
	panic(noSystem)
}

func callbackTo(any) uintptr {
	return 0
}

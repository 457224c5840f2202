//go:build !deadpan_cgo

package abi

import (
	"errors"
	"fmt"
	"os"
	"runtime"
	"sync"
	"sync/atomic"
)

const advice = `
use a released version of this module, which contains the library,
or install the library with "cargo cinstall --release -p deadpan-capi" in Deadpan's repository,
or set DEADPAN_LIBRARY to the path of a libdeadpan`

// An embeddedLibrary is a libdeadpan inside the program.
type embeddedLibrary struct {
	data string // the whole file
	sum  string // the SHA-256 of the file
	musl bool   // whether the file is for musl and not for glibc
}

// embedded is empty in the repository. The script bindings/go/release adds files that set the variable, and with it
// the modules that contain the libraries. So the main module states the sums of what the other modules contain.
var embedded embeddedLibrary

type symbol struct {
	name    string
	address atomic.Uintptr
}

var symbols []*symbol

func add(name string) *symbol {
	added := &symbol{name: name}
	symbols = append(symbols, added)
	return added
}

// find returns the address of a function, or 0 if the library is missing.
func (s *symbol) find() uintptr {
	if address := s.address.Load(); address != 0 {
		return address
	}
	handle, err := library()
	if err != nil {
		return 0
	}
	address, err := findSymbol(handle, s.name)
	if err != nil {
		return 0
	}
	s.address.Store(address)
	return address
}

// library opens the library once. The library stays open until the program ends.
var library = sync.OnceValues(func() (uintptr, error) {
	if path := os.Getenv("DEADPAN_LIBRARY"); path != "" {
		return open(path)
	}
	if embedded.data != "" {
		return embedded.open()
	}
	names := []string{"libdeadpan.so.0", "libdeadpan.so"}
	if runtime.GOOS == "darwin" {
		names = []string{"libdeadpan.0.dylib", "libdeadpan.dylib"}
	}
	var failed []error
	for _, name := range names {
		handle, err := open(name)
		if err == nil {
			return handle, nil
		}
		failed = append(failed, err)
	}
	return 0, errors.Join(failed...)
})

func open(path string) (uintptr, error) {
	handle, err := loadLibrary(path)
	if err != nil {
		return 0, err
	}
	for _, function := range symbols {
		if _, err := findSymbol(handle, function.name); err != nil {
			return 0, fmt.Errorf("%s is not libdeadpan of this version: %w", path, err)
		}
	}
	return handle, nil
}

// MissingText returns a text that says why there is no library and how to get it.
func MissingText() string {
	if noSystem != "" {
		return noSystem
	}
	_, err := library()
	how := advice
	if embedded.data != "" {
		how = "\nset DEADPAN_LIBRARY to the path of another libdeadpan of this version"
	}
	return fmt.Sprintf("libdeadpan cannot be loaded: %v%s", err, how)
}

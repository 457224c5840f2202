// Package abi calls libdeadpan. The package has one Go function for each function of deadpan.h, with the same
// parameters.
//
// Two files declare the functions: purego.go finds the library while the program runs. The build tag deadpan_cgo
// chooses cgo.go instead of purego.go, and then the linker connects the library. All other code is the same with
// purego.go and with cgo.go.
package abi

import "unsafe"

// A Handle is a handle of the library. A handle is a number and not an address. 0 stands for no handle.
type Handle uintptr

// The codes that Go code distinguishes.
const (
	OK       = 0
	Argument = 1
	Room     = 2
	Closed   = 3
	Busy     = 4
	Stopped  = 5
	Read     = 30
	Write    = 31
	System   = 32
	// Missing is not a code of the library. Missing means that the library itself was not found.
	Missing = -1
	// Unfinished is not a code of the library either. Unfinished means that a writer was closed before Finish.
	Unfinished = -2
)

// Text returns the text at an address, up to the zero that ends it.
func Text(address *byte) string {
	if address == nil {
		return ""
	}
	length := 0
	for *(*byte)(unsafe.Add(unsafe.Pointer(address), length)) != 0 {
		length++
	}
	return string(unsafe.Slice(address, length))
}

// terminated returns a path or a pattern with a zero at its end, as C requires.
func terminated(path string) *byte {
	return unsafe.SliceData(append([]byte(path), 0))
}

// Package abi is the border to libdeadpan: one Go function for each function of deadpan.h, with the same parameters.
//
// Two files declare the functions: purego.go, which finds the library while the program runs, and cgo.go, which the
// build tag deadpan_cgo chooses, and which the linker connects. Everything else is the same for both.
package abi

import "unsafe"

// A Handle is a handle of the library. It is a number and no address; 0 is none.
type Handle uintptr

// Codes that Go code tells apart.
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
	// Missing is no code of the library: the library itself was not found.
	Missing = -1
	// Unfinished is no code of the library either: it stands for a writer that was closed without its end.
	Unfinished = -2
)

// Text returns the text at an address, up to the zero behind it.
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

// terminated returns a path with a zero behind it, as C wants it.
func terminated(path string) *byte {
	return unsafe.SliceData(append([]byte(path), 0))
}

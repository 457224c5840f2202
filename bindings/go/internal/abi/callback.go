package abi

import (
	"sync"
	"sync/atomic"
	"unsafe"
)

// A Target has the functions that the library calls. The functions must return, and must not let a panic reach the
// library.
type Target struct {
	// Read fills a buffer, and returns the number of bytes, 0 at the end, or a negative number after an error.
	Read func(buffer []byte) int64
	// ReadAt fills a buffer from a position, with the same results as Read.
	ReadAt func(position uint64, buffer []byte) int64
	// Write takes all of the bytes, and returns 0, or another number after an error.
	Write func(bytes []byte) int32
	// Each gets an entry of a folder. The function returns 0 to continue, or another number to end the listing.
	Each func(path string, kind int32, size uint64) int32
}

// C code gets a number and not a pointer to a Target, because the garbage collector does not see pointers in C memory.
var (
	targets sync.Map // of uintptr to *Target
	last    atomic.Uintptr
)

// Register returns a number for a target. The library passes this number to callbacks as `user`.
func Register(target *Target) uintptr {
	number := last.Add(1)
	targets.Store(number, target)
	return number
}

// Unregister ends the use of a number. Callbacks with this number fail afterwards.
func Unregister(number uintptr) {
	targets.Delete(number)
}

func find(number uintptr) *Target {
	target, _ := targets.Load(number)
	found, _ := target.(*Target)
	if found == nil {
		return &Target{}
	}
	return found
}

func onRead(user uintptr, buffer *byte, room uintptr) int64 {
	target := find(user)
	if target.Read == nil {
		return -1
	}
	return target.Read(unsafe.Slice(buffer, room))
}

func onReadAt(user uintptr, position uint64, buffer *byte, room uintptr) int64 {
	target := find(user)
	if target.ReadAt == nil {
		return -1
	}
	return target.ReadAt(position, unsafe.Slice(buffer, room))
}

func onWrite(user uintptr, bytes *byte, length uintptr) int32 {
	target := find(user)
	if target.Write == nil {
		return 1
	}
	return target.Write(unsafe.Slice(bytes, length))
}

func onEach(user uintptr, path *byte, kind int32, size uint64) int32 {
	target := find(user)
	if target.Each == nil {
		return 1
	}
	return target.Each(Text(path), kind, size)
}

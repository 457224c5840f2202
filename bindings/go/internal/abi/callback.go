package abi

import (
	"sync"
	"sync/atomic"
	"unsafe"
)

// A Target gets the calls of the library. The functions must return: no panic may leave them.
type Target struct {
	// Read fills a buffer, and returns the number of bytes, 0 at the end, or a negative number after an error.
	Read func(buffer []byte) int64
	// ReadAt does the same from a position.
	ReadAt func(position uint64, buffer []byte) int64
	// Write takes all of the bytes, and returns 0, or another number after an error.
	Write func(bytes []byte) int32
	// Each is told of an entry, and returns 0, or another number to end the list.
	Each func(path string, kind int32, size uint64) int32
}

// C code holds a number instead of a pointer to a target, so that the garbage collector knows all pointers.
var (
	targets sync.Map // of uintptr to *Target
	last    atomic.Uintptr
)

// Register returns a number for a target, which the library hands back to callbacks as `user`.
func Register(target *Target) uintptr {
	number := last.Add(1)
	targets.Store(number, target)
	return number
}

// Unregister ends the use of a number. Calls for it fail from now on.
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

package deadpan

import (
	"strings"
	"unsafe"

	"deadpan/internal/abi"
)

// fill appends what the library writes to dst. `guess` is how much room is tried first; if it is too small, the library
// tells how much it needs, and is called again. After an error, dst is returned as it was.
func fill(dst []byte, guess int, call func(room []byte, length *int, err *abi.Handle) int32) ([]byte, error) {
	filled := grow(dst, guess)
	for {
		var length int
		var handle abi.Handle
		room := filled[len(filled):cap(filled)]
		code := call(room, &length, &handle)
		if code == abi.Room && length > len(room) {
			abi.ErrorFree(handle)
			filled = grow(filled, length)
			continue
		}
		if err := failure(code, handle); err != nil {
			return dst, err
		}
		if length < 0 || length > len(room) {
			return dst, &Error{Code: ErrFault, Text: "libdeadpan returned a length that is longer than the buffer"}
		}
		if cap(filled) != cap(dst) {
			// The room of a new buffer was not zeroed, and may hold what other parts of the program have forgotten.
			clear(room[length:])
		}
		return filled[:len(filled)+length], nil
	}
}

// trim returns a new buffer's bytes without spare room, and copies them if much would be wasted.
func trim(filled []byte, err error) ([]byte, error) {
	if err != nil {
		return nil, err
	}
	if cap(filled)-len(filled) <= len(filled)/4 {
		return filled[:len(filled):len(filled)], nil
	}
	trimmed := append(make([]byte, 0, len(filled)), filled...)
	clear(filled)
	return trimmed, nil
}

// zeroed is from where on zeroing of buffers costs more than the way around it.
const zeroed = 32 << 10

// grow returns dst with room for more bytes behind it.
func grow(dst []byte, more int) []byte {
	if cap(dst)-len(dst) >= more {
		return dst
	}
	if len(dst)+more < zeroed {
		return append(make([]byte, 0, len(dst)+more), dst...)
	}
	// `make` would zero the buffer first, which takes as long as sealing on two cores. Only a strings.Builder hands out
	// memory as it comes; the string that it returns here is used by nobody.
	var builder strings.Builder
	builder.Grow(len(dst) + more)
	builder.WriteByte(0)
	buffer := unsafe.Slice(unsafe.StringData(builder.String()), builder.Cap())
	return buffer[:copy(buffer, dst)]
}

package deadpan

import (
	"strings"
	"unsafe"

	"deadpan.example/deadpan/internal/abi"
)

// fill appends the library's output to dst. fill first tries a buffer with `guess` free bytes. If the buffer is too
// small, the library reports the needed length, and fill calls the library again. After an error, fill returns dst
// unchanged.
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
			// The spare capacity of a new buffer was not zeroed, and may contain old data of other parts of the program.
			clear(room[length:])
		}
		return filled[:len(filled)+length], nil
	}
}

// trim returns the bytes of a new buffer without spare capacity. trim copies the bytes if the unused capacity would
// waste much memory.
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

// zeroed is the smallest buffer length for which zeroing a buffer costs more than avoiding the zeroing.
const zeroed = 32 << 10

func grow(dst []byte, more int) []byte {
	if cap(dst)-len(dst) >= more {
		return dst
	}
	if len(dst)+more < zeroed {
		return append(make([]byte, 0, len(dst)+more), dst...)
	}
	// `make` would zero the buffer first, which takes as long as sealing on two cores. Only a strings.Builder provides
	// memory that is not zeroed. The code does not use the string that the builder returns.
	var builder strings.Builder
	builder.Grow(len(dst) + more)
	builder.WriteByte(0)
	buffer := unsafe.Slice(unsafe.StringData(builder.String()), builder.Cap())
	return buffer[:copy(buffer, dst)]
}

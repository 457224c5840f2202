package deadpan

import (
	"fmt"
	"io"
	"io/fs"
	"syscall"

	"deadpan.example/deadpan/internal/abi"
)

// A Code is the kind of an error. The codes are themselves errors, so that they can be used with [errors.Is]:
//
//	if errors.Is(err, deadpan.ErrTampered) {
//
// Some codes are special cases of other codes: [ErrTruncated] and [ErrSignature] are also [ErrTampered],
// [ErrPassphrase] and [ErrCostly] are also [ErrNoKey], and [ErrLocked] is also [ErrKey]. [ErrTruncated] is also
// [io.ErrUnexpectedEOF], [ErrExists] is also [fs.ErrExist], and [ErrClosed] is also [fs.ErrClosed].
type Code int32

// The codes of libdeadpan. They stay the same in all versions.
const (
	ErrLibrary    Code = abi.Missing    // libdeadpan cannot be loaded
	ErrUnfinished Code = abi.Unfinished // a writer was closed before Finish: the sealed data are cut short

	ErrArgument  Code = 1  // an argument is not possible
	ErrRoom      Code = 2  // a buffer is too small
	ErrClosed    Code = 3  // the key, passphrase, session, reader or writer was closed
	ErrBusy      Code = 4  // another goroutine uses the writer
	ErrStopped   Code = 5  // stopped by the context
	ErrFault     Code = 6  // a fault in Deadpan; please report it
	ErrExists    Code = 7  // the output exists already
	ErrNotSealed Code = 10 // not a sealed file
	ErrNewer     Code = 11 // sealed by a newer version
	ErrTruncated Code = 12 // the sealed data end too early
	ErrTampered  Code = 13 // the sealed data are damaged, or were changed after sealing
	ErrLimit     Code = 14 // the sealed data ask for more than is allowed
	ErrSignature Code = 15 // a signature is wrong or missing
	ErrEncoding  Code = 16 // the text or the padding is not valid

	ErrNoKey      Code = 20 // no key opens it
	ErrPassphrase Code = 21 // the passphrase is wrong
	ErrCostly     Code = 22 // trying the passphrase costs more than is allowed
	ErrKey        Code = 23 // the key is damaged, or is no key
	ErrLocked     Code = 24 // the private key is protected by a passphrase

	ErrRead   Code = 30 // the input cannot be read
	ErrWrite  Code = 31 // the output cannot be written
	ErrSystem Code = 32 // the system failed
)

// Error returns the library's message of the code.
func (c Code) Error() string {
	return "deadpan: " + c.message()
}

func (c Code) message() string {
	switch c {
	case ErrLibrary:
		return "libdeadpan cannot be loaded"
	case ErrUnfinished:
		return "the sealed data are cut short and do not open: the writer was closed before Finish"
	}
	if text := abi.Message(int32(c)); text != "" {
		return text
	}
	return fmt.Sprintf("error %d", int32(c))
}

// Is reports whether the code is a special case of another code, or an error of [fs] or [io].
func (c Code) Is(target error) bool {
	switch c {
	case ErrTruncated:
		return target == ErrTampered || target == io.ErrUnexpectedEOF
	case ErrSignature:
		return target == ErrTampered
	case ErrPassphrase, ErrCostly:
		return target == ErrNoKey
	case ErrLocked:
		return target == ErrKey
	case ErrExists:
		return target == fs.ErrExist
	case ErrClosed:
		return target == fs.ErrClosed
	}
	return false
}

// An Error is the type of all errors of this package. An Error has a code, and a text that names the file or the key.
type Error struct {
	Code Code
	// Text is the library's description of the error.
	Text string

	causes []error
}

// Error returns the text.
func (e *Error) Error() string {
	return "deadpan: " + e.Text
}

// Unwrap returns the code and the causes: the error of a context, of a reader or writer of the caller, or of a path.
func (e *Error) Unwrap() []error {
	return append([]error{e.Code}, e.causes...)
}

// failure converts the library's error to a Go error, and frees the handle.
func failure(code int32, handle abi.Handle) error {
	switch code {
	case abi.OK:
		return nil
	case abi.Missing:
		return &Error{Code: ErrLibrary, Text: abi.MissingText()}
	}
	if handle == 0 {
		return &Error{Code: Code(code), Text: Code(code).message()}
	}
	defer abi.ErrorFree(handle)
	found := &Error{Code: Code(code), Text: textOf(Code(code), handle)}
	if errno := abi.ErrorErrno(handle); errno != 0 {
		found.causes = append(found.causes, syscall.Errno(errno))
	}
	return found
}

func textOf(code Code, handle abi.Handle) string {
	room := make([]byte, 256)
	for {
		length := 0
		switch abi.ErrorText(handle, room, &length) {
		case abi.OK:
			return string(room[:length])
		case abi.Room:
			room = make([]byte, length)
		default:
			return code.message()
		}
	}
}

func run(call func(err *abi.Handle) int32) error {
	var handle abi.Handle
	return failure(call(&handle), handle)
}

func wrong(format string, values ...any) error {
	return &Error{Code: ErrArgument, Text: fmt.Sprintf(format, values...)}
}

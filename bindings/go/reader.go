package deadpan

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"runtime"
	"strings"
	"sync"

	"deadpan.example/deadpan/internal/abi"
)

// A Reader reads from any position in the data of a sealed file, and decrypts only the parts that are read. A Reader is
// an [io.ReadSeekCloser] and an [io.ReaderAt]. Any goroutine may use a Reader. Goroutines that use the same Reader at
// once wait for each other.
//
// All data that a Reader returns are authentic.
type Reader struct {
	held   resource
	handle abi.Handle
	source *source
	size   int64

	lock     sync.Mutex
	position int64
}

// OpenReader opens a sealed file for reading from any position.
func OpenReader(input string, options *OpenOptions, keys ...Identity) (*Reader, error) {
	if err := checkPaths(input); err != nil {
		return nil, err
	}
	return newReader(new(source), options, keys, func(list abi.Handle, _ uintptr, reader, err *abi.Handle) int32 {
		return abi.ReaderNew(list, input, reader, err)
	})
}

// NewReader makes a Reader for sealed data of the given size in r. The Reader uses r until the Reader is closed, and
// does not close r.
func NewReader(r io.ReaderAt, size int64, options *OpenOptions, keys ...Identity) (*Reader, error) {
	if r == nil {
		return nil, wrong("the reader is nil")
	}
	if size < 0 {
		return nil, wrong("the size %d is negative", size)
	}
	from := &source{reader: r}
	return newReader(from, options, keys, func(list abi.Handle, user uintptr, reader, err *abi.Handle) int32 {
		return abi.ReaderNewAt(list, user, uint64(size), reader, err)
	})
}

func newReader(
	source *source, options *OpenOptions, keys []Identity,
	call func(list abi.Handle, user uintptr, reader, err *abi.Handle) int32,
) (*Reader, error) {
	list, err := opening(options, keys)
	if err != nil {
		return nil, err
	}
	defer list.release()
	defer runtime.KeepAlive(keys)
	user := abi.Register(&abi.Target{ReadAt: source.readAt})
	var handle abi.Handle
	var length uint64
	var reader *Reader
	free := func() {
		abi.ReaderFree(handle)
		abi.Unregister(user)
	}
	defer func() {
		if reader == nil {
			free()
		}
	}()
	err = source.explain(run(func(err *abi.Handle) int32 { return call(list.handle, user, &handle, err) }))
	if err == nil {
		err = run(func(err *abi.Handle) int32 { return abi.ReaderLength(handle, &length, err) })
	}
	if err != nil {
		return nil, err
	}
	reader = &Reader{handle: handle, source: source, size: int64(length)}
	own(reader, &reader.held, "reader", free)
	return reader, nil
}

// Size returns the length of the data.
func (r *Reader) Size() int64 {
	if r == nil {
		return 0
	}
	return r.size
}

// ReadAt reads data from an offset.
func (r *Reader) ReadAt(buffer []byte, offset int64) (int, error) {
	if r == nil {
		return 0, wrong("the reader is nil")
	}
	r.lock.Lock()
	defer r.lock.Unlock()
	return r.readAt(buffer, offset)
}

// Read reads the next data.
func (r *Reader) Read(buffer []byte) (int, error) {
	if r == nil {
		return 0, wrong("the reader is nil")
	}
	r.lock.Lock()
	defer r.lock.Unlock()
	if len(buffer) == 0 {
		return 0, r.held.check()
	}
	count, err := r.readAt(buffer, r.position)
	r.position += int64(count)
	if count > 0 && errors.Is(err, io.EOF) {
		err = nil
	}
	return count, err
}

// Seek sets the position at which Read continues.
func (r *Reader) Seek(offset int64, whence int) (int64, error) {
	if r == nil {
		return 0, wrong("the reader is nil")
	}
	r.lock.Lock()
	defer r.lock.Unlock()
	if err := r.held.check(); err != nil {
		return 0, err
	}
	switch whence {
	case io.SeekStart:
	case io.SeekCurrent:
		offset += r.position
	case io.SeekEnd:
		offset += r.size
	default:
		return 0, wrong("%d is no place to seek from", whence)
	}
	if offset < 0 {
		return 0, wrong("a position before the beginning")
	}
	r.position = offset
	return offset, nil
}

// Close frees the Reader. Close does not close the underlying reader or file. Closing twice does nothing.
func (r *Reader) Close() error {
	if r != nil {
		r.held.close()
	}
	return nil
}

func (r *Reader) readAt(buffer []byte, offset int64) (int, error) {
	if err := r.held.check(); err != nil {
		return 0, err
	}
	if offset < 0 {
		return 0, wrong("the offset %d is negative", offset)
	}
	var count int
	err := run(func(err *abi.Handle) int32 { return abi.ReaderRead(r.handle, uint64(offset), buffer, &count, err) })
	runtime.KeepAlive(r)
	if err = r.source.explain(err); err != nil {
		if closed := r.held.check(); closed != nil {
			err = closed
		}
		return 0, err
	}
	if count < len(buffer) {
		return count, io.EOF
	}
	return count, nil
}

// A source provides a Reader with sealed data. Only one thread at a time uses it.
type source struct {
	reader io.ReaderAt
	buffer []byte
	// failed is the error of the last call of the caller's reader, or nil after a success.
	failed   error
	panicked any
	exited   bool
}

func (s *source) readAt(position uint64, buffer []byte) int64 {
	switch s.reader.(type) {
	case *os.File, *bytes.Reader, *strings.Reader:
		return s.caught(buffer, position)
	}
	// Readers of other types read into a Go buffer, in a separate goroutine. If the separate goroutine panics or ends,
	// the library is not harmed.
	if cap(s.buffer) < len(buffer) {
		s.buffer = make([]byte, len(buffer))
	}
	piece := s.buffer[:len(buffer)]
	answer := make(chan int64, 1)
	go func() {
		said := int64(-1)
		s.exited = true
		defer func() {
			s.panicked = recover()
			answer <- said
		}()
		said = s.check(piece, func() (int, error) { return s.reader.ReadAt(piece, int64(position)) })
		s.exited = false
	}()
	said := <-answer
	if said > 0 {
		copy(buffer, piece[:said])
	}
	return said
}

// caught reads into a buffer of the library, and catches a panic of the reader. If a reader is a nil pointer, its
// methods panic, and no panic may pass through the library.
func (s *source) caught(buffer []byte, position uint64) (said int64) {
	said = -1
	defer func() {
		if panicked := recover(); panicked != nil {
			s.panicked = panicked
		}
	}()
	return s.check(buffer, func() (int, error) { return s.reader.ReadAt(buffer, int64(position)) })
}

// check calls the caller's reader, and checks that the reader obeys the contract of io.ReaderAt.
func (s *source) check(buffer []byte, read func() (int, error)) int64 {
	count, err := read()
	switch {
	case count < 0 || count > len(buffer):
		s.failed = fmt.Errorf("the reader returned %d for a buffer of %d bytes", count, len(buffer))
	case count < len(buffer) && err == nil:
		s.failed = fmt.Errorf("the reader returned %d for a buffer of %d bytes, and no error", count, len(buffer))
	case count < len(buffer) && !errors.Is(err, io.EOF):
		s.failed = err
	default:
		return int64(count)
	}
	return -1
}

// If the caller's reader has panicked, explain continues the panic. If the caller's reader has not panicked, explain
// returns the error of the reader instead of the library's error.
func (s *source) explain(err error) error {
	cause, panicked, exited := s.failed, s.panicked, s.exited
	s.failed, s.panicked, s.exited = nil, nil, false
	switch {
	case panicked != nil:
		panic(panicked)
	case exited:
		runtime.Goexit()
	case err != nil && cause != nil:
		return failed(ErrRead, cause)
	}
	return err
}

package deadpan

import (
	"io"
	"runtime"
	"sync"

	"deadpan/internal/abi"
)

// stretch is how much is sealed before the result is written.
const stretch = 256 << 10

// A Writer seals what is written to it, and writes the result to another writer, in the same goroutine. It is an
// [io.WriteCloser]. Without Close, the result is cut short and does not open: if something fails, call Abandon.
//
// Defer Abandon and end with `return w.Close()`: a deferred Close after an error would make half of the data look like
// all of it.
type Writer struct {
	held   resource
	handle abi.Handle
	writer io.Writer
	sealed *sealed
	user   uintptr

	lock sync.Mutex
	// failed is the error of an earlier call: what follows would have a gap before it.
	failed error
}

// sealed is what the library has sealed, and what was not written yet.
type sealed struct {
	bytes []byte
}

// NewWriter begins to seal, and writes the header to w.
func NewWriter(w io.Writer, options *SealOptions, to ...Recipient) (*Writer, error) {
	if w == nil {
		return nil, wrong("the writer is nil")
	}
	list, err := sealing(options, to)
	if err != nil {
		return nil, err
	}
	defer list.release()
	defer runtime.KeepAlive(to)
	// The library does not call w itself: a panic, or the end of the goroutine, must not cross C.
	result := new(sealed)
	user := abi.Register(&abi.Target{Write: func(bytes []byte) int32 {
		result.bytes = append(result.bytes, bytes...)
		return 0
	}})
	var handle abi.Handle
	err = run(func(err *abi.Handle) int32 { return abi.WriterNew(list.handle, user, &handle, err) })
	if err != nil {
		abi.Unregister(user)
		return nil, err
	}
	writer := &Writer{handle: handle, writer: w, sealed: result, user: user}
	own(writer, &writer.held, "writer", func() {
		abi.WriterFree(handle)
		abi.Unregister(user)
	})
	begun := false
	defer func() {
		if !begun {
			writer.held.close()
		}
	}()
	if err := writer.flush(); err != nil {
		return nil, err
	}
	begun = true
	return writer, nil
}

// Write seals bytes. Of two goroutines that write at once, one gets [ErrBusy].
func (w *Writer) Write(bytes []byte) (int, error) {
	if w == nil {
		return 0, wrong("the writer is nil")
	}
	if !w.lock.TryLock() {
		return 0, busy()
	}
	defer w.lock.Unlock()
	done := 0
	err := w.attempt(func() error {
		for done < len(bytes) {
			piece := bytes[done:min(done+stretch, len(bytes))]
			if err := run(func(err *abi.Handle) int32 { return abi.WriterWrite(w.handle, piece, err) }); err != nil {
				return err
			}
			if err := w.flush(); err != nil {
				return err
			}
			done += len(piece)
		}
		return nil
	})
	return done, err
}

// Close seals the end. It does not close the other writer. Closing twice does nothing.
func (w *Writer) Close() error {
	if w == nil {
		return wrong("the writer is nil")
	}
	if w.held.closed.Load() {
		return nil
	}
	if !w.lock.TryLock() {
		return busy()
	}
	defer w.lock.Unlock()
	defer w.held.close()
	return w.attempt(func() error {
		if err := run(func(err *abi.Handle) int32 { return abi.WriterFinish(w.handle, err) }); err != nil {
			return err
		}
		return w.flush()
	})
}

// Abandon closes the writer without an end: the result does not open. After Close it does nothing.
func (w *Writer) Abandon() {
	if w != nil {
		w.held.close()
	}
}

func busy() error {
	return &Error{Code: ErrBusy, Text: "another goroutine uses the writer"}
}

// attempt does something that must not fail in between, and remembers if it did.
func (w *Writer) attempt(do func() error) error {
	if err := w.held.check(); err != nil {
		return err
	}
	if w.failed != nil {
		return w.failed
	}
	// This stays if the other writer panics, or ends the goroutine.
	w.failed = &Error{Code: ErrWrite, Text: "the writer has failed before"}
	w.failed = do()
	runtime.KeepAlive(w)
	return w.failed
}

// flush writes what was sealed.
func (w *Writer) flush() error {
	bytes := w.sealed.bytes
	w.sealed.bytes = w.sealed.bytes[:0]
	if len(bytes) == 0 {
		return nil
	}
	if err := writeAll(w.writer, bytes); err != nil {
		return failed(ErrWrite, err)
	}
	return nil
}

package deadpan

import (
	"io"
	"runtime"
	"sync"
	"sync/atomic"

	"deadpan.example/deadpan/internal/abi"
)

// stretch is the number of bytes that are sealed before the result is written.
const stretch = 256 << 10

// A Writer seals the data that are written to it, and writes the result to another writer in the same goroutine. It is
// an [io.WriteCloser].
//
// Only Finish seals the end of the data. If Close is called before Finish, the result is cut short and does not open,
// and Close returns [ErrUnfinished]. So a part of the data never looks like all of the data, even after an early return
// or a panic:
//
//	defer w.Close()
//	if _, err := io.Copy(w, data); err != nil {
//		return err
//	}
//	return w.Finish()
type Writer struct {
	held   resource
	handle abi.Handle
	writer io.Writer
	sealed *sealed
	user   uintptr

	lock sync.Mutex
	// failed is the error of an earlier call. After this error nothing more is written, since there would be a gap before
	// the new data.
	failed   error
	finished atomic.Bool
}

// sealed holds bytes that the library has sealed and that are not written yet.
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
	// The library does not call w itself, because a panic or the end of the goroutine must not pass through C.
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

// Write seals bytes. If two goroutines write at once, one of them gets [ErrBusy].
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

// Finish seals the end. The result is complete only if the error is nil. Finish does not close the other writer.
// Finishing twice does nothing.
func (w *Writer) Finish() error {
	if w == nil {
		return wrong("the writer is nil")
	}
	if !w.lock.TryLock() {
		return busy()
	}
	defer w.lock.Unlock()
	if w.finished.Load() {
		return nil
	}
	err := w.attempt(func() error {
		if err := run(func(err *abi.Handle) int32 { return abi.WriterFinish(w.handle, err) }); err != nil {
			return err
		}
		return w.flush()
	})
	if err == nil {
		w.finished.Store(true)
		w.held.close()
	}
	return err
}

// Close frees the Writer, and does not wait for another goroutine that uses the Writer. Close does not close the other
// writer. If Finish has not succeeded before, the result is cut short, and every call of Close returns [ErrUnfinished].
func (w *Writer) Close() error {
	if w == nil {
		return wrong("the writer is nil")
	}
	if w.finished.Load() {
		return nil
	}
	w.held.close()
	unfinished := &Error{Code: ErrUnfinished, Text: ErrUnfinished.message()}
	if w.lock.TryLock() {
		defer w.lock.Unlock()
		if w.failed != nil {
			unfinished.causes = []error{w.failed}
		}
	}
	return unfinished
}

func busy() error {
	return &Error{Code: ErrBusy, Text: "another goroutine uses the writer"}
}

// attempt calls a function, and stores its failure, because the writer must not be used after a failure.
func (w *Writer) attempt(do func() error) error {
	if w.finished.Load() {
		return &Error{Code: ErrClosed, Text: "the writer is finished: write before Finish"}
	}
	if err := w.held.check(); err != nil {
		return err
	}
	if w.failed != nil {
		return w.failed
	}
	// If the other writer panics or ends the goroutine, this ErrWrite error stays stored.
	w.failed = &Error{Code: ErrWrite, Text: "the writer has failed before"}
	w.failed = do()
	runtime.KeepAlive(w)
	return w.failed
}

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

package deadpan

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"runtime"

	"deadpan.example/deadpan/internal/abi"
)

// SealStream seals all data that it reads from r, and writes the result to w. The result is complete only if the error
// is nil.
//
// The methods of r and w are called by the goroutine that called SealStream. When the context is done, a waiting Read
// or Write is not interrupted. To interrupt the Read or Write, close the file or connection. If r and w are both an
// [*os.File] of a regular file at position 0, SealStream is as fast as SealFile.
func SealStream(ctx context.Context, w io.Writer, r io.Reader, options *SealOptions, to ...Recipient) error {
	list, err := sealing(options, to)
	if err != nil {
		return err
	}
	defer list.release()
	defer runtime.KeepAlive(to)
	return stream(ctx, w, r, options.work(), calls{list.handle, abi.SealStream, abi.SealDescriptor})
}

// OpenStream opens the sealed data that it reads from r, and writes the data to w. All written data are authentic, but
// they are complete only if the error is nil. See [SealStream] about r and w.
func OpenStream(ctx context.Context, w io.Writer, r io.Reader, options *OpenOptions, keys ...Identity) error {
	list, err := opening(options, keys)
	if err != nil {
		return err
	}
	defer list.release()
	defer runtime.KeepAlive(keys)
	return stream(ctx, w, r, options.work(), calls{list.handle, abi.OpenStream, abi.OpenDescriptor})
}

// calls holds the library's two functions for a stream: one uses callbacks, and one uses descriptors.
type calls struct {
	list        abi.Handle
	callbacks   func(list abi.Handle, user uintptr, work abi.Handle, err *abi.Handle) int32
	descriptors func(list abi.Handle, input, output int32, work abi.Handle, err *abi.Handle) int32
}

func stream(ctx context.Context, w io.Writer, r io.Reader, work work, calls calls) error {
	switch {
	case w == nil:
		return wrong("the writer is nil")
	case r == nil:
		return wrong("the reader is nil")
	}
	input, isFile := regular(r)
	if output, isToo := regular(w); isFile && isToo {
		return work.do(ctx, func(work abi.Handle) error {
			return withDescriptors(input, output, func(input, output int32, err *abi.Handle) int32 {
				return calls.descriptors(calls.list, input, output, work, err)
			})
		})
	}
	exchange := exchange{ctx: ctx, reader: r, writer: w, requests: make(chan request)}
	user := abi.Register(exchange.target())
	defer abi.Unregister(user)
	err := work.serve(ctx, exchange.requests, func(work abi.Handle) error {
		return run(func(err *abi.Handle) int32 { return calls.callbacks(calls.list, user, work, err) })
	})
	return exchange.explain(err)
}

// If a reader or writer is a regular file, regular returns this file.
func regular(stream any) (*os.File, bool) {
	file, ok := stream.(*os.File)
	if !ok || file == nil {
		return nil, false
	}
	about, err := file.Stat()
	return file, err == nil && about.Mode().IsRegular()
}

// withDescriptors calls the library with two descriptors. The descriptors stay open during the call even if the files
// are closed.
func withDescriptors(input, output *os.File, call func(input, output int32, err *abi.Handle) int32) error {
	from, err := input.SyscallConn()
	if err != nil {
		return failed(ErrRead, err)
	}
	to, err := output.SyscallConn()
	if err != nil {
		return failed(ErrWrite, err)
	}
	var result, closed error
	err = from.Control(func(in uintptr) {
		closed = to.Control(func(out uintptr) {
			result = run(func(err *abi.Handle) int32 { return call(int32(in), int32(out), err) })
		})
	})
	// Control returns an error only if the file is closed.
	switch {
	case err != nil:
		return failed(ErrRead, &fs.PathError{Op: "read", Path: input.Name(), Err: fs.ErrClosed})
	case closed != nil:
		return failed(ErrWrite, &fs.PathError{Op: "write", Path: output.Name(), Err: fs.ErrClosed})
	}
	return result
}

// failed returns the error for a failure of the caller's reader or writer.
func failed(code Code, cause error) error {
	return &Error{Code: code, Text: code.message() + ": " + cause.Error(), causes: []error{cause}}
}

// A request tells the caller's goroutine to fill or write a buffer for a thread of the library. The thread waits for
// the answer.
type request struct {
	buffer []byte
	answer chan<- int64
	do     func(buffer []byte) int64
}

// serve answers a request. If a function of the caller panics, serve first sends the answer, and then the panic
// continues.
func (r request) serve() {
	answer := int64(-1)
	defer func() { r.answer <- answer }()
	answer = r.do(r.buffer)
}

func (r request) refuse() {
	r.answer <- -1
}

// pieceSize is the length of the buffers that are passed to the caller's Read and Write. These buffers belong to Go. If
// a reader or writer uses a buffer after its call has returned, which is forbidden, the memory of the library is still
// safe.
const pieceSize = 64 << 10

// An exchange passes requests from the library's threads to the goroutine that serves the requests.
type exchange struct {
	ctx      context.Context
	reader   io.Reader
	writer   io.Writer
	requests chan request

	piece []byte
	// pending is an error that a Read has returned together with bytes.
	pending                 error
	readFailed, writeFailed error
}

// target returns functions that send requests from any thread. The library reads and writes at the same time, so
// reading and writing have separate answers.
func (e *exchange) target() *abi.Target {
	reads, writes := make(chan int64, 1), make(chan int64, 1)
	return &abi.Target{
		Read: func(buffer []byte) int64 {
			e.requests <- request{buffer, reads, e.read}
			return <-reads
		},
		Write: func(bytes []byte) int32 {
			e.requests <- request{bytes, writes, e.write}
			return int32(<-writes)
		},
	}
}

// read fills a buffer. If the reader ends, read fills only a part of the buffer.
func (e *exchange) read(buffer []byte) int64 {
	done, idle := 0, 0
	for done < len(buffer) && e.pending == nil {
		if e.pending = e.ctx.Err(); e.pending != nil {
			break
		}
		piece := e.room(len(buffer) - done)
		count, err := e.reader.Read(piece)
		if count < 0 || count > len(piece) {
			e.readFailed = fmt.Errorf("the reader returned %d for a buffer of %d bytes", count, len(piece))
			return -1
		}
		done += copy(buffer[done:], piece[:count])
		e.pending = err
		if idle++; count > 0 {
			idle = 0
		}
		if idle == 100 {
			e.pending = io.ErrNoProgress
		}
	}
	if done == 0 && e.pending != nil && !errors.Is(e.pending, io.EOF) {
		e.readFailed = e.pending
		return -1
	}
	return int64(done)
}

// write writes all of the bytes.
func (e *exchange) write(bytes []byte) int64 {
	for len(bytes) > 0 {
		if e.writeFailed = e.ctx.Err(); e.writeFailed != nil {
			return 1
		}
		piece := e.room(len(bytes))
		bytes = bytes[copy(piece, bytes):]
		if e.writeFailed = writeAll(e.writer, piece); e.writeFailed != nil {
			return 1
		}
	}
	return 0
}

func (e *exchange) room(most int) []byte {
	if e.piece == nil {
		e.piece = make([]byte, pieceSize)
	}
	return e.piece[:min(most, len(e.piece))]
}

// explain returns the error of the caller's reader or writer instead of the library's error. The library's error shows
// only that the reader or writer failed.
func (e *exchange) explain(err error) error {
	cause := e.readFailed
	if errors.Is(err, ErrWrite) {
		cause = e.writeFailed
	}
	switch {
	case err == nil || cause == nil:
		return err
	case e.ctx.Err() != nil:
		return stopped(e.ctx)
	case errors.Is(err, ErrRead):
		return failed(ErrRead, cause)
	case errors.Is(err, ErrWrite):
		return failed(ErrWrite, cause)
	}
	return err
}

func writeAll(writer io.Writer, bytes []byte) error {
	count, err := writer.Write(bytes)
	switch {
	case count < 0 || count > len(bytes):
		return fmt.Errorf("the writer returned %d for %d bytes", count, len(bytes))
	case err == nil && count < len(bytes):
		return io.ErrShortWrite
	}
	return err
}

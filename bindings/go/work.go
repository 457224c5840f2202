package deadpan

import (
	"context"
	"errors"
	"math"
	"time"

	"deadpan.example/deadpan/internal/abi"
)

const interval = 50 * time.Millisecond

type work struct {
	threads  int
	progress func(done int64)
}

// do calls the library. The function stops the library's work when the context is done, and reports progress while the
// library works.
func (w work) do(ctx context.Context, call func(work abi.Handle) error) error {
	return w.serve(ctx, nil, call)
}

// Like do, serve calls the library. In addition, serve answers requests in the caller's goroutine.
func (w work) serve(ctx context.Context, requests <-chan request, call func(work abi.Handle) error) error {
	if ctx == nil {
		return wrong("the context is nil")
	}
	if w.threads < 0 || uint64(w.threads) > math.MaxUint32 {
		return wrong("%d threads are not possible", w.threads)
	}
	if ctx.Err() != nil {
		return stopped(ctx)
	}
	if ctx.Done() == nil && w.threads == 0 && w.progress == nil && requests == nil {
		return call(0)
	}
	var handle abi.Handle
	if err := run(func(err *abi.Handle) int32 { return abi.WorkNew(&handle, err) }); err != nil {
		return err
	}
	defer abi.WorkFree(handle)
	err := run(func(err *abi.Handle) int32 { return abi.WorkThreads(handle, uint32(w.threads), err) })
	if err != nil {
		return err
	}
	// If the context is done after the end of the work, the handle is already freed, and this call does nothing.
	defer context.AfterFunc(ctx, func() { abi.WorkStop(handle, 1, nil) })()
	if w.progress == nil && requests == nil {
		err = call(handle)
	} else {
		err = w.watch(handle, requests, call)
	}
	if ctx.Err() != nil && errors.Is(err, ErrStopped) {
		return stopped(ctx)
	}
	return err
}

// watch calls the library in a separate goroutine. So the caller's functions run in the caller's goroutine, and their
// panics do not pass through C.
func (w work) watch(handle abi.Handle, requests <-chan request, call func(work abi.Handle) error) error {
	done := make(chan error, 1)
	go func() { done <- call(handle) }()
	var ended bool
	defer func() {
		if !ended {
			// At this point, a function of the caller has panicked or has ended the goroutine. The library must finish
			// before the panic continues.
			abi.WorkStop(handle, 1, nil)
			refuse(requests, done)
		}
	}()
	var ticks <-chan time.Time
	tell := func() {
		var bytes uint64
		abi.WorkDone(handle, &bytes, nil)
		w.progress(int64(bytes))
	}
	if w.progress != nil {
		w.progress(0)
		ticker := time.NewTicker(interval)
		defer ticker.Stop()
		ticks = ticker.C
	}
	for {
		select {
		case request := <-requests:
			request.serve()
		case <-ticks:
			tell()
		case err := <-done:
			ended = true
			if err == nil && w.progress != nil {
				tell()
			}
			return err
		}
	}
}

// refuse answers all requests with a failure until the library has finished.
func refuse(requests <-chan request, done <-chan error) {
	for {
		select {
		case request := <-requests:
			request.refuse()
		case <-done:
			return
		}
	}
}

func stopped(ctx context.Context) error {
	causes := []error{ctx.Err()}
	if cause := context.Cause(ctx); cause != ctx.Err() {
		causes = append(causes, cause)
	}
	text := ErrStopped.message()
	return &Error{Code: ErrStopped, Text: text + ": " + causes[len(causes)-1].Error(), causes: causes}
}

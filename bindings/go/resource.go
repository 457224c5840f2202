package deadpan

import (
	"runtime"
	"sync/atomic"
)

// A resource owns handles of the library until the resource is closed. If nothing refers to the owner of the resource,
// the garbage collector frees the handles.
//
// The owner stores the numbers of its handles even after the handles are freed. The library refuses freed handles, so
// closing a key while another goroutine uses it does no harm.
type resource struct {
	name    string
	free    func()
	closed  atomic.Bool
	cleanup runtime.Cleanup
}

// own makes a handle belong to its owner, so that the handle is freed with the owner. `free` must not refer to the
// owner.
func own[T any](owner *T, held *resource, name string, free func()) {
	held.name, held.free = name, free
	held.cleanup = runtime.AddCleanup(owner, func(free func()) { free() }, free)
}

// close frees the handles. Closing twice does nothing.
func (r *resource) close() {
	if r.free != nil && r.closed.CompareAndSwap(false, true) {
		r.cleanup.Stop()
		r.free()
	}
}

func (r *resource) check() error {
	if r.free == nil {
		return wrong("a key, passphrase, session, reader or writer was not made by a function of this package")
	}
	if r.closed.Load() {
		return &Error{Code: ErrClosed, Text: "the " + r.name + " was closed"}
	}
	return nil
}

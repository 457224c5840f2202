//go:build !deadpan_cgo

package deadpan_test

import (
	"strings"
	"testing"
)

func TestALibraryThatIsMissing(t *testing.T) {
	none := again(t, "missing", "DEADPAN_LIBRARY=/no/such/libdeadpan.so")
	for _, part := range []string{
		"libdeadpan cannot be loaded", "/no/such/libdeadpan.so",
		"cargo cinstall --release -p deadpan-capi", "DEADPAN_LIBRARY",
	} {
		if !strings.Contains(none, part) {
			t.Errorf("%q is not in the error:\n%s", part, none)
		}
	}
	// A library that is not libdeadpan. Every program on this system can load the C library libc.
	another := again(t, "missing", "DEADPAN_LIBRARY=libc.so.6")
	if !strings.Contains(another, "libc.so.6 is not libdeadpan of this version") {
		t.Errorf("another library is taken for libdeadpan:\n%s", another)
	}
}

//go:build !deadpan_cgo && 386

package abi

import (
	"strings"
	"testing"
)

func TestASystemWithoutALibrarySaysSo(t *testing.T) {
	var key, failed Handle
	if code := PrivateKeyGenerate(0x647a, &key, &failed); code != Missing {
		t.Fatalf("the code is %d", code)
	}
	text := MissingText()
	if !strings.HasPrefix(text, "there is no libdeadpan for linux/386\nuse Linux or macOS of 64 bits") {
		t.Fatal(text)
	}
}

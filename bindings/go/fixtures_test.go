package deadpan_test

import (
	"bytes"
	"context"
	"errors"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"deadpan.example/deadpan"
)

var ctx = context.Background()

// Keys that many tests share.
var (
	shared = sync.OnceValue(func() *deadpan.PrivateKey { return generate(deadpan.XWing) })
	other  = sync.OnceValue(func() *deadpan.PrivateKey { return generate(deadpan.XWing) })
)

func generate(kind deadpan.Kind) *deadpan.PrivateKey {
	key, err := deadpan.GenerateKey(kind)
	if err != nil {
		panic(err)
	}
	return key
}

func check(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func must[T any](value T, err error) func(testing.TB) T {
	return func(t testing.TB) T {
		t.Helper()
		check(t, err)
		return value
	}
}

// wants checks the cause of an error.
func wants(t testing.TB, err, cause error) {
	t.Helper()
	if !errors.Is(err, cause) {
		t.Fatalf("the error is %v, and not %v", err, cause)
	}
}

func same(t testing.TB, got, want []byte) {
	t.Helper()
	if !bytes.Equal(got, want) {
		t.Fatalf("%d bytes came back, and not the %d bytes that went in", len(got), len(want))
	}
}

// data returns varied bytes. The bytes have no period that equals the size of a chunk or buffer in the library.
func data(length int) []byte {
	bytes := make([]byte, length)
	for place := range min(length, 99_991) {
		bytes[place] = byte(place * 31 >> 3)
	}
	for done := 99_991; done < length; done *= 2 {
		copy(bytes[done:], bytes[:done])
	}
	return bytes
}

func passphrase(t testing.TB, text string) *deadpan.Passphrase {
	t.Helper()
	return must(deadpan.NewPassphrase([]byte(text)))(t)
}

func write(t testing.TB, folder, name string, bytes []byte) string {
	t.Helper()
	path := filepath.Join(folder, name)
	check(t, os.WriteFile(path, bytes, 0o600))
	return path
}

func names(t testing.TB, folder string) []string {
	t.Helper()
	var names []string
	for _, entry := range must(os.ReadDir(folder))(t) {
		names = append(names, entry.Name())
	}
	return names
}

func within(t testing.TB, limit time.Duration, do func()) {
	t.Helper()
	done := make(chan struct{})
	go func() {
		defer close(done)
		do()
	}()
	select {
	case <-done:
	case <-time.After(limit):
		t.Fatalf("still at work after %v", limit)
	}
}

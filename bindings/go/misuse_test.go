package deadpan_test

import (
	"bytes"
	"context"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"

	"deadpan.example/deadpan"
)

func TestNil(t *testing.T) {
	key, folder := shared(), t.TempDir()
	var (
		noKey        *deadpan.PrivateKey
		noPublic     *deadpan.PublicKey
		noPassphrase *deadpan.Passphrase
		noSession    *deadpan.Session
		noReader     *deadpan.Reader
		noWriter     *deadpan.Writer
		noContext    context.Context
	)
	path := filepath.Join(folder, "x")
	for name, use := range map[string]func() error{
		"recipient 2 is nil":       func() error { _, err := deadpan.Seal(nil, key.Public(), nil); return err },
		"recipient 1 is nil":       func() error { _, err := deadpan.Seal(nil, nil); return err },
		"key 1 is nil":             func() error { _, err := deadpan.Open(nil, nil, key); return err },
		"a public key is nil":      func() error { _, err := deadpan.Seal(nil, noPublic); return err },
		"a passphrase is nil":      func() error { _, err := deadpan.Seal(nil, noPassphrase); return err },
		"a session is nil":         func() error { _, err := deadpan.Seal(nil, noSession); return err },
		"a private key is nil":     func() error { _, err := deadpan.Open(nil, noKey); return err },
		"passphrase is nil":        func() error { _, err := deadpan.NewSession(nil); return err },
		"the private key is nil":   func() error { _, err := noKey.PEM(nil); return err },
		"the public key is nil":    func() error { _, err := noPublic.PEM(); return err },
		"the reader is nil":        func() error { _, err := noReader.Read(nil); return err },
		"the writer is nil":        func() error { _, err := noWriter.Write(nil); return err },
		"the context is nil":       func() error { return deadpan.SealFile(noContext, path, path, nil, key.Public()) },
		"the length -1 is":         func() error { _, err := deadpan.SealedLen(-1, nil, key.Public()); return err },
		"was not made":             func() error { _, err := new(deadpan.PrivateKey).PEM(nil); return err },
		"was not made by":          func() error { _, err := new(deadpan.Reader).Read(nil); return err },
		"was not made by a":        func() error { _, err := new(deadpan.Writer).Write(nil); return err },
		"not made by a function":   func() error { _, err := deadpan.Seal(nil, new(deadpan.Session)); return err },
		"not made by a function o": func() error { _, err := deadpan.Open(nil, new(deadpan.Passphrase)); return err },
	} {
		err := use()
		wants(t, err, deadpan.ErrArgument)
		if !strings.Contains(err.Error(), name) {
			t.Errorf("%v, and not: %s", err, name)
		}
	}
	// Each function that takes keys.
	identities := map[string]deadpan.Identity{
		"key 1 is nil": nil, "a private key is nil": noKey,
		"a passphrase is nil": noPassphrase, "a session is nil": noSession,
	}
	for name, nothing := range identities {
		for _, options := range []*deadpan.OpenOptions{nil, {MaxCost: deadpan.MaxCost{Memory: 1, Passes: 1}}} {
			for function, use := range map[string]func() error{
				"Open":       func() error { _, err := deadpan.Open(nil, nothing); return err },
				"AppendOpen": func() error { _, err := deadpan.AppendOpen(ctx, nil, nil, options, nothing); return err },
				"OpenFile":   func() error { return deadpan.OpenFile(ctx, path, path, options, nothing) },
				"OpenFolder": func() error { return deadpan.OpenFolder(ctx, path, path, options, nothing) },
				"ListFolder": func() error { _, err := deadpan.ListFolder(ctx, path, options, nothing); return err },
				"Inspect":    func() error { _, err := deadpan.Inspect(path, options, nothing); return err },
				"OpenReader": func() error { _, err := deadpan.OpenReader(path, options, nothing); return err },
				"NewReader": func() error {
					_, err := deadpan.NewReader(strings.NewReader(""), 0, options, nothing)
					return err
				},
				"OpenStream": func() error {
					return deadpan.OpenStream(ctx, io.Discard, strings.NewReader(""), options, nothing)
				},
			} {
				err := use()
				if !errors.Is(err, deadpan.ErrArgument) || !strings.Contains(err.Error(), name) {
					t.Errorf("%s: %v, and not: %s", function, err, name)
				}
			}
		}
	}
	if noKey.Equal(noKey) || noKey.Equal(key) || key.Equal(noKey) || key.Equal(nil) {
		t.Fatal("nil is a key")
	}
	for _, closer := range []io.Closer{noKey, noPassphrase, noSession, noReader, new(deadpan.PrivateKey)} {
		check(t, closer.Close())
	}
	wants(t, noWriter.Close(), deadpan.ErrArgument)
	if noKey.Public() != nil || noPublic.Kind() != 0 || noPublic.Equal(noPublic) || noReader.Size() != 0 {
		t.Fatal("nil is something")
	}
	if noKey.String() == "" || noPublic.String() == "" || noPublic.Fingerprint() != "" {
		t.Fatal("nil is printed wrongly")
	}
}

func TestKeysThatWereClosed(t *testing.T) {
	key, secret := generate(deadpan.XWing), passphrase(t, "correct horse")
	session := must(deadpan.NewSession(secret))(t)
	sealed := must(deadpan.Seal([]byte("face"), key.Public()))(t)
	text := must(key.PEM(nil))(t)
	for _, closer := range []io.Closer{key, secret, session, key, secret, session} {
		check(t, closer.Close())
	}
	for name, use := range map[string]func() error{
		"open":        func() error { _, err := deadpan.Open(sealed, key); return err },
		"open both":   func() error { _, err := deadpan.Open(sealed, shared(), key); return err },
		"PEM":         func() error { _, err := key.PEM(nil); return err },
		"protect":     func() error { _, err := shared().PEM(secret); return err },
		"parse":       func() error { _, err := deadpan.ParsePrivateKey(text, secret); return err },
		"session":     func() error { _, err := deadpan.NewSession(secret); return err },
		"seal to it":  func() error { _, err := deadpan.Seal(nil, secret); return err },
		"and session": func() error { _, err := deadpan.Seal(nil, session); return err },
	} {
		err := use()
		wants(t, err, deadpan.ErrClosed)
		wants(t, err, fs.ErrClosed)
		if !strings.Contains(err.Error(), "was closed") {
			t.Errorf("%s: %v", name, err)
		}
	}
	// The public key is not secret, and can still be used.
	must(deadpan.Seal([]byte("face"), key.Public()))(t)
	same(t, must(deadpan.Open(sealed, must(deadpan.ParsePrivateKey(text, nil))(t)))(t), []byte("face"))
}

// If a key is closed while other goroutines use it, their calls succeed or return errors.
func TestKeysThatAreClosedInUse(t *testing.T) {
	for range 20 {
		key := generate(deadpan.X25519)
		sealed := must(deadpan.Seal([]byte("face"), key.Public()))(t)
		var group sync.WaitGroup
		failures := make(chan error, 100)
		for range 4 {
			group.Go(func() {
				for {
					opened, err := deadpan.Open(sealed, key)
					switch {
					case errors.Is(err, deadpan.ErrClosed):
						return
					case err != nil || !bytes.Equal(opened, []byte("face")):
						failures <- errors.Join(errors.New("other bytes"), err)
						return
					}
				}
			})
		}
		runtime.Gosched()
		check(t, key.Close())
		group.Wait()
		close(failures)
		for err := range failures {
			t.Fatal(err)
		}
	}
}

func TestErrorsThatAreWrapped(t *testing.T) {
	for code, also := range map[deadpan.Code][]error{
		deadpan.ErrTruncated:  {deadpan.ErrTampered, io.ErrUnexpectedEOF},
		deadpan.ErrSignature:  {deadpan.ErrTampered},
		deadpan.ErrPassphrase: {deadpan.ErrNoKey},
		deadpan.ErrCostly:     {deadpan.ErrNoKey},
		deadpan.ErrLocked:     {deadpan.ErrKey},
		deadpan.ErrExists:     {fs.ErrExist},
		deadpan.ErrClosed:     {fs.ErrClosed},
	} {
		for _, cause := range also {
			wants(t, &deadpan.Error{Code: code}, cause)
			if errors.Is(cause, code) {
				t.Fatalf("%v is %v, and not only the other way round", cause, code)
			}
		}
	}
	seen := map[string]deadpan.Code{}
	for code := range deadpan.Code(40) {
		text := code.Error()
		if before, ok := seen[text]; ok && !strings.Contains(text, "unknown") {
			t.Fatalf("%d and %d have the same message: %s", before, code, text)
		}
		seen[text] = code
	}
	if text := deadpan.ErrNoKey.Error(); text != "deadpan: no key opens it" {
		t.Fatal(text)
	}
}

func TestAReaderThatIsANilPointerPanicsOnTheCallersSide(t *testing.T) {
	key := must(deadpan.GenerateKey(deadpan.XWing))(t)
	for name, reader := range map[string]io.ReaderAt{
		"bytes": (*bytes.Reader)(nil), "strings": (*strings.Reader)(nil), "file": (*os.File)(nil),
	} {
		func() {
			defer func() { _ = recover() }()
			if _, err := deadpan.NewReader(reader, 1000, nil, key); err == nil {
				t.Errorf("%s: no error", name)
			}
		}()
	}
	// The library still works.
	sealed := must(deadpan.Seal([]byte("face"), key.Public()))(t)
	check(t, must(deadpan.NewReader(bytes.NewReader(sealed), int64(len(sealed)), nil, key))(t).Close())
}

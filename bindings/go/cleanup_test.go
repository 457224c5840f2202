package deadpan

import (
	"bytes"
	"io"
	"runtime"
	"testing"
	"time"

	"deadpan.example/deadpan/internal/abi"
)

// The garbage collector frees a resource if nothing refers to it any more.
func TestTheGarbageCollectorFrees(t *testing.T) {
	handles := forget(t)
	for name, isFreed := range handles {
		deadline := time.Now().Add(20 * time.Second)
		for !isFreed() {
			if time.Now().After(deadline) {
				t.Fatalf("%s is still there", name)
			}
			runtime.GC()
			time.Sleep(time.Millisecond)
		}
	}
}

// forget makes a resource of each kind. For each resource, forget returns a function that reports whether the library
// still stores the resource.
func forget(t *testing.T) map[string]func() bool {
	key, err := GenerateKey(X25519)
	if err != nil {
		t.Fatal(err)
	}
	passphrase, err := NewPassphrase([]byte("correct horse"))
	if err != nil {
		t.Fatal(err)
	}
	session, err := NewSession(passphrase)
	if err != nil {
		t.Fatal(err)
	}
	sealed, err := Seal([]byte("face"), key.Public())
	if err != nil {
		t.Fatal(err)
	}
	reader, err := NewReader(bytes.NewReader(sealed), int64(len(sealed)), nil, key)
	if err != nil {
		t.Fatal(err)
	}
	writer, err := NewWriter(io.Discard, nil, key.Public())
	if err != nil {
		t.Fatal(err)
	}
	gone := func(code int32) bool { return code == abi.Closed }
	private, public, opening, sealing := key.handle, key.public.handle, key.opening, key.public.sealing
	phrase, hashed, read, written := passphrase.handle, session.handle, reader.handle, writer.handle
	freed := map[string]func() bool{
		"private key": func() bool {
			var handle abi.Handle
			return gone(abi.PrivateKeyPublic(private, &handle, nil))
		},
		"public key":     func() bool { return gone(abi.PublicKeyKind(public, new(int32), nil)) },
		"its opening":    func() bool { return gone(abi.Open(opening, nil, nil, new(int), 0, nil)) },
		"its sealing":    func() bool { return gone(abi.SealedLength(sealing, 1, new(uint64), nil)) },
		"the session":    func() bool { return gone(abi.SealingAddSession(sealing, hashed, nil)) },
		"the reader":     func() bool { return gone(abi.ReaderLength(read, new(uint64), nil)) },
		"the writer":     func() bool { return gone(abi.WriterWrite(written, nil, nil)) },
		"the passphrase": func() bool { return gone(abi.SealingAddPassphrase(sealing, phrase, nil)) },
	}
	for name, isFreed := range freed {
		if isFreed() {
			t.Fatalf("%s is freed too early", name)
		}
	}
	runtime.KeepAlive([]any{key, passphrase, session, reader, writer})
	return freed
}

// Close immediately frees everything that holds the secret.
func TestClosingFrees(t *testing.T) {
	key, err := GenerateKey(X25519)
	if err != nil {
		t.Fatal(err)
	}
	if err := key.Close(); err != nil {
		t.Fatal(err)
	}
	var public abi.Handle
	if code := abi.PrivateKeyPublic(key.handle, &public, nil); code != abi.Closed {
		t.Fatalf("the key is still there: %d", code)
	}
	if code := abi.Open(key.opening, nil, nil, new(int), 0, nil); code != abi.Closed {
		t.Fatalf("the list that holds the key is still there: %d", code)
	}
}

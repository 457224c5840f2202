package deadpan_test

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"strings"
	"testing"

	"deadpan.example/deadpan"
)

var kinds = []deadpan.Kind{
	deadpan.P256, deadpan.X25519, deadpan.MLKEM768, deadpan.MLKEM1024, deadpan.MLKEM768P256, deadpan.XWing,
}

func TestKeysAreWrittenAndRead(t *testing.T) {
	for _, kind := range kinds {
		t.Run(kind.String(), func(t *testing.T) {
			key := generate(kind)
			defer key.Close()
			public := key.Public()
			sealed := must(deadpan.Seal([]byte("straight face"), public))(t)

			text := must(key.PEM(nil))(t)
			if !strings.HasPrefix(string(text), "-----BEGIN PRIVATE KEY-----") {
				t.Fatalf("no PEM: %.40s", text)
			}
			again := must(deadpan.ParsePrivateKey(text, nil))(t)
			same(t, must(deadpan.Open(sealed, again))(t), []byte("straight face"))
			if !again.Public().Equal(public) || public.Equal(other().Public()) || public.Equal(7) {
				t.Fatal("keys are compared wrongly")
			}
			if !again.Equal(key) || !key.Equal(key) || key.Equal(generate(kind)) || key.Equal(public) {
				t.Fatal("private keys are compared wrongly")
			}
			check(t, again.Close())
			if again.Equal(key) || key.Equal(again) || !again.Equal(again) {
				t.Fatal("a key that was closed is compared wrongly")
			}

			parsed := must(deadpan.ParsePublicKey(must(public.PEM())(t)))(t)
			if parsed.Kind() != kind || !parsed.Equal(public) || parsed.Fingerprint() != public.Fingerprint() {
				t.Fatalf("another key came back: %v, and not %v", parsed, public)
			}
			same(t, must(deadpan.Open(must(deadpan.Seal([]byte("x"), parsed))(t), key))(t), []byte("x"))
		})
	}
}

func TestProtectedKeys(t *testing.T) {
	key, right, wrong := shared(), passphrase(t, "correct horse"), passphrase(t, "battery")
	text := must(key.PEM(right))(t)
	if !strings.Contains(string(text), "-----BEGIN ENCRYPTED PRIVATE KEY-----") {
		t.Fatalf("not protected: %.50s", text)
	}
	_, err := deadpan.ParsePrivateKey(text, nil)
	wants(t, err, deadpan.ErrLocked)
	wants(t, err, deadpan.ErrKey)
	_, err = deadpan.ParsePrivateKey(text, wrong)
	wants(t, err, deadpan.ErrPassphrase)
	if again := must(deadpan.ParsePrivateKey(text, right))(t); !again.Public().Equal(key.Public()) {
		t.Fatal("another key came back")
	}
}

func TestAgeKeys(t *testing.T) {
	key := generate(deadpan.X25519)
	text := must(key.Public().Age())(t)
	if !strings.HasPrefix(text, "age1") {
		t.Fatalf("no recipient of age: %s", text)
	}
	identity := must(key.Age())(t)
	if !strings.HasPrefix(string(identity), "AGE-SECRET-KEY-1") {
		t.Fatal("no identity of age")
	}
	sealed := must(deadpan.Seal([]byte("face"), must(deadpan.ParsePublicKey(text))(t)))(t)
	same(t, must(deadpan.Open(sealed, must(deadpan.ParsePrivateKey(identity, nil))(t)))(t), []byte("face"))
	_, err := generate(deadpan.MLKEM1024).Age()
	wants(t, err, deadpan.ErrArgument)
}

func TestTextsThatAreNoKeys(t *testing.T) {
	_, err := deadpan.GenerateKey(77)
	wants(t, err, deadpan.ErrArgument)
	_, err = deadpan.GenerateKey(-1)
	wants(t, err, deadpan.ErrArgument)
	public := must(shared().Public().PEM())(t)
	for _, text := range []string{"", "no key", "-----BEGIN PRIVATE KEY-----\n", public, "\x00\xff", "age1xyz"} {
		_, err := deadpan.ParsePrivateKey([]byte(text), nil)
		wants(t, err, deadpan.ErrKey)
	}
	private := must(shared().PEM(nil))(t)
	for _, text := range []string{"", "no key", string(private), "\x00\xff", "AGE-SECRET-KEY-1"} {
		_, err := deadpan.ParsePublicKey(text)
		wants(t, err, deadpan.ErrKey)
	}
}

func TestSecretsAreNotPrinted(t *testing.T) {
	key, secret := shared(), passphrase(t, "correct horse")
	session := must(deadpan.NewSession(secret))(t)
	private := string(must(key.PEM(nil))(t))
	for _, verb := range []string{"%v", "%+v", "%s", "%#v"} {
		text := fmt.Sprintf(strings.Repeat(verb+" ", 3), key, secret, session)
		if strings.Contains(text, "horse") || strings.Contains(text, private[30:60]) {
			t.Fatalf("%s prints a secret", verb)
		}
	}
	if text := key.String(); !strings.Contains(text, key.Public().Fingerprint()) || !strings.Contains(text, "X-Wing") {
		t.Fatalf("the key cannot be told from others: %s", text)
	}
}

func TestPassphrasesAndSessions(t *testing.T) {
	secret := passphrase(t, "correct horse")
	session := must(deadpan.NewSession(secret))(t)
	for number := range byte(20) {
		sealed := must(deadpan.Seal([]byte{number}, session))(t)
		same(t, must(deadpan.Open(sealed, session))(t), []byte{number})
	}
	sealed := must(deadpan.Seal([]byte("face"), session))(t)
	same(t, must(deadpan.Open(sealed, secret))(t), []byte("face"))
	sealed = must(deadpan.Seal([]byte("face"), secret))(t)
	same(t, must(deadpan.Open(sealed, session))(t), []byte("face"))
	_, err := deadpan.Open(sealed, passphrase(t, "battery"))
	wants(t, err, deadpan.ErrPassphrase)
	wants(t, err, deadpan.ErrNoKey)
	_, err = deadpan.NewPassphrase(nil)
	wants(t, err, deadpan.ErrArgument)
}

// Sealed data specify the memory and work for trying a passphrase, so data of an attacker may require too much.
func TestTheCostOfPassphrasesHasALimit(t *testing.T) {
	secret, folder := passphrase(t, "correct horse"), t.TempDir()
	sealed := must(deadpan.Seal([]byte("face"), secret))(t)
	path := filepath.Join(folder, "sealed")
	write(t, folder, "sealed", sealed)
	low := &deadpan.OpenOptions{MaxCost: deadpan.MaxCost{Memory: 256<<10 - 1, Passes: 64}}
	for name, use := range map[string]func() error{
		"AppendOpen": func() error { _, err := deadpan.AppendOpen(ctx, nil, sealed, low, secret); return err },
		"OpenFile":   func() error { return deadpan.OpenFile(ctx, path, path+".plain", low, secret) },
		"OpenStream": func() error { return deadpan.OpenStream(ctx, io.Discard, bytes.NewReader(sealed), low, secret) },
		"ListFolder": func() error { _, err := deadpan.ListFolder(ctx, path, low, secret); return err },
		"Inspect":    func() error { _, err := deadpan.Inspect(path, low, secret); return err },
		"OpenReader": func() error { _, err := deadpan.OpenReader(path, low, secret); return err },
		"NewReader": func() error {
			_, err := deadpan.NewReader(bytes.NewReader(sealed), int64(len(sealed)), low, secret)
			return err
		},
	} {
		if err := use(); !errors.Is(err, deadpan.ErrCostly) {
			t.Errorf("%s: %v", name, err)
		}
	}
	enough := &deadpan.OpenOptions{MaxCost: deadpan.MaxCost{Memory: 256 << 10, Passes: 3}}
	same(t, must(deadpan.AppendOpen(ctx, nil, sealed, enough, shared(), secret))(t), []byte("face"))
}

package main

import (
	"bytes"
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"

	"deadpan.example/deadpan"

	"filippo.io/age"
)

var errOther = errors.New("other bytes came back")

// A pair seals and opens prepared data, and checks whether the opened data are equal to the original data.
type pair struct {
	seal, open, look func() error
	close            func()
}

var kinds = map[string]func(size int) (*pair, error){
	"": withKey(reused), "new": withKey(fresh), "file": withKey(files),
	"age": withAge, "std": withStandardLibrary,
}

// inMemory makes a pair from a function that seals and a function that opens. Both functions append to a buffer, which
// they may use again.
func inMemory(size int, seal, open func(buffer, data []byte) ([]byte, error)) *pair {
	plain := make([]byte, size)
	for place := range plain {
		plain[place] = byte(place * 31 >> 3)
	}
	var sealed, opened []byte
	return &pair{
		seal: func() (err error) {
			sealed, err = seal(sealed[:0], plain)
			return err
		},
		open: func() (err error) {
			opened, err = open(opened[:0], sealed)
			return err
		},
		look: func() error {
			if !bytes.Equal(opened, plain) {
				return errOther
			}
			return nil
		},
	}
}

func withKey(make func(size int, key *deadpan.PrivateKey) (*pair, error)) func(int) (*pair, error) {
	return func(size int) (*pair, error) {
		key, err := deadpan.GenerateKey(deadpan.XWing)
		if err != nil {
			return nil, err
		}
		return make(size, key)
	}
}

// reused makes a pair for Deadpan with a buffer that is used again.
func reused(size int, key *deadpan.PrivateKey) (*pair, error) {
	public, ctx := key.Public(), context.Background()
	return inMemory(
		size,
		func(buffer, plain []byte) ([]byte, error) { return deadpan.AppendSeal(ctx, buffer, plain, nil, public) },
		func(buffer, sealed []byte) ([]byte, error) { return deadpan.AppendOpen(ctx, buffer, sealed, nil, key) },
	), nil
}

// fresh makes a pair for Deadpan with a new slice for each result.
func fresh(size int, key *deadpan.PrivateKey) (*pair, error) {
	return inMemory(
		size,
		func(_, plain []byte) ([]byte, error) { return deadpan.Seal(plain, key.Public()) },
		func(_, sealed []byte) ([]byte, error) { return deadpan.Open(sealed, key) },
	), nil
}

// files makes a pair that seals and opens a file in the folder for temporary files.
func files(size int, key *deadpan.PrivateKey) (*pair, error) {
	folder, err := os.MkdirTemp("", "deadpan-worker-")
	if err != nil {
		return nil, err
	}
	path := func(name string) string { return filepath.Join(folder, name) }
	plain, sealed, opened := path("plain"), path("sealed"), path("opened")
	data := bytes.Repeat([]byte("a face that moves "), size/18+1)[:size]
	ctx := context.Background()
	return &pair{
		// The old output is removed first, because replacing a file would wait until the new file is on the disk.
		seal: func() error {
			_ = os.Remove(sealed)
			return deadpan.SealFile(ctx, plain, sealed, nil, key.Public())
		},
		open: func() error {
			_ = os.Remove(opened)
			return deadpan.OpenFile(ctx, sealed, opened, nil, key)
		},
		look: func() error {
			found, err := os.ReadFile(opened)
			if err == nil && !bytes.Equal(found, data) {
				err = errOther
			}
			return err
		},
		close: func() { _ = os.RemoveAll(folder) },
	}, os.WriteFile(plain, data, 0o600)
}

// roomy returns a buffer that is large enough for length bytes and need not grow.
func roomy(buffer []byte, length int) *bytes.Buffer {
	if need := length + length/1024 + 4096; cap(buffer) < need {
		buffer = make([]byte, 0, need)
	}
	return bytes.NewBuffer(buffer)
}

// withAge makes a pair for age with an X25519 key. The pair works in memory, with a buffer that is used again.
func withAge(size int) (*pair, error) {
	identity, err := age.GenerateX25519Identity()
	if err != nil {
		return nil, err
	}
	seal := func(buffer, plain []byte) ([]byte, error) {
		output := roomy(buffer, len(plain))
		writer, err := age.Encrypt(output, identity.Recipient())
		if err != nil {
			return nil, err
		}
		_, err = writer.Write(plain)
		err = errors.Join(err, writer.Close())
		return output.Bytes(), err
	}
	open := func(buffer, sealed []byte) ([]byte, error) {
		reader, err := age.Decrypt(bytes.NewReader(sealed), identity)
		if err != nil {
			return nil, err
		}
		output := roomy(buffer, len(sealed))
		_, err = io.Copy(output, reader)
		return output.Bytes(), err
	}
	return inMemory(size, seal, open), nil
}

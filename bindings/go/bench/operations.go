package main

import (
	"bytes"
	"context"
	"errors"
	"io"

	"deadpan"

	"filippo.io/age"
)

var errOther = errors.New("other bytes came back")

// A format seals and opens. The slices are buffers that may be used.
type format struct {
	seal func(buffer, plain []byte) ([]byte, error)
	open func(buffer, sealed []byte) ([]byte, error)
}

func operations() map[string]operation {
	all := map[string]operation{}
	for name, made := range map[string]func() (format, error){
		"": reused, ".new": fresh, "age.": withAge, "std.": withStandardLibrary,
	} {
		seal, open := name+"seal", name+"open"
		if name == ".new" {
			seal, open = "seal.new", "open.new"
		}
		all[seal] = func(size int) (run, check func() error, err error) { return sealing(made, size) }
		all[open] = func(size int) (run, check func() error, err error) { return opening(made, size) }
	}
	all["file.seal"], all["file.open"] = sealingFiles, openingFiles
	return all
}

func sealing(made func() (format, error), size int) (run, check func() error, err error) {
	format, err := made()
	if err != nil {
		return nil, nil, err
	}
	plain := data(size)
	var sealed []byte
	run = func() error {
		sealed, err = format.seal(sealed[:0], plain)
		return err
	}
	check = func() error {
		opened, err := format.open(nil, sealed)
		if err == nil && !bytes.Equal(opened, plain) {
			err = errOther
		}
		return err
	}
	// The first run makes the buffer, and touches it.
	return run, check, run()
}

func opening(made func() (format, error), size int) (run, check func() error, err error) {
	format, err := made()
	if err != nil {
		return nil, nil, err
	}
	plain := data(size)
	sealed, err := format.seal(nil, plain)
	if err != nil {
		return nil, nil, err
	}
	var opened []byte
	run = func() error {
		opened, err = format.open(opened[:0], sealed)
		return err
	}
	check = func() error {
		if !bytes.Equal(opened, plain) {
			return errOther
		}
		return nil
	}
	return run, check, run()
}

// reused is Deadpan with a buffer that is used again.
func reused() (format, error) {
	key, err := deadpan.GenerateKey(deadpan.XWing)
	if err != nil {
		return format{}, err
	}
	public, ctx := key.Public(), context.Background()
	return format{
		seal: func(buffer, plain []byte) ([]byte, error) { return deadpan.AppendSeal(ctx, buffer, plain, nil, public) },
		open: func(buffer, sealed []byte) ([]byte, error) { return deadpan.AppendOpen(ctx, buffer, sealed, nil, key) },
	}, nil
}

// fresh is Deadpan with a new slice for each result.
func fresh() (format, error) {
	key, err := deadpan.GenerateKey(deadpan.XWing)
	if err != nil {
		return format{}, err
	}
	return format{
		seal: func(_, plain []byte) ([]byte, error) { return deadpan.Seal(plain, key.Public()) },
		open: func(_, sealed []byte) ([]byte, error) { return deadpan.Open(sealed, key) },
	}, nil
}

// roomy returns a buffer that need not grow.
func roomy(buffer []byte, length int) *bytes.Buffer {
	if need := length + length/1024 + 4096; cap(buffer) < need {
		buffer = make([]byte, 0, need)
	}
	return bytes.NewBuffer(buffer)
}

// withAge is age with an X25519 key, in memory, with a buffer that is used again.
func withAge() (format, error) {
	identity, err := age.GenerateX25519Identity()
	if err != nil {
		return format{}, err
	}
	return format{
		seal: func(buffer, plain []byte) ([]byte, error) {
			output := roomy(buffer, len(plain))
			writer, err := age.Encrypt(output, identity.Recipient())
			if err != nil {
				return nil, err
			}
			if _, err := writer.Write(plain); err != nil {
				return nil, err
			}
			err = writer.Close()
			return output.Bytes(), err
		},
		open: func(buffer, sealed []byte) ([]byte, error) {
			reader, err := age.Decrypt(bytes.NewReader(sealed), identity)
			if err != nil {
				return nil, err
			}
			output := roomy(buffer, len(sealed))
			_, err = io.Copy(output, reader)
			return output.Bytes(), err
		},
	}, nil
}

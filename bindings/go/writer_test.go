package deadpan_test

import (
	"archive/tar"
	"archive/zip"
	"bytes"
	"encoding/gob"
	"errors"
	"io"
	"os"
	"testing"
	"testing/fstest"
	"testing/iotest"
	"time"

	"deadpan"
)

var (
	_ io.WriteCloser    = (*deadpan.Writer)(nil)
	_ io.ReadSeekCloser = (*deadpan.Reader)(nil)
	_ io.ReaderAt       = (*deadpan.Reader)(nil)
)

func TestWritersAndReaders(t *testing.T) {
	key := shared()
	for _, length := range append(lengths, 5_000_000) {
		plain := data(length)
		var sealed bytes.Buffer
		writer := must(deadpan.NewWriter(&sealed, nil, key.Public()))(t)
		for rest := plain; len(rest) > 0; {
			count := must(writer.Write(rest[:min(77_777, len(rest))]))(t)
			rest = rest[count:]
		}
		check(t, writer.Close())
		check(t, writer.Close())
		same(t, must(deadpan.Open(sealed.Bytes(), key))(t), plain)

		reader := must(deadpan.NewReader(bytes.NewReader(sealed.Bytes()), int64(sealed.Len()), key))(t)
		if reader.Size() != int64(length) {
			t.Fatalf("the size is %d, and not %d", reader.Size(), length)
		}
		if length < 100_000 {
			check(t, iotest.TestReader(reader, plain))
		} else {
			same(t, must(io.ReadAll(reader))(t), plain)
		}
		check(t, reader.Close())
		check(t, reader.Close())
	}
	// At once, in many pieces.
	var sealed bytes.Buffer
	writer := must(deadpan.NewWriter(&sealed, nil, key.Public()))(t)
	if count := must(writer.Write(data(2_000_000)))(t); count != 2_000_000 {
		t.Fatalf("%d bytes were written", count)
	}
	check(t, writer.Close())
	same(t, must(deadpan.Open(sealed.Bytes(), key))(t), data(2_000_000))
}

func TestAWriterWithoutAnEnd(t *testing.T) {
	key := shared()
	var sealed bytes.Buffer
	writer := must(deadpan.NewWriter(&sealed, nil, key.Public()))(t)
	must(writer.Write(data(500_000)))(t)
	_, err := deadpan.Open(sealed.Bytes(), key)
	wants(t, err, deadpan.ErrTruncated)
	writer.Abandon()
	writer.Abandon()
	_, err = deadpan.Open(sealed.Bytes(), key)
	wants(t, err, deadpan.ErrTruncated)
	_, err = writer.Write([]byte("more"))
	wants(t, err, deadpan.ErrClosed)
	wants(t, err, os.ErrClosed)
	check(t, writer.Close())
	_, err = deadpan.Open(sealed.Bytes(), key)
	wants(t, err, deadpan.ErrTruncated)
}

func TestWritersThatFail(t *testing.T) {
	key, mine := shared(), errors.New("my own error")
	fails := stream{write: func([]byte) (int, error) { return 0, mine }}
	_, err := deadpan.NewWriter(fails, nil, key.Public())
	wants(t, err, mine)
	wants(t, err, deadpan.ErrWrite)
	_, err = deadpan.NewWriter(nil, nil, key.Public())
	wants(t, err, deadpan.ErrArgument)
	_, err = deadpan.NewWriter(io.Discard, nil)
	wants(t, err, deadpan.ErrArgument)

	left := 1
	later := stream{write: func(bytes []byte) (int, error) {
		if left--; left < 0 {
			return 0, mine
		}
		return len(bytes), nil
	}}
	writer := must(deadpan.NewWriter(later, nil, key.Public()))(t)
	_, err = writer.Write(data(1_000_000))
	wants(t, err, mine)
	// What follows would have a gap before it.
	left = 100
	_, err = writer.Write([]byte("more"))
	wants(t, err, mine)
	wants(t, writer.Close(), mine)
	_, err = writer.Write([]byte("more"))
	wants(t, err, deadpan.ErrClosed)
}

func TestWritersThatPanic(t *testing.T) {
	key := shared()
	armed := false
	panics := stream{write: func(bytes []byte) (int, error) {
		if armed {
			panic("straight face")
		}
		return len(bytes), nil
	}}
	writer := must(deadpan.NewWriter(panics, nil, key.Public()))(t)
	armed = true
	func() {
		defer func() {
			if value := recover(); value != "straight face" {
				t.Fatalf("recovered %v", value)
			}
		}()
		_, err := writer.Write(data(1_000_000))
		t.Fatalf("no panic: %v", err)
	}()
	armed = false
	_, err := writer.Write([]byte("more"))
	wants(t, err, deadpan.ErrWrite)
	wants(t, writer.Close(), deadpan.ErrWrite)
}

func TestTwoGoroutinesInOneWriter(t *testing.T) {
	key := shared()
	inside, leave := make(chan bool), make(chan bool)
	slow := false
	blocks := stream{write: func(bytes []byte) (int, error) {
		if slow {
			inside <- true
			<-leave
		}
		return len(bytes), nil
	}}
	writer := must(deadpan.NewWriter(blocks, nil, key.Public()))(t)
	slow = true
	first := make(chan error, 1)
	go func() {
		_, err := writer.Write(data(300_000))
		first <- err
	}()
	<-inside
	_, err := writer.Write([]byte("more"))
	wants(t, err, deadpan.ErrBusy)
	wants(t, writer.Close(), deadpan.ErrBusy)
	slow = false
	close(leave)
	within(t, 20*time.Second, func() {
		if err := <-first; err != nil {
			t.Error(err)
		}
	})
	check(t, writer.Close())
}

func TestTheStandardLibraryReadsAndWritesSealedData(t *testing.T) {
	key := shared()
	seal := func(fill func(io.Writer)) *deadpan.Reader {
		var sealed bytes.Buffer
		writer := must(deadpan.NewWriter(&sealed, nil, key.Public()))(t)
		fill(writer)
		check(t, writer.Close())
		return must(deadpan.NewReader(bytes.NewReader(sealed.Bytes()), int64(sealed.Len()), key))(t)
	}
	face := []byte("straight face")
	files := fstest.MapFS{"file": {Data: face, Mode: 0o600}}

	reader := seal(func(w io.Writer) {
		archive := tar.NewWriter(w)
		check(t, archive.AddFS(files))
		check(t, archive.Close())
	})
	archive := tar.NewReader(reader)
	must(archive.Next())(t)
	same(t, must(io.ReadAll(archive))(t), face)

	reader = seal(func(w io.Writer) {
		archive := zip.NewWriter(w)
		check(t, archive.AddFS(files))
		check(t, archive.Close())
	})
	file := must(must(zip.NewReader(reader, reader.Size()))(t).Open("file"))(t)
	same(t, must(io.ReadAll(file))(t), face)

	var back map[string]string
	reader = seal(func(w io.Writer) { check(t, gob.NewEncoder(w).Encode(map[string]string{"face": "straight"})) })
	check(t, gob.NewDecoder(reader).Decode(&back))
	if back["face"] != "straight" {
		t.Fatalf("another map came back: %v", back)
	}
}

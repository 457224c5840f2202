package deadpan_test

import (
	"archive/tar"
	"archive/zip"
	"bytes"
	"compress/gzip"
	"encoding/gob"
	"errors"
	"io"
	"os"
	"runtime"
	"testing"
	"testing/fstest"
	"testing/iotest"
	"time"

	"deadpan.example/deadpan"
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
		check(t, writer.Finish())
		check(t, writer.Finish())
		check(t, writer.Close())
		check(t, writer.Close())
		_, err := writer.Write([]byte("more"))
		wants(t, err, deadpan.ErrClosed)
		same(t, must(deadpan.Open(sealed.Bytes(), key))(t), plain)

		reader := must(deadpan.NewReader(bytes.NewReader(sealed.Bytes()), int64(sealed.Len()), nil, key))(t)
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
	// The test writes the data in one call, and in many pieces.
	var sealed bytes.Buffer
	writer := must(deadpan.NewWriter(&sealed, nil, key.Public()))(t)
	if count := must(writer.Write(data(2_000_000)))(t); count != 2_000_000 {
		t.Fatalf("%d bytes were written", count)
	}
	check(t, writer.Finish())
	same(t, must(deadpan.Open(sealed.Bytes(), key))(t), data(2_000_000))
}

func TestAWriterWithoutAnEnd(t *testing.T) {
	key := shared()
	var sealed bytes.Buffer
	writer := must(deadpan.NewWriter(&sealed, nil, key.Public()))(t)
	must(writer.Write(data(500_000)))(t)
	_, err := deadpan.Open(sealed.Bytes(), key)
	wants(t, err, deadpan.ErrTruncated)
	wants(t, writer.Close(), deadpan.ErrUnfinished)
	wants(t, writer.Close(), deadpan.ErrUnfinished)
	_, err = deadpan.Open(sealed.Bytes(), key)
	wants(t, err, deadpan.ErrTruncated)
	_, err = writer.Write([]byte("more"))
	wants(t, err, deadpan.ErrClosed)
	wants(t, err, os.ErrClosed)
	wants(t, writer.Finish(), deadpan.ErrClosed)
	wants(t, writer.Close(), deadpan.ErrUnfinished)
	_, err = deadpan.Open(sealed.Bytes(), key)
	wants(t, err, deadpan.ErrTruncated)
	wants(t, err, io.ErrUnexpectedEOF)
}

// No matter how the writing function ends, a part of the data must never look like all of the data.
func TestHalfOfTheDataIsNeverComplete(t *testing.T) {
	key, mine := shared(), errors.New("the second half is lost")
	var closed error
	for name, fill := range map[string]func(w io.WriteCloser) error{
		"an early return": func(w io.WriteCloser) (err error) {
			defer func() { closed = w.Close() }()
			must(w.Write(data(500_000)))(t)
			return mine
		},
		"a panic": func(w io.WriteCloser) error {
			defer func() { closed = w.Close() }()
			must(w.Write(data(500_000)))(t)
			panic(mine)
		},
		"the end of the goroutine": func(w io.WriteCloser) error {
			defer func() { closed = w.Close() }()
			must(w.Write(data(500_000)))(t)
			runtime.Goexit()
			return nil
		},
		"a writer on top": func(w io.WriteCloser) error {
			top := gzip.NewWriter(w)
			must(top.Write(data(500_000)))(t)
			closed = errors.Join(top.Close(), w.Close())
			return mine
		},
		"a Read that fails": func(w io.WriteCloser) error {
			defer func() { closed = w.Close() }()
			_, err := io.Copy(w, io.MultiReader(bytes.NewReader(data(500_000)), iotest.ErrReader(mine)))
			return err
		},
	} {
		var sealed bytes.Buffer
		writer := must(deadpan.NewWriter(&sealed, nil, key.Public()))(t)
		done := make(chan any, 1)
		go func() {
			ended := any("the goroutine ended")
			defer func() {
				if panicked := recover(); panicked != nil {
					ended = panicked
				}
				done <- ended
			}()
			ended = fill(writer)
		}()
		<-done
		if !errors.Is(closed, deadpan.ErrUnfinished) {
			t.Errorf("%s: Close returned %v", name, closed)
		}
		if _, err := deadpan.Open(sealed.Bytes(), key); !errors.Is(err, deadpan.ErrTruncated) {
			t.Errorf("%s: Open returned %v", name, err)
		}
	}
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
	// Further writes fail, because there would be a gap before the new data.
	left = 100
	_, err = writer.Write([]byte("more"))
	wants(t, err, mine)
	wants(t, writer.Finish(), mine)
	err = writer.Close()
	wants(t, err, mine)
	wants(t, err, deadpan.ErrUnfinished)
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
	wants(t, writer.Finish(), deadpan.ErrWrite)
	wants(t, writer.Close(), deadpan.ErrUnfinished)
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
	wants(t, writer.Finish(), deadpan.ErrBusy)
	slow = false
	close(leave)
	within(t, 20*time.Second, func() {
		if err := <-first; err != nil {
			t.Error(err)
		}
	})
	check(t, writer.Finish())

	// Close does not wait for a Write that is blocked.
	writer = must(deadpan.NewWriter(blocks, nil, key.Public()))(t)
	slow, leave = true, make(chan bool)
	go func() {
		_, err := writer.Write(data(3_000_000))
		first <- err
	}()
	<-inside
	wants(t, writer.Close(), deadpan.ErrUnfinished)
	slow = false
	close(leave)
	within(t, 20*time.Second, func() { wants(t, <-first, deadpan.ErrClosed) })
}

func TestTheStandardLibraryReadsAndWritesSealedData(t *testing.T) {
	key := shared()
	seal := func(fill func(io.Writer)) *deadpan.Reader {
		var sealed bytes.Buffer
		writer := must(deadpan.NewWriter(&sealed, nil, key.Public()))(t)
		fill(writer)
		check(t, writer.Finish())
		return must(deadpan.NewReader(bytes.NewReader(sealed.Bytes()), int64(sealed.Len()), nil, key))(t)
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

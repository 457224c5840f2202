package deadpan_test

import (
	"bytes"
	"errors"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"testing"
	"time"

	"deadpan.example/deadpan"
)

func TestReadAtAndSeek(t *testing.T) {
	key, plain := shared(), data(1_000_000)
	sealed := must(deadpan.Seal(plain, key.Public()))(t)
	path := write(t, t.TempDir(), "sealed", sealed)
	fromPath := must(deadpan.OpenReader(path, nil, key))(t)
	file := must(os.Open(path))(t)
	defer file.Close()
	for name, reader := range map[string]*deadpan.Reader{
		"path":   fromPath,
		"file":   must(deadpan.NewReader(file, int64(len(sealed)), nil, key))(t),
		"memory": must(deadpan.NewReader(bytes.NewReader(sealed), int64(len(sealed)), nil, key))(t),
		"other":  must(deadpan.NewReader(readerAt(bytes.NewReader(sealed).ReadAt), int64(len(sealed)), nil, key))(t),
	} {
		t.Run(name, func(t *testing.T) {
			for _, offset := range []int64{0, 1, 65503, 65504, 65505, 500_000, 999_999, 3} {
				part := make([]byte, 1000)
				count, err := reader.ReadAt(part, offset)
				if want := min(1000, len(plain)-int(offset)); count != want || (err == io.EOF) != (want < 1000) {
					t.Fatalf("%d bytes at %d: %v", count, offset, err)
				}
				same(t, part[:count], plain[offset:int(offset)+count])
			}
			part := make([]byte, 10)
			for _, offset := range []int64{1_000_000, 1_000_001, 1 << 62} {
				if count, err := reader.ReadAt(part, offset); count != 0 || err != io.EOF {
					t.Fatalf("%d bytes at %d: %v", count, offset, err)
				}
			}
			if position := must(reader.Seek(-10, io.SeekEnd))(t); position != 999_990 {
				t.Fatalf("at %d", position)
			}
			same(t, must(io.ReadAll(reader))(t), plain[999_990:])
			if count, err := reader.Read(part); count != 0 || err != io.EOF {
				t.Fatalf("%d bytes at the end: %v", count, err)
			}
			if count, err := reader.Read(nil); count != 0 || err != nil {
				t.Fatalf("reading nothing: %d, %v", count, err)
			}
			must(reader.Seek(5, io.SeekStart))(t)
			must(reader.Seek(5, io.SeekCurrent))(t)
			must(io.ReadFull(reader, part))(t)
			same(t, part, plain[10:20])
			_, err := reader.Seek(-1, io.SeekStart)
			wants(t, err, deadpan.ErrArgument)
			_, err = reader.Seek(0, 7)
			wants(t, err, deadpan.ErrArgument)
			_, err = reader.ReadAt(part, -1)
			wants(t, err, deadpan.ErrArgument)
			check(t, reader.Close())
			for _, use := range []func() error{
				func() error { _, err := reader.Read(part); return err },
				func() error { _, err := reader.Read(nil); return err },
				func() error { _, err := reader.ReadAt(part, 0); return err },
				func() error { _, err := reader.Seek(0, io.SeekStart); return err },
			} {
				wants(t, use(), deadpan.ErrClosed)
				wants(t, use(), os.ErrClosed)
			}
		})
	}
}

type readerAt func(buffer []byte, offset int64) (int, error)

func (r readerAt) ReadAt(buffer []byte, offset int64) (int, error) { return r(buffer, offset) }

func TestReadersThatFail(t *testing.T) {
	key, mine := shared(), errors.New("my own error")
	sealed := must(deadpan.Seal(data(1_000_000), key.Public()))(t)
	size := int64(len(sealed))
	_, err := deadpan.NewReader(nil, 5, nil, key)
	wants(t, err, deadpan.ErrArgument)
	_, err = deadpan.NewReader(bytes.NewReader(sealed), -1, nil, key)
	wants(t, err, deadpan.ErrArgument)
	_, err = deadpan.NewReader(bytes.NewReader(sealed), size-1, nil, key)
	wants(t, err, deadpan.ErrTruncated)
	_, err = deadpan.NewReader(bytes.NewReader(sealed), size+1, nil, key)
	wants(t, err, deadpan.ErrTampered)
	_, err = deadpan.NewReader(bytes.NewReader(sealed), size, nil, other())
	wants(t, err, deadpan.ErrNoKey)
	_, err = deadpan.NewReader(bytes.NewReader(nil), 0, nil, key)
	if err == nil {
		t.Fatal("nothing opens")
	}
	_, err = deadpan.OpenReader(filepath.Join(t.TempDir(), "missing"), nil, key)
	wants(t, err, os.ErrNotExist)

	var odd func(buffer []byte, offset int64) (int, error)
	good := bytes.NewReader(sealed).ReadAt
	reader := must(deadpan.NewReader(readerAt(func(buffer []byte, offset int64) (int, error) {
		if odd != nil {
			return odd(buffer, offset)
		}
		return good(buffer, offset)
	}), size, nil, key))(t)
	part := make([]byte, 10)
	for name, fails := range map[string]func([]byte, int64) (int, error){
		"my own error":            func([]byte, int64) (int, error) { return 0, mine },
		"returned -1":             func([]byte, int64) (int, error) { return -1, nil },
		"returned 9":              func(buffer []byte, _ int64) (int, error) { return 9_000_000, nil },
		"and no error":            func(buffer []byte, _ int64) (int, error) { return len(buffer) - 1, nil },
		"the input cannot be rea": func([]byte, int64) (int, error) { return 0, os.ErrPermission },
	} {
		odd = fails
		_, err := reader.ReadAt(part, 300_000)
		wants(t, err, deadpan.ErrRead)
		if !bytes.Contains([]byte(err.Error()), []byte(name)) {
			t.Fatalf("the error is %v", err)
		}
	}
	odd = nil
	must(reader.ReadAt(part, 300_000))(t)
	same(t, part, data(1_000_000)[300_000:300_010])

	offset := int64(-600_000)
	for name, ends := range map[string]func(){"panic": func() { panic("straight face") }, "exit": runtime.Goexit} {
		// Each call reads at a different position, because a Reader caches the last data that it read.
		offset += 600_000
		odd = func([]byte, int64) (int, error) { ends(); return 0, nil }
		done := make(chan any)
		go func() {
			defer func() { done <- recover() }()
			_, err := reader.ReadAt(part, offset)
			t.Errorf("%s: the reader returns: %v", name, err)
		}()
		select {
		case value := <-done:
			if name == "panic" && value != "straight face" {
				t.Fatalf("recovered %v", value)
			}
		case <-time.After(20 * time.Second):
			t.Fatal("still reading")
		}
		odd = nil
		must(reader.ReadAt(part, offset))(t)
	}

	file := must(os.Open(write(t, t.TempDir(), "sealed", sealed)))(t)
	fromFile := must(deadpan.NewReader(file, size, nil, key))(t)
	check(t, file.Close())
	_, err = fromFile.ReadAt(part, 500_000)
	wants(t, err, os.ErrClosed)
	wants(t, err, deadpan.ErrRead)
}

// Goroutines that use one reader at once wait for each other, as io.ReaderAt requires. Closing the reader at the same
// time does no harm.
func TestManyGoroutinesInOneReader(t *testing.T) {
	key, plain := shared(), data(2_000_000)
	sealed := must(deadpan.Seal(plain, key.Public()))(t)
	slow := readerAt(func(buffer []byte, offset int64) (int, error) {
		time.Sleep(time.Millisecond)
		return bytes.NewReader(sealed).ReadAt(buffer, offset)
	})
	reader := must(deadpan.NewReader(slow, int64(len(sealed)), nil, key))(t)
	failures := make(chan error, 8)
	for worker := range int64(8) {
		go func() {
			part := make([]byte, 1000)
			for round := range int64(20) {
				offset := (worker*7919 + round*99_991) % 1_999_000
				if _, err := reader.ReadAt(part, offset); err != nil || !bytes.Equal(part, plain[offset:offset+1000]) {
					failures <- errors.Join(errors.New("other bytes"), err)
					return
				}
			}
			failures <- nil
		}()
	}
	for range 8 {
		check(t, <-failures)
	}
	read := make(chan error, 1)
	go func() {
		_, err := reader.ReadAt(make([]byte, 1_500_000), 0)
		read <- err
	}()
	time.Sleep(time.Millisecond)
	check(t, reader.Close())
	within(t, 20*time.Second, func() {
		if err := <-read; err != nil && !errors.Is(err, deadpan.ErrClosed) && !errors.Is(err, deadpan.ErrRead) {
			t.Error(err)
		}
	})
}

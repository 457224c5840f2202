package deadpan_test

import (
	"bytes"
	"errors"
	"io"
	"net"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"testing/iotest"
	"time"

	"deadpan.example/deadpan"
)

func TestStreamsComeBack(t *testing.T) {
	key := shared()
	for _, length := range append(lengths, 20_000_000) {
		plain := data(length)
		var sealed, opened bytes.Buffer
		check(t, deadpan.SealStream(ctx, &sealed, bytes.NewReader(plain), nil, key.Public()))
		same(t, must(deadpan.Open(sealed.Bytes(), key))(t), plain)
		check(t, deadpan.OpenStream(ctx, &opened, &sealed, nil, key))
		same(t, opened.Bytes(), plain)
	}
}

// Tests readers that split their data anywhere, return an error together with data, or sometimes return no data.
func TestReadersThatAreOdd(t *testing.T) {
	key, plain := shared(), data(300_000)
	for name, odd := range map[string]func(io.Reader) io.Reader{
		"halves": iotest.HalfReader, "error with data": iotest.DataErrReader,
		"small":  func(r io.Reader) io.Reader { return &limited{r, 777} },
		"pauses": func(r io.Reader) io.Reader { return io.MultiReader(&pauses{50}, r) },
	} {
		t.Run(name, func(t *testing.T) {
			var sealed, opened bytes.Buffer
			check(t, deadpan.SealStream(ctx, &sealed, odd(bytes.NewReader(plain)), nil, key.Public()))
			check(t, deadpan.OpenStream(ctx, &opened, odd(&sealed), nil, key))
			same(t, opened.Bytes(), plain)
		})
	}
}

type limited struct {
	reader io.Reader
	most   int
}

func (l *limited) Read(buffer []byte) (int, error) {
	return l.reader.Read(buffer[:min(len(buffer), l.most)])
}

// pauses returns no bytes in its first few reads. Readers are allowed to do so.
type pauses struct{ left int }

func (p *pauses) Read([]byte) (int, error) {
	if p.left == 0 {
		return 0, io.EOF
	}
	p.left--
	return 0, nil
}

type stream struct {
	read  func(buffer []byte) (int, error)
	write func(bytes []byte) (int, error)
}

func (s stream) Read(buffer []byte) (int, error) { return s.read(buffer) }
func (s stream) Write(bytes []byte) (int, error) { return s.write(bytes) }

func full(buffer []byte) (int, error) { return len(buffer), nil }

// says returns a function that reports a wrong number of bytes: a number that is larger than the buffer's length by
// `more`, or, if `more` is 0, the number `exactly`.
func says(more, exactly int) func([]byte) (int, error) {
	return func(buffer []byte) (int, error) {
		if more != 0 {
			return len(buffer) + more, nil
		}
		return exactly, nil
	}
}

func TestStreamsThatFail(t *testing.T) {
	key, mine := shared(), errors.New("my own error")
	tests := []struct {
		name  string
		read  func([]byte) (int, error)
		write func([]byte) (int, error)
		code  deadpan.Code
		cause error
		text  string
	}{
		{"read fails", func([]byte) (int, error) { return 0, mine }, full, deadpan.ErrRead, mine, "my own error"},
		{"read too much", says(1, 0), full, deadpan.ErrRead, nil, "returned 65537"},
		{"read less than nothing", says(0, -1), full, deadpan.ErrRead, nil, "returned -1"},
		{"read nothing", says(0, 0), full, deadpan.ErrRead, io.ErrNoProgress, ""},
		{"write fails", full, func([]byte) (int, error) { return 0, mine }, deadpan.ErrWrite, mine, "my own error"},
		{"write less", full, says(-1, 0), deadpan.ErrWrite, io.ErrShortWrite, ""},
		{"write more", full, says(7, 0), deadpan.ErrWrite, nil, "the writer returned"},
		{"write less than nothing", full, says(0, -5), deadpan.ErrWrite, nil, "returned -5"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			both := stream{test.read, test.write}
			within(t, 20*time.Second, func() {
				err := deadpan.SealStream(ctx, both, both, nil, key.Public())
				if !errors.Is(err, test.code) || !strings.Contains(err.Error(), test.text) {
					t.Errorf("the error is %v", err)
				}
				if test.cause != nil && !errors.Is(err, test.cause) {
					t.Errorf("the cause is lost: %v", err)
				}
			})
		})
	}
	// Tests a reader that fails in the header, and a reader that fails after the header.
	sealed := must(deadpan.Seal(data(1_000_000), key.Public()))(t)
	for _, before := range []int{0, 100, 500_000} {
		broken := io.MultiReader(bytes.NewReader(sealed[:before]), iotest.ErrReader(mine))
		err := deadpan.OpenStream(ctx, io.Discard, broken, nil, key)
		wants(t, err, mine)
		wants(t, err, deadpan.ErrRead)
	}
	wants(t, deadpan.SealStream(ctx, nil, &bytes.Buffer{}, nil, key.Public()), deadpan.ErrArgument)
	wants(t, deadpan.SealStream(ctx, &bytes.Buffer{}, nil, nil, key.Public()), deadpan.ErrArgument)
	var none *os.File
	wants(t, deadpan.SealStream(ctx, &bytes.Buffer{}, none, nil, key.Public()), os.ErrInvalid)
}

func TestStreamsThatDoNotOpen(t *testing.T) {
	key := shared()
	sealed := must(deadpan.Seal(data(2_000_000), key.Public()))(t)
	open := func(sealed []byte, key deadpan.Identity) error {
		return deadpan.OpenStream(ctx, io.Discard, bytes.NewReader(sealed), nil, key)
	}
	wants(t, open(sealed, other()), deadpan.ErrNoKey)
	wants(t, open(sealed[:1_000_000], key), deadpan.ErrTruncated)
	wants(t, open([]byte("no such thing"), key), deadpan.ErrNotSealed)
	sealed[1_500_000] ^= 1
	var before bytes.Buffer
	err := deadpan.OpenStream(ctx, &before, bytes.NewReader(sealed), nil, key)
	wants(t, err, deadpan.ErrTampered)
	// The data that were written before the error are authentic.
	same(t, before.Bytes(), data(2_000_000)[:before.Len()])
	if before.Len() > 1_500_000 {
		t.Fatal("data that were changed came out")
	}
}

// A panic of a reader or writer reaches the caller of the package, and the library's work is stopped.
func TestPanicsOfReadersAndWriters(t *testing.T) {
	key := shared()
	panics := func([]byte) (int, error) { panic("straight face") }
	for name, both := range map[string]stream{"reader": {panics, full}, "writer": {full, panics}} {
		t.Run(name, func(t *testing.T) {
			within(t, 20*time.Second, func() {
				defer func() {
					if value := recover(); value != "straight face" {
						t.Errorf("recovered %v", value)
					}
				}()
				err := deadpan.SealStream(ctx, both, both, nil, key.Public())
				t.Errorf("no panic: %v", err)
			})
		})
	}
	same(t, must(deadpan.Open(must(deadpan.Seal([]byte("x"), key.Public()))(t), key))(t), []byte("x"))
}

// A reader may end its goroutine. For example, t.FailNow ends the goroutine.
func TestReadersThatEndTheGoroutine(t *testing.T) {
	key := shared()
	within(t, 20*time.Second, func() {
		ends := stream{func([]byte) (int, error) { runtime.Goexit(); return 0, nil }, full}
		_ = deadpan.SealStream(ctx, ends, ends, nil, key.Public())
		t.Error("the goroutine goes on")
	})
}

func TestStreamsCallBackOnTheirGoroutine(t *testing.T) {
	key := shared()
	stack := func() string {
		buffer := make([]byte, 1<<16)
		return string(buffer[:runtime.Stack(buffer, false)])
	}
	var seen string
	both := stream{func([]byte) (int, error) { seen = stack(); return 0, io.EOF }, full}
	check(t, deadpan.SealStream(ctx, both, both, nil, key.Public()))
	if !strings.Contains(seen, "TestStreamsCallBackOnTheirGoroutine") {
		t.Fatalf("another goroutine reads:\n%s", seen)
	}
}

// Readers and writers that use their buffers after the call has returned, although this is forbidden, do no harm.
// Readers and writers may also call the package.
func TestReadersThatUseThePackage(t *testing.T) {
	key, plain := shared(), data(500_000)
	var kept [][]byte
	rest := bytes.NewReader(plain)
	var sealed bytes.Buffer
	both := stream{
		func(buffer []byte) (int, error) {
			kept = append(kept, buffer)
			if _, err := deadpan.Seal([]byte("in between"), key.Public()); err != nil {
				return 0, err
			}
			return rest.Read(buffer)
		},
		func(bytes []byte) (int, error) {
			kept = append(kept, bytes)
			return sealed.Write(bytes)
		},
	}
	check(t, deadpan.SealStream(ctx, both, both, nil, key.Public()))
	runtime.GC()
	for _, buffer := range kept {
		clear(buffer)
	}
	same(t, must(deadpan.Open(sealed.Bytes(), key))(t), plain)
}

func TestFilesAsStreams(t *testing.T) {
	key, folder, plain := shared(), t.TempDir(), data(3_000_000)
	in := must(os.Open(write(t, folder, "plain", plain)))(t)
	defer in.Close()
	out := must(os.Create(filepath.Join(folder, "sealed")))(t)
	defer out.Close()
	check(t, deadpan.SealStream(ctx, out, in, nil, key.Public()))
	end := must(in.Seek(0, io.SeekCurrent))(t)
	if end != int64(len(plain)) {
		t.Fatalf("the input is at %d", end)
	}
	same(t, must(deadpan.Open(must(os.ReadFile(out.Name()))(t), key))(t), plain)
	must(out.Seek(0, io.SeekStart))(t)
	back := must(os.Create(filepath.Join(folder, "back")))(t)
	defer back.Close()
	check(t, deadpan.OpenStream(ctx, back, out, nil, key))
	same(t, must(os.ReadFile(back.Name()))(t), plain)

	// A file that is open for appending only.
	must(in.Seek(0, io.SeekStart))(t)
	appended := filepath.Join(folder, "appended")
	file := must(os.OpenFile(appended, os.O_WRONLY|os.O_APPEND|os.O_CREATE, 0o600))(t)
	check(t, deadpan.SealStream(ctx, file, in, nil, key.Public()))
	check(t, file.Close())
	same(t, must(deadpan.Open(must(os.ReadFile(appended))(t), key))(t), plain)

	wants(t, deadpan.SealStream(ctx, in, in, nil, key.Public()), deadpan.ErrArgument)
	check(t, out.Close())
	wants(t, deadpan.SealStream(ctx, out, in, nil, key.Public()), os.ErrClosed)
	wants(t, deadpan.SealStream(ctx, in, out, nil, key.Public()), os.ErrClosed)
}

// If the program closes a file while the library works on it, the file stays open for the library.
func TestAFileThatIsClosedMeanwhile(t *testing.T) {
	key, folder := shared(), t.TempDir()
	in := must(os.Open(write(t, folder, "plain", data(60_000_000))))(t)
	out := must(os.Create(filepath.Join(folder, "sealed")))(t)
	closed := false
	options := &deadpan.SealOptions{Progress: func(done int64) {
		if !closed {
			closed = true
			go in.Close()
			go out.Close()
		}
	}}
	err := deadpan.SealStream(ctx, out, in, options, key.Public())
	if errors.Is(err, os.ErrClosed) {
		return
	}
	check(t, err)
	same(t, must(deadpan.Open(must(os.ReadFile(out.Name()))(t), key))(t), data(60_000_000))
}

func TestPipesAndConnections(t *testing.T) {
	key, plain := shared(), data(2_000_000)
	one, two := net.Pipe()
	sent := make(chan error, 1)
	go func() {
		err := deadpan.SealStream(ctx, one, bytes.NewReader(plain), nil, key.Public())
		one.Close()
		sent <- err
	}()
	var opened bytes.Buffer
	within(t, 30*time.Second, func() {
		if err := deadpan.OpenStream(ctx, &opened, two, nil, key); err != nil {
			t.Error(err)
		}
	})
	check(t, <-sent)
	same(t, opened.Bytes(), plain)
}

package deadpan_test

import (
	"bytes"
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"deadpan.example/deadpan"
)

func TestAContextStopsStreams(t *testing.T) {
	key := shared()
	stopped, stop := context.WithCancel(ctx)
	count := 0
	endless := stream{func(buffer []byte) (int, error) {
		if count++; count == 100 {
			stop()
		}
		return len(buffer), nil
	}, full}
	within(t, 20*time.Second, func() {
		err := deadpan.SealStream(stopped, endless, endless, nil, key.Public())
		if !errors.Is(err, context.Canceled) || !errors.Is(err, deadpan.ErrStopped) {
			t.Errorf("the error is %v", err)
		}
	})
	count = -1 << 60
	deadline, cancel := context.WithTimeout(ctx, 100*time.Millisecond)
	defer cancel()
	within(t, 20*time.Second, func() {
		err := deadpan.SealStream(deadline, endless, endless, nil, key.Public())
		if !errors.Is(err, context.DeadlineExceeded) || !errors.Is(err, deadpan.ErrStopped) {
			t.Errorf("the error is %v", err)
		}
	})
	// A Read that takes long is not interrupted, but no other Read follows it.
	reads := 0
	slow := stream{func(buffer []byte) (int, error) {
		reads++
		time.Sleep(300 * time.Millisecond)
		return len(buffer), nil
	}, full}
	late, cancelLate := context.WithTimeout(ctx, 50*time.Millisecond)
	defer cancelLate()
	wants(t, deadpan.SealStream(late, slow, slow, nil, key.Public()), context.DeadlineExceeded)
	if reads != 1 {
		t.Fatalf("%d reads", reads)
	}
	cause := errors.New("the user went away")
	caused, because := context.WithCancelCause(ctx)
	because(cause)
	err := deadpan.SealStream(caused, endless, endless, nil, key.Public())
	if !errors.Is(err, cause) || !errors.Is(err, context.Canceled) || !errors.Is(err, deadpan.ErrStopped) {
		t.Fatalf("the error is %v", err)
	}
}

func TestProgress(t *testing.T) {
	key, folder := shared(), t.TempDir()
	plain := data(40_000_000)
	path := write(t, folder, "plain", plain)
	var told []int64
	seal := &deadpan.SealOptions{Progress: func(done int64) { told = append(told, done) }}
	open := &deadpan.OpenOptions{Progress: seal.Progress, Threads: 2}
	sealed := filepath.Join(folder, "sealed")
	for name, work := range map[string]func() error{
		"file": func() error { return deadpan.SealFile(ctx, path, sealed, seal, key.Public()) },
		"stream": func() error {
			return deadpan.SealStream(ctx, io.Discard, bytes.NewReader(plain), seal, key.Public())
		},
		"bytes": func() error { _, err := deadpan.AppendSeal(ctx, nil, plain, seal, key.Public()); return err },
	} {
		told = nil
		check(t, work())
		if told[0] != 0 || told[len(told)-1] != int64(len(plain)) || !slices.IsSorted(told) {
			t.Fatalf("%s: told %v", name, told)
		}
	}
	told = nil
	check(t, deadpan.OpenFile(ctx, sealed, filepath.Join(folder, "back"), open, key))
	if told[0] != 0 || told[len(told)-1] != int64(len(plain)) {
		t.Fatalf("told %v", told)
	}
	for _, threads := range []int{-1, 1 << 40} {
		options := &deadpan.SealOptions{Threads: threads}
		_, err := deadpan.AppendSeal(ctx, nil, nil, options, key.Public())
		wants(t, err, deadpan.ErrArgument)
	}
}

func TestAContextStopsFiles(t *testing.T) {
	key, folder := shared(), t.TempDir()
	path := write(t, folder, "plain", nil)
	// A large sparse file, which takes no space on the disk.
	check(t, os.Truncate(path, 20_000_000_000))
	for name, threads := range map[string]int{"all threads": 0, "one thread": 1} {
		t.Run(name, func(t *testing.T) {
			stopped, stop := context.WithCancel(ctx)
			var when time.Time
			options := &deadpan.SealOptions{Threads: threads, Progress: func(done int64) {
				if done > 1000 && when.IsZero() {
					when = time.Now()
					stop()
				}
			}}
			within(t, 60*time.Second, func() {
				err := deadpan.SealFile(stopped, path, filepath.Join(folder, "sealed"), options, key.Public())
				if !errors.Is(err, context.Canceled) || !errors.Is(err, deadpan.ErrStopped) {
					t.Errorf("the error is %v", err)
				}
				if late := time.Since(when); late > 3*time.Second {
					t.Errorf("stopped only after %v", late)
				}
			})
			if left := names(t, folder); !slices.Equal(left, []string{"plain"}) {
				t.Fatalf("something is left: %v", left)
			}
		})
	}
	stopped, stop := context.WithCancel(ctx)
	stop()
	wants(t, deadpan.SealFile(stopped, path, filepath.Join(folder, "sealed"), nil, key.Public()), context.Canceled)
	_, err := deadpan.AppendSeal(stopped, nil, nil, nil, key.Public())
	wants(t, err, context.Canceled)
}

func TestPanicsOfProgress(t *testing.T) {
	key, folder := shared(), t.TempDir()
	path := write(t, folder, "plain", nil)
	check(t, os.Truncate(path, 20_000_000_000))
	within(t, 60*time.Second, func() {
		defer func() {
			if value := recover(); value != "enough" {
				t.Errorf("recovered %v", value)
			}
			if left := names(t, folder); !slices.Equal(left, []string{"plain"}) {
				t.Errorf("something is left: %v", left)
			}
		}()
		options := &deadpan.SealOptions{Progress: func(done int64) {
			if done > 0 {
				panic("enough")
			}
		}}
		err := deadpan.SealFile(ctx, path, filepath.Join(folder, "sealed"), options, key.Public())
		t.Errorf("no panic: %v", err)
	})
}

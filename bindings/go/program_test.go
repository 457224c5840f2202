package deadpan_test

import (
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"deadpan.example/deadpan"
)

// The test program starts itself again with this environment variable, whose value is the task of the new process.
const role = "DEADPAN_TEST_ROLE"

func TestMain(m *testing.M) {
	switch os.Getenv(role) {
	case "":
		os.Exit(m.Run())
	case "end":
		endWithWorkUnderWay()
	case "missing":
		_, err := deadpan.GenerateKey(deadpan.XWing)
		fmt.Println(err)
	}
}

// endWithWorkUnderWay returns while other goroutines still seal, read and write.
func endWithWorkUnderWay() {
	key := shared()
	var works []func() error
	plain := make([]byte, 300_000_000)
	for range 3 {
		works = append(works, func() error { _, err := deadpan.Seal(plain, key.Public()); return err })
	}
	endless := stream{full, full}
	works = append(works, func() error { return deadpan.SealStream(ctx, endless, endless, nil, key.Public()) })
	writer, err := deadpan.NewWriter(io.Discard, nil, key.Public())
	if err != nil {
		panic(err)
	}
	works = append(works, func() error { _, err := writer.Write(plain); return err })
	for _, work := range works {
		go work()
	}
	time.Sleep(50 * time.Millisecond)
}

func again(t *testing.T, as string, environment ...string) string {
	t.Helper()
	limited, cancel := context.WithTimeout(ctx, time.Minute)
	defer cancel()
	command := exec.CommandContext(limited, must(os.Executable())(t))
	// Without the setting atexit_sleep_ms=0, the race detector waits a second at the end of each program.
	command.Env = append(append(os.Environ(), role+"="+as, "GORACE=atexit_sleep_ms=0"), environment...)
	output, err := command.CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s", err, output)
	}
	return string(output)
}

func TestAProgramThatEndsWithWorkUnderWay(t *testing.T) {
	for range 5 {
		if output := again(t, "end"); output != "" {
			t.Fatal(output)
		}
	}
}

func TestTenThousandCallsDoNotGrow(t *testing.T) {
	if testing.Short() {
		t.Skip("a long test")
	}
	key := generate(deadpan.X25519)
	sealed := must(deadpan.Seal([]byte("straight face"), key.Public()))(t)
	run := func(times int) {
		for time := range times {
			must(deadpan.Seal([]byte("straight face"), key.Public()))(t)
			must(deadpan.Open(sealed, key))(t)
			_, err := deadpan.Open(sealed[:100], key)
			wants(t, err, deadpan.ErrTruncated)
			if time%10 != 0 {
				continue
			}
			writer := must(deadpan.NewWriter(io.Discard, nil, key.Public()))(t)
			check(t, writer.Finish())
			reader := must(deadpan.NewReader(strings.NewReader(string(sealed)), int64(len(sealed)), nil, key))(t)
			check(t, reader.Close())
			check(t, deadpan.OpenStream(ctx, io.Discard, strings.NewReader(string(sealed)), nil, key))
		}
	}
	run(1000)
	before := resident(t)
	run(10_000)
	if grown := resident(t) - before; grown > 16<<20 {
		t.Fatalf("grown by %d bytes", grown)
	}
}

// resident returns how much memory the program uses. resident skips the test if the system does not report the memory
// use.
func resident(t *testing.T) int {
	t.Helper()
	text, err := os.ReadFile("/proc/self/statm")
	if err != nil {
		t.Skip("the system does not tell how much memory a program has")
	}
	return must(strconv.Atoi(strings.Fields(string(text))[1]))(t) * os.Getpagesize()
}

func TestTheCommandLineInTheRing(t *testing.T) {
	command := os.Getenv("DEADPAN")
	if command == "" {
		t.Skip("DEADPAN does not name the command line")
	}
	key, folder := shared(), t.TempDir()
	in := func(name string) string { return filepath.Join(folder, name) }
	run := func(words ...string) {
		t.Helper()
		limited, cancel := context.WithTimeout(ctx, time.Minute)
		defer cancel()
		process := exec.CommandContext(limited, command, words...)
		process.Dir = folder
		process.Env = append(os.Environ(), "XDG_CONFIG_HOME="+in("config"))
		if output, err := process.CombinedOutput(); err != nil {
			t.Fatalf("%v: %v\n%s", words, err, output)
		}
	}
	plain := data(1_000_000)
	write(t, folder, "plain", plain)
	write(t, folder, "key", must(key.PEM(nil))(t))
	write(t, folder, "key.pub", []byte(must(key.Public().PEM())(t)))
	check(t, os.MkdirAll(in("things/deep"), 0o700))
	write(t, folder, "things/deep/file", []byte("straight face"))

	run("seal", "-r", "key.pub", "-o", "from-cli", "plain")
	same(t, must(deadpan.Open(must(os.ReadFile(in("from-cli")))(t), key))(t), plain)
	run("seal", "-r", "key.pub", "-o", "folder-from-cli", "things")
	check(t, deadpan.OpenFolder(ctx, in("folder-from-cli"), in("opened"), nil, key))
	same(t, must(os.ReadFile(in("opened/deep/file")))(t), []byte("straight face"))

	write(t, folder, "from-go", must(deadpan.Seal(plain, key.Public()))(t))
	run("open", "-i", "key", "-o", "from-go.opened", "from-go")
	same(t, must(os.ReadFile(in("from-go.opened")))(t), plain)
	check(t, deadpan.SealFolder(ctx, in("things"), in("folder-from-go"), nil, key.Public()))
	run("open", "-i", "key", "-o", "opened-by-cli", "folder-from-go")
	same(t, must(os.ReadFile(in("opened-by-cli/deep/file")))(t), []byte("straight face"))

	file := must(os.Create(in("written")))(t)
	writer := must(deadpan.NewWriter(file, nil, key.Public()))(t)
	must(writer.Write(plain))(t)
	check(t, writer.Finish())
	check(t, file.Close())
	run("open", "-i", "key", "-o", "written.opened", "written")
	same(t, must(os.ReadFile(in("written.opened")))(t), plain)
}

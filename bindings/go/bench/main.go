// Bench is a worker that measures Deadpan's Go package, age, and the standard library.
//
// Each line of standard input is `NAME SIZE TIMES`: the operation NAME runs TIMES times on SIZE bytes, and the worker
// prints the total in nanoseconds. The line `list` prints the names. A line that is wrong prints `error TEXT`.
package main

import (
	"bufio"
	"errors"
	"fmt"
	"os"
	"runtime"
	"runtime/debug"
	"strconv"
	"strings"
	"time"
)

// An operation prepares data of a size. It returns what is measured, and what checks the last result.
type operation func(size int) (run, check func() error, err error)

var names = []string{
	"seal", "open", "seal.new", "open.new", "file.seal", "file.open", "age.seal", "age.open", "std.seal", "std.open",
}

func main() {
	// Garbage of 1 GiB may pile up, but not more than a machine has.
	debug.SetMemoryLimit(6 << 30)
	worker := worker{operations: operations()}
	lines := bufio.NewScanner(os.Stdin)
	for lines.Scan() {
		answer, err := worker.answer(lines.Text())
		if err != nil {
			answer = "error " + strings.ReplaceAll(err.Error(), "\n", " ")
		}
		fmt.Println(answer)
	}
	if lastFiles != nil {
		lastFiles.close()
	}
}

// A worker keeps the data of the last operation.
type worker struct {
	operations map[string]operation
	prepared   string
	run, check func() error
}

func (w *worker) answer(line string) (string, error) {
	if line == "list" {
		return strings.Join(names, " "), nil
	}
	fields := strings.Fields(line)
	if len(fields) != 3 {
		return "", errors.New("a line is NAME SIZE TIMES")
	}
	size, err := strconv.Atoi(fields[1])
	if err != nil || size < 0 {
		return "", fmt.Errorf("%s is no size", fields[1])
	}
	times, err := strconv.Atoi(fields[2])
	if err != nil || times < 1 {
		return "", fmt.Errorf("%s is no number of times", fields[2])
	}
	if err := w.prepare(fields[0], size); err != nil {
		return "", err
	}
	begin := time.Now()
	for range times {
		if err := w.run(); err != nil {
			return "", err
		}
	}
	total := time.Since(begin)
	if err := w.check(); err != nil {
		return "", err
	}
	return strconv.FormatInt(total.Nanoseconds(), 10), nil
}

func (w *worker) prepare(name string, size int) error {
	made, ok := w.operations[name]
	if !ok {
		return fmt.Errorf("there is no operation %s", name)
	}
	if prepared := fmt.Sprint(name, size); w.prepared != prepared {
		w.prepared, w.run, w.check = "", nil, nil
		// Each operation begins with the memory of none before.
		runtime.GC()
		debug.FreeOSMemory()
		var err error
		if w.run, w.check, err = made(size); err != nil {
			return err
		}
		w.prepared = prepared
	}
	return nil
}

// data returns bytes that differ.
func data(size int) []byte {
	bytes := make([]byte, size)
	for place := range bytes {
		bytes[place] = byte(place * 31 >> 3)
	}
	return bytes
}

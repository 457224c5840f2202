// Bench is a worker that measures Deadpan's Go package, age, and the standard library.
//
// Each line of standard input is `NAME SIZE TIMES`: the operation NAME runs TIMES times on SIZE bytes, and the worker
// prints the total in nanoseconds. For a wrong line, the worker prints `error TEXT`.
package main

import (
	"bufio"
	"errors"
	"fmt"
	"os"
	"runtime"
	"runtime/debug"
	"strings"
	"time"
)

func main() {
	// Garbage may grow to 1 GiB before it is collected, but must not exceed the memory of the machine.
	debug.SetMemoryLimit(6 << 30)
	var worker worker
	defer worker.drop()
	lines := bufio.NewScanner(os.Stdin)
	for lines.Scan() {
		answer, err := worker.answer(lines.Text())
		if err != nil {
			answer = "error " + strings.ReplaceAll(err.Error(), "\n", " ")
		}
		fmt.Println(answer)
	}
}

// A worker stores the data of the last operation, so that the next operation can use them again.
type worker struct {
	prepared string
	pair     *pair
}

func (w *worker) answer(line string) (string, error) {
	var name string
	var size, times int
	if _, err := fmt.Sscan(line, &name, &size, &times); err != nil || size < 0 || times < 1 {
		return "", errors.New("a line is NAME SIZE TIMES")
	}
	run, err := w.prepare(name, size)
	if err != nil {
		return "", err
	}
	begin := time.Now()
	for range times {
		if err := run(); err != nil {
			return "", err
		}
	}
	total := time.Since(begin)
	return fmt.Sprint(total.Nanoseconds()), errors.Join(w.pair.open(), w.pair.look())
}

// prepare returns the function that is measured. The sealing and the opening function have already run once, so all of
// their buffers have been used before.
func (w *worker) prepare(name string, size int) (func() error, error) {
	kind := strings.Trim(strings.NewReplacer("seal", "", "open", "").Replace(name), ".")
	made, ok := kinds[kind]
	if !ok {
		return nil, fmt.Errorf("there is no operation %s", name)
	}
	if prepared := fmt.Sprint(kind, " ", size); w.prepared != prepared {
		w.drop()
		pair, err := made(size)
		if err != nil {
			return nil, err
		}
		if err := errors.Join(pair.seal(), pair.open()); err != nil {
			return nil, err
		}
		w.prepared, w.pair = prepared, pair
	}
	if strings.Contains(name, "open") {
		return w.pair.open, nil
	}
	return w.pair.seal, nil
}

// drop frees the data, so that each operation begins without the memory of earlier operations.
func (w *worker) drop() {
	if w.pair != nil && w.pair.close != nil {
		w.pair.close()
	}
	w.prepared, w.pair = "", nil
	runtime.GC()
	debug.FreeOSMemory()
}

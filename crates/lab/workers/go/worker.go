// A worker for `deadpan lab`: the lab measures Go functions in the Go process that runs them.
//
//	go build -o worker worker.go && deadpan lab timing --worker ./worker
//
// To measure a function of your own, copy this file and change the variable targets. docs/lab-worker.md describes the
// protocol.
package main

import (
	"bufio"
	"crypto/subtle"
	"encoding/binary"
	"fmt"
	"io"
	"os"
	"runtime"
	"runtime/debug"
	"sync/atomic"
	"time"
)

// A target consists of a name, the parts of its input, the classes that the lab compares, and the function to measure.
// The function must not change its input. The input always lies in the same buffer. The result is stored, so that the
// compiler cannot remove the call.
type target struct {
	name, parts, classes string
	call                 func(input []byte) int
}

var targets = []target{
	{"early-exit", "secret:32,public:32", "first,last", earlyExit},
	{"constant-time-compare", "secret:32,public:32", "first,last", func(input []byte) int {
		return subtle.ConstantTimeCompare(input[:32], input[32:])
	}},
}

func earlyExit(input []byte) int {
	left, right := input[:32], input[32:]
	for i, b := range left {
		if b != right[i] {
			return 0
		}
	}
	return 1
}

const (
	version = 1
	noCall  = 0xffffffff
)

var (
	start = time.Now()
	sink  int
	state uint64
	fence atomic.Uint64
)

// spin waits. Each iteration depends on the iteration before it, and the first iteration depends on seed. Iterations
// therefore overlap neither with each other nor with the code that computes seed.
//
//go:noinline
func spin(turns uint32, seed uint64) {
	x := state + seed
	for i := uint32(0); i < turns; i++ {
		x = x*6364136223846793005 + 1
	}
	state = x
}

//go:noinline
func measure(call func([]byte) int, input []byte, repeats, before, within uint32) uint64 {
	spin(before, 0)
	// The atomic write waits until the copy of the input has left the store buffer.
	fence.Add(1)
	begin := time.Since(start)
	for i := uint32(0); i < repeats; i++ {
		sink = call(input)
	}
	if within > 0 {
		spin(within, uint64(time.Since(start)))
	}
	return uint64(time.Since(start) - begin)
}

func check(err error) {
	if err == io.EOF || err == io.ErrUnexpectedEOF {
		// The lab has closed the pipe.
		os.Exit(0)
	}
	if err != nil {
		panic(err)
	}
}

func main() {
	runtime.LockOSThread()
	debug.SetGCPercent(-1)
	hello := "language: Go\nruntime: " + runtime.Version() + "\nclock: time.Since\nhertz: 1000000000\nwarm-up: 1000\n"
	for _, t := range targets {
		hello += fmt.Sprintf("target: %s %s %s\n", t.name, t.parts, t.classes)
	}
	in, out, little := bufio.NewReaderSize(os.Stdin, 1<<16), bufio.NewWriter(os.Stdout), binary.LittleEndian
	// The output of a target goes to standard error, because the lab reads standard output.
	os.Stdout = os.Stderr
	out.Write(little.AppendUint32(little.AppendUint32([]byte("DPWK"), version), uint32(len(hello))))
	out.WriteString(hello)
	var data, answer, input []byte
	for request := 1; ; request++ {
		check(out.Flush())
		var head [5]uint32
		check(binary.Read(in, little, &head))
		number, index, repeats, slots, length := head[0], head[1], head[2], head[3], int(head[4])
		if need := int(slots) * (8 + length); cap(data) < need {
			data = make([]byte, need)
		} else {
			data = data[:need]
		}
		_, err := io.ReadFull(in, data)
		check(err)
		if len(input) != length {
			input = make([]byte, length)
		}
		call := func([]byte) int { return 0 }
		if index == noCall {
			repeats = 0
		} else {
			call = targets[index].call
		}
		answer = little.AppendUint32(little.AppendUint32(answer[:0], number), slots)
		for slot := data; len(slot) > 0; slot = slot[8+length:] {
			copy(input, slot[8:8+length])
			ticks := measure(call, input, repeats, little.Uint32(slot), little.Uint32(slot[4:]))
			answer = little.AppendUint64(answer, ticks)
		}
		// Garbage is collected only between the requests.
		if request%64 == 0 {
			runtime.GC()
		}
		out.Write(answer)
	}
}

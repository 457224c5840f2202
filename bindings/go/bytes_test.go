package deadpan_test

import (
	"bytes"
	"errors"
	"strings"
	"sync"
	"testing"
	"unsafe"

	"deadpan.example/deadpan"
)

// lengths holds lengths near the sizes of the library's chunks and buffers: 64 KiB minus a tag, 64 KiB, 256 KiB, 1 MiB.
var lengths = []int{
	0, 1, 65503, 65504, 65505, 65535, 65536, 65537, 262143, 262144, 262145, 1<<20 - 1, 1 << 20, 1<<20 + 1, 3_000_000,
}

func TestLengthsComeBack(t *testing.T) {
	key := shared()
	all := data(3_000_000)
	for _, length := range lengths {
		plain := all[:length]
		sealed := must(deadpan.Seal(plain, key.Public()))(t)
		if want := must(deadpan.SealedLen(int64(length), nil, key.Public()))(t); want != int64(len(sealed)) {
			t.Fatalf("%d bytes become %d, and not %d", length, len(sealed), want)
		}
		opened := must(deadpan.Open(sealed, key))(t)
		same(t, opened, plain)
		if cap(opened) > len(opened)+len(opened)/4 || cap(sealed) > len(sealed)+len(sealed)/4 {
			t.Fatalf("%d bytes: room for %d and %d bytes is wasted", length, cap(opened), cap(sealed))
		}
		_, err := deadpan.Open(sealed[:len(sealed)-1], key)
		wants(t, err, deadpan.ErrTruncated)
		wants(t, err, deadpan.ErrTampered)
		_, err = deadpan.Open(append(sealed[:len(sealed):len(sealed)], 0), key)
		wants(t, err, deadpan.ErrTampered)
	}
}

func TestEveryByteIsProtected(t *testing.T) {
	key := generate(deadpan.X25519)
	sealed := must(deadpan.Seal([]byte("straight face"), key.Public()))(t)
	seen := map[deadpan.Code]int{}
	for place := range sealed {
		for _, bit := range []byte{1, 0x80} {
			sealed[place] ^= bit
			opened, err := deadpan.Open(sealed, key)
			var found *deadpan.Error
			if !errors.As(err, &found) || opened != nil {
				t.Fatalf("byte %d with another bit opens: %q, %v", place, opened, err)
			}
			seen[found.Code]++
			sealed[place] ^= bit
		}
	}
	if seen[deadpan.ErrTampered] == 0 || seen[deadpan.ErrNotSealed] == 0 {
		t.Fatalf("not all causes were seen: %v", seen)
	}
	same(t, must(deadpan.Open(sealed, key))(t), []byte("straight face"))
}

func TestRecipientsAndOptions(t *testing.T) {
	classical, hybrid := generate(deadpan.X25519), shared()
	to := []deadpan.Recipient{classical.Public(), hybrid.Public()}
	_, err := deadpan.Seal([]byte("face"), to...)
	wants(t, err, deadpan.ErrArgument)
	mixed := &deadpan.SealOptions{AllowMixed: true}
	sealed := must(deadpan.AppendSeal(ctx, nil, []byte("face"), mixed, to...))(t)
	for _, key := range []*deadpan.PrivateKey{classical, hybrid} {
		same(t, must(deadpan.Open(sealed, key))(t), []byte("face"))
	}
	same(t, must(deadpan.Open(sealed, other(), classical))(t), []byte("face"))
	_, err = deadpan.Open(sealed, other(), generate(deadpan.P256))
	wants(t, err, deadpan.ErrNoKey)
	_, err = deadpan.Seal([]byte("face"))
	wants(t, err, deadpan.ErrArgument)
	_, err = deadpan.Open(sealed)
	wants(t, err, deadpan.ErrNoKey)

	hide := &deadpan.SealOptions{HideLength: true}
	one := must(deadpan.AppendSeal(ctx, nil, data(1000), hide, hybrid.Public()))(t)
	two := must(deadpan.AppendSeal(ctx, nil, data(1001), hide, hybrid.Public()))(t)
	if len(one) != len(two) {
		t.Fatalf("the length shows: %d and %d", len(one), len(two))
	}
	if want := must(deadpan.SealedLen(1000, hide, hybrid.Public()))(t); want != int64(len(one)) {
		t.Fatalf("%d, and not %d", len(one), want)
	}
	same(t, must(deadpan.Open(one, hybrid))(t), data(1000))

	small := &deadpan.SealOptions{Compress: 3}
	sealed = must(deadpan.AppendSeal(ctx, nil, make([]byte, 9_000_000), small, hybrid.Public()))(t)
	if most := must(deadpan.SealedLen(9_000_000, small, hybrid.Public()))(t); len(sealed) > 10_000 || most < 9_000_000 {
		t.Fatalf("%d bytes, at most %d", len(sealed), most)
	}
	same(t, must(deadpan.Open(sealed, hybrid))(t), make([]byte, 9_000_000))
	_, err = deadpan.AppendSeal(ctx, nil, data(10), &deadpan.SealOptions{Compress: 20}, hybrid.Public())
	wants(t, err, deadpan.ErrArgument)

	age := &deadpan.SealOptions{AgeFormat: true}
	sealed = must(deadpan.AppendSeal(ctx, nil, data(100_000), age, classical.Public()))(t)
	if !bytes.HasPrefix(sealed, []byte("age-encryption.org/v1")) {
		t.Fatalf("not of age: %.40q", sealed)
	}
	same(t, must(deadpan.Open(sealed, classical))(t), data(100_000))
}

func TestErrorsAreToldApart(t *testing.T) {
	key := shared()
	_, err := deadpan.Open([]byte("no such thing"), key)
	wants(t, err, deadpan.ErrNotSealed)
	_, err = deadpan.Open(must(deadpan.Seal(nil, key.Public()))(t), other())
	wants(t, err, deadpan.ErrNoKey)
	for _, not := range []error{deadpan.ErrPassphrase, deadpan.ErrTampered, deadpan.ErrNotSealed, deadpan.ErrKey} {
		if errors.Is(err, not) {
			t.Fatalf("%v is %v, too", err, not)
		}
	}
	var code deadpan.Code
	if !errors.As(err, &code) || code != deadpan.ErrNoKey || !strings.Contains(code.Error(), "no key opens it") {
		t.Fatalf("the code is %v", code)
	}
}

func TestBuffersAreUsedAgain(t *testing.T) {
	key := shared()
	plain := data(1000)
	room := make([]byte, 0, must(deadpan.SealedLen(1000, nil, key.Public()))(t))
	sealed := must(deadpan.AppendSeal(ctx, room, plain, nil, key.Public()))(t)
	if unsafe.SliceData(sealed) != unsafe.SliceData(room) || len(sealed) != cap(room) {
		t.Fatal("exactly enough room was not used")
	}
	buffer := make([]byte, 0, 1000)
	opened := must(deadpan.AppendOpen(ctx, buffer, sealed, nil, key))(t)
	if unsafe.SliceData(opened) != unsafe.SliceData(buffer) {
		t.Fatal("exactly enough room was not used")
	}
	same(t, opened, plain)

	// Appending must not change the bytes that the buffer already contains, neither in small buffers nor in buffers
	// that are not zeroed.
	for _, length := range []int{0, 10, 1000, 100_000} {
		for _, spare := range []int{0, 1, 50, 3000} {
			front := append(make([]byte, 0, 5+spare), "front"...)
			sealed := must(deadpan.AppendSeal(ctx, front, data(length), nil, key.Public()))(t)
			front = append(make([]byte, 0, 5+spare), "front"...)
			opened := must(deadpan.AppendOpen(ctx, front, sealed[5:], nil, key))(t)
			if !bytes.HasPrefix(sealed, []byte("front")) || !bytes.HasPrefix(opened, []byte("front")) {
				t.Fatal("the front is lost")
			}
			same(t, opened[5:], data(length))
		}
	}
	kept := []byte("kept")
	got, err := deadpan.AppendOpen(ctx, kept, []byte("nothing"), nil, key)
	wants(t, err, deadpan.ErrNotSealed)
	same(t, got, kept)
}

func TestInputAndOutputThatShareMemory(t *testing.T) {
	key := shared()
	both := make([]byte, 10_000)
	_, err := deadpan.AppendSeal(ctx, both[:0], both[:100], nil, key.Public())
	wants(t, err, deadpan.ErrArgument)
	sealed := append(both[:0], must(deadpan.Seal([]byte("face"), key.Public()))(t)...)
	_, err = deadpan.AppendOpen(ctx, sealed[:0], sealed, nil, key)
	wants(t, err, deadpan.ErrArgument)
}

func TestMemoryThatWasNotZeroedDoesNotShow(t *testing.T) {
	key := shared()
	sealed := must(deadpan.Seal(data(200_000), key.Public()))(t)
	for range 20 {
		// Makes garbage. The next buffer may reuse the memory of this garbage.
		bytes.Repeat([]byte{0xaa}, 300_000)
		opened := must(deadpan.AppendOpen(ctx, nil, sealed, nil, key))(t)
		for _, left := range opened[len(opened):cap(opened)] {
			if left != 0 {
				t.Fatal("the room behind the data holds something")
			}
		}
	}
}

func TestManyGoroutines(t *testing.T) {
	key := shared()
	plain := data(100_000)
	var group sync.WaitGroup
	failures := make(chan error, 1000)
	for range 50 {
		group.Go(func() {
			for range 10 {
				sealed, err := deadpan.Seal(plain, key.Public())
				if err == nil {
					var opened []byte
					if opened, err = deadpan.Open(sealed, key); err == nil && !bytes.Equal(opened, plain) {
						err = errors.New("other bytes came back")
					}
				}
				if err != nil {
					failures <- err
				}
			}
		})
	}
	group.Wait()
	select {
	case err := <-failures:
		t.Fatal(err)
	default:
	}
}

func TestRandomAndCompare(t *testing.T) {
	one, two := make([]byte, 1000), make([]byte, 1000)
	check(t, deadpan.Random(one))
	check(t, deadpan.Random(two))
	check(t, deadpan.Random(nil))
	if deadpan.ConstantTimeCompare(one, two) != 0 || deadpan.ConstantTimeCompare(one, bytes.Clone(one)) != 1 {
		t.Fatal("wrongly compared")
	}
	if deadpan.ConstantTimeCompare(one, one[:999]) != 0 || deadpan.ConstantTimeCompare(nil, nil) != 1 {
		t.Fatal("lengths are compared wrongly")
	}
	if bytes.Equal(one, two) || bytes.Count(one, []byte{0}) > 100 {
		t.Fatal("that is not random")
	}
	version := must(deadpan.Version())(t)
	if strings.Count(version, ".") != 2 {
		t.Fatalf("no version: %s", version)
	}
}

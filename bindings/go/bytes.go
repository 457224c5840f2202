package deadpan

import (
	"context"
	"runtime"

	"deadpan.example/deadpan/internal/abi"
)

// Seal seals bytes to recipients, and returns the result in a new slice.
func Seal(plain []byte, to ...Recipient) ([]byte, error) {
	return trim(AppendSeal(context.Background(), nil, plain, nil, to...))
}

// Open opens sealed bytes with the first key that fits, and returns the data in a new slice. Open returns either all of
// the data or no data.
func Open(sealed []byte, keys ...Identity) ([]byte, error) {
	return trim(AppendOpen(context.Background(), nil, sealed, nil, keys...))
}

// AppendSeal seals bytes to recipients, and appends the result to dst, which may be nil. A buffer that is used again
// costs less time than a new buffer:
//
//	buffer, err = deadpan.AppendSeal(ctx, buffer[:0], plain, nil, key)
//
// The spare capacity of dst must not share memory with plain. After an error, AppendSeal returns dst unchanged.
func AppendSeal(ctx context.Context, dst, plain []byte, options *SealOptions, to ...Recipient) ([]byte, error) {
	list, err := sealing(options, to)
	if err != nil {
		return dst, err
	}
	defer list.release()
	defer runtime.KeepAlive(to)
	sealed := dst
	// Guessing the length is cheaper than a call of dp_sealed_length, which costs as much as making the header a second
	// time.
	guess := len(plain) + len(plain)/1024 + 2048*len(to)
	if cap(dst)-len(dst) > len(plain) {
		guess = 0
	}
	err = options.work().do(ctx, func(work abi.Handle) error {
		sealed, err = fill(dst, guess, func(room []byte, length *int, err *abi.Handle) int32 {
			return abi.Seal(list.handle, plain, room, length, work, err)
		})
		return err
	})
	return sealed, err
}

// AppendOpen opens sealed bytes with the first key that fits, and appends the data to dst, which may be nil. AppendOpen
// appends either all of the data or no data. If the spare capacity of dst is as long as the sealed data, it is always
// large enough, unless the data are compressed.
//
// The spare capacity of dst must not share memory with sealed. After an error, AppendOpen returns dst unchanged.
func AppendOpen(ctx context.Context, dst, sealed []byte, options *OpenOptions, keys ...Identity) ([]byte, error) {
	list, err := opening(options, keys)
	if err != nil {
		return dst, err
	}
	defer list.release()
	defer runtime.KeepAlive(keys)
	plain := dst
	// The data are shorter than the sealed data, so the code first tries the caller's buffer in its present size.
	guess := len(sealed)
	if cap(dst) > len(dst) {
		guess = 0
	}
	err = options.work().do(ctx, func(work abi.Handle) error {
		plain, err = fill(dst, guess, func(room []byte, length *int, err *abi.Handle) int32 {
			return abi.Open(list.handle, sealed, room, length, work, err)
		})
		return err
	})
	return plain, err
}

// SealedLen returns the length of the sealed data for plain data of the given length. If the options ask for
// compression, SealedLen returns the largest possible length.
func SealedLen(length int64, options *SealOptions, to ...Recipient) (int64, error) {
	if length < 0 {
		return 0, wrong("the length %d is negative", length)
	}
	list, err := sealing(options, to)
	if err != nil {
		return 0, err
	}
	defer list.release()
	defer runtime.KeepAlive(to)
	var sealed uint64
	err = run(func(err *abi.Handle) int32 { return abi.SealedLength(list.handle, uint64(length), &sealed, err) })
	return int64(sealed), err
}

// Random fills a buffer with random bytes of the system.
func Random(buffer []byte) error {
	return run(func(err *abi.Handle) int32 { return abi.Random(buffer, err) })
}

// ConstantTimeCompare returns 1 if both slices have the same contents, and 0 otherwise. The time of ConstantTimeCompare
// depends on the lengths only. Slices of different lengths are never equal. ConstantTimeCompare panics if libdeadpan
// cannot be loaded.
func ConstantTimeCompare(one, other []byte) int {
	if len(one) != len(other) {
		return 0
	}
	var equal int32
	err := run(func(err *abi.Handle) int32 { return abi.ConstantTimeEqual(one, other, &equal, err) })
	if err != nil {
		panic(err)
	}
	return int(equal)
}

// Version returns the version of libdeadpan, or [ErrLibrary] if libdeadpan cannot be loaded.
func Version() (string, error) {
	version := abi.Version()
	if version == "" {
		return "", failure(abi.Missing, 0)
	}
	return version, nil
}

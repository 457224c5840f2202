package deadpan

import (
	"context"
	"runtime"
	"strings"

	"deadpan.example/deadpan/internal/abi"
)

// SealFile seals the file input to the file output, with its name, time and mode. The output gets its name only when it
// is complete, so after an error there is no output.
func SealFile(ctx context.Context, input, output string, options *SealOptions, to ...Recipient) error {
	return sealPath(ctx, input, output, options, to, abi.SealFile)
}

// OpenFile opens the sealed file input to the file output, and restores the time and mode of the original file. The
// output gets its name only when it is complete, so after an error there is no output.
func OpenFile(ctx context.Context, input, output string, options *OpenOptions, keys ...Identity) error {
	return openPath(ctx, input, output, options, keys, abi.OpenFile)
}

// A pathCall is a function of the library that reads the file or folder at one path and writes the result to another
// path.
type pathCall func(list abi.Handle, input, output string, replace int32, work abi.Handle, err *abi.Handle) int32

func sealPath(
	ctx context.Context, input, output string, options *SealOptions, to []Recipient, call pathCall,
) error {
	list, err := sealing(options, to)
	if err != nil {
		return err
	}
	defer list.release()
	defer runtime.KeepAlive(to)
	return onPaths(ctx, input, output, list, options.replace(), options.work(), call)
}

func openPath(
	ctx context.Context, input, output string, options *OpenOptions, keys []Identity, call pathCall,
) error {
	list, err := opening(options, keys)
	if err != nil {
		return err
	}
	defer list.release()
	defer runtime.KeepAlive(keys)
	return onPaths(ctx, input, output, list, options.replace(), options.work(), call)
}

func onPaths(
	ctx context.Context, input, output string, list list, replace int32, work work, call pathCall,
) error {
	if err := checkPaths(input, output); err != nil {
		return err
	}
	return work.do(ctx, func(work abi.Handle) error {
		return run(func(err *abi.Handle) int32 { return call(list.handle, input, output, replace, work, err) })
	})
}

// checkPaths refuses paths with a zero byte, at which C would cut the path off.
func checkPaths(paths ...string) error {
	for _, path := range paths {
		if strings.ContainsRune(path, 0) {
			return wrong("the path %q holds a zero byte", path)
		}
	}
	return nil
}

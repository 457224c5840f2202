package deadpan

import (
	"context"
	"runtime"

	"deadpan.example/deadpan/internal/abi"
)

// SealFolder seals a folder to the file output, with everything in it but what matches the option Exclude. Sockets,
// pipes and devices in the folder are not sealed, nor is the output itself. The output gets its name only when it is
// complete, so after an error there is no output.
func SealFolder(ctx context.Context, folder, output string, options *SealOptions, to ...Recipient) error {
	return sealPath(ctx, folder, output, options, to, abi.SealFolder)
}

// OpenFolder opens the sealed folder input to a new folder. The folder gets its name only when it is complete, and an
// existing folder is never replaced.
func OpenFolder(ctx context.Context, input, folder string, options *OpenOptions, keys ...Identity) error {
	if options != nil && options.Replace {
		return wrong("%s cannot be replaced, because it is a folder", folder)
	}
	return openPath(ctx, input, folder, options, keys,
		func(list abi.Handle, input, folder string, _ int32, work abi.Handle, err *abi.Handle) int32 {
			return abi.OpenFolder(list, input, folder, work, err)
		})
}

// An EntryKind is the kind of an entry in a folder.
type EntryKind int32

// The kinds of entries.
const (
	EntryFile   EntryKind = 0
	EntryFolder EntryKind = 1
	EntryOther  EntryKind = 2
)

// String returns the name of the kind.
func (k EntryKind) String() string {
	switch k {
	case EntryFile:
		return "file"
	case EntryFolder:
		return "folder"
	}
	return "other"
}

// An Entry is an entry of a sealed folder.
type Entry struct {
	// Path has slashes between its components, and is empty for the folder itself.
	Path string
	Kind EntryKind
	Size int64
}

// ListFolder lists the entries of a sealed folder. ListFolder reads only the index, and not the files.
func ListFolder(ctx context.Context, input string, options *OpenOptions, keys ...Identity) ([]Entry, error) {
	if ctx == nil {
		return nil, wrong("the context is nil")
	}
	if err := checkPaths(input); err != nil {
		return nil, err
	}
	list, err := opening(options, keys)
	if err != nil {
		return nil, err
	}
	defer list.release()
	defer runtime.KeepAlive(keys)
	var entries []Entry
	user := abi.Register(&abi.Target{Each: func(path string, kind int32, size uint64) int32 {
		if ctx.Err() != nil {
			return 1
		}
		entries = append(entries, Entry{Path: path, Kind: EntryKind(kind), Size: int64(size)})
		return 0
	}})
	defer abi.Unregister(user)
	err = run(func(err *abi.Handle) int32 { return abi.ListFolder(list.handle, input, user, err) })
	if ctx.Err() != nil {
		return nil, stopped(ctx)
	}
	if err != nil {
		return nil, err
	}
	return entries, nil
}

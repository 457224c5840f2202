package deadpan

import (
	"encoding/json"
	"io/fs"
	"math"
	"runtime"
	"time"

	"deadpan.example/deadpan/internal/abi"
)

// An Info describes a sealed file.
type Info struct {
	// Format is "deadpan" or "age".
	Format string `json:"format"`
	// Length is the length of the sealed file, and HeaderLength is the length of its header.
	Length       int64 `json:"length"`
	HeaderLength int64 `json:"header_length"`
	// Signed reports whether the file has a signature. Signed does not report whether the signature is right.
	Signed     bool            `json:"signed"`
	Recipients []InfoRecipient `json:"recipients"`

	// Kind is "bytes", "file" or "folder". Kind and the fields after it are known only with a key that opens the file.
	Kind        string      `json:"kind"`
	Name        string      `json:"name"`
	Modified    time.Time   `json:"-"`
	Mode        fs.FileMode `json:"-"`
	HidesLength bool        `json:"hides_length"`
	Compressed  bool        `json:"compressed"`

	// Raw is the whole description as JSON.
	Raw json.RawMessage `json:"-"`
}

// An InfoRecipient is the visible part of a recipient.
type InfoRecipient struct {
	// Type is "key", "passphrase" or "other".
	Type string `json:"type"`
	// Kind is the kind of a key, and KindName is the name of this kind.
	Kind     Kind   `json:"kem"`
	KindName string `json:"kind"`
	// Memory (in KiB), Passes and Lanes show how much work it takes to try a passphrase.
	Memory uint32 `json:"memory"`
	Passes uint32 `json:"passes"`
	Lanes  uint32 `json:"lanes"`
}

// Inspect describes a sealed file. The description has the public properties of the file. If one of the keys opens the
// file, the description also has the name, time and mode.
func Inspect(input string, options *OpenOptions, keys ...Identity) (*Info, error) {
	if err := checkPaths(input); err != nil {
		return nil, err
	}
	var list list
	if len(keys) > 0 {
		var err error
		if list, err = opening(options, keys); err != nil {
			return nil, err
		}
	}
	defer list.release()
	defer runtime.KeepAlive(keys)
	text, err := fill(nil, 4096, func(room []byte, length *int, err *abi.Handle) int32 {
		return abi.Inspect(input, list.handle, room, length, err)
	})
	if err != nil {
		return nil, err
	}
	return parseInfo(text)
}

func parseInfo(text []byte) (*Info, error) {
	info := &Info{Raw: text}
	var other struct {
		Modified *float64 `json:"modified"`
		Mode     uint32   `json:"mode"`
	}
	for _, into := range []any{info, &other} {
		if err := json.Unmarshal(text, into); err != nil {
			return nil, &Error{Code: ErrFault, Text: "the description is not as expected", causes: []error{err}}
		}
	}
	if other.Modified != nil {
		seconds, fraction := math.Modf(*other.Modified)
		info.Modified = time.Unix(int64(seconds), int64(fraction*1e9))
	}
	info.Mode = fs.FileMode(other.Mode & 0o777)
	return info, nil
}

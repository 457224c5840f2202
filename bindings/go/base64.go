package deadpan

import (
	"unsafe"

	"deadpan.example/deadpan/internal/abi"
)

// An Encoding is an alphabet of base64. The time of encoding and decoding depends on lengths only, and each sequence of
// bytes has exactly one valid text.
type Encoding struct {
	alphabet int32
}

// The alphabets of RFC 4648, as in encoding/base64.
var (
	StdEncoding    = Encoding{0}
	RawStdEncoding = Encoding{1}
	URLEncoding    = Encoding{2}
	RawURLEncoding = Encoding{3}
)

// EncodeToString returns the base64 text of bytes. EncodeToString panics if libdeadpan cannot be loaded.
func (e Encoding) EncodeToString(data []byte) string {
	text := e.AppendEncode(nil, data)
	return unsafe.String(unsafe.SliceData(text), len(text))
}

// AppendEncode appends the base64 text of bytes to dst. AppendEncode panics if libdeadpan cannot be loaded, or if data
// shares memory with the spare capacity of dst.
func (e Encoding) AppendEncode(dst, data []byte) []byte {
	text, err := fill(dst, 0, func(room []byte, length *int, err *abi.Handle) int32 {
		return abi.Base64Encode(e.alphabet, data, room, length, err)
	})
	if err != nil {
		panic(err)
	}
	return text
}

// DecodeString returns the bytes that a base64 text encodes.
func (e Encoding) DecodeString(text string) ([]byte, error) {
	return e.AppendDecode(nil, unsafe.Slice(unsafe.StringData(text), len(text)))
}

// AppendDecode appends the bytes that a base64 text encodes to dst. After an error, it returns dst unchanged.
func (e Encoding) AppendDecode(dst, text []byte) ([]byte, error) {
	return fill(dst, 0, func(room []byte, length *int, err *abi.Handle) int32 {
		return abi.Base64Decode(e.alphabet, text, room, length, err)
	})
}

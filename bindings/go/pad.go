package deadpan

import "deadpan.example/deadpan/internal/abi"

// A Padding is a scheme that fills data up to whole blocks.
type Padding int32

// The schemes.
const (
	PKCS7         Padding = 0
	ISO7816       Padding = 1
	ANSIX923      Padding = 2
	RFC4303       Padding = 3
	ISO10126      Padding = 4
	NotLast       Padding = 5
	ArbitraryTail Padding = 6
	ZeroPadding   Padding = 7
)

// Pad returns the data followed by a padding, in a new slice. A block has 1 to 255 bytes.
func (p Padding) Pad(data []byte, block int) ([]byte, error) {
	return fill(nil, 0, func(room []byte, length *int, err *abi.Handle) int32 {
		return abi.Pad(int32(p), block, data, room, length, err)
	})
}

// Unpad returns padded data without their padding, as a part of the given slice. The time of Unpad depends only on the
// length.
func (p Padding) Unpad(data []byte, block int) ([]byte, error) {
	var length int
	err := run(func(err *abi.Handle) int32 { return abi.Unpad(int32(p), block, data, &length, err) })
	if err != nil {
		return nil, err
	}
	return data[:length], nil
}

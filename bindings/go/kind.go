package deadpan

import "fmt"

// A Kind is a kind of key, by its number in HPKE's registry.
type Kind int32

// The kinds of keys. [XWing] is hybrid: choose it if you have no reason against it.
const (
	P256         Kind = 0x0010
	X25519       Kind = 0x0020
	MLKEM768     Kind = 0x0041
	MLKEM1024    Kind = 0x0042
	MLKEM768P256 Kind = 0x0050
	XWing        Kind = 0x647a
)

// String returns the name of the kind.
func (k Kind) String() string {
	switch k {
	case P256:
		return "P-256"
	case X25519:
		return "X25519"
	case MLKEM768:
		return "ML-KEM-768"
	case MLKEM1024:
		return "ML-KEM-1024"
	case MLKEM768P256:
		return "ML-KEM-768+P-256"
	case XWing:
		return "X-Wing"
	}
	return fmt.Sprintf("Kind(%#x)", int32(k))
}

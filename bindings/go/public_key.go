package deadpan

import (
	"crypto"
	"runtime"

	"deadpan.example/deadpan/internal/abi"
)

// A PublicKey seals data that its private key opens. It is a [Recipient].
type PublicKey struct {
	held            resource
	handle, sealing abi.Handle
	kind            Kind
	fingerprint     string
}

// ParsePublicKey reads PEM or an age recipient. A text with several keys is an error, so that no recipient is lost.
func ParsePublicKey(text string) (*PublicKey, error) {
	var handle abi.Handle
	err := run(func(err *abi.Handle) int32 { return abi.PublicKeyRead([]byte(text), &handle, err) })
	if err != nil {
		return nil, err
	}
	return newPublicKey(handle)
}

// newPublicKey makes a key that owns a handle. If this fails, it frees the handle.
func newPublicKey(handle abi.Handle) (*PublicKey, error) {
	key := &PublicKey{handle: handle}
	var kind int32
	err := run(func(err *abi.Handle) int32 { return abi.PublicKeyKind(handle, &kind, err) })
	key.kind = Kind(kind)
	if err == nil {
		var text []byte
		text, err = fill(nil, 64, func(room []byte, length *int, err *abi.Handle) int32 {
			return abi.PublicKeyFingerprint(handle, room, length, err)
		})
		key.fingerprint = string(text)
	}
	if err == nil {
		key.sealing, err = sealingTo(abi.SealingAddKey, handle)
	}
	if err != nil {
		abi.PublicKeyFree(handle)
		return nil, err
	}
	sealing := key.sealing
	own(key, &key.held, "public key", func() {
		abi.PublicKeyFree(handle)
		abi.SealingFree(sealing)
	})
	return key, nil
}

// Kind returns the kind of the key.
func (k *PublicKey) Kind() Kind {
	if k == nil {
		return 0
	}
	return k.kind
}

// Fingerprint returns a short text by which keys can be compared.
func (k *PublicKey) Fingerprint() string {
	if k == nil {
		return ""
	}
	return k.fingerprint
}

// PEM writes the key as PEM.
func (k *PublicKey) PEM() (string, error) {
	return k.write(formPEM)
}

// Age writes the key as an age recipient, if age has keys of its kind.
func (k *PublicKey) Age() (string, error) {
	return k.write(formAge)
}

func (k *PublicKey) write(form int32) (string, error) {
	if k == nil {
		return "", wrong("the public key is nil")
	}
	defer runtime.KeepAlive(k)
	text, err := fill(nil, textRoom, func(room []byte, length *int, err *abi.Handle) int32 {
		return abi.PublicKeyWrite(k.handle, form, room, length, err)
	})
	return string(text), err
}

// Equal reports whether the other key is the same public key.
func (k *PublicKey) Equal(other crypto.PublicKey) bool {
	key, ok := other.(*PublicKey)
	if !ok || k == nil || key == nil {
		return false
	}
	one, err := k.PEM()
	if err != nil {
		return false
	}
	two, err := key.PEM()
	return err == nil && one == two
}

// String returns the kind and the fingerprint.
func (k *PublicKey) String() string {
	if k == nil {
		return "no public key"
	}
	return k.kind.String() + " " + k.fingerprint
}

func (k *PublicKey) recipient() (part, error) {
	if k == nil {
		return part{}, wrong("a public key is nil")
	}
	return part{k.handle, abi.SealingAddKey, k.sealing}, k.held.check()
}

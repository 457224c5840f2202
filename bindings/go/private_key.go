package deadpan

import (
	"crypto"
	"runtime"

	"deadpan.example/deadpan/internal/abi"
)

// The forms of written keys, as in deadpan.h.
const (
	formPEM = 0
	formAge = 1
)

// textRoom is a number of bytes that is enough for every written key. With a smaller buffer, a private key might have
// to be written twice, and each protection of a key takes a second.
const textRoom = 16 << 10

// A PrivateKey opens data that were sealed to its public key. It is an [Identity].
type PrivateKey struct {
	held            resource
	handle, opening abi.Handle
	public          *PublicKey
}

// GenerateKey makes a new key.
func GenerateKey(kind Kind) (*PrivateKey, error) {
	var handle abi.Handle
	err := run(func(err *abi.Handle) int32 { return abi.PrivateKeyGenerate(int32(kind), &handle, err) })
	if err != nil {
		return nil, err
	}
	return newPrivateKey(handle)
}

// ParsePrivateKey reads PEM or an age identity. A text with several keys is an error. The passphrase may be nil. If the
// key is protected and the passphrase is nil, the error is [ErrLocked].
func ParsePrivateKey(text []byte, passphrase *Passphrase) (*PrivateKey, error) {
	unlock, err := passphrase.optional()
	if err != nil {
		return nil, err
	}
	var handle abi.Handle
	err = run(func(err *abi.Handle) int32 { return abi.PrivateKeyRead(text, unlock, &handle, err) })
	runtime.KeepAlive(passphrase)
	if err != nil {
		return nil, err
	}
	return newPrivateKey(handle)
}

// newPrivateKey makes a key that owns a handle. If this fails, it frees the handle.
func newPrivateKey(handle abi.Handle) (*PrivateKey, error) {
	key := &PrivateKey{handle: handle}
	var public abi.Handle
	err := run(func(err *abi.Handle) int32 { return abi.PrivateKeyPublic(handle, &public, err) })
	if err == nil {
		key.public, err = newPublicKey(public)
	}
	if err == nil {
		key.opening, err = openingWith(abi.OpeningAddKey, handle)
	}
	if err != nil {
		abi.PrivateKeyFree(handle)
		return nil, err
	}
	opening := key.opening
	own(key, &key.held, "private key", func() {
		abi.PrivateKeyFree(handle)
		abi.OpeningFree(opening)
	})
	return key, nil
}

// Public returns the public key.
func (k *PrivateKey) Public() *PublicKey {
	if k == nil {
		return nil
	}
	return k.public
}

// PEM writes the key as PEM. The key is protected with the passphrase if the passphrase is not nil. Clear the text
// after use.
func (k *PrivateKey) PEM(passphrase *Passphrase) ([]byte, error) {
	protect, err := passphrase.optional()
	if err != nil {
		return nil, err
	}
	defer runtime.KeepAlive(passphrase)
	return k.write(formPEM, protect)
}

// Age writes the key as an age identity, if age has keys of its kind. Clear the text after use.
func (k *PrivateKey) Age() ([]byte, error) {
	return k.write(formAge, 0)
}

func (k *PrivateKey) write(form int32, passphrase abi.Handle) ([]byte, error) {
	if k == nil {
		return nil, wrong("the private key is nil")
	}
	if err := k.held.check(); err != nil {
		return nil, err
	}
	defer runtime.KeepAlive(k)
	return fill(nil, textRoom, func(room []byte, length *int, err *abi.Handle) int32 {
		return abi.PrivateKeyWrite(k.handle, form, passphrase, room, length, err)
	})
}

// Equal reports whether the other key is the same private key, in constant time. A closed key is equal only to itself.
func (k *PrivateKey) Equal(other crypto.PrivateKey) bool {
	key, ok := other.(*PrivateKey)
	if !ok || k == nil || key == nil {
		return false
	}
	if k == key {
		return true
	}
	if k.held.check() != nil || key.held.check() != nil {
		return false
	}
	defer runtime.KeepAlive(k)
	defer runtime.KeepAlive(key)
	var equal int32
	err := run(func(err *abi.Handle) int32 { return abi.PrivateKeyEqual(k.handle, key.handle, &equal, err) })
	return err == nil && equal == 1
}

// String returns the kind and the fingerprint of the public key, and no secret.
func (k *PrivateKey) String() string {
	if k == nil || k.public == nil {
		return "no private key"
	}
	return "private key of " + k.public.String()
}

// Close wipes the key. Without Close, the secret is wiped some time after the program has dropped its last reference to
// this value.
func (k *PrivateKey) Close() error {
	if k != nil {
		k.held.close()
	}
	return nil
}

func (k *PrivateKey) identity() (part, error) {
	if k == nil {
		return part{}, wrong("a private key is nil")
	}
	return part{k.handle, abi.OpeningAddKey, k.opening}, k.held.check()
}

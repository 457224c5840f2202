package main

import (
	"crypto/aes"
	"crypto/cipher"
	"crypto/hpke"
	"encoding/binary"
	"slices"
)

// Sealing with Go's standard library alone: HPKE with X-Wing (crypto/hpke) provides a key, and AES-256-GCM encrypts
// chunks of 64 KiB with this key, on one thread. The nonce contains the number of the chunk, and states whether the
// chunk is the last chunk.
const (
	chunkSize = 64 << 10
	tagSize   = 16
	purpose   = "deadpan bench"
)

func withStandardLibrary(size int) (*pair, error) {
	kem := hpke.MLKEM768X25519()
	key, err := kem.GenerateKey()
	if err != nil {
		return nil, err
	}
	encapsulated := 0
	seal := func(buffer, plain []byte) ([]byte, error) {
		enc, sender, err := hpke.NewSender(key.PublicKey(), hpke.HKDFSHA256(), hpke.ExportOnly(), nil)
		if err != nil {
			return nil, err
		}
		encapsulated = len(enc)
		return chunks(append(buffer, enc...), plain, sender, chunkSize, cipher.AEAD.Seal)
	}
	open := func(buffer, sealed []byte) ([]byte, error) {
		enc := sealed[:encapsulated]
		recipient, err := hpke.NewRecipient(enc, key, hpke.HKDFSHA256(), hpke.ExportOnly(), nil)
		if err != nil {
			return nil, err
		}
		opened := func(aead cipher.AEAD, output, nonce, chunk, more []byte) []byte {
			output, failed := aead.Open(output, nonce, chunk, more)
			if failed != nil {
				err = failed
			}
			return output
		}
		output, failed := chunks(buffer, sealed[encapsulated:], recipient, chunkSize+tagSize, opened)
		if failed != nil {
			err = failed
		}
		return output, err
	}
	return inMemory(size, seal, open), nil
}

// An exporter is an HPKE context that derives the key of the chunks.
type exporter interface {
	Export(purpose string, length int) ([]byte, error)
}

// chunks calls a function with each chunk of the input, and appends the results to the output. Even an empty input has
// one chunk.
func chunks(
	output, input []byte,
	keys exporter,
	size int,
	each func(aead cipher.AEAD, output, nonce, chunk, more []byte) []byte,
) ([]byte, error) {
	secret, err := keys.Export(purpose, 32)
	if err != nil {
		return nil, err
	}
	block, err := aes.NewCipher(secret)
	if err != nil {
		return nil, err
	}
	aead, err := cipher.NewGCM(block)
	if err != nil {
		return nil, err
	}
	output = slices.Grow(output, len(input)+(len(input)/size+1)*tagSize)
	for number, isLast := 0, false; !isLast; number++ {
		chunk := input[:min(size, len(input))]
		input = input[len(chunk):]
		isLast = len(input) == 0
		nonce := make([]byte, 12)
		binary.BigEndian.PutUint64(nonce, uint64(number))
		if isLast {
			nonce[11] = 1
		}
		output = each(aead, output, nonce, chunk, nil)
	}
	return output, nil
}

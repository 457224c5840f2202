package main

import (
	"crypto/aes"
	"crypto/cipher"
	"crypto/hpke"
	"encoding/binary"
	"errors"
)

// The pure way in Go: HPKE with X-Wing (crypto/hpke) gives a key, and AES-256-GCM seals chunks of 64 KiB with it, on
// one thread. The nonce has the number of the chunk, and whether it is the last.
const (
	chunkSize = 64 << 10
	tagSize   = 16
	purpose   = "deadpan bench"
)

func withStandardLibrary() (format, error) {
	kem := hpke.MLKEM768X25519()
	key, err := kem.GenerateKey()
	if err != nil {
		return format{}, err
	}
	encapsulated := 0
	return format{
		seal: func(buffer, plain []byte) ([]byte, error) {
			enc, sender, err := hpke.NewSender(key.PublicKey(), hpke.HKDFSHA256(), hpke.ExportOnly(), nil)
			if err != nil {
				return nil, err
			}
			encapsulated = len(enc)
			secret, err := sender.Export(purpose, 32)
			if err != nil {
				return nil, err
			}
			return sealChunks(append(buffer, enc...), plain, secret)
		},
		open: func(buffer, sealed []byte) ([]byte, error) {
			enc, chunks := sealed[:encapsulated], sealed[encapsulated:]
			recipient, err := hpke.NewRecipient(enc, key, hpke.HKDFSHA256(), hpke.ExportOnly(), nil)
			if err != nil {
				return nil, err
			}
			secret, err := recipient.Export(purpose, 32)
			if err != nil {
				return nil, err
			}
			return openChunks(buffer, chunks, secret)
		},
	}, nil
}

func sealChunks(output, plain, secret []byte) ([]byte, error) {
	aead, err := gcm(secret)
	if err != nil {
		return nil, err
	}
	chunks := max(1, (len(plain)+chunkSize-1)/chunkSize)
	if need := len(output) + len(plain) + chunks*tagSize; cap(output) < need {
		output = append(make([]byte, 0, need), output...)
	}
	for number := range chunks {
		last := number == chunks-1
		chunk := plain[number*chunkSize : min((number+1)*chunkSize, len(plain))]
		output = aead.Seal(output, nonce(number, last), chunk, nil)
	}
	return output, nil
}

func openChunks(output, sealed, secret []byte) ([]byte, error) {
	aead, err := gcm(secret)
	if err != nil {
		return nil, err
	}
	if len(sealed) < tagSize {
		return nil, errors.New("the sealed data end too early")
	}
	if cap(output)-len(output) < len(sealed) {
		output = append(make([]byte, 0, len(output)+len(sealed)), output...)
	}
	for number := 0; len(sealed) > 0; number++ {
		chunk := sealed[:min(chunkSize+tagSize, len(sealed))]
		sealed = sealed[len(chunk):]
		if output, err = aead.Open(output, nonce(number, len(sealed) == 0), chunk, nil); err != nil {
			return nil, err
		}
	}
	return output, nil
}

func gcm(secret []byte) (cipher.AEAD, error) {
	block, err := aes.NewCipher(secret)
	if err != nil {
		return nil, err
	}
	return cipher.NewGCM(block)
}

func nonce(number int, last bool) []byte {
	nonce := make([]byte, 12)
	binary.BigEndian.PutUint64(nonce, uint64(number))
	if last {
		nonce[11] = 1
	}
	return nonce
}

package deadpan_test

import (
	"bytes"
	"compress/zlib"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"deadpan.example/deadpan"
)

// vectors returns the folder of test vectors, which is next to the repository. vectors skips the test if there is no
// such folder.
func vectors(t *testing.T, kind string) string {
	t.Helper()
	folder, err := filepath.Abs(filepath.Join("..", "..", "..", "shared", "vectors", kind))
	check(t, err)
	if _, err := os.Stat(folder); err != nil {
		t.Skipf("the test vectors of %s are not there", kind)
	}
	return folder
}

// ageVector is a test vector of C2SP's CCTV: lines about it, an empty line, and a file of age.
type ageVector struct {
	about map[string]string
	keys  []deadpan.Identity
	file  []byte
}

func readAgeVector(t *testing.T, path string) ageVector {
	t.Helper()
	vector := ageVector{about: map[string]string{}}
	head, file, _ := bytes.Cut(must(os.ReadFile(path))(t), []byte("\n\n"))
	for line := range strings.Lines(string(head)) {
		name, value, _ := strings.Cut(strings.TrimSuffix(line, "\n"), ": ")
		vector.about[name] = value
		switch name {
		case "identity":
			vector.keys = append(vector.keys, must(deadpan.ParsePrivateKey([]byte(value), nil))(t))
		case "passphrase":
			vector.keys = append(vector.keys, passphrase(t, value))
		}
	}
	vector.file = file
	if vector.about["compressed"] == "zlib" {
		vector.file = must(io.ReadAll(must(zlib.NewReader(bytes.NewReader(file)))(t)))(t)
	}
	return vector
}

func TestAgeVectors(t *testing.T) {
	folder := vectors(t, "age")
	used := 0
	for _, name := range names(t, folder) {
		t.Run(name, func(t *testing.T) {
			vector := readAgeVector(t, filepath.Join(folder, name))
			if vector.about["armored"] != "" {
				t.Skip("the library has no armor")
			}
			used++
			opened, err := deadpan.Open(vector.file, vector.keys...)
			var stream bytes.Buffer
			streamed := deadpan.OpenStream(ctx, &stream, bytes.NewReader(vector.file), nil, vector.keys...)
			_, seekable := deadpan.NewReader(bytes.NewReader(vector.file), int64(len(vector.file)), nil, vector.keys...)
			if vector.about["expect"] == "success" {
				check(t, errors.Join(err, streamed, seekable))
				same(t, stream.Bytes(), opened)
				if hash := sha256.Sum256(opened); hex.EncodeToString(hash[:]) != vector.about["payload"] {
					t.Fatal("other data came out")
				}
				return
			}
			if err == nil || streamed == nil || opened != nil {
				t.Fatalf("%s: it opens", vector.about["expect"])
			}
			if name == "scrypt_work_factor_23" {
				wants(t, err, deadpan.ErrLimit)
			}
			switch vector.about["expect"] {
			case "no match":
				wants(t, err, deadpan.ErrNoKey)
				wants(t, streamed, deadpan.ErrNoKey)
			case "HMAC failure", "payload failure":
				wants(t, err, deadpan.ErrTampered)
				wants(t, streamed, deadpan.ErrTampered)
			}
		})
	}
	if used < 50 {
		t.Fatalf("only %d vectors were used", used)
	}
}

func TestKeyVectors(t *testing.T) {
	folder := vectors(t, "pem")
	read := func(name string) []byte { return must(os.ReadFile(filepath.Join(folder, name)))(t) }
	for _, kind := range []string{"ML-KEM-768", "ML-KEM-1024"} {
		public := must(deadpan.ParsePublicKey(string(read(kind + ".pub"))))(t)
		if public.Kind().String() != kind {
			t.Fatalf("%v, and not %s", public.Kind(), kind)
		}
		for _, form := range []string{"-seed.priv", "-both.priv"} {
			key := must(deadpan.ParsePrivateKey(read(kind+form), nil))(t)
			if !key.Public().Equal(public) {
				t.Fatalf("%s%s is another key", kind, form)
			}
			same(t, must(deadpan.Open(must(deadpan.Seal([]byte("face"), public))(t), key))(t), []byte("face"))
		}
	}
	for _, name := range names(t, folder) {
		if strings.HasPrefix(name, "bad-") || strings.HasPrefix(name, "ML-DSA") {
			_, err := deadpan.ParsePrivateKey(read(name), nil)
			wants(t, err, deadpan.ErrKey)
		}
	}
}

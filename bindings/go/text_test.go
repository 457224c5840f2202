package deadpan_test

import (
	"bytes"
	"encoding/base64"
	"testing"

	"deadpan.example/deadpan"
)

var alphabets = []struct {
	ours   deadpan.Encoding
	theirs *base64.Encoding
}{
	{deadpan.StdEncoding, base64.StdEncoding.Strict()},
	{deadpan.RawStdEncoding, base64.RawStdEncoding.Strict()},
	{deadpan.URLEncoding, base64.URLEncoding.Strict()},
	{deadpan.RawURLEncoding, base64.RawURLEncoding.Strict()},
}

func TestBase64IsThatOfTheStandardLibrary(t *testing.T) {
	bytes := make([]byte, 300)
	for place, alphabet := range alphabets {
		for length := range bytes {
			check(t, deadpan.Random(bytes))
			text := alphabet.ours.EncodeToString(bytes[:length])
			if want := alphabet.theirs.EncodeToString(bytes[:length]); text != want {
				t.Fatalf("alphabet %d: %s, and not %s", place, text, want)
			}
			same(t, must(alphabet.ours.DecodeString(text))(t), bytes[:length])
		}
	}
	text := deadpan.StdEncoding.AppendEncode([]byte("front "), []byte("face"))
	same(t, text, []byte("front ZmFjZQ=="))
	same(t, must(deadpan.StdEncoding.AppendDecode([]byte("front "), []byte("ZmFjZQ==")))(t), []byte("front face"))
}

// FuzzBase64 checks that the same texts are valid as in the standard library, which ignores line ends.
func FuzzBase64(f *testing.F) {
	for _, text := range []string{
		"", "Zg==", "Zh==", "Zg=", "Z g==", "Zg==\n", "Zm9v", "Zm8", "_-8", "+/8=", "====", "Zg==Zg==",
	} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		for place, alphabet := range alphabets {
			got, err := alphabet.ours.DecodeString(text)
			want, bad := alphabet.theirs.DecodeString(text)
			if bytes.ContainsAny([]byte(text), "\r\n") {
				if err == nil {
					t.Fatalf("alphabet %d: %q has a line end", place, text)
				}
				continue
			}
			if (err == nil) != (bad == nil) || err == nil && !bytes.Equal(got, want) {
				t.Fatalf("alphabet %d: %q is %q, %v, and not %q, %v", place, text, got, err, want, bad)
			}
			if err != nil {
				wants(t, err, deadpan.ErrEncoding)
			}
		}
	})
}

func TestPaddings(t *testing.T) {
	paddings := []deadpan.Padding{
		deadpan.PKCS7, deadpan.ISO7816, deadpan.ANSIX923, deadpan.RFC4303,
		deadpan.ISO10126, deadpan.NotLast, deadpan.ArbitraryTail, deadpan.ZeroPadding,
	}
	for _, padding := range paddings {
		for _, block := range []int{1, 2, 16, 255} {
			for _, length := range []int{0, 1, block - 1, block, block + 1, 5 * block} {
				plain := append(data(length), 9)
				padded, err := padding.Pad(plain, block)
				if err != nil {
					wants(t, err, deadpan.ErrEncoding)
					continue
				}
				if len(padded)%block != 0 || len(padded) < len(plain) {
					t.Fatalf("padding %d: %d bytes become %d", padding, len(plain), len(padded))
				}
				same(t, must(padding.Unpad(padded, block))(t), plain)
			}
		}
	}
	same(t, must(deadpan.PKCS7.Pad([]byte("attack at dawn"), 16))(t), []byte("attack at dawn\x02\x02"))
	same(t, must(deadpan.ISO7816.Pad([]byte("attack at dawn"), 16))(t), []byte("attack at dawn\x80\x00"))
	_, err := deadpan.PKCS7.Unpad([]byte("attack at dawn\x02\x03"), 16)
	wants(t, err, deadpan.ErrEncoding)
	_, err = deadpan.PKCS7.Unpad(nil, 16)
	wants(t, err, deadpan.ErrEncoding)
	for _, block := range []int{-1, 0, 256, 1 << 40} {
		_, err := deadpan.PKCS7.Pad([]byte("x"), block)
		wants(t, err, deadpan.ErrArgument)
		_, err = deadpan.PKCS7.Unpad([]byte("x"), block)
		wants(t, err, deadpan.ErrArgument)
	}
	for _, padding := range []deadpan.Padding{-1, 8} {
		_, err := padding.Pad([]byte("x"), 16)
		wants(t, err, deadpan.ErrArgument)
	}
}

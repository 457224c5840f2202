package deadpan_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"log"
	"os"
	"path/filepath"
	"strings"

	"deadpan.example/deadpan"
)

func Example() {
	key, err := deadpan.GenerateKey(deadpan.XWing)
	if err != nil {
		log.Fatal(err)
	}
	defer key.Close()
	sealed, err := deadpan.Seal([]byte("straight face"), key.Public())
	if err != nil {
		log.Fatal(err)
	}
	plain, err := deadpan.Open(sealed, key)
	fmt.Printf("%s, %v\n", plain, err)
	sealed[len(sealed)-1] ^= 1
	_, err = deadpan.Open(sealed, key)
	fmt.Println(errors.Is(err, deadpan.ErrTampered))
	// Output:
	// straight face, <nil>
	// true
}

func ExampleSealFile() {
	ctx, stop := context.WithCancel(context.Background())
	defer stop()
	folder, err := os.MkdirTemp("", "example")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(folder)
	report, sealed := filepath.Join(folder, "report"), filepath.Join(folder, "report.dpn")
	if err := os.WriteFile(report, []byte("straight face"), 0o600); err != nil {
		log.Fatal(err)
	}
	passphrase, err := deadpan.NewPassphrase([]byte("correct horse battery staple"))
	if err != nil {
		log.Fatal(err)
	}
	defer passphrase.Close()

	err = deadpan.SealFile(ctx, report, sealed, nil, passphrase)
	fmt.Println(err)
	err = deadpan.OpenFile(ctx, sealed, report, nil, passphrase)
	fmt.Println(errors.Is(err, fs.ErrExist))
	err = deadpan.OpenFile(ctx, sealed, report, &deadpan.OpenOptions{Replace: true}, passphrase)
	fmt.Println(err)
	// Output:
	// <nil>
	// true
	// <nil>
}

func ExampleSealFolder() {
	ctx, stop := context.WithCancel(context.Background())
	defer stop()
	place, err := os.MkdirTemp("", "example")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(place)
	folder, sealed := filepath.Join(place, "src"), filepath.Join(place, "src.dpn")
	for _, name := range []string{"a.c", "a.o", "keep.o", "node_modules/x"} {
		path := filepath.Join(folder, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			log.Fatal(err)
		}
		if err := os.WriteFile(path, []byte("straight face"), 0o600); err != nil {
			log.Fatal(err)
		}
	}
	key, err := deadpan.GenerateKey(deadpan.XWing)
	if err != nil {
		log.Fatal(err)
	}
	defer key.Close()

	options := &deadpan.SealOptions{Exclude: []string{"node_modules/", "*.o", "!keep.o"}}
	err = deadpan.SealFolder(ctx, folder, sealed, options, key.Public())
	fmt.Println(err)
	entries, err := deadpan.ListFolder(ctx, sealed, nil, key)
	for _, entry := range entries {
		fmt.Printf("%s %q\n", entry.Kind, entry.Path)
	}
	fmt.Println(err)
	// Output:
	// <nil>
	// folder ""
	// file "a.c"
	// file "keep.o"
	// <nil>
}

func ExampleWriter() {
	key, err := deadpan.GenerateKey(deadpan.XWing)
	if err != nil {
		log.Fatal(err)
	}
	var sealed bytes.Buffer
	writer, err := deadpan.NewWriter(&sealed, nil, key.Public())
	if err != nil {
		log.Fatal(err)
	}
	defer writer.Close() // without Finish before, this cuts the sealed data short
	if _, err := io.WriteString(writer, "first line\nsecond line\n"); err != nil {
		log.Fatal(err)
	}
	if err := writer.Finish(); err != nil {
		log.Fatal(err)
	}

	reader, err := deadpan.NewReader(bytes.NewReader(sealed.Bytes()), int64(sealed.Len()), nil, key)
	if err != nil {
		log.Fatal(err)
	}
	defer reader.Close()
	if _, err := reader.Seek(11, io.SeekStart); err != nil {
		log.Fatal(err)
	}
	line, err := io.ReadAll(reader)
	fmt.Printf("%s%v\n", line, err)
	// Output:
	// second line
	// <nil>
}

func ExampleSealStream() {
	key, err := deadpan.GenerateKey(deadpan.XWing)
	if err != nil {
		log.Fatal(err)
	}
	var sealed, plain strings.Builder
	// This example uses a progress function, and a context that the user of a program can cancel.
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	options := &deadpan.SealOptions{Progress: func(done int64) { fmt.Println(done, "bytes are sealed") }}
	err = deadpan.SealStream(ctx, &sealed, strings.NewReader("straight face"), options, key.Public())
	if err != nil {
		log.Fatal(err)
	}
	err = deadpan.OpenStream(ctx, &plain, strings.NewReader(sealed.String()), nil, key)
	fmt.Println(plain.String(), err)
	// Output:
	// 0 bytes are sealed
	// 13 bytes are sealed
	// straight face <nil>
}

func ExampleParsePrivateKey() {
	made, err := deadpan.GenerateKey(deadpan.XWing)
	if err != nil {
		log.Fatal(err)
	}
	passphrase, err := deadpan.NewPassphrase([]byte("correct horse battery staple"))
	if err != nil {
		log.Fatal(err)
	}
	text, err := made.PEM(passphrase)
	if err != nil {
		log.Fatal(err)
	}
	_, err = deadpan.ParsePrivateKey(text, nil)
	fmt.Println(errors.Is(err, deadpan.ErrLocked))
	key, err := deadpan.ParsePrivateKey(text, passphrase)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(key.Public().Kind(), key.Public().Equal(made.Public()))
	// Output:
	// true
	// X-Wing true
}

func ExampleEncoding() {
	text := deadpan.StdEncoding.EncodeToString([]byte("straight face"))
	fmt.Println(text)
	_, err := deadpan.StdEncoding.DecodeString("Zh==")
	fmt.Println(errors.Is(err, deadpan.ErrEncoding))
	// Output:
	// c3RyYWlnaHQgZmFjZQ==
	// true
}

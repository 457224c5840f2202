package deadpan_test

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"deadpan.example/deadpan"
)

func TestFilesComeBack(t *testing.T) {
	key, folder := shared(), t.TempDir()
	plain := write(t, folder, "plain", data(1_000_000))
	when := time.Date(2020, 2, 3, 4, 5, 6, 0, time.UTC)
	check(t, os.Chtimes(plain, when, when))
	check(t, os.Chmod(plain, 0o640))
	sealed, back := filepath.Join(folder, "sealed"), filepath.Join(folder, "back")
	check(t, deadpan.SealFile(ctx, plain, sealed, nil, key.Public()))
	check(t, deadpan.OpenFile(ctx, sealed, back, nil, key))
	same(t, must(os.ReadFile(back))(t), data(1_000_000))
	about := must(os.Stat(back))(t)
	if about.Mode() != 0o640 || !about.ModTime().Equal(when) {
		t.Fatalf("mode or time are lost: %v", about)
	}

	err := deadpan.SealFile(ctx, plain, sealed, nil, key.Public())
	wants(t, err, deadpan.ErrExists)
	wants(t, err, fs.ErrExist)
	if !strings.Contains(err.Error(), sealed) {
		t.Fatalf("the error does not name the file: %v", err)
	}
	check(t, deadpan.SealFile(ctx, plain, sealed, &deadpan.SealOptions{Replace: true}, key.Public()))
	wants(t, deadpan.OpenFile(ctx, sealed, back, &deadpan.OpenOptions{}, key), fs.ErrExist)
	check(t, deadpan.OpenFile(ctx, sealed, back, &deadpan.OpenOptions{Replace: true}, key))
	if left := names(t, folder); !slices.Equal(left, []string{"back", "plain", "sealed"}) {
		t.Fatalf("other files are left: %v", left)
	}
}

func TestErrorsOfFiles(t *testing.T) {
	key, folder := shared(), t.TempDir()
	plain := write(t, folder, "plain", []byte("straight face"))
	in := func(name string) string { return filepath.Join(folder, name) }
	check(t, deadpan.SealFile(ctx, plain, in("sealed"), nil, key.Public()))

	err := deadpan.SealFile(ctx, in("missing"), in("x"), nil, key.Public())
	wants(t, err, deadpan.ErrRead)
	wants(t, err, fs.ErrNotExist)
	if !strings.Contains(err.Error(), in("missing")) {
		t.Fatalf("the error does not name the file: %v", err)
	}
	err = deadpan.SealFile(ctx, plain, in("no/such/folder"), nil, key.Public())
	wants(t, err, deadpan.ErrWrite)
	wants(t, err, fs.ErrNotExist)
	replace := &deadpan.SealOptions{Replace: true}
	wants(t, deadpan.SealFile(ctx, plain, plain, replace, key.Public()), deadpan.ErrArgument)
	wants(t, deadpan.SealFile(ctx, plain, in("x\x00y"), nil, key.Public()), deadpan.ErrArgument)
	wants(t, deadpan.SealFile(ctx, plain, "", nil, key.Public()), deadpan.ErrArgument)
	wants(t, deadpan.OpenFile(ctx, plain, in("x"), nil, key), deadpan.ErrNotSealed)
	err = deadpan.OpenFile(ctx, in("sealed"), in("x"), nil, other())
	wants(t, err, deadpan.ErrNoKey)
	if !strings.Contains(err.Error(), "sealed") || errors.Is(err, fs.ErrNotExist) {
		t.Fatalf("the error does not name the file: %v", err)
	}

	sealed := must(os.ReadFile(in("sealed")))(t)
	sealed[len(sealed)-1] ^= 1
	wants(t, deadpan.OpenFile(ctx, write(t, folder, "bad", sealed), in("x"), nil, key), deadpan.ErrTampered)
	if left := names(t, folder); !slices.Equal(left, []string{"bad", "plain", "sealed"}) {
		t.Fatalf("something is left after errors: %v", left)
	}
}

func TestFoldersWithoutWhatIsExcluded(t *testing.T) {
	key, folder := shared(), t.TempDir()
	in := func(name string) string { return filepath.Join(folder, name) }
	for _, name := range []string{"a.c", "a.o", "node_modules/x", "in/keep.o", "in/\xff"} {
		check(t, os.MkdirAll(filepath.Dir(in("tree/"+name)), 0o700))
		write(t, folder, "tree/"+name, []byte(name))
	}
	all := []string{"a.c", "a.o", "in/keep.o", "in/\xff", "node_modules/x"}
	for _, one := range []struct{ exclude, want []string }{
		{nil, all},
		{[]string{}, all},
		{[]string{"none"}, all},
		{[]string{"*.o"}, []string{"a.c", "in/\xff", "node_modules/x"}},
		{[]string{"*.o", "!keep.o", "node_modules/"}, []string{"a.c", "in/keep.o", "in/\xff"}},
		{[]string{"!keep.o", "*.o", "/in/\xff"}, []string{"a.c", "node_modules/x"}},
		{[]string{"in/", "!in/keep.o"}, []string{"a.c", "a.o", "node_modules/x"}},
		{[]string{"*"}, nil},
	} {
		options := &deadpan.SealOptions{Exclude: one.exclude, Replace: true}
		check(t, deadpan.SealFolder(ctx, in("tree"), in("sealed"), options, key.Public()))
		var got []string
		for _, entry := range must(deadpan.ListFolder(ctx, in("sealed"), nil, key))(t) {
			if entry.Kind == deadpan.EntryFile {
				got = append(got, entry.Path)
			}
		}
		if slices.Sort(got); !slices.Equal(got, one.want) {
			t.Fatalf("%q: %q, and not %q", one.exclude, got, one.want)
		}
	}
	for _, wrong := range []string{"", "!", "/", "[a", "x/[!a", "[[:word:]]", "[a\x00b]"} {
		options := &deadpan.SealOptions{Exclude: []string{"*.o", wrong}}
		err := deadpan.SealFolder(ctx, in("tree"), in("other"), options, key.Public())
		wants(t, err, deadpan.ErrArgument)
		if !strings.Contains(err.Error(), "the pattern "+strconv.Quote(wrong)) {
			t.Fatalf("the error does not name the pattern %q: %v", wrong, err)
		}
	}
	if left := names(t, folder); !slices.Equal(left, []string{"sealed", "tree"}) {
		t.Fatalf("something is left after errors: %v", left)
	}
	// Functions for other data ignore the patterns.
	options := &deadpan.SealOptions{Exclude: []string{"*"}}
	check(t, deadpan.SealFile(ctx, in("tree/a.c"), in("file"), options, key.Public()))
	check(t, deadpan.OpenFile(ctx, in("file"), in("back"), nil, key))
	same(t, must(os.ReadFile(in("back")))(t), []byte("a.c"))
}

func TestFoldersComeBack(t *testing.T) {
	key, folder := shared(), t.TempDir()
	in := func(name string) string { return filepath.Join(folder, name) }
	check(t, os.MkdirAll(in("things/deep"), 0o700))
	write(t, folder, "things/deep/file", []byte("straight face"))
	check(t, os.Symlink("deep/file", in("things/link")))
	check(t, deadpan.SealFolder(ctx, in("things"), in("sealed"), nil, key.Public()))
	check(t, deadpan.OpenFolder(ctx, in("sealed"), in("back"), nil, key))
	same(t, must(os.ReadFile(in("back/deep/file")))(t), []byte("straight face"))
	same(t, must(os.ReadFile(in("back/link")))(t), []byte("straight face"))

	kinds := map[string]deadpan.EntryKind{}
	for _, entry := range must(deadpan.ListFolder(ctx, in("sealed"), nil, key))(t) {
		kinds[entry.Path] = entry.Kind
		if entry.Kind == deadpan.EntryFile && entry.Size != 13 {
			t.Fatalf("the size is wrong: %v", entry)
		}
	}
	for path, kind := range map[string]deadpan.EntryKind{
		"": deadpan.EntryFolder, "deep": deadpan.EntryFolder,
		"deep/file": deadpan.EntryFile, "link": deadpan.EntryOther,
	} {
		if found, ok := kinds[path]; !ok || found != kind {
			t.Fatalf("%s is missing or of another kind: %v", path, kinds)
		}
	}

	wants(t, deadpan.OpenFolder(ctx, in("sealed"), in("back"), nil, key), fs.ErrExist)
	replace := &deadpan.OpenOptions{Replace: true}
	wants(t, deadpan.OpenFolder(ctx, in("sealed"), in("back"), replace, key), deadpan.ErrArgument)
	wants(t, deadpan.OpenFile(ctx, in("sealed"), in("x"), nil, key), deadpan.ErrArgument)
	wants(t, deadpan.SealFolder(ctx, in("missing"), in("x"), nil, key.Public()), fs.ErrNotExist)
	wants(t, deadpan.SealFolder(ctx, in("sealed"), in("x"), nil, key.Public()), deadpan.ErrArgument)
	_, err := deadpan.ListFolder(ctx, in("sealed"), nil, other())
	wants(t, err, deadpan.ErrNoKey)
	_, err = deadpan.ListFolder(ctx, in("missing"), nil, key)
	wants(t, err, fs.ErrNotExist)
	stopped, stop := context.WithCancel(ctx)
	stop()
	_, err = deadpan.ListFolder(stopped, in("sealed"), nil, key)
	wants(t, err, context.Canceled)
	wants(t, err, deadpan.ErrStopped)
	if left := names(t, folder); !slices.Equal(left, []string{"back", "sealed", "things"}) {
		t.Fatalf("something is left after errors: %v", left)
	}
}

func TestInspect(t *testing.T) {
	key, folder := shared(), t.TempDir()
	plain := write(t, folder, "plain", []byte("straight face"))
	when := time.Unix(1_600_000_000, 0)
	check(t, os.Chtimes(plain, when, when))
	sealed := filepath.Join(folder, "sealed")
	check(t, deadpan.SealFile(ctx, plain, sealed, nil, key.Public(), other().Public()))
	info := must(deadpan.Inspect(sealed, nil))(t)
	size := must(os.Stat(sealed))(t).Size()
	if info.Format != "deadpan" || info.Length != size || info.HeaderLength >= size || info.Signed || info.Kind != "" {
		t.Fatalf("wrongly described: %s", info.Raw)
	}
	key1 := deadpan.InfoRecipient{Type: "key", Kind: deadpan.XWing, KindName: "X-Wing"}
	if !slices.Equal(info.Recipients, []deadpan.InfoRecipient{key1, key1}) {
		t.Fatalf("wrong recipients: %v", info.Recipients)
	}
	info = must(deadpan.Inspect(sealed, nil, key))(t)
	if info.Kind != "file" || info.Name != "plain" || info.Mode != 0o600 || !info.Modified.Equal(when) {
		t.Fatalf("wrongly described: %s", info.Raw)
	}
	_, err := deadpan.Inspect(sealed, nil, generate(deadpan.P256))
	wants(t, err, deadpan.ErrNoKey)
	_, err = deadpan.Inspect(plain, nil)
	wants(t, err, deadpan.ErrNotSealed)
	_, err = deadpan.Inspect(filepath.Join(folder, "missing"), nil)
	wants(t, err, fs.ErrNotExist)

	secret := filepath.Join(folder, "secret")
	check(t, deadpan.SealFile(ctx, plain, secret, nil, passphrase(t, "correct horse")))
	if cost := must(deadpan.Inspect(secret, nil))(t).Recipients[0]; cost.Type != "passphrase" || cost.Memory == 0 {
		t.Fatalf("wrongly described: %v", cost)
	}
	// There are so many recipients that the first buffer is too small.
	var to []deadpan.Recipient
	for range 200 {
		to = append(to, generate(deadpan.X25519).Public())
	}
	many := filepath.Join(folder, "many")
	check(t, deadpan.SealFile(ctx, plain, many, nil, to...))
	if info := must(deadpan.Inspect(many, nil))(t); len(info.Recipients) != 200 {
		t.Fatalf("%d recipients", len(info.Recipients))
	}
}

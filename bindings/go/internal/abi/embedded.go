//go:build !deadpan_cgo && (darwin || linux) && !android && !ios && (amd64 || arm64 || ppc64le || riscv64)

package abi

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"syscall"
	"unsafe"

	"github.com/ebitengine/purego"
)

// open checks the library and loads it. Linux loads the library from memory. Other systems, and a Linux that refuses
// this, load the library from a file that exists only meanwhile. A file that stays could be changed before the next
// start, and old versions of it would pile up.
func (l embeddedLibrary) open() (uintptr, error) {
	data := unsafe.Slice(unsafe.StringData(l.data), len(l.data))
	if sum := fmt.Sprintf("%x", sha256.Sum256(data)); sum != l.sum {
		return 0, fmt.Errorf("the library inside this program was changed: its SHA-256 is %s instead of %s", sum, l.sum)
	}
	if musl := usesMusl(); musl != l.musl {
		return 0, errors.New(libcMismatch[musl])
	}
	handle, inMemory := openInMemory(data)
	if inMemory == nil {
		return handle, nil
	}
	handle, err := openInFolder(data)
	if err != nil {
		return 0, errors.Join(inMemory, err)
	}
	return handle, nil
}

// A library for one C library is not loaded with the other one. musl would load a library for glibc without an error
// if it finds each symbol, but some of these symbols behave in another way.
var libcMismatch = map[bool]string{
	true:  "the library inside this program is for glibc, and the program runs with musl: use the build tag musl",
	false: "the library inside this program is for musl: do not use the build tag musl",
}

// usesMusl reports whether the program runs with musl, which is every Linux without this function of glibc.
func usesMusl() bool {
	_, err := purego.Dlsym(purego.RTLD_DEFAULT, "gnu_get_libc_version")
	return runtime.GOOS == "linux" && err != nil
}

// openInFolder loads the library from a new folder that no other user can enter or replace, and removes the folder.
func openInFolder(data []byte) (handle uintptr, err error) {
	place, err := filepath.Abs(os.TempDir())
	if err != nil {
		return 0, err
	}
	// The owner of a link may change it. So the path that is checked and used has no links.
	if place, err = filepath.EvalSymlinks(place); err != nil {
		return 0, err
	}
	if err := refuseReplaceable(place); err != nil {
		return 0, err
	}
	folder, err := os.MkdirTemp(place, "deadpan-")
	if err != nil {
		return 0, err
	}
	defer os.RemoveAll(folder)
	name := "libdeadpan.so"
	if runtime.GOOS == "darwin" {
		name = "libdeadpan.dylib"
	}
	path := filepath.Join(folder, name)
	if err := os.WriteFile(path, data, 0o500); err != nil {
		return 0, err
	}
	return open(path)
}

// refuseReplaceable refuses a path on which another user than root may rename a folder. The owner of the folder above
// may do so, and each user with the right to write there, except with the sticky bit.
func refuseReplaceable(place string) error {
	for folder := place; ; folder = filepath.Dir(folder) {
		info, err := os.Lstat(folder)
		if err != nil {
			return err
		}
		owner := info.Sys().(*syscall.Stat_t).Uid
		foreign := owner != 0 && owner != uint32(os.Geteuid())
		shared := info.Mode().Perm()&0o022 != 0 && info.Mode()&os.ModeSticky == 0
		if foreign || shared || !info.IsDir() {
			return fmt.Errorf("other users may replace files in %s: set TMPDIR to a folder of your own", folder)
		}
		if folder == filepath.Dir(folder) {
			return nil
		}
	}
}

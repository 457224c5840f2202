//go:build !deadpan_cgo && linux && (amd64 || arm64)

package abi

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// carried returns the library of the environment variable as if it were inside the program.
func carried(t *testing.T) embeddedLibrary {
	t.Helper()
	path := os.Getenv("DEADPAN_LIBRARY")
	if path == "" {
		t.Skip("DEADPAN_LIBRARY does not name the library")
	}
	data := readText(t, path)
	return embeddedLibrary{data: data, sum: fmt.Sprintf("%x", sha256.Sum256([]byte(data))), musl: usesMusl()}
}

func mapped(t *testing.T, name string) bool {
	t.Helper()
	return strings.Contains(readText(t, "/proc/self/maps"), name)
}

func TestALibraryInsideTheProgramIsLoadedFromMemory(t *testing.T) {
	library := carried(t)
	// No folder is needed.
	t.Setenv("TMPDIR", "/no/such/folder")
	if _, err := library.open(); err != nil {
		t.Fatal(err)
	}
	if !mapped(t, "/memfd:libdeadpan.so (deleted)") {
		t.Fatal("no library is mapped from memory")
	}
}

func TestALibraryInsideTheProgramIsLoadedFromAPrivateFolder(t *testing.T) {
	library, folder := carried(t), t.TempDir()
	t.Setenv("TMPDIR", folder)
	if err := os.Chmod(folder, 0o700); err != nil {
		t.Fatal(err)
	}
	if _, err := openInFolder([]byte(library.data)); err != nil {
		t.Fatal(err)
	}
	if !mapped(t, folder+"/deadpan-") {
		t.Fatal("no library is mapped from the folder")
	}
	if left, err := os.ReadDir(folder); err != nil || len(left) > 0 {
		t.Fatalf("%v remains, %v", left, err)
	}
}

// refused reports whether the place is refused because of the folder, which is the place or above it.
func refused(t *testing.T, place, folder string) bool {
	t.Helper()
	t.Setenv("TMPDIR", place)
	// The data are no library, so loading them fails in any case.
	_, err := openInFolder([]byte("no library"))
	if err == nil {
		t.Fatal("data without a library are loaded")
	}
	return strings.Contains(err.Error(), "other users may replace files in "+folder+":")
}

func TestAFolderThatOthersChangeIsRefused(t *testing.T) {
	folder := t.TempDir()
	place, link := filepath.Join(folder, "place"), filepath.Join(t.TempDir(), "link")
	if err := errors.Join(os.Mkdir(place, 0o700), os.Symlink(place, link)); err != nil {
		t.Fatal(err)
	}
	for mode, wanted := range map[os.FileMode]bool{
		0o777: true, 0o720: true, 0o777 | os.ModeSticky: false, 0o755: false,
	} {
		if err := os.Chmod(folder, mode); err != nil {
			t.Fatal(err)
		}
		for _, used := range []string{folder, place, link} {
			if refused(t, used, folder) != wanted {
				t.Errorf("%v: %s is refused: %v", mode, used, !wanted)
			}
		}
	}
}

func TestAFolderOfAnotherUserIsRefused(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("folders of other users: only root makes them")
	}
	folder := t.TempDir()
	place := filepath.Join(folder, "place")
	if err := os.Mkdir(place, 0o700); err != nil {
		t.Fatal(err)
	}
	// The owner of a folder may rename what is in it, also with the sticky bit.
	for _, mode := range []os.FileMode{0o700, 0o777 | os.ModeSticky} {
		for owner, wanted := range map[int]bool{65534: true, 0: false} {
			if err := errors.Join(os.Chown(folder, owner, -1), os.Chmod(folder, mode)); err != nil {
				t.Fatal(err)
			}
			for _, used := range []string{folder, place} {
				if refused(t, used, folder) != wanted {
					t.Errorf("%v of %d: %s is refused: %v", mode, owner, used, !wanted)
				}
			}
		}
	}
}

func TestAChangedLibraryIsRefused(t *testing.T) {
	library := carried(t)
	changed := []byte(library.data)
	changed[len(changed)/2] ^= 1
	library.data = string(changed)
	if _, err := library.open(); err == nil || !strings.Contains(err.Error(), "was changed: its SHA-256 is") {
		t.Fatal(err)
	}
}

func TestALibraryForAnotherCLibraryIsRefused(t *testing.T) {
	library := carried(t)
	library.musl = !library.musl
	if _, err := library.open(); err == nil || !strings.Contains(err.Error(), "the build tag musl") {
		t.Fatal(err)
	}
}

//go:build !deadpan_cgo && linux && (amd64 || arm64)

package abi

import (
	"crypto/sha256"
	"fmt"
	"os"
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

func TestAFolderThatOthersChangeIsRefused(t *testing.T) {
	folder := t.TempDir()
	t.Setenv("TMPDIR", folder)
	for mode, refused := range map[os.FileMode]bool{
		0o777: true, 0o720: true, 0o777 | os.ModeSticky: false, 0o755: false,
	} {
		if err := os.Chmod(folder, mode); err != nil {
			t.Fatal(err)
		}
		// The data are no library, so loading them fails in any case.
		_, err := openInFolder([]byte("no library"))
		if err == nil || refused != strings.Contains(err.Error(), "other users may replace files in "+folder) {
			t.Errorf("%v: %v", mode, err)
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

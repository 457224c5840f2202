package main

import (
	"bytes"
	"context"
	"os"
	"path/filepath"

	"deadpan"
)

// files seals and opens a file, on the disk of the folder for temporary files.
type files struct {
	folder string
	key    *deadpan.PrivateKey
}

func newFiles(size int) (*files, error) {
	key, err := deadpan.GenerateKey(deadpan.XWing)
	if err != nil {
		return nil, err
	}
	folder, err := os.MkdirTemp("", "deadpan-worker-")
	if err != nil {
		return nil, err
	}
	files := &files{folder: folder, key: key}
	if err := os.WriteFile(files.path("plain"), data(size), 0o600); err != nil {
		return nil, err
	}
	return files, files.seal()
}

func (f *files) path(name string) string {
	return filepath.Join(f.folder, name)
}

func (f *files) seal() error {
	// A file that is replaced would be written to the disk first.
	_ = os.Remove(f.path("sealed"))
	return deadpan.SealFile(context.Background(), f.path("plain"), f.path("sealed"), nil, f.key.Public())
}

func (f *files) open() error {
	_ = os.Remove(f.path("opened"))
	return deadpan.OpenFile(context.Background(), f.path("sealed"), f.path("opened"), nil, f.key)
}

func (f *files) check() error {
	if err := f.open(); err != nil {
		return err
	}
	plain, err := os.ReadFile(f.path("plain"))
	if err != nil {
		return err
	}
	opened, err := os.ReadFile(f.path("opened"))
	if err == nil && !bytes.Equal(plain, opened) {
		err = errOther
	}
	return err
}

func (f *files) close() {
	// The folder is in the system's place for temporary files.
	_ = os.RemoveAll(f.folder)
	_ = f.key.Close()
}

// sealingFiles and openingFiles keep one file at a time.
var lastFiles *files

func sealingFiles(size int) (run, check func() error, err error) {
	made, err := nextFiles(size)
	if err != nil {
		return nil, nil, err
	}
	return made.seal, made.check, nil
}

func openingFiles(size int) (run, check func() error, err error) {
	made, err := nextFiles(size)
	if err != nil {
		return nil, nil, err
	}
	return made.open, made.check, made.open()
}

func nextFiles(size int) (*files, error) {
	if lastFiles != nil {
		lastFiles.close()
	}
	made, err := newFiles(size)
	lastFiles = made
	return made, err
}

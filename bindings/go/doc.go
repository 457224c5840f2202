// Package deadpan seals and opens bytes, files, folders and streams, with classical, post-quantum and hybrid
// encryption.
//
//	key, err := deadpan.GenerateKey(deadpan.XWing)
//	sealed, err := deadpan.Seal([]byte("straight face"), key.Public())
//	plain, err := deadpan.Open(sealed, key)
//
// All of the cryptography is in libdeadpan, which does the work on all cores.
//
// # The library
//
// The package loads libdeadpan when the program runs: from the path in the environment variable DEADPAN_LIBRARY; or
// else the library that a released version of this module puts into the program; or else an installed library. The
// package checks the library in the program against the SHA-256 that this module states. On Linux, the package loads
// this library from memory. On macOS, the package loads it from a private folder, and removes the folder at once. For
// Linux with musl, such as Alpine, programs need cgo and the build tag musl.
//
// The package needs no C compiler, and programs can be cross-compiled. If there is no library, functions return
// [ErrLibrary], with a text that explains how to get the library. Functions that return no error panic instead. The
// package also compiles on systems other than 64-bit Linux and macOS, and behaves there as if there were no library.
//
// With the build tag deadpan_cgo, the linker connects the library when the program is built. Without the build tag, the
// overhead of a call is a tenth of a microsecond. With the build tag, the overhead of a call is a third of this time.
//
// # Recipients and identities
//
// Data are sealed to one [Recipient] or several recipients. A recipient is a [PublicKey], a [Passphrase] or a
// [Session]. Data are opened with an [Identity]: a [PrivateKey], a [Passphrase] or a [Session]. If there are several
// identities, the first identity that fits opens the data.
//
// # Functions for each kind of data
//
//   - bytes in memory: [Seal] and [Open]; [AppendSeal] and [AppendOpen] can use a buffer again
//   - files: [SealFile], [OpenFile], [Inspect]
//   - folders: [SealFolder], [OpenFolder], [ListFolder]
//   - an [io.Reader] and an [io.Writer]: [SealStream], [OpenStream]
//   - bytes that a program writes piece by piece: [Writer]
//   - parts of large sealed data: [Reader]
//   - base64, paddings and comparison in constant time: [Encoding], [Padding], [ConstantTimeCompare]
//
// # Errors
//
// Every error has a [Code], and a text that names the file or the key. [errors.Is] distinguishes the errors, and also
// finds the cause: [fs.ErrExist] and [fs.ErrNotExist] for files, the error of a context, and the error of your own
// reader or writer.
//
//	switch {
//	case errors.Is(err, deadpan.ErrTampered): // damaged, changed or cut short
//	case errors.Is(err, deadpan.ErrNoKey): // sealed to others, or the passphrase is wrong
//	case errors.Is(err, fs.ErrExist): // the output is there already
//	}
//
// # Stopping and progress
//
// When a context is done, the library stops within a few milliseconds, and leaves no output file or folder. If a
// context stops the work, the error is both [ErrStopped] and the context's error. If a Read or Write of the caller
// waits, the library does not interrupt the call. Your own functions (Read, Write, Progress) are called by the
// goroutine that called the package, and may panic.
//
// # Goroutines and secrets
//
// Any number of goroutines may use a key, passphrase or session at once, and a goroutine may close it while others use
// it. Nobody may change an input, or use an output, while a function works on it. Close wipes the secrets in the
// library. Without Close, the secrets of a value are wiped some time after the program has dropped the last reference
// to the value. The program itself must clear secrets in its Go slices.
package deadpan

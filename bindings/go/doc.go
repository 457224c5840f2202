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
// The package finds libdeadpan while the program runs: by the environment variable DEADPAN_LIBRARY, which holds a path,
// or else where the system looks for libraries. It needs no C compiler, and programs can be cross-compiled. If there is
// no library, functions return [ErrLibrary], with a text that tells how to get one; those that return no error panic.
// The same holds on systems other than Linux and macOS of 64 bits, where the package compiles.
//
// With the build tag deadpan_cgo, the linker connects the library instead. A call costs a tenth of a microsecond
// without the tag, and a third of that with it.
//
// # Recipients and identities
//
// Data are sealed to a [Recipient], or several: a [PublicKey], a [Passphrase] or a [Session]. They are opened with an
// [Identity]: a [PrivateKey], a [Passphrase] or a [Session]. Of several, the first that fits opens the data.
//
// # What there is for what
//
//   - bytes in memory: [Seal], [Open], and [AppendSeal] and [AppendOpen], which use a buffer again
//   - files: [SealFile], [OpenFile], [Inspect]
//   - folders: [SealFolder], [OpenFolder], [ListFolder]
//   - an [io.Reader] and an [io.Writer]: [SealStream], [OpenStream]
//   - bytes that a program writes piece by piece: [Writer]
//   - parts of something large that is sealed: [Reader]
//   - base64, paddings and comparison in constant time: [Encoding], [Padding], [ConstantTimeCompare]
//
// # Errors
//
// Every error has a [Code], and a text that names the file or the key. [errors.Is] tells them apart, and finds the
// cause too: [fs.ErrExist] and [fs.ErrNotExist] of files, the error of a context, and that of a reader or writer of
// yours.
//
//	switch {
//	case errors.Is(err, deadpan.ErrTampered): // damaged, changed or cut short
//	case errors.Is(err, deadpan.ErrNoKey): // sealed to others, or the passphrase is wrong
//	case errors.Is(err, fs.ErrExist): // the output is there already
//	}
//
// # Stopping and progress
//
// When a context is done, the library stops within a few milliseconds, and leaves no output by path behind. The error
// is [ErrStopped] as well as the context's. A Read or Write of yours that waits is not interrupted. Functions of yours
// (Read, Write, Progress) are called by the goroutine that called the package, and may panic.
//
// # Goroutines and secrets
//
// Keys, passphrases and sessions may be used by any number of goroutines at once, and closed meanwhile. Nobody may
// change an input, or use an output, while a function works on it. Secrets in the library are wiped by Close, or some
// time after the program has forgotten them; those in slices of Go are for the program to clear.
package deadpan

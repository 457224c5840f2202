//go:build !deadpan_cgo

package abi

import (
	"sync"
	"unsafe"
)

// The functions of the library.
var (
	dpVersion              = add("dp_version")
	dpMessage              = add("dp_message")
	dpErrorText            = add("dp_error_text")
	dpErrorErrno           = add("dp_error_errno")
	dpErrorFree            = add("dp_error_free")
	dpPrivateKeyGenerate   = add("dp_private_key_generate")
	dpPrivateKeyRead       = add("dp_private_key_read")
	dpPrivateKeyWrite      = add("dp_private_key_write")
	dpPrivateKeyPublic     = add("dp_private_key_public")
	dpPrivateKeyEqual      = add("dp_private_key_equal")
	dpPrivateKeyFree       = add("dp_private_key_free")
	dpPublicKeyRead        = add("dp_public_key_read")
	dpPublicKeyWrite       = add("dp_public_key_write")
	dpPublicKeyKind        = add("dp_public_key_kind")
	dpPublicKeyFingerprint = add("dp_public_key_fingerprint")
	dpPublicKeyFree        = add("dp_public_key_free")
	dpPassphraseNew        = add("dp_passphrase_new")
	dpPassphraseFree       = add("dp_passphrase_free")
	dpSessionNew           = add("dp_session_new")
	dpSessionFree          = add("dp_session_free")
	dpSealingNew           = add("dp_sealing_new")
	dpSealingAddKey        = add("dp_sealing_add_key")
	dpSealingAddPassphrase = add("dp_sealing_add_passphrase")
	dpSealingAddSession    = add("dp_sealing_add_session")
	dpSealingAllowMixed    = add("dp_sealing_allow_mixed")
	dpSealingHideLength    = add("dp_sealing_hide_length")
	dpSealingCompress      = add("dp_sealing_compress")
	dpSealingExclude       = add("dp_sealing_exclude")
	dpSealingAge           = add("dp_sealing_age")
	dpSealedLength         = add("dp_sealed_length")
	dpSealingFree          = add("dp_sealing_free")
	dpOpeningNew           = add("dp_opening_new")
	dpOpeningAddKey        = add("dp_opening_add_key")
	dpOpeningAddPassphrase = add("dp_opening_add_passphrase")
	dpOpeningAddSession    = add("dp_opening_add_session")
	dpOpeningMaxCost       = add("dp_opening_max_cost")
	dpOpeningFree          = add("dp_opening_free")
	dpWorkNew              = add("dp_work_new")
	dpWorkThreads          = add("dp_work_threads")
	dpWorkStop             = add("dp_work_stop")
	dpWorkDone             = add("dp_work_done")
	dpWorkFree             = add("dp_work_free")
	dpSeal                 = add("dp_seal")
	dpOpen                 = add("dp_open")
	dpSealFile             = add("dp_seal_file")
	dpOpenFile             = add("dp_open_file")
	dpSealFolder           = add("dp_seal_folder")
	dpOpenFolder           = add("dp_open_folder")
	dpListFolder           = add("dp_list_folder")
	dpInspect              = add("dp_inspect")
	dpSealStream           = add("dp_seal_stream")
	dpOpenStream           = add("dp_open_stream")
	dpSealDescriptor       = add("dp_seal_fd")
	dpOpenDescriptor       = add("dp_open_fd")
	dpWriterNew            = add("dp_writer_new")
	dpWriterWrite          = add("dp_writer_write")
	dpWriterFinish         = add("dp_writer_finish")
	dpWriterFree           = add("dp_writer_free")
	dpReaderNew            = add("dp_reader_new")
	dpReaderNewAt          = add("dp_reader_new_at")
	dpReaderLength         = add("dp_reader_length")
	dpReaderRead           = add("dp_reader_read")
	dpReaderFree           = add("dp_reader_free")
	dpRandom               = add("dp_random")
	dpBase64Encode         = add("dp_base64_encode")
	dpBase64Decode         = add("dp_base64_decode")
	dpPad                  = add("dp_pad")
	dpUnpad                = add("dp_unpad")
	dpConstantTimeEqual    = add("dp_ct_equal")
)

// Each callback type has only one callback, because purego never frees a callback.
var (
	cRead   = sync.OnceValue(func() uintptr { return callbackTo(onRead) })
	cReadAt = sync.OnceValue(func() uintptr { return callbackTo(onReadAt) })
	cWrite  = sync.OnceValue(func() uintptr { return callbackTo(onWrite) })
	cEach   = sync.OnceValue(func() uintptr { return callbackTo(onEach) })
)

// The pragma keeps the values, whose addresses are the arguments, alive and on the heap until the call returns. The
// pragma works only for conversions in the argument list of the call itself.
//
//go:uintptrescapes
func call(function *symbol, arguments ...uintptr) int32 {
	address := function.find()
	if address == 0 {
		return Missing
	}
	return int32(callAddress(address, arguments...))
}

// Version returns the version of the library, or an empty text if the library is missing.
func Version() string {
	return fromC(dpVersion)
}

// Message returns the message of a code, or an empty text if the library is missing.
func Message(code int32) string {
	return fromC(dpMessage, uintptr(code))
}

func fromC(function *symbol, arguments ...uintptr) string {
	address := function.find()
	if address == 0 {
		return ""
	}
	text := callAddress(address, arguments...)
	return Text(*(**byte)(unsafe.Pointer(&text)))
}

func ErrorText(failed Handle, text []byte, length *int) int32 {
	return call(dpErrorText,
		uintptr(failed), uintptr(unsafe.Pointer(unsafe.SliceData(text))), uintptr(len(text)),
		uintptr(unsafe.Pointer(length)),
	)
}

func ErrorErrno(failed Handle) int32 {
	return call(dpErrorErrno, uintptr(failed))
}

func ErrorFree(failed Handle) int32 {
	return call(dpErrorFree, uintptr(failed))
}

func PrivateKeyGenerate(kind int32, key, err *Handle) int32 {
	return call(dpPrivateKeyGenerate, uintptr(kind), uintptr(unsafe.Pointer(key)), uintptr(unsafe.Pointer(err)))
}

func PrivateKeyRead(text []byte, passphrase Handle, key, err *Handle) int32 {
	return call(dpPrivateKeyRead,
		uintptr(unsafe.Pointer(unsafe.SliceData(text))), uintptr(len(text)), uintptr(passphrase),
		uintptr(unsafe.Pointer(key)), uintptr(unsafe.Pointer(err)),
	)
}

func PrivateKeyWrite(key Handle, form int32, passphrase Handle, text []byte, length *int, err *Handle) int32 {
	return call(dpPrivateKeyWrite,
		uintptr(key), uintptr(form), uintptr(passphrase), uintptr(unsafe.Pointer(unsafe.SliceData(text))),
		uintptr(len(text)), uintptr(unsafe.Pointer(length)), uintptr(unsafe.Pointer(err)),
	)
}

func PrivateKeyPublic(key Handle, public, err *Handle) int32 {
	return call(dpPrivateKeyPublic, uintptr(key), uintptr(unsafe.Pointer(public)), uintptr(unsafe.Pointer(err)))
}

func PrivateKeyEqual(one, other Handle, equal *int32, err *Handle) int32 {
	return call(dpPrivateKeyEqual,
		uintptr(one), uintptr(other), uintptr(unsafe.Pointer(equal)), uintptr(unsafe.Pointer(err)),
	)
}

func PrivateKeyFree(key Handle) int32 {
	return call(dpPrivateKeyFree, uintptr(key))
}

func PublicKeyRead(text []byte, key, err *Handle) int32 {
	return call(dpPublicKeyRead,
		uintptr(unsafe.Pointer(unsafe.SliceData(text))), uintptr(len(text)), uintptr(unsafe.Pointer(key)),
		uintptr(unsafe.Pointer(err)),
	)
}

func PublicKeyWrite(key Handle, form int32, text []byte, length *int, err *Handle) int32 {
	return call(dpPublicKeyWrite,
		uintptr(key), uintptr(form), uintptr(unsafe.Pointer(unsafe.SliceData(text))), uintptr(len(text)),
		uintptr(unsafe.Pointer(length)), uintptr(unsafe.Pointer(err)),
	)
}

func PublicKeyKind(key Handle, kind *int32, err *Handle) int32 {
	return call(dpPublicKeyKind, uintptr(key), uintptr(unsafe.Pointer(kind)), uintptr(unsafe.Pointer(err)))
}

func PublicKeyFingerprint(key Handle, text []byte, length *int, err *Handle) int32 {
	return call(dpPublicKeyFingerprint,
		uintptr(key), uintptr(unsafe.Pointer(unsafe.SliceData(text))), uintptr(len(text)),
		uintptr(unsafe.Pointer(length)), uintptr(unsafe.Pointer(err)),
	)
}

func PublicKeyFree(key Handle) int32 {
	return call(dpPublicKeyFree, uintptr(key))
}

func PassphraseNew(text []byte, passphrase, err *Handle) int32 {
	return call(dpPassphraseNew,
		uintptr(unsafe.Pointer(unsafe.SliceData(text))), uintptr(len(text)), uintptr(unsafe.Pointer(passphrase)),
		uintptr(unsafe.Pointer(err)),
	)
}

func PassphraseFree(passphrase Handle) int32 {
	return call(dpPassphraseFree, uintptr(passphrase))
}

func SessionNew(passphrase Handle, session, err *Handle) int32 {
	return call(dpSessionNew, uintptr(passphrase), uintptr(unsafe.Pointer(session)), uintptr(unsafe.Pointer(err)))
}

func SessionFree(session Handle) int32 {
	return call(dpSessionFree, uintptr(session))
}

func SealingNew(sealing, err *Handle) int32 {
	return call(dpSealingNew, uintptr(unsafe.Pointer(sealing)), uintptr(unsafe.Pointer(err)))
}

func SealingAddKey(sealing, key Handle, err *Handle) int32 {
	return call(dpSealingAddKey, uintptr(sealing), uintptr(key), uintptr(unsafe.Pointer(err)))
}

func SealingAddPassphrase(sealing, passphrase Handle, err *Handle) int32 {
	return call(dpSealingAddPassphrase, uintptr(sealing), uintptr(passphrase), uintptr(unsafe.Pointer(err)))
}

func SealingAddSession(sealing, session Handle, err *Handle) int32 {
	return call(dpSealingAddSession, uintptr(sealing), uintptr(session), uintptr(unsafe.Pointer(err)))
}

func SealingAllowMixed(sealing Handle, allow int32, err *Handle) int32 {
	return call(dpSealingAllowMixed, uintptr(sealing), uintptr(allow), uintptr(unsafe.Pointer(err)))
}

func SealingHideLength(sealing Handle, hide int32, err *Handle) int32 {
	return call(dpSealingHideLength, uintptr(sealing), uintptr(hide), uintptr(unsafe.Pointer(err)))
}

func SealingCompress(sealing Handle, level int32, err *Handle) int32 {
	return call(dpSealingCompress, uintptr(sealing), uintptr(level), uintptr(unsafe.Pointer(err)))
}

func SealingExclude(sealing Handle, pattern string, err *Handle) int32 {
	return call(dpSealingExclude,
		uintptr(sealing), uintptr(unsafe.Pointer(terminated(pattern))), uintptr(unsafe.Pointer(err)),
	)
}

func SealingAge(sealing Handle, age int32, err *Handle) int32 {
	return call(dpSealingAge, uintptr(sealing), uintptr(age), uintptr(unsafe.Pointer(err)))
}

func SealedLength(sealing Handle, length uint64, sealed *uint64, err *Handle) int32 {
	return call(dpSealedLength,
		uintptr(sealing), uintptr(length), uintptr(unsafe.Pointer(sealed)), uintptr(unsafe.Pointer(err)),
	)
}

func SealingFree(sealing Handle) int32 {
	return call(dpSealingFree, uintptr(sealing))
}

func OpeningNew(opening, err *Handle) int32 {
	return call(dpOpeningNew, uintptr(unsafe.Pointer(opening)), uintptr(unsafe.Pointer(err)))
}

func OpeningAddKey(opening, key Handle, err *Handle) int32 {
	return call(dpOpeningAddKey, uintptr(opening), uintptr(key), uintptr(unsafe.Pointer(err)))
}

func OpeningAddPassphrase(opening, passphrase Handle, err *Handle) int32 {
	return call(dpOpeningAddPassphrase, uintptr(opening), uintptr(passphrase), uintptr(unsafe.Pointer(err)))
}

func OpeningAddSession(opening, session Handle, err *Handle) int32 {
	return call(dpOpeningAddSession, uintptr(opening), uintptr(session), uintptr(unsafe.Pointer(err)))
}

func OpeningMaxCost(opening Handle, memory, passes uint32, err *Handle) int32 {
	return call(dpOpeningMaxCost, uintptr(opening), uintptr(memory), uintptr(passes), uintptr(unsafe.Pointer(err)))
}

func OpeningFree(opening Handle) int32 {
	return call(dpOpeningFree, uintptr(opening))
}

func WorkNew(work, err *Handle) int32 {
	return call(dpWorkNew, uintptr(unsafe.Pointer(work)), uintptr(unsafe.Pointer(err)))
}

func WorkThreads(work Handle, threads uint32, err *Handle) int32 {
	return call(dpWorkThreads, uintptr(work), uintptr(threads), uintptr(unsafe.Pointer(err)))
}

func WorkStop(work Handle, stop int32, err *Handle) int32 {
	return call(dpWorkStop, uintptr(work), uintptr(stop), uintptr(unsafe.Pointer(err)))
}

func WorkDone(work Handle, done *uint64, err *Handle) int32 {
	return call(dpWorkDone, uintptr(work), uintptr(unsafe.Pointer(done)), uintptr(unsafe.Pointer(err)))
}

func WorkFree(work Handle) int32 {
	return call(dpWorkFree, uintptr(work))
}

func Seal(sealing Handle, plain, sealed []byte, written *int, work Handle, err *Handle) int32 {
	return call(dpSeal,
		uintptr(sealing), uintptr(unsafe.Pointer(unsafe.SliceData(plain))), uintptr(len(plain)),
		uintptr(unsafe.Pointer(unsafe.SliceData(sealed))), uintptr(len(sealed)), uintptr(unsafe.Pointer(written)),
		uintptr(work), uintptr(unsafe.Pointer(err)),
	)
}

func Open(opening Handle, sealed, plain []byte, written *int, work Handle, err *Handle) int32 {
	return call(dpOpen,
		uintptr(opening), uintptr(unsafe.Pointer(unsafe.SliceData(sealed))), uintptr(len(sealed)),
		uintptr(unsafe.Pointer(unsafe.SliceData(plain))), uintptr(len(plain)), uintptr(unsafe.Pointer(written)),
		uintptr(work), uintptr(unsafe.Pointer(err)),
	)
}

func SealFile(sealing Handle, input, output string, replace int32, work Handle, err *Handle) int32 {
	return call(dpSealFile,
		uintptr(sealing), uintptr(unsafe.Pointer(terminated(input))), uintptr(unsafe.Pointer(terminated(output))),
		uintptr(replace), uintptr(work), uintptr(unsafe.Pointer(err)),
	)
}

func OpenFile(opening Handle, input, output string, replace int32, work Handle, err *Handle) int32 {
	return call(dpOpenFile,
		uintptr(opening), uintptr(unsafe.Pointer(terminated(input))), uintptr(unsafe.Pointer(terminated(output))),
		uintptr(replace), uintptr(work), uintptr(unsafe.Pointer(err)),
	)
}

func SealFolder(sealing Handle, folder, output string, replace int32, work Handle, err *Handle) int32 {
	return call(dpSealFolder,
		uintptr(sealing), uintptr(unsafe.Pointer(terminated(folder))), uintptr(unsafe.Pointer(terminated(output))),
		uintptr(replace), uintptr(work), uintptr(unsafe.Pointer(err)),
	)
}

func OpenFolder(opening Handle, input, folder string, work Handle, err *Handle) int32 {
	return call(dpOpenFolder,
		uintptr(opening), uintptr(unsafe.Pointer(terminated(input))), uintptr(unsafe.Pointer(terminated(folder))),
		uintptr(work), uintptr(unsafe.Pointer(err)),
	)
}

func ListFolder(opening Handle, input string, user uintptr, err *Handle) int32 {
	return call(dpListFolder,
		uintptr(opening), uintptr(unsafe.Pointer(terminated(input))), cEach(), user,
		uintptr(unsafe.Pointer(err)),
	)
}

func Inspect(input string, opening Handle, text []byte, length *int, err *Handle) int32 {
	return call(dpInspect,
		uintptr(unsafe.Pointer(terminated(input))), uintptr(opening),
		uintptr(unsafe.Pointer(unsafe.SliceData(text))), uintptr(len(text)), uintptr(unsafe.Pointer(length)),
		uintptr(unsafe.Pointer(err)),
	)
}

func SealStream(sealing Handle, user uintptr, work Handle, err *Handle) int32 {
	return call(dpSealStream,
		uintptr(sealing), cRead(), cWrite(), user, uintptr(work), uintptr(unsafe.Pointer(err)),
	)
}

func OpenStream(opening Handle, user uintptr, work Handle, err *Handle) int32 {
	return call(dpOpenStream,
		uintptr(opening), cRead(), cWrite(), user, uintptr(work), uintptr(unsafe.Pointer(err)),
	)
}

func SealDescriptor(sealing Handle, input, output int32, work Handle, err *Handle) int32 {
	return call(dpSealDescriptor,
		uintptr(sealing), uintptr(input), uintptr(output), uintptr(work), uintptr(unsafe.Pointer(err)),
	)
}

func OpenDescriptor(opening Handle, input, output int32, work Handle, err *Handle) int32 {
	return call(dpOpenDescriptor,
		uintptr(opening), uintptr(input), uintptr(output), uintptr(work), uintptr(unsafe.Pointer(err)),
	)
}

func WriterNew(sealing Handle, user uintptr, writer, err *Handle) int32 {
	return call(dpWriterNew,
		uintptr(sealing), cWrite(), user, uintptr(unsafe.Pointer(writer)), uintptr(unsafe.Pointer(err)),
	)
}

func WriterWrite(writer Handle, data []byte, err *Handle) int32 {
	return call(dpWriterWrite,
		uintptr(writer), uintptr(unsafe.Pointer(unsafe.SliceData(data))), uintptr(len(data)),
		uintptr(unsafe.Pointer(err)),
	)
}

func WriterFinish(writer Handle, err *Handle) int32 {
	return call(dpWriterFinish, uintptr(writer), uintptr(unsafe.Pointer(err)))
}

func WriterFree(writer Handle) int32 {
	return call(dpWriterFree, uintptr(writer))
}

func ReaderNew(opening Handle, input string, reader, err *Handle) int32 {
	return call(dpReaderNew,
		uintptr(opening), uintptr(unsafe.Pointer(terminated(input))), uintptr(unsafe.Pointer(reader)),
		uintptr(unsafe.Pointer(err)),
	)
}

func ReaderNewAt(opening Handle, user uintptr, length uint64, reader, err *Handle) int32 {
	return call(dpReaderNewAt,
		uintptr(opening), cReadAt(), user, uintptr(length), uintptr(unsafe.Pointer(reader)),
		uintptr(unsafe.Pointer(err)),
	)
}

func ReaderLength(reader Handle, length *uint64, err *Handle) int32 {
	return call(dpReaderLength, uintptr(reader), uintptr(unsafe.Pointer(length)), uintptr(unsafe.Pointer(err)))
}

func ReaderRead(reader Handle, position uint64, buffer []byte, read *int, err *Handle) int32 {
	return call(dpReaderRead,
		uintptr(reader), uintptr(position), uintptr(unsafe.Pointer(unsafe.SliceData(buffer))), uintptr(len(buffer)),
		uintptr(unsafe.Pointer(read)), uintptr(unsafe.Pointer(err)),
	)
}

func ReaderFree(reader Handle) int32 {
	return call(dpReaderFree, uintptr(reader))
}

func Random(buffer []byte, err *Handle) int32 {
	return call(dpRandom,
		uintptr(unsafe.Pointer(unsafe.SliceData(buffer))), uintptr(len(buffer)), uintptr(unsafe.Pointer(err)),
	)
}

func Base64Encode(alphabet int32, data, text []byte, written *int, err *Handle) int32 {
	return call(dpBase64Encode,
		uintptr(alphabet), uintptr(unsafe.Pointer(unsafe.SliceData(data))), uintptr(len(data)),
		uintptr(unsafe.Pointer(unsafe.SliceData(text))), uintptr(len(text)), uintptr(unsafe.Pointer(written)),
		uintptr(unsafe.Pointer(err)),
	)
}

func Base64Decode(alphabet int32, text, data []byte, written *int, err *Handle) int32 {
	return call(dpBase64Decode,
		uintptr(alphabet), uintptr(unsafe.Pointer(unsafe.SliceData(text))), uintptr(len(text)),
		uintptr(unsafe.Pointer(unsafe.SliceData(data))), uintptr(len(data)), uintptr(unsafe.Pointer(written)),
		uintptr(unsafe.Pointer(err)),
	)
}

func Pad(scheme int32, block int, data, output []byte, written *int, err *Handle) int32 {
	return call(dpPad,
		uintptr(scheme), uintptr(block), uintptr(unsafe.Pointer(unsafe.SliceData(data))), uintptr(len(data)),
		uintptr(unsafe.Pointer(unsafe.SliceData(output))), uintptr(len(output)), uintptr(unsafe.Pointer(written)),
		uintptr(unsafe.Pointer(err)),
	)
}

func Unpad(scheme int32, block int, data []byte, plain *int, err *Handle) int32 {
	return call(dpUnpad,
		uintptr(scheme), uintptr(block), uintptr(unsafe.Pointer(unsafe.SliceData(data))), uintptr(len(data)),
		uintptr(unsafe.Pointer(plain)), uintptr(unsafe.Pointer(err)),
	)
}

func ConstantTimeEqual(one, other []byte, equal *int32, err *Handle) int32 {
	return call(dpConstantTimeEqual,
		uintptr(unsafe.Pointer(unsafe.SliceData(one))), uintptr(unsafe.Pointer(unsafe.SliceData(other))),
		uintptr(len(one)), uintptr(unsafe.Pointer(equal)), uintptr(unsafe.Pointer(err)),
	)
}

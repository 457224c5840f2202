//go:build deadpan_cgo

package abi

/*
#include <stddef.h>
#include <stdint.h>

#cgo noescape dp_version
#cgo nocallback dp_version
#cgo noescape dp_message
#cgo nocallback dp_message
#cgo noescape dp_error_text
#cgo nocallback dp_error_text
#cgo noescape dp_error_free
#cgo nocallback dp_error_errno
#cgo nocallback dp_error_free
#cgo noescape dp_private_key_generate
#cgo nocallback dp_private_key_generate
#cgo noescape dp_private_key_read
#cgo nocallback dp_private_key_read
#cgo noescape dp_private_key_write
#cgo nocallback dp_private_key_write
#cgo noescape dp_private_key_public
#cgo nocallback dp_private_key_public
#cgo noescape dp_private_key_equal
#cgo nocallback dp_private_key_equal
#cgo noescape dp_private_key_free
#cgo nocallback dp_private_key_free
#cgo noescape dp_public_key_read
#cgo nocallback dp_public_key_read
#cgo noescape dp_public_key_write
#cgo nocallback dp_public_key_write
#cgo noescape dp_public_key_kind
#cgo nocallback dp_public_key_kind
#cgo noescape dp_public_key_fingerprint
#cgo nocallback dp_public_key_fingerprint
#cgo noescape dp_public_key_free
#cgo nocallback dp_public_key_free
#cgo noescape dp_passphrase_new
#cgo nocallback dp_passphrase_new
#cgo noescape dp_passphrase_free
#cgo nocallback dp_passphrase_free
#cgo noescape dp_session_new
#cgo nocallback dp_session_new
#cgo noescape dp_session_free
#cgo nocallback dp_session_free
#cgo noescape dp_sealing_new
#cgo nocallback dp_sealing_new
#cgo noescape dp_sealing_add_key
#cgo nocallback dp_sealing_add_key
#cgo noescape dp_sealing_add_passphrase
#cgo nocallback dp_sealing_add_passphrase
#cgo noescape dp_sealing_add_session
#cgo nocallback dp_sealing_add_session
#cgo noescape dp_sealing_allow_mixed
#cgo nocallback dp_sealing_allow_mixed
#cgo noescape dp_sealing_hide_length
#cgo nocallback dp_sealing_hide_length
#cgo noescape dp_sealing_compress
#cgo nocallback dp_sealing_compress
#cgo noescape dp_sealing_exclude
#cgo nocallback dp_sealing_exclude
#cgo noescape dp_sealing_age
#cgo nocallback dp_sealing_age
#cgo noescape dp_sealed_length
#cgo nocallback dp_sealed_length
#cgo noescape dp_sealing_free
#cgo nocallback dp_sealing_free
#cgo noescape dp_opening_new
#cgo nocallback dp_opening_new
#cgo noescape dp_opening_add_key
#cgo nocallback dp_opening_add_key
#cgo noescape dp_opening_add_passphrase
#cgo nocallback dp_opening_add_passphrase
#cgo noescape dp_opening_add_session
#cgo nocallback dp_opening_add_session
#cgo noescape dp_opening_max_cost
#cgo nocallback dp_opening_max_cost
#cgo noescape dp_opening_free
#cgo nocallback dp_opening_free
#cgo noescape dp_work_new
#cgo nocallback dp_work_new
#cgo noescape dp_work_threads
#cgo nocallback dp_work_threads
#cgo noescape dp_work_stop
#cgo nocallback dp_work_stop
#cgo noescape dp_work_done
#cgo nocallback dp_work_done
#cgo noescape dp_work_free
#cgo nocallback dp_work_free
#cgo noescape dp_seal
#cgo nocallback dp_seal
#cgo noescape dp_open
#cgo nocallback dp_open
#cgo noescape dp_seal_file
#cgo nocallback dp_seal_file
#cgo noescape dp_open_file
#cgo nocallback dp_open_file
#cgo noescape dp_seal_folder
#cgo nocallback dp_seal_folder
#cgo noescape dp_open_folder
#cgo nocallback dp_open_folder
#cgo noescape dp_list_folder
#cgo noescape dp_inspect
#cgo nocallback dp_inspect
#cgo noescape dp_seal_stream
#cgo noescape dp_open_stream
#cgo noescape dp_seal_fd
#cgo nocallback dp_seal_fd
#cgo noescape dp_open_fd
#cgo nocallback dp_open_fd
#cgo noescape dp_writer_new
#cgo noescape dp_writer_write
#cgo noescape dp_writer_finish
#cgo noescape dp_writer_free
#cgo noescape dp_reader_new
#cgo nocallback dp_reader_new
#cgo noescape dp_reader_new_at
#cgo noescape dp_reader_length
#cgo nocallback dp_reader_length
#cgo noescape dp_reader_read
#cgo noescape dp_reader_free
#cgo noescape dp_random
#cgo nocallback dp_random
#cgo noescape dp_base64_encode
#cgo nocallback dp_base64_encode
#cgo noescape dp_base64_decode
#cgo nocallback dp_base64_decode
#cgo noescape dp_pad
#cgo nocallback dp_pad
#cgo noescape dp_unpad
#cgo nocallback dp_unpad
#cgo noescape dp_ct_equal
#cgo nocallback dp_ct_equal
#cgo LDFLAGS: -ldeadpan
const char *dp_version(void);
const char *dp_message(int32_t code);
typedef int64_t (*dp_read)(uintptr_t user, uint8_t *buffer, size_t room);
typedef int64_t (*dp_read_at)(uintptr_t user, uint64_t position, uint8_t *buffer, size_t room);
typedef int32_t (*dp_write)(uintptr_t user, uint8_t *bytes, size_t length);
typedef int32_t (*dp_each)(uintptr_t user, char *path, int32_t kind, uint64_t size);

int32_t dp_error_text(uintptr_t error, char *text, size_t room, size_t *length);
int32_t dp_error_errno(uintptr_t error);
int32_t dp_error_free(uintptr_t error);
int32_t dp_private_key_generate(int32_t kind, uintptr_t *key, uintptr_t *error);
int32_t dp_private_key_read(const uint8_t *text, size_t length, uintptr_t passphrase, uintptr_t *key, uintptr_t *error);
int32_t dp_private_key_write(uintptr_t key, int32_t form, uintptr_t passphrase, uint8_t *text, size_t room, size_t
    *length, uintptr_t *error);
int32_t dp_private_key_public(uintptr_t key, uintptr_t *public_key, uintptr_t *error);
int32_t dp_private_key_equal(uintptr_t one, uintptr_t other, int32_t *equal, uintptr_t *error);
int32_t dp_private_key_free(uintptr_t key);
int32_t dp_public_key_read(const uint8_t *text, size_t length, uintptr_t *key, uintptr_t *error);
int32_t dp_public_key_write(uintptr_t key, int32_t form, uint8_t *text, size_t room, size_t *length, uintptr_t *error);
int32_t dp_public_key_kind(uintptr_t key, int32_t *kind, uintptr_t *error);
int32_t dp_public_key_fingerprint(uintptr_t key, uint8_t *text, size_t room, size_t *length, uintptr_t *error);
int32_t dp_public_key_free(uintptr_t key);
int32_t dp_passphrase_new(const uint8_t *text, size_t length, uintptr_t *passphrase, uintptr_t *error);
int32_t dp_passphrase_free(uintptr_t passphrase);
int32_t dp_session_new(uintptr_t passphrase, uintptr_t *session, uintptr_t *error);
int32_t dp_session_free(uintptr_t session);
int32_t dp_sealing_new(uintptr_t *sealing, uintptr_t *error);
int32_t dp_sealing_add_key(uintptr_t sealing, uintptr_t key, uintptr_t *error);
int32_t dp_sealing_add_passphrase(uintptr_t sealing, uintptr_t passphrase, uintptr_t *error);
int32_t dp_sealing_add_session(uintptr_t sealing, uintptr_t session, uintptr_t *error);
int32_t dp_sealing_allow_mixed(uintptr_t sealing, int32_t allow, uintptr_t *error);
int32_t dp_sealing_hide_length(uintptr_t sealing, int32_t hide, uintptr_t *error);
int32_t dp_sealing_compress(uintptr_t sealing, int32_t level, uintptr_t *error);
int32_t dp_sealing_exclude(uintptr_t sealing, const char *pattern, uintptr_t *error);
int32_t dp_sealing_age(uintptr_t sealing, int32_t age, uintptr_t *error);
int32_t dp_sealed_length(uintptr_t sealing, uint64_t length, uint64_t *sealed, uintptr_t *error);
int32_t dp_sealing_free(uintptr_t sealing);
int32_t dp_opening_new(uintptr_t *opening, uintptr_t *error);
int32_t dp_opening_add_key(uintptr_t opening, uintptr_t key, uintptr_t *error);
int32_t dp_opening_add_passphrase(uintptr_t opening, uintptr_t passphrase, uintptr_t *error);
int32_t dp_opening_add_session(uintptr_t opening, uintptr_t session, uintptr_t *error);
int32_t dp_opening_max_cost(uintptr_t opening, uint32_t memory, uint32_t passes, uintptr_t *error);
int32_t dp_opening_free(uintptr_t opening);
int32_t dp_work_new(uintptr_t *work, uintptr_t *error);
int32_t dp_work_threads(uintptr_t work, uint32_t threads, uintptr_t *error);
int32_t dp_work_stop(uintptr_t work, int32_t stop, uintptr_t *error);
int32_t dp_work_done(uintptr_t work, uint64_t *done, uintptr_t *error);
int32_t dp_work_free(uintptr_t work);
int32_t dp_seal(uintptr_t sealing, const uint8_t *plain, size_t length, uint8_t *sealed, size_t room, size_t
    *written, uintptr_t work, uintptr_t *error);
int32_t dp_open(uintptr_t opening, const uint8_t *sealed, size_t length, uint8_t *plain, size_t room, size_t
    *written, uintptr_t work, uintptr_t *error);
int32_t dp_seal_file(uintptr_t sealing, const char *input, const char *output, int32_t replace, uintptr_t work,
    uintptr_t *error);
int32_t dp_open_file(uintptr_t opening, const char *input, const char *output, int32_t replace, uintptr_t work,
    uintptr_t *error);
int32_t dp_seal_folder(uintptr_t sealing, const char *folder, const char *output, int32_t replace, uintptr_t work,
    uintptr_t *error);
int32_t dp_open_folder(uintptr_t opening, const char *input, const char *folder, uintptr_t work, uintptr_t *error);
int32_t dp_list_folder(uintptr_t opening, const char *input, dp_each each, uintptr_t user, uintptr_t *error);
int32_t dp_inspect(const char *input, uintptr_t opening, char *text, size_t room, size_t *length, uintptr_t *error);
int32_t dp_seal_stream(uintptr_t sealing, dp_read read, dp_write write, uintptr_t user, uintptr_t work, uintptr_t
    *error);
int32_t dp_open_stream(uintptr_t opening, dp_read read, dp_write write, uintptr_t user, uintptr_t work, uintptr_t
    *error);
int32_t dp_seal_fd(uintptr_t sealing, int32_t input, int32_t output, uintptr_t work, uintptr_t *error);
int32_t dp_open_fd(uintptr_t opening, int32_t input, int32_t output, uintptr_t work, uintptr_t *error);
int32_t dp_writer_new(uintptr_t sealing, dp_write write, uintptr_t user, uintptr_t *writer, uintptr_t *error);
int32_t dp_writer_write(uintptr_t writer, const uint8_t *data, size_t length, uintptr_t *error);
int32_t dp_writer_finish(uintptr_t writer, uintptr_t *error);
int32_t dp_writer_free(uintptr_t writer);
int32_t dp_reader_new(uintptr_t opening, const char *input, uintptr_t *reader, uintptr_t *error);
int32_t dp_reader_new_at(uintptr_t opening, dp_read_at read, uintptr_t user, uint64_t length, uintptr_t *reader,
    uintptr_t *error);
int32_t dp_reader_length(uintptr_t reader, uint64_t *length, uintptr_t *error);
int32_t dp_reader_read(uintptr_t reader, uint64_t position, uint8_t *buffer, size_t room, size_t *read, uintptr_t
    *error);
int32_t dp_reader_free(uintptr_t reader);
int32_t dp_random(uint8_t *buffer, size_t length, uintptr_t *error);
int32_t dp_base64_encode(int32_t alphabet, const uint8_t *data, size_t length, uint8_t *text, size_t room, size_t
    *written, uintptr_t *error);
int32_t dp_base64_decode(int32_t alphabet, const uint8_t *text, size_t length, uint8_t *data, size_t room, size_t
    *written, uintptr_t *error);
int32_t dp_pad(int32_t scheme, size_t block, const uint8_t *data, size_t length, uint8_t *output, size_t room,
    size_t *written, uintptr_t *error);
int32_t dp_unpad(int32_t scheme, size_t block, const uint8_t *data, size_t length, size_t *plain, uintptr_t *error);
int32_t dp_ct_equal(const uint8_t *one, const uint8_t *other, size_t length, int32_t *equal, uintptr_t *error);

extern int64_t deadpanGoRead(uintptr_t user, uint8_t *buffer, size_t room);
extern int64_t deadpanGoReadAt(uintptr_t user, uint64_t position, uint8_t *buffer, size_t room);
extern int32_t deadpanGoWrite(uintptr_t user, uint8_t *bytes, size_t length);
extern int32_t deadpanGoEach(uintptr_t user, char *path, int32_t kind, uint64_t size);
*/
import "C"

import "unsafe"

//export deadpanGoRead
func deadpanGoRead(user C.uintptr_t, buffer *C.uint8_t, room C.size_t) C.int64_t {
	return C.int64_t(onRead(uintptr(user), (*byte)(buffer), uintptr(room)))
}

//export deadpanGoReadAt
func deadpanGoReadAt(user C.uintptr_t, position C.uint64_t, buffer *C.uint8_t, room C.size_t) C.int64_t {
	return C.int64_t(onReadAt(uintptr(user), uint64(position), (*byte)(buffer), uintptr(room)))
}

//export deadpanGoWrite
func deadpanGoWrite(user C.uintptr_t, bytes *C.uint8_t, length C.size_t) C.int32_t {
	return C.int32_t(onWrite(uintptr(user), (*byte)(bytes), uintptr(length)))
}

//export deadpanGoEach
func deadpanGoEach(user C.uintptr_t, path *C.char, kind C.int32_t, size C.uint64_t) C.int32_t {
	return C.int32_t(onEach(uintptr(user), (*byte)(unsafe.Pointer(path)), int32(kind), uint64(size)))
}

func bytes(slice []byte) *C.uint8_t {
	return (*C.uint8_t)(unsafe.SliceData(slice))
}

func out(handle *Handle) *C.uintptr_t {
	return (*C.uintptr_t)(unsafe.Pointer(handle))
}

func count(length *int) *C.size_t {
	return (*C.size_t)(unsafe.Pointer(length))
}

func path(text string) *C.char {
	return (*C.char)(unsafe.Pointer(terminated(text)))
}

// MissingText returns the reason why there is no library. With cgo, a program does not even start without the library.
func MissingText() string {
	return "libdeadpan is missing"
}

// Version returns the version of the library.
func Version() string {
	return C.GoString(C.dp_version())
}

// Message returns the message of a code.
func Message(code int32) string {
	return C.GoString(C.dp_message(C.int32_t(code)))
}

func ErrorText(failed Handle, text []byte, length *int) int32 {
	return int32(C.dp_error_text(
		C.uintptr_t(failed), (*C.char)(unsafe.Pointer(unsafe.SliceData(text))), C.size_t(len(text)),
		count(length),
	))
}

func ErrorErrno(failed Handle) int32 {
	return int32(C.dp_error_errno(C.uintptr_t(failed)))
}

func ErrorFree(failed Handle) int32 {
	return int32(C.dp_error_free(C.uintptr_t(failed)))
}

func PrivateKeyGenerate(kind int32, key, err *Handle) int32 {
	return int32(C.dp_private_key_generate(C.int32_t(kind), out(key), out(err)))
}

func PrivateKeyRead(text []byte, passphrase Handle, key, err *Handle) int32 {
	return int32(C.dp_private_key_read(bytes(text), C.size_t(len(text)), C.uintptr_t(passphrase), out(key), out(err)))
}

func PrivateKeyWrite(key Handle, form int32, passphrase Handle, text []byte, length *int, err *Handle) int32 {
	return int32(C.dp_private_key_write(
		C.uintptr_t(key), C.int32_t(form), C.uintptr_t(passphrase), bytes(text), C.size_t(len(text)),
		count(length), out(err),
	))
}

func PrivateKeyPublic(key Handle, public, err *Handle) int32 {
	return int32(C.dp_private_key_public(C.uintptr_t(key), out(public), out(err)))
}

func PrivateKeyEqual(one, other Handle, equal *int32, err *Handle) int32 {
	return int32(C.dp_private_key_equal(C.uintptr_t(one), C.uintptr_t(other), (*C.int32_t)(equal), out(err)))
}

func PrivateKeyFree(key Handle) int32 {
	return int32(C.dp_private_key_free(C.uintptr_t(key)))
}

func PublicKeyRead(text []byte, key, err *Handle) int32 {
	return int32(C.dp_public_key_read(bytes(text), C.size_t(len(text)), out(key), out(err)))
}

func PublicKeyWrite(key Handle, form int32, text []byte, length *int, err *Handle) int32 {
	return int32(C.dp_public_key_write(
		C.uintptr_t(key), C.int32_t(form), bytes(text), C.size_t(len(text)), count(length),
		out(err),
	))
}

func PublicKeyKind(key Handle, kind *int32, err *Handle) int32 {
	return int32(C.dp_public_key_kind(C.uintptr_t(key), (*C.int32_t)(kind), out(err)))
}

func PublicKeyFingerprint(key Handle, text []byte, length *int, err *Handle) int32 {
	return int32(C.dp_public_key_fingerprint(
		C.uintptr_t(key), bytes(text), C.size_t(len(text)), count(length), out(err),
	))
}

func PublicKeyFree(key Handle) int32 {
	return int32(C.dp_public_key_free(C.uintptr_t(key)))
}

func PassphraseNew(text []byte, passphrase, err *Handle) int32 {
	return int32(C.dp_passphrase_new(bytes(text), C.size_t(len(text)), out(passphrase), out(err)))
}

func PassphraseFree(passphrase Handle) int32 {
	return int32(C.dp_passphrase_free(C.uintptr_t(passphrase)))
}

func SessionNew(passphrase Handle, session, err *Handle) int32 {
	return int32(C.dp_session_new(C.uintptr_t(passphrase), out(session), out(err)))
}

func SessionFree(session Handle) int32 {
	return int32(C.dp_session_free(C.uintptr_t(session)))
}

func SealingNew(sealing, err *Handle) int32 {
	return int32(C.dp_sealing_new(out(sealing), out(err)))
}

func SealingAddKey(sealing, key Handle, err *Handle) int32 {
	return int32(C.dp_sealing_add_key(C.uintptr_t(sealing), C.uintptr_t(key), out(err)))
}

func SealingAddPassphrase(sealing, passphrase Handle, err *Handle) int32 {
	return int32(C.dp_sealing_add_passphrase(C.uintptr_t(sealing), C.uintptr_t(passphrase), out(err)))
}

func SealingAddSession(sealing, session Handle, err *Handle) int32 {
	return int32(C.dp_sealing_add_session(C.uintptr_t(sealing), C.uintptr_t(session), out(err)))
}

func SealingAllowMixed(sealing Handle, allow int32, err *Handle) int32 {
	return int32(C.dp_sealing_allow_mixed(C.uintptr_t(sealing), C.int32_t(allow), out(err)))
}

func SealingHideLength(sealing Handle, hide int32, err *Handle) int32 {
	return int32(C.dp_sealing_hide_length(C.uintptr_t(sealing), C.int32_t(hide), out(err)))
}

func SealingCompress(sealing Handle, level int32, err *Handle) int32 {
	return int32(C.dp_sealing_compress(C.uintptr_t(sealing), C.int32_t(level), out(err)))
}

func SealingExclude(sealing Handle, pattern string, err *Handle) int32 {
	return int32(C.dp_sealing_exclude(C.uintptr_t(sealing), path(pattern), out(err)))
}

func SealingAge(sealing Handle, age int32, err *Handle) int32 {
	return int32(C.dp_sealing_age(C.uintptr_t(sealing), C.int32_t(age), out(err)))
}

func SealedLength(sealing Handle, length uint64, sealed *uint64, err *Handle) int32 {
	return int32(C.dp_sealed_length(C.uintptr_t(sealing), C.uint64_t(length), (*C.uint64_t)(sealed), out(err)))
}

func SealingFree(sealing Handle) int32 {
	return int32(C.dp_sealing_free(C.uintptr_t(sealing)))
}

func OpeningNew(opening, err *Handle) int32 {
	return int32(C.dp_opening_new(out(opening), out(err)))
}

func OpeningAddKey(opening, key Handle, err *Handle) int32 {
	return int32(C.dp_opening_add_key(C.uintptr_t(opening), C.uintptr_t(key), out(err)))
}

func OpeningAddPassphrase(opening, passphrase Handle, err *Handle) int32 {
	return int32(C.dp_opening_add_passphrase(C.uintptr_t(opening), C.uintptr_t(passphrase), out(err)))
}

func OpeningAddSession(opening, session Handle, err *Handle) int32 {
	return int32(C.dp_opening_add_session(C.uintptr_t(opening), C.uintptr_t(session), out(err)))
}

func OpeningMaxCost(opening Handle, memory, passes uint32, err *Handle) int32 {
	return int32(C.dp_opening_max_cost(C.uintptr_t(opening), C.uint32_t(memory), C.uint32_t(passes), out(err)))
}

func OpeningFree(opening Handle) int32 {
	return int32(C.dp_opening_free(C.uintptr_t(opening)))
}

func WorkNew(work, err *Handle) int32 {
	return int32(C.dp_work_new(out(work), out(err)))
}

func WorkThreads(work Handle, threads uint32, err *Handle) int32 {
	return int32(C.dp_work_threads(C.uintptr_t(work), C.uint32_t(threads), out(err)))
}

func WorkStop(work Handle, stop int32, err *Handle) int32 {
	return int32(C.dp_work_stop(C.uintptr_t(work), C.int32_t(stop), out(err)))
}

func WorkDone(work Handle, done *uint64, err *Handle) int32 {
	return int32(C.dp_work_done(C.uintptr_t(work), (*C.uint64_t)(done), out(err)))
}

func WorkFree(work Handle) int32 {
	return int32(C.dp_work_free(C.uintptr_t(work)))
}

func Seal(sealing Handle, plain, sealed []byte, written *int, work Handle, err *Handle) int32 {
	return int32(C.dp_seal(
		C.uintptr_t(sealing), bytes(plain), C.size_t(len(plain)), bytes(sealed), C.size_t(len(sealed)),
		count(written), C.uintptr_t(work), out(err),
	))
}

func Open(opening Handle, sealed, plain []byte, written *int, work Handle, err *Handle) int32 {
	return int32(C.dp_open(
		C.uintptr_t(opening), bytes(sealed), C.size_t(len(sealed)), bytes(plain), C.size_t(len(plain)),
		count(written), C.uintptr_t(work), out(err),
	))
}

func SealFile(sealing Handle, input, output string, replace int32, work Handle, err *Handle) int32 {
	return int32(C.dp_seal_file(
		C.uintptr_t(sealing), path(input), path(output), C.int32_t(replace), C.uintptr_t(work), out(err),
	))
}

func OpenFile(opening Handle, input, output string, replace int32, work Handle, err *Handle) int32 {
	return int32(C.dp_open_file(
		C.uintptr_t(opening), path(input), path(output), C.int32_t(replace), C.uintptr_t(work), out(err),
	))
}

func SealFolder(sealing Handle, folder, output string, replace int32, work Handle, err *Handle) int32 {
	return int32(C.dp_seal_folder(
		C.uintptr_t(sealing), path(folder), path(output), C.int32_t(replace), C.uintptr_t(work), out(err),
	))
}

func OpenFolder(opening Handle, input, folder string, work Handle, err *Handle) int32 {
	return int32(C.dp_open_folder(C.uintptr_t(opening), path(input), path(folder), C.uintptr_t(work), out(err)))
}

func ListFolder(opening Handle, input string, user uintptr, err *Handle) int32 {
	return int32(C.dp_list_folder(
		C.uintptr_t(opening), path(input), C.dp_each(C.deadpanGoEach), C.uintptr_t(user), out(err),
	))
}

func Inspect(input string, opening Handle, text []byte, length *int, err *Handle) int32 {
	return int32(C.dp_inspect(
		path(input), C.uintptr_t(opening), (*C.char)(unsafe.Pointer(unsafe.SliceData(text))), C.size_t(len(text)),
		count(length), out(err),
	))
}

func SealStream(sealing Handle, user uintptr, work Handle, err *Handle) int32 {
	return int32(C.dp_seal_stream(
		C.uintptr_t(sealing), C.dp_read(C.deadpanGoRead), C.dp_write(C.deadpanGoWrite), C.uintptr_t(user),
		C.uintptr_t(work), out(err),
	))
}

func OpenStream(opening Handle, user uintptr, work Handle, err *Handle) int32 {
	return int32(C.dp_open_stream(
		C.uintptr_t(opening), C.dp_read(C.deadpanGoRead), C.dp_write(C.deadpanGoWrite), C.uintptr_t(user),
		C.uintptr_t(work), out(err),
	))
}

func SealDescriptor(sealing Handle, input, output int32, work Handle, err *Handle) int32 {
	return int32(C.dp_seal_fd(C.uintptr_t(sealing), C.int32_t(input), C.int32_t(output), C.uintptr_t(work), out(err)))
}

func OpenDescriptor(opening Handle, input, output int32, work Handle, err *Handle) int32 {
	return int32(C.dp_open_fd(C.uintptr_t(opening), C.int32_t(input), C.int32_t(output), C.uintptr_t(work), out(err)))
}

func WriterNew(sealing Handle, user uintptr, writer, err *Handle) int32 {
	return int32(C.dp_writer_new(
		C.uintptr_t(sealing), C.dp_write(C.deadpanGoWrite), C.uintptr_t(user), out(writer),
		out(err),
	))
}

func WriterWrite(writer Handle, data []byte, err *Handle) int32 {
	return int32(C.dp_writer_write(C.uintptr_t(writer), bytes(data), C.size_t(len(data)), out(err)))
}

func WriterFinish(writer Handle, err *Handle) int32 {
	return int32(C.dp_writer_finish(C.uintptr_t(writer), out(err)))
}

func WriterFree(writer Handle) int32 {
	return int32(C.dp_writer_free(C.uintptr_t(writer)))
}

func ReaderNew(opening Handle, input string, reader, err *Handle) int32 {
	return int32(C.dp_reader_new(C.uintptr_t(opening), path(input), out(reader), out(err)))
}

func ReaderNewAt(opening Handle, user uintptr, length uint64, reader, err *Handle) int32 {
	return int32(C.dp_reader_new_at(
		C.uintptr_t(opening), C.dp_read_at(C.deadpanGoReadAt), C.uintptr_t(user), C.uint64_t(length),
		out(reader), out(err),
	))
}

func ReaderLength(reader Handle, length *uint64, err *Handle) int32 {
	return int32(C.dp_reader_length(C.uintptr_t(reader), (*C.uint64_t)(length), out(err)))
}

func ReaderRead(reader Handle, position uint64, buffer []byte, read *int, err *Handle) int32 {
	return int32(C.dp_reader_read(
		C.uintptr_t(reader), C.uint64_t(position), bytes(buffer), C.size_t(len(buffer)),
		count(read), out(err),
	))
}

func ReaderFree(reader Handle) int32 {
	return int32(C.dp_reader_free(C.uintptr_t(reader)))
}

func Random(buffer []byte, err *Handle) int32 {
	return int32(C.dp_random(bytes(buffer), C.size_t(len(buffer)), out(err)))
}

func Base64Encode(alphabet int32, data, text []byte, written *int, err *Handle) int32 {
	return int32(C.dp_base64_encode(
		C.int32_t(alphabet), bytes(data), C.size_t(len(data)), bytes(text), C.size_t(len(text)),
		count(written), out(err),
	))
}

func Base64Decode(alphabet int32, text, data []byte, written *int, err *Handle) int32 {
	return int32(C.dp_base64_decode(
		C.int32_t(alphabet), bytes(text), C.size_t(len(text)), bytes(data), C.size_t(len(data)),
		count(written), out(err),
	))
}

func Pad(scheme int32, block int, data, output []byte, written *int, err *Handle) int32 {
	return int32(C.dp_pad(
		C.int32_t(scheme), C.size_t(block), bytes(data), C.size_t(len(data)), bytes(output), C.size_t(len(output)),
		count(written), out(err),
	))
}

func Unpad(scheme int32, block int, data []byte, plain *int, err *Handle) int32 {
	return int32(C.dp_unpad(
		C.int32_t(scheme), C.size_t(block), bytes(data), C.size_t(len(data)), count(plain),
		out(err),
	))
}

func ConstantTimeEqual(one, other []byte, equal *int32, err *Handle) int32 {
	return int32(C.dp_ct_equal(bytes(one), bytes(other), C.size_t(len(one)), (*C.int32_t)(equal), out(err)))
}

/*
 * deadpan.h: seals and opens files, folders, streams and bytes, with classical, post-quantum and hybrid encryption.
 *
 * Every function returns a code: DP_OK (0), or a code for the kind of error. Functions write their results through
 * pointers. Most functions have a last parameter `error`, which is NULL or points to a variable for the error handle.
 * The error has a text that states the name of the file or key. Free the error with dp_error_free. On success, the
 * function sets this variable to NULL.
 *
 *     dp_private_key *key = NULL;
 *     dp_error *error = NULL;
 *     if (dp_private_key_generate(DP_XWING, &key, &error) != DP_OK) {
 *         char text[200];
 *         size_t length;
 *         dp_error_text(error, text, sizeof text, &length);
 *         fprintf(stderr, "%.*s\n", (int)length, text);
 *         dp_error_free(error);
 *     }
 *
 * Handles are numbers in a table and not addresses. If a handle was freed or is of another kind, the function returns
 * DP_ERR_HANDLE and touches no memory. Freeing NULL does nothing. Any thread may use any handle. If two threads use one
 * reader or writer at the same time, the second thread gets DP_ERR_BUSY. Secrets are wiped when their last handle is
 * freed.
 *
 * Buffers belong to the caller. If a result has a length, the function writes this length to `written` or `length`. If
 * the buffer is too small, the function returns DP_ERR_ROOM and writes the length that is needed. A pointer may be NULL
 * if its length is 0. Input and output must not share memory. Texts are UTF-8 and have a separate length. Paths
 * and patterns end with a zero.
 *
 * In `check(dp_…(…, &error), error)`, C may read the last argument before it makes the call. So pass `&error` to
 * `check`, and not `error`.
 *
 * Callbacks run on threads of the library or on the caller's thread. The same callback never runs twice at the same
 * time in one call, but a stream's `read` and `write` may run at the same time. A callback must return: a C++ exception
 * or a longjmp must not leave the callback. Callbacks may use the library. If a callback uses a reader or writer that
 * is already in use, the called function returns DP_ERR_BUSY. While the progress callback runs, further progress is not
 * reported.
 *
 * After fork, a child of a program with several threads must not use the library. Writing to a closed pipe causes the
 * signal SIGPIPE, as in every C program. If there is no memory even for small allocations, the program is aborted.
 *
 * Nobody may change an input, or read or write an output, while a function works on it. If another thread nevertheless
 * changes the input, dp_open either fails or returns the data that were sealed, because dp_open first copies each part
 * and then opens the copy. The time for secret inputs depends only on their lengths; the documentation of the crates
 * says what may leak.
 */
#ifndef DEADPAN_H
#define DEADPAN_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Codes. They stay the same in all versions. */
#define DP_OK 0
#define DP_ERR_ARGUMENT 1    /* an argument is not possible */
#define DP_ERR_ROOM 2        /* the buffer is too small */
#define DP_ERR_HANDLE 3      /* the handle was freed, or is of another kind */
#define DP_ERR_BUSY 4        /* another thread uses the handle */
#define DP_ERR_STOPPED 5     /* stopped by the caller */
#define DP_ERR_PANIC 6       /* a fault in Deadpan; please report it */
#define DP_ERR_EXISTS 7      /* the output exists already */
#define DP_ERR_NOT_SEALED 10 /* not a sealed file */
#define DP_ERR_NEWER 11      /* sealed by a newer version */
#define DP_ERR_TRUNCATED 12  /* the sealed data end too early */
#define DP_ERR_TAMPERED 13   /* the sealed data are damaged, or were changed after sealing */
#define DP_ERR_LIMIT 14      /* the sealed data ask for more than is allowed */
#define DP_ERR_SIGNATURE 15  /* a signature is wrong or missing */
#define DP_ERR_ENCODING 16   /* the text or the padding is not valid */
#define DP_ERR_NO_KEY 20     /* no key opens it */
#define DP_ERR_PASSPHRASE 21 /* the passphrase is wrong */
#define DP_ERR_COSTLY 22     /* trying the passphrase costs more than is allowed */
#define DP_ERR_KEY 23        /* the key is damaged, or is no key */
#define DP_ERR_LOCKED 24     /* the private key is protected by a passphrase */
#define DP_ERR_READ 30       /* the input cannot be read */
#define DP_ERR_WRITE 31      /* the output cannot be written */
#define DP_ERR_SYSTEM 32     /* the system failed */

/* Kinds of keys, by their numbers in HPKE's registry. */
#define DP_P256 0x0010
#define DP_X25519 0x0020
#define DP_ML_KEM_768 0x0041
#define DP_ML_KEM_1024 0x0042
#define DP_ML_KEM_768_P256 0x0050
#define DP_XWING 0x647a /* ML-KEM-768 and X25519: choose it unless you have a reason against it */

/* Forms of written keys. */
#define DP_PEM 0
#define DP_AGE 1

typedef struct dp_error dp_error;
typedef struct dp_private_key dp_private_key;
typedef struct dp_public_key dp_public_key;
typedef struct dp_passphrase dp_passphrase;
typedef struct dp_session dp_session;
typedef struct dp_sealing dp_sealing; /* what is sealed to: keys, passphrases, options */
typedef struct dp_opening dp_opening; /* what is opened with: keys, passphrases */
typedef struct dp_work dp_work;       /* threads, progress and stop of work */
typedef struct dp_reader dp_reader;
typedef struct dp_writer dp_writer;

/* ---- Version and errors ---- */

/* The version, such as "0.2.0". */
const char *dp_version(void);
/* The message of a code. */
const char *dp_message(int32_t code);
/* The code of an error. */
int32_t dp_error_code(const dp_error *error);
/* The errno of an error that the system reported, such as ENOENT, or 0 for other errors. */
int32_t dp_error_errno(const dp_error *error);
/* The text of an error, without a zero at its end. */
int32_t dp_error_text(const dp_error *error, char *text, size_t room, size_t *length);
int32_t dp_error_free(dp_error *error);

/* ---- Keys, passphrases and sessions ---- */

int32_t dp_private_key_generate(int32_t kind, dp_private_key **key, dp_error **error);
/*
 * Reads PEM or an age identity. `passphrase` is the passphrase of a protected key, or NULL. If a text has several keys,
 * the function returns DP_ERR_KEY.
 */
int32_t dp_private_key_read(const uint8_t *text, size_t length, const dp_passphrase *passphrase, dp_private_key **key,
                            dp_error **error);
/*
 * Writes PEM or an age identity. PEM is protected by the passphrase if `passphrase` is not NULL. Wipe the text after
 * use.
 */
int32_t dp_private_key_write(const dp_private_key *key, int32_t form, const dp_passphrase *passphrase, uint8_t *text,
                             size_t room, size_t *length, dp_error **error);
int32_t dp_private_key_public(const dp_private_key *key, dp_public_key **public_key, dp_error **error);
/*
 * Compares two keys in constant time. `equal` is 1 if the two keys are the same key, and otherwise 0. An ML-KEM key
 * that contains its seed and the same key without its seed are not equal.
 */
int32_t dp_private_key_equal(const dp_private_key *one, const dp_private_key *other, int32_t *equal, dp_error **error);
int32_t dp_private_key_free(dp_private_key *key);

/* Reads PEM or an age recipient. A text with several keys gives DP_ERR_KEY, so that no recipient is lost. */
int32_t dp_public_key_read(const uint8_t *text, size_t length, dp_public_key **key, dp_error **error);
int32_t dp_public_key_write(const dp_public_key *key, int32_t form, uint8_t *text, size_t room, size_t *length,
                            dp_error **error);
int32_t dp_public_key_kind(const dp_public_key *key, int32_t *kind, dp_error **error);
int32_t dp_public_key_fingerprint(const dp_public_key *key, uint8_t *text, size_t room, size_t *length,
                                  dp_error **error);
int32_t dp_public_key_free(dp_public_key *key);

/* Copies a passphrase. The copy is wiped when its handle is freed. */
int32_t dp_passphrase_new(const uint8_t *text, size_t length, dp_passphrase **passphrase, dp_error **error);
int32_t dp_passphrase_free(dp_passphrase *passphrase);

/* Hashes a passphrase once, so that many items can use the hash. */
int32_t dp_session_new(const dp_passphrase *passphrase, dp_session **session, dp_error **error);
int32_t dp_session_free(dp_session *session);

/* ---- Recipients to seal to, and keys to open with ---- */

int32_t dp_sealing_new(dp_sealing **sealing, dp_error **error);
int32_t dp_sealing_add_key(const dp_sealing *sealing, const dp_public_key *key, dp_error **error);
int32_t dp_sealing_add_passphrase(const dp_sealing *sealing, const dp_passphrase *passphrase, dp_error **error);
int32_t dp_sealing_add_session(const dp_sealing *sealing, const dp_session *session, dp_error **error);
/* Allows a classical key together with other keys. The encryption of the whole file is then only classical. */
int32_t dp_sealing_allow_mixed(const dp_sealing *sealing, int32_t allow, dp_error **error);
/* Pads the data, so that the length of the result reveals little about the length of the data. */
int32_t dp_sealing_hide_length(const dp_sealing *sealing, int32_t hide, dp_error **error);
/*
 * Compresses the data at a level from 1 (fast) to 19 (small). 3 is a good choice, and 0 does not compress. The length
 * of the result then tells something about the data.
 */
int32_t dp_sealing_compress(const dp_sealing *sealing, int32_t level, dp_error **error);
/*
 * Adds a pattern as in .gitignore: dp_seal_folder leaves out what the patterns match in the folder. Other functions
 * ignore the patterns. The last pattern that matches decides, and a pattern with ! takes back what earlier patterns
 * matched. Without patterns, everything is sealed. An invalid pattern, such as "[a", gives DP_ERR_ARGUMENT.
 *
 *     dp_sealing_exclude(sealing, "node_modules/", &error);
 *     dp_sealing_exclude(sealing, "*.o", &error);
 *     dp_sealing_exclude(sealing, "!keep.o", &error);
 *     dp_seal_folder(sealing, "src", "src.dpn", 0, NULL, &error);
 */
int32_t dp_sealing_exclude(const dp_sealing *sealing, const char *pattern, dp_error **error);
/* Chooses age's format instead of Deadpan's. */
int32_t dp_sealing_age(const dp_sealing *sealing, int32_t age, dp_error **error);
/* The length of the result of dp_seal for `length` bytes. If the data are compressed, the largest possible length. */
int32_t dp_sealed_length(const dp_sealing *sealing, uint64_t length, uint64_t *sealed, dp_error **error);
int32_t dp_sealing_free(dp_sealing *sealing);

int32_t dp_opening_new(dp_opening **opening, dp_error **error);
int32_t dp_opening_add_key(const dp_opening *opening, const dp_private_key *key, dp_error **error);
int32_t dp_opening_add_passphrase(const dp_opening *opening, const dp_passphrase *passphrase, dp_error **error);
int32_t dp_opening_add_session(const dp_opening *opening, const dp_session *session, dp_error **error);
/*
 * Limits the memory and work for trying the passphrases and sessions of the list, including passphrases and sessions
 * that are added later. The limits are the memory in KiB, and the work as a number of passes over this memory. If the
 * sealed data require more than the limits, opening fails with DP_ERR_COSTLY before any work is done. A server that
 * opens data of other people needs a low limit. Without a call of this function, 2.5 GiB and 3 passes are allowed. Data
 * that this library seals require 256 MiB and 3 passes. A session always opens data that require at most as much memory
 * and work as the session's own hash.
 */
int32_t dp_opening_max_cost(const dp_opening *opening, uint32_t memory, uint32_t passes, dp_error **error);
int32_t dp_opening_free(dp_opening *opening);

/* ---- Work: threads, progress, stop. NULL stands for one thread on each core, and no progress ---- */

/*
 * Receives the number of bytes that are processed so far. Any thread may call this callback, but only one thread at a
 * time. A result other than 0 stops the work.
 */
typedef int32_t (*dp_progress)(uint64_t done, void *user);

int32_t dp_work_new(dp_work **work, dp_error **error);
/* Sets the number of threads. 0 stands for one thread on each core. */
int32_t dp_work_threads(const dp_work *work, uint32_t threads, dp_error **error);
int32_t dp_work_watch(const dp_work *work, dp_progress progress, void *user, dp_error **error);
/*
 * Stops all running calls that use this `dp_work`. Any thread may call this function. The stopped function returns
 * DP_ERR_STOPPED. A `stop` of 0 allows new work.
 */
int32_t dp_work_stop(const dp_work *work, int32_t stop, dp_error **error);
/* Writes the number of bytes of data that are done. */
int32_t dp_work_done(const dp_work *work, uint64_t *done, dp_error **error);
int32_t dp_work_free(dp_work *work);

/* ---- Bytes in memory ---- */

int32_t dp_seal(const dp_sealing *sealing, const uint8_t *plain, size_t length, uint8_t *sealed, size_t room,
                size_t *written, const dp_work *work, dp_error **error);
/*
 * Opens either all data or none. A buffer as long as the sealed data is always long enough, unless the data are
 * compressed.
 */
int32_t dp_open(const dp_opening *opening, const uint8_t *sealed, size_t length, uint8_t *plain, size_t room,
                size_t *written, const dp_work *work, dp_error **error);

/* ---- Files and folders. The output gets its name only when complete, so an error leaves no output ---- */

/* `replace` lets the output replace another file or link. Without `replace`, or if the output is a folder or a device,
 * an existing output causes the error DP_ERR_EXISTS. */
int32_t dp_seal_file(const dp_sealing *sealing, const char *input, const char *output, int32_t replace,
                     const dp_work *work, dp_error **error);
int32_t dp_open_file(const dp_opening *opening, const char *input, const char *output, int32_t replace,
                     const dp_work *work, dp_error **error);
/* Sockets, pipes and devices in the folder, the output itself, and matches of dp_sealing_exclude are left out. */
int32_t dp_seal_folder(const dp_sealing *sealing, const char *folder, const char *output, int32_t replace,
                       const dp_work *work, dp_error **error);
/* The folder must not exist. */
int32_t dp_open_folder(const dp_opening *opening, const char *input, const char *folder, const dp_work *work,
                       dp_error **error);

/*
 * Gets an entry. `kind` is 0 for a file, 1 for a folder, 2 for other entries. A result other than 0 ends the listing.
 */
typedef int32_t (*dp_each)(void *user, const char *path, int32_t kind, uint64_t size);
int32_t dp_list_folder(const dp_opening *opening, const char *input, dp_each each, void *user, dp_error **error);

/*
 * Describes a sealed file as a JSON object. `opening` may be NULL. If `opening` opens the file, the object also has the
 * name, time and mode.
 */
int32_t dp_inspect(const char *input, const dp_opening *opening, char *text, size_t room, size_t *length,
                   dp_error **error);

/* ---- Streams ---- */

/* Fills the buffer. Returns the number of bytes, 0 at the end, or a negative number after an error. */
typedef int64_t (*dp_read)(void *user, uint8_t *buffer, size_t room);
/* Takes all of the bytes. Returns 0, or another number after an error. */
typedef int32_t (*dp_write)(void *user, const uint8_t *bytes, size_t length);
/* Does the same as dp_read, from a position. */
typedef int64_t (*dp_read_at)(void *user, uint64_t position, uint8_t *buffer, size_t room);

/* All data that dp_open_stream writes are authentic. The output of both functions is complete only after DP_OK. */
int32_t dp_seal_stream(const dp_sealing *sealing, dp_read read, dp_write write, void *user, const dp_work *work,
                       dp_error **error);
int32_t dp_open_stream(const dp_opening *opening, dp_read read, dp_write write, void *user, const dp_work *work,
                       dp_error **error);
/* Seals or opens from one open descriptor to another. Both descriptors stay open, and are at their ends after the call.
 * If both descriptors are regular files at position 0, the function is as fast as the function for paths. Descriptors
 * must be in blocking mode. After an error, the output may hold a part of the data. */
int32_t dp_seal_fd(const dp_sealing *sealing, int32_t input, int32_t output, const dp_work *work, dp_error **error);
int32_t dp_open_fd(const dp_opening *opening, int32_t input, int32_t output, const dp_work *work, dp_error **error);

/* Seals the data that are written, on the caller's thread. Without dp_writer_finish, the result is cut short and does
 * not open. */
int32_t dp_writer_new(const dp_sealing *sealing, dp_write write, void *user, dp_writer **writer, dp_error **error);
int32_t dp_writer_write(const dp_writer *writer, const uint8_t *data, size_t length, dp_error **error);
int32_t dp_writer_finish(const dp_writer *writer, dp_error **error);
int32_t dp_writer_free(dp_writer *writer);

/* Reads at any place, and opens only the parts that are read. */
int32_t dp_reader_new(const dp_opening *opening, const char *input, dp_reader **reader, dp_error **error);
/* `length` is the length of the sealed data. The reader calls `read` until the reader is freed. */
int32_t dp_reader_new_at(const dp_opening *opening, dp_read_at read, void *user, uint64_t length, dp_reader **reader,
                         dp_error **error);
int32_t dp_reader_length(const dp_reader *reader, uint64_t *length, dp_error **error);
/* Fills the buffer from a position. `read` is less than `room` only at the end of the data. */
int32_t dp_reader_read(const dp_reader *reader, uint64_t position, uint8_t *buffer, size_t room, size_t *read,
                       dp_error **error);
int32_t dp_reader_free(dp_reader *reader);

/* ---- Random bytes, base64, paddings, comparison ---- */

/* Random bytes of the system. */
int32_t dp_random(uint8_t *buffer, size_t length, dp_error **error);

/* Alphabets. */
#define DP_BASE64_STANDARD 0
#define DP_BASE64_STANDARD_NO_PAD 1
#define DP_BASE64_URL_SAFE 2
#define DP_BASE64_URL_SAFE_NO_PAD 3

int32_t dp_base64_encode(int32_t alphabet, const uint8_t *data, size_t length, uint8_t *text, size_t room,
                         size_t *written, dp_error **error);
/* Decodes strictly: each sequence of bytes has only one valid text. After DP_ERR_ROOM, `written` is a length that is
 * enough, and at most 2 more than needed. */
int32_t dp_base64_decode(int32_t alphabet, const uint8_t *text, size_t length, uint8_t *data, size_t room,
                         size_t *written, dp_error **error);

/* Schemes of paddings. */
#define DP_PAD_PKCS7 0
#define DP_PAD_ISO7816 1
#define DP_PAD_ANSI_X923 2
#define DP_PAD_RFC4303 3
#define DP_PAD_ISO10126 4
#define DP_PAD_NOT_LAST 5
#define DP_PAD_ARBITRARY_TAIL 6
#define DP_PAD_ZERO 7

/* `block` is 1 to 255. */
int32_t dp_pad(int32_t scheme, size_t block, const uint8_t *data, size_t length, uint8_t *output, size_t room,
               size_t *written, dp_error **error);
/* The length of padded data without their padding. */
int32_t dp_unpad(int32_t scheme, size_t block, const uint8_t *data, size_t length, size_t *plain, dp_error **error);

/* Compares bytes in constant time. `equal` is 1 if both inputs have the same bytes, and otherwise 0. */
int32_t dp_ct_equal(const uint8_t *one, const uint8_t *other, size_t length, int32_t *equal, dp_error **error);

#ifdef __cplusplus
}
#endif

#endif

/*
 * Tests of the functions of libdeadpan, and of its errors for misuse. The tests run in an empty folder. This file is
 * valid C99 and C++. If the environment variable DEADPAN names the command line program, the program opens data that
 * the library sealed, and the library opens data that the program sealed. With the argument "brief", only keys of one
 * kind get a passphrase, because Valgrind makes passphrases very slow.
 */
#include <deadpan.h>

#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static int checks = 0, brief = 0;

#define CHECK(condition)                                                                          \
    do {                                                                                          \
        checks++;                                                                                 \
        if (!(condition)) {                                                                       \
            fprintf(stderr, "%s:%d: failed: %s\n", __FILE__, __LINE__, #condition);               \
            exit(1);                                                                              \
        }                                                                                         \
    } while (0)

/* Checks a code, and prints the error if the code is not the wanted code. */
#define CODE(wanted, call)                                                                        \
    do {                                                                                          \
        int32_t code = (call);                                                                    \
        checks++;                                                                                 \
        if (code != (wanted)) {                                                                   \
            fprintf(stderr, "%s:%d: %s: %d (%s), and not %d\n", __FILE__, __LINE__, #call,        \
                    (int)code, dp_message(code), (int)(wanted));                                  \
            exit(1);                                                                              \
        }                                                                                         \
    } while (0)

#define OK(call) CODE(DP_OK, call)

static const uint8_t *u(const char *text) { return (const uint8_t *)text; }

struct both {
    dp_private_key *key;
    dp_public_key *public_key;
    dp_sealing *sealing;
    dp_opening *opening;
};

static struct both make(int32_t kind)
{
    struct both b = {NULL, NULL, NULL, NULL};
    OK(dp_private_key_generate(kind, &b.key, NULL));
    OK(dp_private_key_public(b.key, &b.public_key, NULL));
    OK(dp_sealing_new(&b.sealing, NULL));
    OK(dp_sealing_add_key(b.sealing, b.public_key, NULL));
    OK(dp_opening_new(&b.opening, NULL));
    OK(dp_opening_add_key(b.opening, b.key, NULL));
    return b;
}

static void release(struct both b)
{
    OK(dp_opening_free(b.opening));
    OK(dp_sealing_free(b.sealing));
    OK(dp_public_key_free(b.public_key));
    OK(dp_private_key_free(b.key));
}

static void write_file(const char *path, const void *bytes, size_t length)
{
    FILE *file = fopen(path, "wb");
    CHECK(file != NULL && fwrite(bytes, 1, length, file) == length && fclose(file) == 0);
}

static size_t read_file(const char *path, void *bytes, size_t room)
{
    FILE *file = fopen(path, "rb");
    size_t length;
    CHECK(file != NULL);
    length = fread(bytes, 1, room, file);
    CHECK(fclose(file) == 0);
    return length;
}

/* Tests that keys of each kind can be written and read, and open data that were sealed to them. */
static void keys(void)
{
    const int32_t kinds[] = {DP_P256, DP_X25519, DP_ML_KEM_768, DP_ML_KEM_1024, DP_ML_KEM_768_P256, DP_XWING};
    size_t i;
    dp_passphrase *passphrase = NULL, *wrong = NULL;
    dp_private_key *none = NULL;
    dp_error *error = NULL;
    OK(dp_passphrase_new(u("correct horse"), 13, &passphrase, NULL));
    OK(dp_passphrase_new(u("battery"), 7, &wrong, NULL));
    for (i = 0; i < sizeof kinds / sizeof *kinds; i++) {
        struct both b = make(kinds[i]);
        uint8_t text[8192], sealed[8192], plain[64];
        size_t length, written, opened;
        int32_t kind = 0, equal = 7;
        dp_private_key *again = NULL;
        dp_public_key *public_again = NULL;
        dp_opening *opening = NULL;

        OK(dp_public_key_kind(b.public_key, &kind, NULL));
        CHECK(kind == kinds[i]);
        OK(dp_seal(b.sealing, u("face"), 4, sealed, sizeof sealed, &written, NULL, NULL));

        OK(dp_private_key_write(b.key, DP_PEM, NULL, text, sizeof text, &length, NULL));
        CHECK(memcmp(text, "-----BEGIN PRIVATE KEY-----", 27) == 0);
        OK(dp_private_key_read(text, length, NULL, &again, NULL));
        OK(dp_opening_new(&opening, NULL));
        OK(dp_opening_add_key(opening, again, NULL));
        OK(dp_open(opening, sealed, written, plain, sizeof plain, &opened, NULL, NULL));
        CHECK(opened == 4 && memcmp(plain, "face", 4) == 0);
        OK(dp_private_key_equal(b.key, again, &equal, NULL));
        CHECK(equal == 1);
        OK(dp_private_key_free(again));
        CODE(DP_ERR_HANDLE, dp_private_key_equal(b.key, again, &equal, NULL));
        OK(dp_private_key_generate(kinds[i], &again, NULL));
        OK(dp_private_key_equal(b.key, again, &equal, NULL));
        CHECK(equal == 0);
        OK(dp_private_key_free(again));

        if (!brief || kinds[i] == DP_XWING) {
            OK(dp_private_key_write(b.key, DP_PEM, passphrase, text, sizeof text, &length, NULL));
            CODE(DP_ERR_LOCKED, dp_private_key_read(text, length, NULL, &again, NULL));
            CHECK(again == NULL);
            CODE(DP_ERR_PASSPHRASE, dp_private_key_read(text, length, wrong, &again, NULL));
            OK(dp_private_key_read(text, length, passphrase, &again, NULL));
            OK(dp_private_key_free(again));
        }

        OK(dp_public_key_write(b.public_key, DP_PEM, text, sizeof text, &length, NULL));
        OK(dp_public_key_read(text, length, &public_again, NULL));
        CODE(DP_ERR_KEY, dp_private_key_read(text, length, NULL, &again, NULL));
        OK(dp_public_key_free(public_again));
        OK(dp_public_key_fingerprint(b.public_key, text, sizeof text, &length, NULL));
        CHECK(length > 10);

        if (kinds[i] == DP_X25519) {
            OK(dp_public_key_write(b.public_key, DP_AGE, text, sizeof text, &length, NULL));
            CHECK(memcmp(text, "age1", 4) == 0);
            OK(dp_private_key_write(b.key, DP_AGE, NULL, text, sizeof text, &length, NULL));
            CHECK(memcmp(text, "AGE-SECRET-KEY-1", 16) == 0);
            CODE(DP_ERR_ARGUMENT, dp_private_key_write(b.key, DP_AGE, passphrase, text, sizeof text, &length, NULL));
        }
        OK(dp_opening_free(opening));
        release(b);
    }
    CODE(DP_ERR_ARGUMENT, dp_private_key_generate(77, &none, &error));
    CHECK(none == NULL && dp_error_code(error) == DP_ERR_ARGUMENT);
    OK(dp_error_free(error));
    CODE(DP_ERR_KEY, dp_private_key_read(u("no key"), 6, NULL, &none, NULL));
    CODE(DP_ERR_ARGUMENT, dp_passphrase_new(NULL, 0, &wrong, NULL));
    OK(dp_passphrase_free(passphrase));
}

/* Tests passphrases and sessions, many recipients, and options. */
static void recipients(void)
{
    struct both classical = make(DP_X25519), hybrid = make(DP_XWING);
    dp_passphrase *passphrase = NULL;
    dp_session *session = NULL;
    dp_sealing *sealing = NULL;
    dp_opening *opening = NULL;
    dp_error *error = NULL;
    uint8_t sealed[8192], plain[64], small[1];
    size_t written, opened;
    uint64_t length, longer;

    OK(dp_sealing_new(&sealing, NULL));
    CODE(DP_ERR_ARGUMENT, dp_seal(sealing, u("face"), 4, sealed, sizeof sealed, &written, NULL, NULL));
    OK(dp_sealing_add_key(sealing, classical.public_key, NULL));
    OK(dp_sealing_add_key(sealing, hybrid.public_key, NULL));
    CODE(DP_ERR_ARGUMENT, dp_seal(sealing, u("face"), 4, sealed, sizeof sealed, &written, NULL, &error));
    CHECK(error != NULL);
    OK(dp_error_free(error));
    OK(dp_sealing_allow_mixed(sealing, 1, NULL));
    OK(dp_sealed_length(sealing, 4, &length, NULL));
    OK(dp_sealing_hide_length(sealing, 1, NULL));
    OK(dp_sealed_length(sealing, 1000, &longer, NULL));
    CHECK(longer > length);
    OK(dp_seal(sealing, u("face"), 4, sealed, sizeof sealed, &written, NULL, NULL));
    OK(dp_open(classical.opening, sealed, written, plain, sizeof plain, &opened, NULL, NULL));
    CHECK(opened == 4 && memcmp(plain, "face", 4) == 0);
    OK(dp_sealing_compress(sealing, 3, NULL));
    OK(dp_seal(sealing, u("face"), 4, sealed, sizeof sealed, &written, NULL, NULL));
    OK(dp_open(classical.opening, sealed, written, plain, sizeof plain, &opened, NULL, NULL));
    CHECK(opened == 4 && memcmp(plain, "face", 4) == 0);
    CHECK(dp_sealing_compress(sealing, 20, NULL) != DP_OK && dp_sealing_compress(sealing, -1, NULL) != DP_OK);
    OK(dp_sealing_free(sealing));

    OK(dp_passphrase_new(u("correct horse"), 13, &passphrase, NULL));
    OK(dp_session_new(passphrase, &session, NULL));
    OK(dp_sealing_new(&sealing, NULL));
    OK(dp_sealing_add_session(sealing, session, NULL));
    OK(dp_seal(sealing, u("face"), 4, sealed, sizeof sealed, &written, NULL, NULL));
    OK(dp_opening_new(&opening, NULL));
    OK(dp_opening_add_session(opening, session, NULL));
    OK(dp_open(opening, sealed, written, plain, sizeof plain, &opened, NULL, NULL));
    CHECK(opened == 4);
    OK(dp_opening_max_cost(opening, 1024, 1, NULL));
    OK(dp_open(opening, sealed, written, plain, sizeof plain, &opened, NULL, NULL));
    CODE(DP_ERR_NO_KEY, dp_open(hybrid.opening, sealed, written, plain, sizeof plain, &opened, NULL, NULL));
    CHECK(opened == 0);
    OK(dp_opening_free(opening));
    OK(dp_sealing_free(sealing));
    OK(dp_session_free(session));

    OK(dp_sealing_new(&sealing, NULL));
    OK(dp_sealing_add_passphrase(sealing, passphrase, NULL));
    OK(dp_seal(sealing, u("face"), 4, sealed, sizeof sealed, &written, NULL, NULL));
    OK(dp_opening_new(&opening, NULL));
    OK(dp_opening_add_passphrase(opening, passphrase, NULL));
    CODE(DP_ERR_ROOM, dp_open(opening, sealed, written, small, sizeof small, &opened, NULL, NULL));
    CHECK(opened == 4);
    OK(dp_opening_max_cost(opening, (256 << 10) - 1, 64, NULL));
    CODE(DP_ERR_COSTLY, dp_open(opening, sealed, written, plain, sizeof plain, &opened, NULL, &error));
    CHECK(error != NULL && opened == 0);
    OK(dp_error_free(error));
    OK(dp_opening_max_cost(opening, 256 << 10, 2, NULL));
    CODE(DP_ERR_COSTLY, dp_open(opening, sealed, written, plain, sizeof plain, &opened, NULL, NULL));
    OK(dp_opening_max_cost(opening, 256 << 10, 3, NULL));
    if (!brief)
        OK(dp_open(opening, sealed, written, plain, sizeof plain, &opened, NULL, NULL));
    OK(dp_opening_free(opening));
    CODE(DP_ERR_HANDLE, dp_opening_max_cost(opening, 256 << 10, 3, NULL));
    OK(dp_sealing_free(sealing));
    OK(dp_passphrase_free(passphrase));

    OK(dp_sealing_age(classical.sealing, 1, NULL));
    OK(dp_seal(classical.sealing, u("face"), 4, sealed, sizeof sealed, &written, NULL, NULL));
    CHECK(memcmp(sealed, "age-encryption.org/v1", 21) == 0);
    OK(dp_open(classical.opening, sealed, written, plain, sizeof plain, &opened, NULL, NULL));
    release(classical);
    release(hybrid);
}

/* Tests lengths near whole segments, every kind of damage, and buffers. */
static void bytes(void)
{
    const size_t lengths[] = {0, 1, 65503, 65504, 65505, 3000000};
    struct both b = make(DP_XWING), other = make(DP_XWING);
    size_t i, j;
    for (i = 0; i < sizeof lengths / sizeof *lengths; i++) {
        size_t length = lengths[i], written = 0, opened = 0;
        uint64_t needed = 0;
        uint8_t *plain = (uint8_t *)malloc(length + 1), *sealed, *again = (uint8_t *)malloc(length + 1);
        for (j = 0; j < length; j++)
            plain[j] = (uint8_t)(j * 31 >> 3);
        OK(dp_sealed_length(b.sealing, length, &needed, NULL));
        sealed = (uint8_t *)malloc((size_t)needed + 1);
        sealed[needed] = 0xaa;
        CODE(DP_ERR_ROOM, dp_seal(b.sealing, plain, length, sealed, (size_t)needed - 1, &written, NULL, NULL));
        CHECK(written == needed);
        OK(dp_seal(b.sealing, plain, length, sealed, (size_t)needed, &written, NULL, NULL));
        CHECK(written == needed && sealed[needed] == 0xaa);
        again[length] = 0xaa;
        OK(dp_open(b.opening, sealed, written, again, length, &opened, NULL, NULL));
        CHECK(opened == length && memcmp(plain, again, length) == 0 && again[length] == 0xaa);
        CODE(DP_ERR_NO_KEY, dp_open(other.opening, sealed, written, again, length, &opened, NULL, NULL));
        sealed[written - 1] ^= 1;
        CODE(DP_ERR_TAMPERED, dp_open(b.opening, sealed, written, again, length, &opened, NULL, NULL));
        for (j = 0; j < length; j++)
            CHECK(again[j] == 0);
        sealed[written - 1] ^= 1;
        CODE(DP_ERR_TRUNCATED, dp_open(b.opening, sealed, written - 1, again, length, &opened, NULL, NULL));
        CODE(DP_ERR_NOT_SEALED, dp_open(b.opening, again, length > 9 ? 9 : length, sealed, 9, &opened, NULL, NULL));
        free(plain);
        free(sealed);
        free(again);
    }
    release(b);
    release(other);
}

/* ---- Callbacks ---- */

struct pipe {
    const uint8_t *from;
    size_t left;
    uint8_t *to;
    size_t filled, room;
    int64_t read_result;  /* returned instead of reading, unless 0 */
    int32_t write_result; /* returned instead of writing, unless 0 */
};

static int64_t pipe_read(void *user, uint8_t *buffer, size_t room)
{
    struct pipe *pipe = (struct pipe *)user;
    size_t length = pipe->left < room ? pipe->left : room;
    if (pipe->read_result != 0)
        return pipe->read_result;
    if (length > 4000)
        length = 4000;
    memcpy(buffer, pipe->from, length);
    pipe->from += length;
    pipe->left -= length;
    return (int64_t)length;
}

static int32_t pipe_write(void *user, const uint8_t *data, size_t length)
{
    struct pipe *pipe = (struct pipe *)user;
    if (pipe->write_result != 0)
        return pipe->write_result;
    if (length > pipe->room - pipe->filled)
        return -28;
    memcpy(pipe->to + pipe->filled, data, length);
    pipe->filled += length;
    return 0;
}

static int64_t at(void *user, uint64_t position, uint8_t *buffer, size_t room)
{
    struct pipe *pipe = (struct pipe *)user;
    size_t left = position < pipe->filled ? pipe->filled - (size_t)position : 0;
    if (pipe->read_result != 0)
        return pipe->read_result;
    if (room > left)
        room = left;
    memcpy(buffer, pipe->to + position, room);
    return (int64_t)room;
}

static void streams(void)
{
    enum { LENGTH = 1000000 };
    struct both b = make(DP_XWING);
    uint8_t *plain = (uint8_t *)malloc(LENGTH), *sealed = (uint8_t *)malloc(2 * LENGTH);
    uint8_t *again = (uint8_t *)malloc(LENGTH), part[1000];
    struct pipe in = {plain, LENGTH, sealed, 0, 2 * LENGTH, 0, 0}, out = {sealed, 0, again, 0, LENGTH, 0, 0}, bad;
    dp_writer *writer = NULL;
    dp_reader *reader = NULL;
    dp_error *error = NULL;
    uint64_t length = 0;
    size_t i, read = 0;
    char text[200];
    const int64_t nonsense[] = {-1, -5, 1 << 30, INT64_MIN, INT64_MAX};

    for (i = 0; i < LENGTH; i++)
        plain[i] = (uint8_t)(i * i >> 7);
    OK(dp_seal_stream(b.sealing, pipe_read, pipe_write, &in, NULL, NULL));
    out.left = in.filled;
    OK(dp_open_stream(b.opening, pipe_read, pipe_write, &out, NULL, NULL));
    CHECK(out.filled == LENGTH && memcmp(plain, again, LENGTH) == 0);

    for (i = 0; i < sizeof nonsense / sizeof *nonsense; i++) {
        bad = in;
        bad.from = plain;
        bad.left = LENGTH;
        bad.filled = 0;
        bad.read_result = nonsense[i];
        CODE(DP_ERR_READ, dp_seal_stream(b.sealing, pipe_read, pipe_write, &bad, NULL, &error));
        OK(dp_error_text(error, text, sizeof text, &read));
        CHECK(strstr(text, "callback") != NULL);
        OK(dp_error_free(error));
    }
    bad = in;
    bad.from = plain;
    bad.left = LENGTH;
    bad.filled = 0;
    bad.write_result = -7;
    CODE(DP_ERR_WRITE, dp_seal_stream(b.sealing, pipe_read, pipe_write, &bad, NULL, NULL));
    bad.write_result = 0;
    bad.room = 5000;
    CODE(DP_ERR_WRITE, dp_seal_stream(b.sealing, pipe_read, pipe_write, &bad, NULL, NULL));
    CODE(DP_ERR_ARGUMENT, dp_seal_stream(b.sealing, NULL, pipe_write, &bad, NULL, NULL));
    CODE(DP_ERR_ARGUMENT, dp_seal_stream(b.sealing, pipe_read, NULL, &bad, NULL, NULL));

    /*
     * Tests a reader that reads with callbacks. The buffer is filled again, because the failed runs have changed its
     * bytes.
     */
    in.from = plain;
    in.left = LENGTH;
    in.filled = 0;
    OK(dp_seal_stream(b.sealing, pipe_read, pipe_write, &in, NULL, NULL));
    OK(dp_reader_new_at(b.opening, at, &in, in.filled, &reader, NULL));
    OK(dp_reader_length(reader, &length, NULL));
    CHECK(length == LENGTH);
    for (i = 0; i < 50; i++) {
        uint64_t position = (uint64_t)i * 19997;
        OK(dp_reader_read(reader, position, part, sizeof part, &read, NULL));
        CHECK(read == sizeof part && memcmp(part, plain + position, read) == 0);
    }
    OK(dp_reader_read(reader, LENGTH - 3, part, sizeof part, &read, NULL));
    CHECK(read == 3);
    OK(dp_reader_read(reader, LENGTH + 5, part, sizeof part, &read, NULL));
    CHECK(read == 0);
    OK(dp_reader_read(reader, UINT64_MAX, part, sizeof part, &read, NULL));
    CHECK(read == 0);
    in.read_result = -9;
    CODE(DP_ERR_READ, dp_reader_read(reader, 300000, part, sizeof part, &read, NULL));
    in.read_result = 0;
    OK(dp_reader_read(reader, 300000, part, sizeof part, &read, NULL));
    OK(dp_reader_free(reader));

    /* Tests a writer. Sealed data that were not finished do not open. */
    in.filled = 0;
    OK(dp_writer_new(b.sealing, pipe_write, &in, &writer, NULL));
    for (i = 0; i < LENGTH; i += 12500)
        OK(dp_writer_write(writer, plain + i, 12500, NULL));
    out.from = sealed;
    out.left = in.filled;
    out.filled = 0;
    CODE(DP_ERR_TRUNCATED, dp_open_stream(b.opening, pipe_read, pipe_write, &out, NULL, NULL));
    OK(dp_writer_finish(writer, NULL));
    CODE(DP_ERR_ARGUMENT, dp_writer_finish(writer, NULL));
    CODE(DP_ERR_ARGUMENT, dp_writer_write(writer, plain, 1, NULL));
    OK(dp_writer_free(writer));
    out.from = sealed;
    out.left = in.filled;
    out.filled = 0;
    OK(dp_open_stream(b.opening, pipe_read, pipe_write, &out, NULL, NULL));
    CHECK(out.filled == LENGTH && memcmp(plain, again, LENGTH) == 0);
    in.filled = 0;
    in.write_result = 5;
    CODE(DP_ERR_WRITE, dp_writer_new(b.sealing, pipe_write, &in, &writer, NULL));
    CHECK(writer == NULL);
    free(plain);
    free(sealed);
    free(again);
    release(b);
}

/* ---- Files, folders, descriptors ---- */

struct list {
    int entries, folders;
};

static int32_t count(void *user, const char *path, int32_t kind, uint64_t size)
{
    struct list *list = (struct list *)user;
    CHECK(path != NULL && (kind == 1 || size <= 13));
    list->entries++;
    list->folders += kind == 1;
    return 0;
}

static int32_t enough(void *user, const char *path, int32_t kind, uint64_t size)
{
    (void)user, (void)path, (void)kind, (void)size;
    return 1;
}

/* Adds the path of an entry and a blank to a text. */
static int32_t add_name(void *user, const char *path, int32_t kind, uint64_t size)
{
    char *names = (char *)user;
    (void)size;
    CHECK(strlen(names) + strlen(path) + 3 < 300);
    strcat(names, path);
    strcat(names, kind == 1 ? "/ " : " ");
    return 0;
}

/* Seals the folder "tree", and checks which entries are in the result. */
static void expect_names(const dp_sealing *sealing, const dp_opening *opening, const char *expected)
{
    char names[300] = "";
    OK(dp_seal_folder(sealing, "tree", "tree.dpn", 1, NULL, NULL));
    OK(dp_list_folder(opening, "tree.dpn", add_name, names, NULL));
    if (strcmp(names, expected) != 0)
        fprintf(stderr, "%s instead of %s\n", names, expected);
    CHECK(strcmp(names, expected) == 0);
}

static void patterns(void)
{
    static const char *const wrong[] = {"", "!", "/", "[a", "x/[!a", "a\\", "[[:word:]]"};
    struct both b = make(DP_XWING);
    dp_sealing *other = NULL;
    dp_error *error = NULL;
    char text[300];
    uint8_t read[100];
    size_t number, length;

    CHECK(mkdir("tree", 0777) == 0 && mkdir("tree/in", 0777) == 0 && mkdir("tree/out", 0777) == 0);
    write_file("tree/a.c", "a", 1);
    write_file("tree/a.o", "a", 1);
    write_file("tree/in/keep.o", "a", 1);
    write_file("tree/out/\xff", "a", 1);

    expect_names(b.sealing, b.opening, "/ a.c a.o in/ in/keep.o out/ out/\xff ");
    for (number = 0; number < sizeof wrong / sizeof *wrong; number++) {
        CODE(DP_ERR_ARGUMENT, dp_sealing_exclude(b.sealing, wrong[number], &error));
        OK(dp_error_text(error, text, sizeof text, &length));
        CHECK(length > 14 && memcmp(text, "the pattern \"", 13) == 0);
        CHECK(wrong[number][0] != '[' || memcmp(text + 13, wrong[number], strlen(wrong[number])) == 0);
        OK(dp_error_free(error));
    }
    CODE(DP_ERR_ARGUMENT, dp_sealing_exclude(b.sealing, NULL, NULL));
    CODE(DP_ERR_ARGUMENT, dp_sealing_exclude(NULL, "a", NULL));
    CODE(DP_ERR_HANDLE, dp_sealing_exclude((const dp_sealing *)b.opening, "a", NULL));
    expect_names(b.sealing, b.opening, "/ a.c a.o in/ in/keep.o out/ out/\xff ");

    OK(dp_sealing_exclude(b.sealing, "/out/", NULL));
    OK(dp_sealing_exclude(b.sealing, "*.o", NULL));
    expect_names(b.sealing, b.opening, "/ a.c in/ ");
    OK(dp_sealing_exclude(b.sealing, "!keep.o", NULL));
    expect_names(b.sealing, b.opening, "/ a.c in/ in/keep.o ");
    /* Nothing in a folder that is left out is taken back. */
    OK(dp_sealing_exclude(b.sealing, "!\xff", NULL));
    expect_names(b.sealing, b.opening, "/ a.c in/ in/keep.o ");
    /* Other functions ignore the patterns. */
    OK(dp_seal_file(b.sealing, "tree/a.o", "a.o.dpn", 0, NULL, NULL));
    OK(dp_open_file(b.opening, "a.o.dpn", "a.o", 0, NULL, NULL));
    CHECK(read_file("a.o", read, sizeof read) == 1);

    /* Patterns are bytes, which need not be UTF-8. */
    OK(dp_sealing_new(&other, NULL));
    OK(dp_sealing_add_key(other, b.public_key, NULL));
    OK(dp_sealing_exclude(other, "out/\xff", NULL));
    expect_names(other, b.opening, "/ a.c a.o in/ in/keep.o out/ ");
    OK(dp_sealing_free(other));
    CODE(DP_ERR_HANDLE, dp_sealing_exclude(other, "a", NULL));
    release(b);
}

static void files(void)
{
    struct both b = make(DP_XWING);
    struct list list = {0, 0};
    char text[1000];
    uint8_t read[100];
    size_t length;
    int in, out;
    dp_reader *reader = NULL;
    dp_error *error = NULL;

    write_file("plain", "straight face", 13);
    OK(dp_seal_file(b.sealing, "plain", "sealed", 0, NULL, NULL));
    CODE(DP_ERR_EXISTS, dp_seal_file(b.sealing, "plain", "sealed", 0, NULL, NULL));
    OK(dp_seal_file(b.sealing, "plain", "sealed", 1, NULL, NULL));
    OK(dp_open_file(b.opening, "sealed", "opened", 0, NULL, NULL));
    CHECK(read_file("opened", read, sizeof read) == 13 && memcmp(read, "straight face", 13) == 0);
    CODE(DP_ERR_READ, dp_seal_file(b.sealing, "missing", "x", 0, NULL, &error));
    OK(dp_error_text(error, text, sizeof text, &length));
    CHECK(length > 7 && strstr(text, "missing") != NULL);
    OK(dp_error_free(error));
    CODE(DP_ERR_WRITE, dp_seal_file(b.sealing, "plain", "no/such/folder", 0, NULL, NULL));
    CODE(DP_ERR_ARGUMENT, dp_seal_file(b.sealing, NULL, "x", 0, NULL, NULL));
    CODE(DP_ERR_ARGUMENT, dp_seal_file(b.sealing, "plain", "plain", 1, NULL, NULL));

    OK(dp_inspect("sealed", NULL, text, sizeof text, &length, NULL));
    text[length] = 0;
    CHECK(strstr(text, "\"format\":\"deadpan\"") != NULL && strstr(text, "\"name\"") == NULL);
    OK(dp_inspect("sealed", b.opening, text, sizeof text, &length, NULL));
    text[length] = 0;
    CHECK(strstr(text, "\"name\":\"plain\"") != NULL);
    CODE(DP_ERR_ROOM, dp_inspect("sealed", NULL, text, 3, &length, NULL));
    CODE(DP_ERR_NOT_SEALED, dp_inspect("plain", NULL, text, sizeof text, &length, NULL));

    OK(dp_reader_new(b.opening, "sealed", &reader, NULL));
    OK(dp_reader_read(reader, 9, read, sizeof read, &length, NULL));
    CHECK(length == 4 && memcmp(read, "face", 4) == 0);
    OK(dp_reader_free(reader));

    CHECK(mkdir("folder", 0777) == 0 && mkdir("folder/in", 0777) == 0);
    write_file("folder/in/file", "straight face", 13);
    OK(dp_seal_folder(b.sealing, "folder", "folder.dpn", 0, NULL, NULL));
    OK(dp_list_folder(b.opening, "folder.dpn", count, &list, NULL));
    CHECK(list.entries >= 2 && list.folders >= 1);
    CODE(DP_ERR_STOPPED, dp_list_folder(b.opening, "folder.dpn", enough, NULL, NULL));
    CODE(DP_ERR_ARGUMENT, dp_list_folder(b.opening, "folder.dpn", NULL, NULL, NULL));
    CODE(DP_ERR_ARGUMENT, dp_open_file(b.opening, "folder.dpn", "x", 0, NULL, NULL));
    OK(dp_open_folder(b.opening, "folder.dpn", "back", NULL, NULL));
    CHECK(read_file("back/in/file", read, sizeof read) == 13);
    CODE(DP_ERR_EXISTS, dp_open_folder(b.opening, "folder.dpn", "back", NULL, NULL));
    CODE(DP_ERR_ARGUMENT, dp_seal_folder(b.sealing, "plain", "x", 0, NULL, NULL));

    in = open("plain", O_RDONLY);
    out = open("sealed.fd", O_RDWR | O_CREAT | O_EXCL, 0666);
    OK(dp_seal_fd(b.sealing, in, out, NULL, NULL));
    CHECK(close(in) == 0 && close(out) == 0);
    CODE(DP_ERR_READ, dp_seal_fd(b.sealing, in, out, NULL, NULL));
    CODE(DP_ERR_ARGUMENT, dp_seal_fd(b.sealing, -1, -1, NULL, NULL));
    in = open("plain", O_RDWR);
    CODE(DP_ERR_ARGUMENT, dp_seal_fd(b.sealing, in, in, NULL, NULL));
    out = open("appended", O_RDWR | O_CREAT | O_EXCL | O_APPEND, 0666);
    OK(dp_seal_fd(b.sealing, in, out, NULL, NULL));
    CHECK(close(in) == 0 && close(out) == 0);
    OK(dp_open_file(b.opening, "appended", "appended.opened", 0, NULL, NULL));
    CHECK(mkfifo("fifo", 0666) == 0);
    CODE(DP_ERR_EXISTS, dp_seal_file(b.sealing, "plain", "fifo", 1, NULL, NULL));
    CODE(DP_ERR_ARGUMENT, dp_seal_file(b.sealing, "plain", "new/", 0, NULL, NULL));
    {
        struct stat about;
        mode_t mask = umask(077);
        OK(dp_open_folder(b.opening, "folder.dpn", "private", NULL, NULL));
        CHECK(stat("private/in", &about) == 0 && (about.st_mode & 0777) == 0700);
        OK(dp_open_file(b.opening, "sealed", "private.file", 0, NULL, NULL));
        CHECK(stat("private.file", &about) == 0 && (about.st_mode & 0777) == 0600);
        umask(mask);
    }
    /* The output lies in the sealed folder and is left out. The output of an earlier call is also left out. */
    OK(dp_seal_folder(b.sealing, "folder", "folder/x.dpn", 0, NULL, NULL));
    OK(dp_seal_folder(b.sealing, "folder", "folder/x.dpn", 1, NULL, NULL));
    list.entries = 0;
    OK(dp_list_folder(b.opening, "folder/x.dpn", count, &list, NULL));
    CHECK(list.entries <= 3 && unlink("folder/x.dpn") == 0);
    in = open("sealed.fd", O_RDONLY);
    out = open("opened.fd", O_RDWR | O_CREAT | O_EXCL, 0666);
    OK(dp_open_fd(b.opening, in, out, NULL, NULL));
    CHECK(close(in) == 0 && close(out) == 0);
    CHECK(read_file("opened.fd", read, sizeof read) == 13);
    release(b);
}

/*
 * Tests that the command line opens data that the library sealed, and that the library opens data that the command line
 * sealed.
 */
static void ring(void)
{
    struct both b = make(DP_XWING);
    uint8_t text[8192], read[100];
    size_t length;
    if (getenv("DEADPAN") == NULL) {
        printf("skipped: the command line: DEADPAN does not name it\n");
        release(b);
        return;
    }
    OK(dp_private_key_write(b.key, DP_PEM, NULL, text, sizeof text, &length, NULL));
    write_file("key", text, length);
    CHECK(chmod("key", 0600) == 0);
    OK(dp_public_key_write(b.public_key, DP_PEM, text, sizeof text, &length, NULL));
    write_file("key.pub", text, length);
    CHECK(system("\"$DEADPAN\" seal -r key.pub -o from-cli plain") == 0);
    OK(dp_open_file(b.opening, "from-cli", "from-cli.opened", 0, NULL, NULL));
    CHECK(read_file("from-cli.opened", read, sizeof read) == 13);
    OK(dp_seal_file(b.sealing, "plain", "from-c", 0, NULL, NULL));
    CHECK(system("\"$DEADPAN\" open -i key -o from-c.opened from-c") == 0);
    CHECK(read_file("from-c.opened", read, sizeof read) == 13);
    OK(dp_seal_folder(b.sealing, "folder", "from-c.folder", 0, NULL, NULL));
    CHECK(system("\"$DEADPAN\" open -i key -o from-c.back from-c.folder") == 0);
    CHECK(read_file("from-c.back/in/file", read, sizeof read) == 13);
    release(b);
}

/* ---- Work ---- */

static int32_t stop_soon(uint64_t done, void *user)
{
    *(uint64_t *)user = done;
    return done > 1000000;
}

static int32_t change_itself(uint64_t done, void *work)
{
    uint8_t sealed[4000];
    size_t written;
    struct both b = make(DP_X25519);
    (void)done;
    OK(dp_seal(b.sealing, u("face"), 4, sealed, sizeof sealed, &written, (const dp_work *)work, NULL));
    OK(dp_work_watch((const dp_work *)work, NULL, NULL, NULL));
    release(b);
    return 0;
}

static void *stop_it(void *work)
{
    OK(dp_work_stop((const dp_work *)work, 1, NULL));
    return NULL;
}

static void work(void)
{
    enum { LENGTH = 40 << 20 };
    struct both b = make(DP_XWING);
    uint8_t *plain = (uint8_t *)calloc(LENGTH, 1), *sealed;
    uint64_t needed = 0, done = 0, told = 0;
    size_t written;
    dp_work *watched = NULL;
    pthread_t thread;

    OK(dp_sealed_length(b.sealing, LENGTH, &needed, NULL));
    sealed = (uint8_t *)malloc((size_t)needed);
    OK(dp_work_new(&watched, NULL));
    OK(dp_work_threads(watched, 2, NULL));
    OK(dp_seal(b.sealing, plain, LENGTH, sealed, (size_t)needed, &written, watched, NULL));
    OK(dp_work_done(watched, &done, NULL));
    CHECK(done == LENGTH);
    OK(dp_work_watch(watched, stop_soon, &told, NULL));
    CODE(DP_ERR_STOPPED, dp_seal(b.sealing, plain, LENGTH, sealed, (size_t)needed, &written, watched, NULL));
    CHECK(told > 1000000 && told < LENGTH);
    /* A callback may change and use the options that it belongs to. */
    OK(dp_work_watch(watched, change_itself, watched, NULL));
    OK(dp_seal(b.sealing, plain, LENGTH, sealed, (size_t)needed, &written, watched, NULL));
    OK(dp_work_stop(watched, 1, NULL));
    OK(dp_work_watch(watched, NULL, NULL, NULL));
    CODE(DP_ERR_STOPPED, dp_seal(b.sealing, plain, LENGTH, sealed, (size_t)needed, &written, watched, NULL));
    OK(dp_work_stop(watched, 0, NULL));
    OK(dp_seal(b.sealing, plain, LENGTH, sealed, (size_t)needed, &written, watched, NULL));
    CHECK(pthread_create(&thread, NULL, stop_it, watched) == 0);
    CHECK(pthread_join(thread, NULL) == 0);
    write_file("long", plain, LENGTH);
    CODE(DP_ERR_STOPPED, dp_seal_file(b.sealing, "long", "stopped", 0, watched, NULL));
    CHECK(access("stopped", F_OK) != 0);
    OK(dp_work_free(watched));
    free(plain);
    free(sealed);
    release(b);
}

/* ---- Misuse ---- */

static void misuse(void)
{
    struct both b = make(DP_X25519), old = b;
    uint8_t text[4000];
    size_t length;
    char message[100];
    dp_error *error = NULL;
    dp_private_key *key = NULL;

    CODE(DP_ERR_ARGUMENT, dp_private_key_generate(DP_XWING, NULL, NULL));
    CODE(DP_ERR_ARGUMENT, dp_seal(NULL, NULL, 0, NULL, 0, &length, NULL, NULL));
    CODE(DP_ERR_ARGUMENT, dp_seal(b.sealing, NULL, 5, text, sizeof text, &length, NULL, NULL));
    CODE(DP_ERR_ARGUMENT, dp_seal(b.sealing, text, 5, NULL, 500, &length, NULL, NULL));
    CODE(DP_ERR_ARGUMENT, dp_seal(b.sealing, text, 5, text, sizeof text, &length, NULL, NULL));
    CODE(DP_ERR_ARGUMENT, dp_seal(b.sealing, text, 5, text + 100, sizeof text, NULL, NULL, NULL));
    CODE(DP_ERR_ARGUMENT, dp_seal(b.sealing, text, SIZE_MAX, text, sizeof text, &length, NULL, NULL));
    CODE(DP_ERR_ARGUMENT, dp_seal(b.sealing, u("x"), SIZE_MAX / 2 + 1, text, sizeof text, &length, NULL, NULL));
    CODE(DP_ERR_ROOM, dp_public_key_write(b.public_key, DP_PEM, NULL, 0, &length, NULL));
    CHECK(length > 50 && length < sizeof text);
    CODE(DP_ERR_ARGUMENT, dp_public_key_write(b.public_key, 7, text, sizeof text, &length, NULL));
    /* A handle of another kind. */
    CODE(DP_ERR_HANDLE, dp_public_key_write((const dp_public_key *)(const void *)b.key, DP_PEM, text, sizeof text,
                                            &length, NULL));
    CODE(DP_ERR_HANDLE, dp_private_key_free((dp_private_key *)(void *)b.public_key));
    CODE(DP_ERR_HANDLE, dp_private_key_public((const dp_private_key *)(const void *)text, &b.public_key, &error));
    b.public_key = old.public_key;
    CHECK(dp_error_code(error) == DP_ERR_HANDLE);
    OK(dp_error_text(error, message, sizeof message, &length));
    OK(dp_error_free(error));
    CODE(DP_ERR_HANDLE, dp_error_free(error));
    CODE(DP_ERR_HANDLE, dp_error_text(error, message, sizeof message, &length));
    /* Freed handles are refused. Objects that were made with them can still be used. */
    OK(dp_private_key_free(b.key));
    OK(dp_public_key_free(b.public_key));
    CODE(DP_ERR_HANDLE, dp_private_key_free(b.key));
    CODE(DP_ERR_HANDLE, dp_private_key_public(b.key, &b.public_key, NULL));
    OK(dp_seal(b.sealing, u("x"), 1, text, sizeof text, &length, NULL, NULL));
    OK(dp_open(b.opening, text, length, (uint8_t *)message, sizeof message, &length, NULL, NULL));
    OK(dp_sealing_free(b.sealing));
    OK(dp_opening_free(b.opening));
    CODE(DP_ERR_HANDLE, dp_seal(b.sealing, u("x"), 1, text, sizeof text, &length, NULL, NULL));
    OK(dp_private_key_free(NULL));
    OK(dp_error_free(NULL));
    OK(dp_reader_free(NULL));
    CHECK(key == NULL && strcmp(dp_message(-5), "an unknown error") == 0 && strcmp(dp_message(0), "no error") == 0);
    CHECK(strchr(dp_version(), '.') != NULL);
}

/* If two threads use a reader at once, one of them gets DP_ERR_BUSY. Freeing a handle that is in use does no harm. */
struct shared {
    dp_reader *reader;
    volatile int inside, leave;
    uint8_t *sealed;
    size_t length;
};

static int64_t slow_at(void *user, uint64_t position, uint8_t *buffer, size_t room)
{
    struct shared *shared = (struct shared *)user;
    size_t left = position < shared->length ? shared->length - (size_t)position : 0;
    if (shared->reader != NULL) {
        __atomic_store_n(&shared->inside, 1, __ATOMIC_SEQ_CST);
        while (!__atomic_load_n(&shared->leave, __ATOMIC_SEQ_CST))
            usleep(1000);
    }
    if (room > left)
        room = left;
    memcpy(buffer, shared->sealed + position, room);
    return (int64_t)room;
}

static void *read_slowly(void *user)
{
    struct shared *shared = (struct shared *)user;
    uint8_t part[10];
    size_t read;
    OK(dp_reader_read(shared->reader, 0, part, sizeof part, &read, NULL));
    CHECK(read == 10);
    return NULL;
}

static void threads(void)
{
    struct both b = make(DP_X25519);
    /* The data have several segments, because a reader opens the last segment when the reader is made, and keeps it. */
    static uint8_t plain[1000000], sealed[1100000];
    uint8_t part[10];
    struct shared shared = {NULL, 0, 0, sealed, 0};
    size_t read;
    dp_reader *reader = NULL;
    pthread_t thread;
    OK(dp_seal(b.sealing, plain, sizeof plain, sealed, sizeof sealed, &shared.length, NULL, NULL));
    OK(dp_reader_new_at(b.opening, slow_at, &shared, shared.length, &reader, NULL));
    shared.reader = reader;
    CHECK(pthread_create(&thread, NULL, read_slowly, &shared) == 0);
    while (!__atomic_load_n(&shared.inside, __ATOMIC_SEQ_CST))
        usleep(1000);
    CODE(DP_ERR_BUSY, dp_reader_read(reader, 0, part, sizeof part, &read, NULL));
    OK(dp_reader_free(reader));
    CODE(DP_ERR_HANDLE, dp_reader_read(reader, 0, part, sizeof part, &read, NULL));
    __atomic_store_n(&shared.leave, 1, __ATOMIC_SEQ_CST);
    CHECK(pthread_join(thread, NULL) == 0);
    release(b);
}

/* ---- Base64, paddings, comparison, random bytes ---- */

static void text(void)
{
    uint8_t buffer[64], other[64];
    size_t written, length;
    int32_t equal, scheme;
    OK(dp_base64_encode(DP_BASE64_STANDARD, u("straight face"), 13, buffer, sizeof buffer, &written, NULL));
    CHECK(written == 20 && memcmp(buffer, "c3RyYWlnaHQgZmFjZQ==", 20) == 0);
    OK(dp_base64_decode(DP_BASE64_STANDARD, buffer, 20, other, sizeof other, &written, NULL));
    CHECK(written == 13 && memcmp(other, "straight face", 13) == 0);
    CODE(DP_ERR_ROOM, dp_base64_encode(DP_BASE64_STANDARD, u("face"), 4, buffer, 7, &written, NULL));
    CHECK(written == 8);
    CODE(DP_ERR_ROOM, dp_base64_decode(DP_BASE64_STANDARD, u("ZmFjZQ=="), 8, buffer, 2, &written, NULL));
    CODE(DP_ERR_ENCODING, dp_base64_decode(DP_BASE64_STANDARD, u("ZmFjZR=="), 8, buffer, 64, &written, NULL));
    CHECK(written == 0);
    CODE(DP_ERR_ARGUMENT, dp_base64_decode(9, u("ZmFjZQ=="), 8, buffer, 64, &written, NULL));
    OK(dp_base64_encode(DP_BASE64_URL_SAFE_NO_PAD, u("\xff\xef"), 2, buffer, sizeof buffer, &written, NULL));
    CHECK(written == 3 && memcmp(buffer, "_-8", 3) == 0);
    for (scheme = 0; scheme < 8; scheme++) {
        OK(dp_pad(scheme, 16, u("attack at dawn"), 14, buffer, sizeof buffer, &written, NULL));
        CHECK(written == 16);
        OK(dp_unpad(scheme, 16, buffer, written, &length, NULL));
        CHECK(length == 14);
    }
    OK(dp_pad(DP_PAD_PKCS7, 16, u("attack at dawn"), 14, buffer, sizeof buffer, &written, NULL));
    CHECK(buffer[14] == 2 && buffer[15] == 2);
    OK(dp_pad(DP_PAD_ISO7816, 16, u("attack at dawn"), 14, buffer, sizeof buffer, &written, NULL));
    CHECK(buffer[14] == 0x80 && buffer[15] == 0);
    CODE(DP_ERR_ENCODING, dp_unpad(DP_PAD_PKCS7, 16, buffer, written, &length, NULL));
    CODE(DP_ERR_ROOM, dp_pad(DP_PAD_PKCS7, 16, u("attack at dawn"), 14, buffer, 15, &written, NULL));
    CODE(DP_ERR_ARGUMENT, dp_pad(8, 16, u("x"), 1, buffer, 64, &written, NULL));
    CODE(DP_ERR_ARGUMENT, dp_pad(0, 0, u("x"), 1, buffer, 64, &written, NULL));
    CODE(DP_ERR_ARGUMENT, dp_pad(0, 256, u("x"), 1, buffer, 64, &written, NULL));
    OK(dp_ct_equal(u("face"), u("face"), 4, &equal, NULL));
    CHECK(equal == 1);
    OK(dp_ct_equal(u("face"), u("fact"), 4, &equal, NULL));
    CHECK(equal == 0);
    memset(buffer, 0, sizeof buffer);
    memset(other, 0, sizeof other);
    OK(dp_random(buffer, sizeof buffer, NULL));
    CHECK(memcmp(buffer, other, sizeof buffer) != 0);
}

int main(int argc, char **argv)
{
    brief = argc == 2 && strcmp(argv[1], "brief") == 0;
    text();
    keys();
    recipients();
    bytes();
    streams();
    patterns();
    files();
    ring();
    work();
    threads();
    misuse();
    printf("%d checks passed\n", checks);
    return 0;
}

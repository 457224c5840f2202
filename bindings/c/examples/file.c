/* Seals a file to a public key, or opens one with a private key, and shows the progress:
 *
 *     cc file.c -ldeadpan -o file
 *     ./file seal alice.pub report.pdf report.pdf.dpn
 *     ./file open alice.key report.pdf.dpn report.pdf
 *
 * If the output already exists, the program does not replace it. */
#include <deadpan.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* If a call failed, prints the library's text, which names the file or the key, and ends the program. */
static void check(int32_t code, dp_error **error)
{
    char text[1000];
    size_t length = 0;
    if (code == DP_OK)
        return;
    if (dp_error_text(*error, text, sizeof text, &length) != DP_OK)
        length = (size_t)snprintf(text, sizeof text, "%s", dp_message(code));
    fprintf(stderr, "error: %.*s\n", (int)length, text);
    dp_error_free(*error);
    exit(1);
}

/* Reads a key file. */
static size_t read_key(const char *path, uint8_t *text, size_t room)
{
    FILE *file = fopen(path, "rb");
    size_t length = file ? fread(text, 1, room, file) : 0;
    if (!file || ferror(file)) {
        fprintf(stderr, "error: cannot read %s\n", path);
        exit(1);
    }
    fclose(file);
    return length;
}

/* Shows the progress. The library never runs it twice at the same time. A result other than 0 would stop the work. */
static int32_t show(uint64_t done, void *user)
{
    uint64_t *shown = (uint64_t *)user;
    if (done / 100000000 > *shown / 100000000)
        fprintf(stderr, "%llu MB\n", (unsigned long long)(done / 1000000));
    *shown = done;
    return 0;
}

int main(int count, char **words)
{
    static uint8_t text[65536];
    uint64_t shown = 0;
    size_t length;
    dp_error *error = NULL;
    dp_work *work = NULL;
    if (count != 5 || (strcmp(words[1], "seal") && strcmp(words[1], "open"))) {
        fprintf(stderr, "usage: file seal|open KEY INPUT OUTPUT\n");
        return 2;
    }
    length = read_key(words[2], text, sizeof text);
    check(dp_work_new(&work, &error), &error);
    check(dp_work_watch(work, show, &shown, &error), &error);
    if (!strcmp(words[1], "seal")) {
        dp_public_key *key = NULL;
        dp_sealing *sealing = NULL;
        check(dp_public_key_read(text, length, &key, &error), &error);
        check(dp_sealing_new(&sealing, &error), &error);
        check(dp_sealing_add_key(sealing, key, &error), &error);
        check(dp_seal_file(sealing, words[3], words[4], 0, work, &error), &error);
        dp_sealing_free(sealing);
        dp_public_key_free(key);
    } else {
        dp_private_key *key = NULL;
        dp_opening *opening = NULL;
        check(dp_private_key_read(text, length, NULL, &key, &error), &error);
        memset(text, 0, sizeof text);
        check(dp_opening_new(&opening, &error), &error);
        check(dp_opening_add_key(opening, key, &error), &error);
        check(dp_open_file(opening, words[3], words[4], 0, work, &error), &error);
        dp_opening_free(opening);
        dp_private_key_free(key);
    }
    dp_work_free(work);
    return 0;
}

/* Seals a folder to a new key, without what patterns match, and lists what is sealed:
 *
 *     cc folder.c -ldeadpan -o folder
 *     ./folder src src.dpn 'node_modules/' '*.o' '!keep.o'
 *
 * The patterns are those of .gitignore. Without patterns, everything is sealed. */
#include <deadpan.h>

#include <stdio.h>
#include <stdlib.h>

/* If a call failed, prints the library's text, which names the file or the pattern, and ends the program. */
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

/* Prints the path of an entry, which is empty for the folder itself. A result other than 0 would end the listing. */
static int32_t print(void *user, const char *path, int32_t kind, uint64_t size)
{
    (void)user, (void)size;
    printf("%s%s\n", path, kind == 1 ? "/" : "");
    return 0;
}

int main(int count, char **words)
{
    int word;
    dp_error *error = NULL;
    dp_private_key *key = NULL;
    dp_public_key *public_key = NULL;
    dp_sealing *sealing = NULL;
    dp_opening *opening = NULL;
    if (count < 3) {
        fprintf(stderr, "usage: folder FOLDER OUTPUT [PATTERN]...\n");
        return 2;
    }
    check(dp_private_key_generate(DP_XWING, &key, &error), &error);
    check(dp_private_key_public(key, &public_key, &error), &error);

    check(dp_sealing_new(&sealing, &error), &error);
    check(dp_sealing_add_key(sealing, public_key, &error), &error);
    for (word = 3; word < count; word++)
        check(dp_sealing_exclude(sealing, words[word], &error), &error);
    check(dp_seal_folder(sealing, words[1], words[2], 0, NULL, &error), &error);

    check(dp_opening_new(&opening, &error), &error);
    check(dp_opening_add_key(opening, key, &error), &error);
    check(dp_list_folder(opening, words[2], print, NULL, &error), &error);

    dp_opening_free(opening);
    dp_sealing_free(sealing);
    dp_public_key_free(public_key);
    dp_private_key_free(key);
    return 0;
}

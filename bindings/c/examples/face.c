/* The shortest complete program: it seals some bytes to a new key, and opens them again. */
#include <deadpan.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Ends the program with the error's text. This function takes the address of the error, because C may read an argument
 * before it makes the call in another argument. */
static void check(int32_t code, dp_error **error)
{
    char text[300];
    size_t length = 0;
    if (code == DP_OK)
        return;
    if (dp_error_text(*error, text, sizeof text, &length) != DP_OK)
        length = (size_t)snprintf(text, sizeof text, "%s", dp_message(code));
    fprintf(stderr, "error: %.*s\n", (int)length, text);
    dp_error_free(*error);
    exit(1);
}

int main(void)
{
    const char *plain = "straight face";
    uint8_t sealed[4096], opened[4096];
    size_t sealed_length, opened_length;
    dp_error *error = NULL;
    dp_private_key *key = NULL;
    dp_public_key *public_key = NULL;
    dp_sealing *sealing = NULL;
    dp_opening *opening = NULL;

    check(dp_private_key_generate(DP_XWING, &key, &error), &error);
    check(dp_private_key_public(key, &public_key, &error), &error);

    check(dp_sealing_new(&sealing, &error), &error);
    check(dp_sealing_add_key(sealing, public_key, &error), &error);
    check(dp_seal(sealing, (const uint8_t *)plain, strlen(plain), sealed, sizeof sealed, &sealed_length, NULL, &error),
          &error);

    check(dp_opening_new(&opening, &error), &error);
    check(dp_opening_add_key(opening, key, &error), &error);
    check(dp_open(opening, sealed, sealed_length, opened, sizeof opened, &opened_length, NULL, &error), &error);
    printf("%.*s: %lu bytes sealed\n", (int)opened_length, (const char *)opened, (unsigned long)sealed_length);

    dp_opening_free(opening);
    dp_sealing_free(sealing);
    dp_public_key_free(public_key);
    dp_private_key_free(key);
    return 0;
}

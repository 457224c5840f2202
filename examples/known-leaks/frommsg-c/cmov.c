/* Sets *r to v if b is 1, and leaves it if b is 0. */
#include <stdint.h>

void cmov_int16(int16_t *r, int16_t v, uint16_t b) {
    b = (uint16_t)-b;
    *r ^= (int16_t)(b & (uint16_t)(*r ^ v));
}

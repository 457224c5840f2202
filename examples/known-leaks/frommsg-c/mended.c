/* poly_frommsg since the repair: the choice is a function in another file, where the compiler knows nothing about the
   mask. */
#include <stdint.h>

#define KYBER_N 256
#define KYBER_Q 3329

void cmov_int16(int16_t *r, int16_t v, uint16_t b);

void poly_frommsg(const uint8_t msg[KYBER_N / 8], int16_t coeffs[KYBER_N]) {
    for (unsigned int i = 0; i < KYBER_N / 8; i++) {
        for (unsigned int j = 0; j < 8; j++) {
            coeffs[8 * i + j] = 0;
            cmov_int16(coeffs + 8 * i + j, (KYBER_Q + 1) / 2, (msg[i] >> j) & 1);
        }
    }
}

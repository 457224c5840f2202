/* poly_frommsg of Kyber and ML-KEM, as in the reference code before 2024, written anew from the algorithm Decompress_1
   of FIPS 203 (the reference code is in the public domain, CC0). The mask is meant to avoid a jump. A compiler that
   sees through the mask makes a jump of it. */
#include <stdint.h>

#define KYBER_N 256
#define KYBER_Q 3329

void poly_frommsg(const uint8_t msg[KYBER_N / 8], int16_t coeffs[KYBER_N]) {
    for (unsigned int i = 0; i < KYBER_N / 8; i++) {
        for (unsigned int j = 0; j < 8; j++) {
            int16_t mask = (int16_t)-(int16_t)((msg[i] >> j) & 1);
            coeffs[8 * i + j] = mask & ((KYBER_Q + 1) / 2);
        }
    }
}

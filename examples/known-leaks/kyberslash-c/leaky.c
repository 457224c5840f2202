/* poly_tomsg of Kyber, as in the reference code before December 2023, written anew from the algorithm Compress_1 of the
   Kyber specification (the reference code is in the public domain, CC0). The division by the constant KYBER_Q is a
   multiplication, or the instruction `div`, as the compiler likes. */
#include <stdint.h>

#define KYBER_N 256
#define KYBER_Q 3329

void poly_tomsg(const int16_t coeffs[KYBER_N], uint8_t msg[KYBER_N / 8]) {
    for (unsigned int i = 0; i < KYBER_N / 8; i++) {
        msg[i] = 0;
        for (unsigned int j = 0; j < 8; j++) {
            uint16_t t = (uint16_t)coeffs[8 * i + j];
            t += ((int16_t)t >> 15) & KYBER_Q;
            t = (((t << 1) + KYBER_Q / 2) / KYBER_Q) & 1;
            msg[i] |= (uint8_t)(t << j);
        }
    }
}

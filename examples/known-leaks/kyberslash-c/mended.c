/* poly_tomsg as it is since the repair: a multiplication and a shift in place of the division. */
#include <stdint.h>

#define KYBER_N 256
#define KYBER_Q 3329

void poly_tomsg(const int16_t coeffs[KYBER_N], uint8_t msg[KYBER_N / 8]) {
    for (unsigned int i = 0; i < KYBER_N / 8; i++) {
        msg[i] = 0;
        for (unsigned int j = 0; j < 8; j++) {
            uint32_t t = (uint32_t)coeffs[8 * i + j];
            t = (t << 1) + 1665;
            t *= 80635;
            t >>= 28;
            msg[i] |= (uint8_t)((t & 1) << j);
        }
    }
}

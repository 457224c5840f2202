//! Random numbers for inputs and for the order of measurements. The generator is fast, and the same seed always gives
//! the same numbers. Do not use these random numbers for secrets.

/// A xoshiro256++ generator (Blackman and Vigna), seeded through splitmix64.
#[derive(Clone, Debug)]
pub struct Random {
    state: [u64; 4],
    /// The seed for the public parts of all inputs, or `None` if the public parts differ between inputs.
    public: Option<u64>,
}

impl Random {
    /// Creates a generator with this seed. The same seed always gives the same numbers.
    #[must_use]
    pub fn new(seed: u64) -> Self {
        let mut mixed = seed;
        Self { state: std::array::from_fn(|_| splitmix(&mut mixed)), public: None }
    }

    /// Creates a generator with this seed. Each call of the method [`Self::public`] returns a generator of the same
    /// numbers.
    #[cfg(feature = "trace")]
    pub(crate) fn with_same_public(seed: u64) -> Self {
        Self { public: Some(seed), ..Self::new(seed) }
    }

    /// Returns the generator for the public parts of the next input.
    pub(crate) fn public(&mut self) -> Self {
        let next = self.bits();
        Self::new(self.public.unwrap_or(next))
    }

    /// Creates a generator with a seed from `fresh_seed`. The seed differs between runs.
    #[must_use]
    pub fn from_time() -> Self {
        Self::new(fresh_seed())
    }

    /// Returns 64 random bits.
    #[inline]
    pub fn bits(&mut self) -> u64 {
        let [a, b, c, d] = self.state;
        let result = a.wrapping_add(d).rotate_left(23).wrapping_add(a);
        let (c, d) = (c ^ a, d ^ b);
        self.state = [a ^ d, b ^ c, c ^ (b << 17), d.rotate_left(45)];
        result
    }

    /// Returns a number below `bound`, which must not be zero.
    #[inline]
    pub fn below(&mut self, bound: u64) -> u64 {
        // The bias is at most bound / 2^64.
        ((u128::from(self.bits()) * u128::from(bound)) >> 64) as u64
    }

    /// Returns a number in 0..1.
    #[inline]
    pub fn fraction(&mut self) -> f64 {
        (self.bits() >> 11) as f64 * (1.0 / (1_u64 << 53) as f64)
    }

    /// Draws a number from the standard normal distribution. The function uses the cosine half of the Box–Muller
    /// transform.
    pub fn normal(&mut self) -> f64 {
        let radius = (-2.0 * (1.0 - self.fraction()).ln()).sqrt();
        radius * (std::f64::consts::TAU * self.fraction()).cos()
    }

    /// Fills `bytes` with random bytes.
    pub fn fill(&mut self, bytes: &mut [u8]) {
        for chunk in bytes.chunks_mut(8) {
            let bits = self.bits().to_le_bytes();
            chunk.copy_from_slice(&bits[..chunk.len()]);
        }
    }

    /// Fills `bytes` with random symbols from `symbols`, which must not be empty.
    pub fn fill_from(&mut self, symbols: &[u8], bytes: &mut [u8]) {
        for byte in bytes {
            *byte = symbols[self.below(symbols.len() as u64) as usize];
        }
    }

    /// Puts `items` in random order.
    pub fn shuffle<T>(&mut self, items: &mut [T]) {
        for last in (1..items.len()).rev() {
            items.swap(last, self.below(last as u64 + 1) as usize);
        }
    }
}

/// Returns a seed made from the clock, an address and the process id.
#[must_use]
pub fn fresh_seed() -> u64 {
    let since = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap_or_default();
    let local = 0_u8;
    let mut mixed = (since.as_nanos() as u64)
        ^ (core::ptr::from_ref(&local) as u64).rotate_left(32)
        ^ u64::from(std::process::id());
    splitmix(&mut mixed)
}

fn splitmix(state: &mut u64) -> u64 {
    *state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
    let mut z = *state;
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equal_seeds_give_equal_numbers_and_different_seeds_do_not() {
        let draw = |seed| {
            let mut random = Random::new(seed);
            [random.bits(), random.bits(), random.bits()]
        };
        assert_eq!(draw(7), draw(7));
        assert_ne!(draw(7), draw(8));
    }

    #[test]
    fn numbers_below_a_bound_are_evenly_distributed() {
        let mut random = Random::new(1);
        let mut seen = [0_u32; 7];
        for _ in 0..70_000 {
            seen[random.below(7) as usize] += 1;
        }
        // The limits are five standard deviations of a binomial distribution below and above 10 000.
        assert!(seen.iter().all(|&count| (9_530..10_470).contains(&count)), "{seen:?}");
    }

    #[test]
    fn normal_draws_have_mean_zero_and_variance_one() {
        let mut random = Random::new(2);
        let draws: Vec<f64> = (0..40_000).map(|_| random.normal()).collect();
        let mean = draws.iter().sum::<f64>() / 40_000.0;
        let variance = draws.iter().map(|x| x * x).sum::<f64>() / 40_000.0;
        assert!(mean.abs() < 0.025 && (variance - 1.0).abs() < 0.04, "{mean} {variance}");
    }

    #[test]
    fn every_byte_of_an_odd_length_is_filled() {
        let mut random = Random::new(3);
        let mut seen = [false; 13];
        for _ in 0..20 {
            let mut bytes = [0_u8; 13];
            random.fill(&mut bytes);
            for (seen, byte) in seen.iter_mut().zip(bytes) {
                *seen |= byte != 0;
            }
        }
        assert!(seen.iter().all(|&seen| seen));
    }
}

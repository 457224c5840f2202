//! The chi-square distribution.

/// Returns the probability that a chi-square variable with this many degrees of freedom is at least `statistic`.
pub(super) fn chi_square_tail(statistic: f64, freedom: u32) -> f64 {
    if freedom == 0 || statistic <= 0.0 {
        return 1.0;
    }
    let (a, x) = (f64::from(freedom) / 2.0, statistic / 2.0);
    let scale = (a * x.ln() - x - ln_gamma(a)).exp();
    let tail = if x < a + 1.0 { 1.0 - scale * series(a, x) } else { scale * fraction(a, x) };
    tail.clamp(0.0, 1.0)
}

/// Returns γ(a, x) · eˣ · x⁻ᵃ by the power series of the incomplete gamma function (DLMF 8.7.1).
fn series(a: f64, x: f64) -> f64 {
    let mut term = 1.0 / a;
    let mut sum = term;
    let mut n = a;
    while term > sum * f64::EPSILON {
        n += 1.0;
        term *= x / n;
        sum += term;
    }
    sum
}

/// Returns Γ(a, x) · eˣ · x⁻ᵃ by the continued fraction of the incomplete gamma function (DLMF 8.9.2), evaluated by
/// Lentz's method.
fn fraction(a: f64, x: f64) -> f64 {
    let mut b = x + 1.0 - a;
    let mut c = 1.0 / f64::MIN_POSITIVE;
    let mut d = 1.0 / b;
    let mut product = d;
    for n in 1..10_000 {
        let factor = -f64::from(n) * (f64::from(n) - a);
        b += 2.0;
        d = 1.0 / (factor * d + b);
        c = b + factor / c;
        product *= c * d;
        if (c * d - 1.0).abs() < f64::EPSILON {
            break;
        }
    }
    product
}

/// Returns the logarithm of Γ(a), by Stirling's series (DLMF 5.11.1) after a shift to arguments above 16.
fn ln_gamma(mut a: f64) -> f64 {
    let mut shift = 0.0;
    while a < 16.0 {
        shift += a.ln();
        a += 1.0;
    }
    let inverse = 1.0 / (a * a);
    let tail = (1.0 / 12.0 - inverse * (1.0 / 360.0 - inverse * (1.0 / 1260.0 - inverse / 1680.0))) / a;
    (a - 0.5) * a.ln() - a + 0.5 * (2.0 * std::f64::consts::PI).ln() + tail - shift
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tails_agree_with_closed_forms() {
        for x in [0.1_f64, 1.0, 2.5, 7.0, 30.0, 100.0] {
            // For two degrees of freedom, the distribution is an exponential distribution. For four and six degrees of
            // freedom, the distribution is an Erlang distribution.
            let half = x / 2.0;
            let closed = [(2, 1.0), (4, 1.0 + half), (6, 1.0 + half + half * half / 2.0)];
            for (freedom, sum) in closed {
                let expected = (-half).exp() * sum;
                let tail = chi_square_tail(x, freedom);
                assert!((tail / expected - 1.0).abs() < 1e-11, "{freedom} {x}: {tail} {expected}");
            }
        }
    }

    #[test]
    fn tails_agree_with_tables() {
        // The 5 % points of the usual tables.
        for (freedom, point) in [(1, 3.841_458_820_694), (10, 18.307_038_053_275), (100, 124.342_113_404_004)] {
            let tail = chi_square_tail(point, freedom);
            assert!((tail - 0.05).abs() < 1e-9, "{freedom}: {tail}");
        }
    }

    #[test]
    fn tails_far_away_are_0_or_1() {
        assert_eq!(chi_square_tail(0.0, 127), 1.0);
        assert!(chi_square_tail(1.0, 381) > 0.999_999);
        assert_eq!(chi_square_tail(1e7, 381), 0.0);
    }
}

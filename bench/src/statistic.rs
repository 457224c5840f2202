//! The statistics of the tables.

/// Returns the median: the middle value, or the mean of the two middle ones. Not a number if there are no values.
pub fn median(values: impl IntoIterator<Item = f64>) -> f64 {
    quantile(values, 0.5)
}

/// Returns the smallest value.
pub fn minimum(values: impl IntoIterator<Item = f64>) -> f64 {
    values.into_iter().fold(f64::INFINITY, f64::min)
}

/// Returns a quantile, interpolated: the value below which this part of the values lies.
pub fn quantile(values: impl IntoIterator<Item = f64>, part: f64) -> f64 {
    let mut values: Vec<f64> = values.into_iter().collect();
    values.sort_by(f64::total_cmp);
    let Some(last) = values.len().checked_sub(1) else { return f64::NAN };
    let place = part * last as f64;
    let (below, above) = (values[place.floor() as usize], values[place.ceil() as usize]);
    below + (above - below) * place.fract()
}

#[cfg(test)]
mod tests {
    use super::{median, minimum, quantile};

    #[test]
    fn known_answers() {
        assert_eq!(median([3.0, 1.0, 2.0]), 2.0);
        assert_eq!(median([4.0, 1.0, 2.0, 3.0]), 2.5);
        assert_eq!(minimum([4.0, 1.0]), 1.0);
        assert_eq!(quantile([0.0, 10.0], 0.9), 9.0);
        assert!(median([]).is_nan());
    }
}

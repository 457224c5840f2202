//! Measures how much of its time limit a measurement has used.

use std::time::Instant;

use crate::imp::processor;

/// Counts the time since its creation. The counted time does not include time in which other programs used the
/// processor, up to the given number of additional seconds.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Spent {
    begin: Instant,
    processor: f64,
    spare: f64,
}

impl Spent {
    /// Starts to count the time. The used time does not include up to `spare` seconds in which other programs use the
    /// processor.
    pub(crate) fn new(spare: f64) -> Self {
        Self { begin: Instant::now(), processor: processor::seconds(), spare }
    }

    /// Returns the used time in seconds.
    pub(crate) fn seconds(&self) -> f64 {
        let elapsed = self.begin.elapsed().as_secs_f64();
        elapsed - self.made_up(elapsed)
    }

    pub(crate) fn spare(&self) -> f64 {
        self.spare - self.made_up(self.begin.elapsed().as_secs_f64())
    }

    /// Returns the number of elapsed seconds that are not part of the used time.
    fn made_up(&self, elapsed: f64) -> f64 {
        let lost = elapsed - (processor::seconds() - self.processor);
        lost.clamp(0.0, self.spare)
    }

    /// Moves the start back by `seconds`. All of these seconds count.
    #[cfg(test)]
    pub(crate) fn add(&mut self, seconds: f64) {
        self.begin -= std::time::Duration::from_secs_f64(seconds);
        self.processor -= seconds;
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    #[test]
    fn time_without_the_processor_counts_when_the_spare_time_is_used_up() {
        let pause = || std::thread::sleep(Duration::from_millis(20));
        let [none, some, much] = [0.0, 0.01, 1e6].map(Spent::new);
        pause();
        assert!(none.seconds() >= 0.02 && none.spare() == 0.0, "{none:?}");
        assert!(some.seconds() >= 0.01 && some.spare() < 1e-9, "{some:?}");
        #[cfg(unix)]
        assert!(much.seconds() < 0.01 && much.spare() <= 1e6 - 0.01, "{much:?} {}", much.seconds());
    }

    #[test]
    fn work_counts_whatever_time_is_spare() {
        let mut spent = Spent::new(1e6);
        spent.add(3.0);
        let begin = processor::seconds();
        while processor::seconds() - begin < 0.02 {}
        assert!(spent.seconds() >= 3.02, "{spent:?}");
    }
}

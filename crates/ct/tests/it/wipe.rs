//! Tests that wiped memory is zero, even if the compiler could assume that no code reads the memory.

use deadpan_ct::{Wipe, Wiped};

#[test]
fn integers_arrays_and_slices() {
    let mut number = 7_u128;
    number.wipe();
    assert_eq!(number, 0);
    let mut array = [1_i16; 5];
    array.wipe();
    assert_eq!(array, [0; 5]);
    let mut vector = vec![9_u8; 1000];
    vector[3..997].wipe();
    assert!(vector[3..997].iter().all(|byte| *byte == 0));
    assert_eq!((vector[2], vector[997]), (9, 9));
}

#[test]
fn a_guard_wipes_when_it_is_dropped() {
    // The test cannot read a value in a guard after the guard was dropped, so the `Witness` type reports its value when
    // it is wiped.
    struct Witness<'a>(u8, &'a std::cell::Cell<Option<u8>>);
    impl Wipe for Witness<'_> {
        fn wipe(&mut self) {
            self.0.wipe();
            self.1.set(Some(self.0));
        }
    }
    let seen = std::cell::Cell::new(None);
    let mut guard = Wiped::new(Witness(5, &seen));
    guard.0 += 1;
    assert_eq!((guard.0, seen.get()), (6, None));
    drop(guard);
    assert_eq!(seen.get(), Some(0));
}

#[cfg(feature = "alloc")]
#[test]
fn a_vector_is_wiped_over_its_whole_capacity() {
    let mut vector = vec![9_u8; 100];
    vector.truncate(10);
    let (start, capacity) = (vector.as_ptr(), vector.capacity());
    vector.wipe();
    assert!(vector.is_empty());
    assert_eq!((vector.as_ptr(), vector.capacity()), (start, capacity));
    vector.resize(capacity, 1);
    assert_eq!(vector.as_ptr(), start, "no copy was left behind");
}

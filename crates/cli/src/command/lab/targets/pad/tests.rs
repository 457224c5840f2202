use super::*;

/// Returns the number at the start of a class's name.
fn count_in(name: &str) -> usize {
    name.split(' ').next().and_then(|count| count.parse().ok()).expect("a count")
}

#[test]
fn the_name_of_a_class_tells_how_many_bytes_are_added() {
    let mut random = Random::new(1);
    for scheme in Scheme::ALL {
        let padding = padding(scheme);
        for mut target in [pad(scheme), pad_last_block(scheme), pad_in_place(scheme)] {
            let mut input = vec![0; target.length()];
            for class in 0..target.classes().len() {
                target.fill(class, &mut random, &mut input);
                let count = count_in(target.classes()[class].name());
                assert_eq!(kept(&input), PADDED - count);
                let mut output = [0; PADDED];
                let padded = padding.pad_into(&input[..kept(&input)], &mut output).unwrap();
                assert_eq!(padding.unpad(padded).unwrap(), &input[..PADDED - count], "{scheme}");
            }
        }
    }
}

#[test]
fn valid_paddings_are_accepted_and_broken_ones_refused() {
    let mut random = Random::new(1);
    for scheme in Scheme::ALL {
        let padding = padding(scheme);
        for mut target in [unpad_ct(scheme), unpad(scheme)] {
            let mut input = vec![0; target.length()];
            for class in 0..target.classes().len() {
                for _ in 0..300 {
                    target.fill(class, &mut random, &mut input);
                    let name = target.classes()[class].name();
                    let wanted =
                        if name.ends_with("broken") { Err(Error::Padding) } else { Ok(PADDED - count_in(name)) };
                    assert_eq!(padding.unpad(&input).map(<[u8]>::len), wanted, "{scheme}: {name}: {input:02x?}");
                }
            }
        }
    }
}

#[test]
fn only_unpad_has_a_public_outcome_for_broken_paddings() {
    let outcomes = |target: Target| target.classes().iter().map(|class| class.outcome().to_owned()).collect::<Vec<_>>();
    assert!(outcomes(unpad_ct(Scheme::Pkcs7)).iter().all(String::is_empty));
    assert_eq!(outcomes(unpad(Scheme::Pkcs7)).iter().filter(|outcome| *outcome == "broken").count(), BLOCK);
}

/// An earlier version of zero padding directly read the last byte of the data. The address of this byte showed whether
/// the last block was empty.
#[test]
#[expect(clippy::print_stderr)]
fn zero_padding_accesses_the_same_addresses_for_all_lengths() {
    if let Some(reason) = deadpan_lab::trace::unavailable() {
        eprintln!("skipped: {reason}");
        return;
    }
    for mut target in [pad(Scheme::Zero), pad_last_block(Scheme::Zero), pad_in_place(Scheme::Zero)] {
        deadpan_lab::trace::assert_equal(&mut target, 1);
    }
}

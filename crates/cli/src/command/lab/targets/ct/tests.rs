use super::*;

fn ones(bytes: &[u8]) -> u32 {
    bytes.iter().map(|byte| byte.count_ones()).sum()
}

fn distance(a: &[u8], b: &[u8]) -> u32 {
    a.iter().zip(b).map(|(a, b)| (a ^ b).count_ones()).sum()
}

/// Returns the size of the numbers or slices in the target with this name.
fn size_of_operand(name: &str) -> usize {
    match name.splitn(3, '.').nth(2).expect("a type") {
        "u8" | "i8" => 1,
        "u32" | "i32" => 4,
        "u64" | "i64" => 8,
        "u128" | "i128" => 16,
        "slice" | "array" => 32,
        "slice.1KiB" => 1024,
        other => panic!("{other}"),
    }
}

#[test]
fn each_class_matches_its_name() {
    let mut random = Random::new(1);
    for mut target in timing() {
        let size = size_of_operand(target.name());
        let bits = 8 * size as u32;
        let mut input = vec![0; target.length()];
        for class in 0..target.classes().len() {
            for _ in 0..20 {
                target.fill(class, &mut random, &mut input);
                let (a, rest) = input.split_at(size);
                let b = rest.get(..size).unwrap_or_default();
                let last = usize::from(*input.last().expect("an input"));
                let right = match target.classes()[class].name() {
                    "ones" => ones(a) == bits,
                    "zeros" => ones(a) == 0,
                    "one bit set" => ones(a) == 1,
                    "one bit clear" => ones(a) == bits - 1,
                    "equal ones" => ones(a) == bits && a == b,
                    "equal zeros" => ones(a) == 0 && a == b,
                    "one bit different" => distance(a, b) == 1,
                    "all bits different" => distance(a, b) == bits,
                    "first byte different" => a[0] != b[0] && a[1..] == b[1..],
                    "last byte different" => a[size - 1] != b[size - 1] && a[..size - 1] == b[..size - 1],
                    "no" => last == 0,
                    "yes" => last == 1,
                    "first entry" => last == 0,
                    "last entry" => last == ENTRIES - 1,
                    "any entry" => last < ENTRIES,
                    "beyond" => last >= ENTRIES,
                    "random" => true,
                    other => panic!("{other}"),
                };
                assert!(right, "{}: {}: {input:?}", target.name(), target.classes()[class].name());
            }
        }
    }
}

#[test]
fn every_operation_has_a_target_for_every_width() {
    let names: Vec<String> = timing().iter().map(|target| target.name().to_owned()).collect();
    for width in ["u8", "u32", "u64", "u128"] {
        let operations =
            ["eq", "ne", "lt", "le", "gt", "ge", "is_zero", "is_nonzero", "select", "assign", "swap", "lookup"];
        for operation in operations {
            assert!(names.contains(&format!("ct.{operation}.{width}")), "{operation} {width}");
        }
        assert!(names.contains(&format!("ct.is_negative.{}", width.replace('u', "i"))));
    }
}

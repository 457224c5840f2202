use super::*;
use crate::primitive::imp::compress::tests::back_ends;
use deadpan_base64::hex;

/// Tests the example in section 5.3 of RFC 9106, which includes a secret and associated data.
#[test]
fn rfc_9106_vector() {
    let cost = Cost { memory: 32, passes: 3, lanes: 4 };
    let input = HashInput { password: &[1; 32], salt: &[2; 16], secret: &[3; 8], data: &[4; 12] };
    for (name, compress) in back_ends() {
        let mut tag = [0; 32];
        hash_with(compress, &Work::default(), cost, input, &mut tag).expect("hashed");
        assert_eq!(hex::encode(&tag), "0d640df58d78766c08c037a34a8b53c9d01ef0452d75b65eb52520e96b01e659", "{name}");
    }
}

fn reference(cost: Cost, input: HashInput<'_>, output: &mut [u8]) {
    use ::argon2::{Algorithm, Argon2, AssociatedData, ParamsBuilder, Version};

    let mut parameters = ParamsBuilder::new();
    parameters.m_cost(cost.memory).t_cost(cost.passes).p_cost(cost.lanes).output_len(output.len());
    parameters.data(AssociatedData::new(input.data).expect("32 bytes at most"));
    let parameters = parameters.build().expect("parameters");
    Argon2::new_with_secret(input.secret, Algorithm::Argon2id, Version::V0x13, parameters)
        .and_then(|argon2| argon2.hash_password_into(input.password, input.salt, output))
        .expect("hashed");
}

/// Compares every back end, on one to three threads, with the crate `argon2`.
fn compare(cost: Cost, input: HashInput<'_>, length: usize) {
    let mut wanted = vec![0; length];
    reference(cost, input, &mut wanted);
    for (name, compress) in back_ends() {
        for threads in [1, 2, 3] {
            let mut output = vec![0xaa; length];
            let work = Work { threads, ..Work::default() };
            hash_with(compress, &work, cost, input, &mut output).expect("hashed");
            assert!(output == wanted, "{name}, {threads} threads: {cost:?}, {length} bytes");
        }
    }
}

const INPUT: HashInput<'_> = HashInput { password: b"password", salt: b"somesalt12345678", secret: b"", data: b"" };

#[test]
fn every_shape_gives_what_the_crate_gives() {
    for lanes in [1, 2, 3, 4, 5, 8, 17, 64] {
        for passes in [1, 2, 4] {
            let least = 8 * lanes;
            // The sizes are: the least memory, sizes that are not multiples of 4p, and sizes whose segments are as long
            // as one or two blocks of addresses.
            let mut sizes = vec![least, least + 1, least + 4 * lanes - 1, 12 * lanes + 3];
            if lanes <= 4 {
                sizes.extend([4 * 127 * lanes, 4 * 128 * lanes, 4 * 129 * lanes, 4 * 257 * lanes + 1]);
            }
            for memory in sizes {
                compare(Cost { memory, passes, lanes }, INPUT, 32);
            }
        }
    }
}

#[test]
fn sizes_for_several_threads_give_what_the_crate_gives() {
    for (memory, passes, lanes) in [(8 << 10, 3, 4), (9001, 2, 2), (8191, 2, 3), (12_345, 1, 7), (4096, 4, 1)] {
        compare(Cost { memory, passes, lanes }, INPUT, 64);
    }
}

#[test]
fn inputs_and_outputs_of_every_length_give_what_the_crate_gives() {
    let cost = Cost { memory: 48, passes: 2, lanes: 2 };
    let bytes: Vec<u8> = (0..400_u32).map(|i| (i * 31 + 7) as u8).collect();
    for length in [4, 5, 31, 32, 33, 63, 64, 65, 95, 96, 97, 127, 128, 129, 1023, 1024, 1025] {
        compare(cost, INPUT, length);
    }
    for length in [0, 1, 63, 64, 65, 127, 128, 129, 255, 256, 257, 400] {
        compare(cost, HashInput { password: &bytes[..length], ..INPUT }, 32);
        compare(cost, HashInput { salt: &bytes[..length.max(8)], ..INPUT }, 32);
        compare(cost, HashInput { secret: &bytes[..length], data: &bytes[..length.min(32)], ..INPUT }, 32);
    }
}

#[test]
fn a_cost_or_length_out_of_bounds_is_refused() {
    let hash = |memory, passes, lanes, length| {
        hash(Cost { memory, passes, lanes }, INPUT, &mut vec![0; length]).expect_err("refused")
    };
    assert!(matches!(hash(7, 1, 1, 32), Error::Header(_)));
    assert!(matches!(hash(1 << 30, 1, 1, 32), Error::Limit(_)));
    assert!(matches!(hash(8, 1, 1, 3), Error::Invalid(_)));
}

//! Tests with files that the positioned engine refuses.

use super::*;

fn is_callers<T>(result: Result<T, Error>) -> bool {
    result.is_err_and(|error| error.fault() == Fault::Caller)
}

#[test]
fn an_output_with_something_in_it_is_refused() {
    let data = sample(1000);
    let sealed = sealing(false).seal(&data).expect("sealed");
    let (opened, _) = opened(&sealed).expect("the passphrase");
    for there in [&b"x"[..], &sample(5000)] {
        let output = file_with(there);
        assert!(
            is_callers(sealing(false).seal_file(&file_with(&data), &output, &work(1))),
            "sealed over {} bytes",
            there.len()
        );
        assert!(
            is_callers(opened.open_file(&file_with(&sealed), &output, &work(1))),
            "opened over {} bytes",
            there.len()
        );
        assert!(contents(output) == there, "it was changed");
    }
}

#[test]
#[cfg(unix)]
fn an_input_without_positions_is_refused() {
    for path in ["/dev/null".into(), std::env::temp_dir()] {
        let input = File::open(&path).expect("it is there");
        let output = tempfile::tempfile().expect("a temporary file");
        assert!(is_callers(sealing(false).seal_file(&input, &output, &work(1))), "{}", path.display());
        assert!(contents(output).is_empty(), "something was written");
    }
}

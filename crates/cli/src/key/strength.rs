//! A rough estimate of how soon a passphrase is guessed.
//!
//! The passphrase is divided into the parts that are cheapest to guess: common passwords, words, years, runs on the
//! keyboard, sequences and repetitions. The estimate follows the idea of zxcvbn, with a list of a hundred passwords and
//! the words of BIP 39 instead of large dictionaries: letters that can be pronounced count as a word of a dictionary.

use crate::key::words;
use crate::tell::console::say;
use deadpan_ct::Wiped;
use deadpan_seal::Passphrase;

/// The most frequent passwords and their parts, the most frequent first.
const COMMON: &str = "123456 password 12345678 qwerty 123456789 12345 1234 111111 1234567 dragon 123123 baseball \
    abc123 football monkey letmein shadow master 696969 michael mustang 666666 qwertyuiop \
    123321 1234567890 superman 654321 1qaz2wsx 7777777 000000 qazwsx jordan jennifer zxcvbnm \
    asdfgh hunter buster soccer harley batman andrew tigger sunshine iloveyou 2000 charlie \
    robert thomas hockey ranger daniel starwars klaster george computer michelle jessica \
    pepper 1111 zxcvbn 555555 11111111 131313 freedom 777777 pass maggie 159753 aaaaaa ginger \
    princess joshua cheese amanda summer love ashley 6969 nicole chelsea matthew access \
    yankees 987654321 dallas austin thunder taylor matrix welcome admin login hello secret \
    changeme trustno1 passphrase test 1q2w3e4r5t6y zaq12wsx q1w2e3r4t5y6 qweasdzxc pokemon \
    whatever killer ncc1701 thx1138 112233 121212 qwerty123 lovely babygirl default root guest";
/// Well-known phrases, in small letters and without anything between the words: attackers try them first.
const FAMOUS: [&str; 12] = [
    "correcthorsebatterystaple",
    "tr0ub4dor3",
    "troubador3",
    "tobeornottobethatisthequestion",
    "tobeornottobe",
    "thequickbrownfoxjumpsoverthelazydog",
    "maytheforcebewithyou",
    "loremipsumdolorsitamet",
    "inthebeginninggodcreatedtheheavenandtheearth",
    "callmeishmael",
    "opensesame",
    "speakfriendandenter",
];
/// Rows of keyboards. The digits are a sequence.
const ROWS: [&str; 8] =
    ["qwertyuiop[]", "asdfghjkl;'", "zxcvbnm,./", "qwertzuiop", "yxcvbnm", "azertyuiop", "qsdfghjklm", "!@#$%^&*()_+"];
/// The longest part of a passphrase that is looked at. Longer passphrases are at least as strong.
const LONGEST: usize = 64;

/// The costs below are tenths of a bit: the logarithm of the number of guesses, to the base 2, times ten.
type Cost = u32;

/// The cost from which a passphrase is good enough for a file that a stranger has.
const GOOD: Cost = 400;
/// The costs below which a passphrase is guessed so soon, at about 10 000 guesses in a second. Hashing is slow for an
/// attacker, too, but machines can be rented.
const TIMES: [(Cost, &str); 4] = [(260, "in minutes"), (310, "in hours"), (360, "in days"), (GOOD, "in months")];
/// A letter, a digit, another sign of ASCII, and another character.
const LETTER: Cost = 47;
const DIGIT: Cost = 33;
const SIGN: Cost = 50;
const OTHER: Cost = 90;
/// A word of a dictionary with up to eight letters, and each further letter.
const WORD: Cost = 160;
const MORE: Cost = 30;
/// A word of the list of BIP 39.
const LISTED: Cost = 110;
/// What capital letters, or signs that look like letters, add to a word.
const DISGUISE: Cost = 15;

/// Prints a note if a new passphrase is weak. The note contains nothing of the passphrase.
pub fn note(passphrase: &Passphrase) {
    if let Some(when) = guessed(passphrase.as_bytes()) {
        say(&format!(
            "note: this passphrase may be guessed {when} by someone who has the file; \
             ten random words: deadpan random --words 10"
        ));
    }
}

/// Returns how soon a passphrase may be guessed, or `None` if it is good.
fn guessed(passphrase: &[u8]) -> Option<&'static str> {
    let letters = || str::from_utf8(passphrase).unwrap_or_default().chars().filter(|it| it.is_alphanumeric());
    let is_famous = |phrase: &&str| letters().flat_map(char::to_lowercase).eq(phrase.chars());
    let cost = if FAMOUS.iter().any(is_famous) { 0 } else { cost(passphrase) };
    TIMES.iter().find(|(below, _)| cost < *below).map(|(_, when)| *when)
}

/// Returns the cost of the first characters of a passphrase.
fn cost(passphrase: &[u8]) -> Cost {
    let Ok(text) = str::from_utf8(passphrase) else { return passphrase.len() as Cost * SIGN };
    let mut typed = Wiped::new([0_u32; LONGEST]);
    let length = text.chars().zip(typed.iter_mut()).map(|(character, place)| *place = character.into()).count();
    of(&typed[..length])
}

/// Returns the smallest sum of the costs of parts.
fn of(typed: &[u32]) -> Cost {
    // A text that repeats its beginning is as good as its beginning.
    let repeats = |period: &usize| typed.iter().zip(&typed[*period..]).all(|(a, b)| a == b);
    if let Some(period) = (1..=typed.len() / 2).find(repeats) {
        return of(&typed[..period]) + 10 + log(typed.len() / period);
    }
    let mut best = Wiped::new([0; LONGEST + 1]);
    for end in 1..=typed.len() {
        let parts = (0..end).filter_map(|begin| Some(best[begin] + part(typed, begin, end)?));
        best[end] = parts.min().unwrap_or(Cost::MAX).min(best[end - 1] + single(typed[end - 1]));
    }
    best[typed.len()]
}

fn single(character: u32) -> Cost {
    match char::from_u32(character) {
        Some('0'..='9') => DIGIT,
        Some(character) if is_letter(character) => LETTER,
        Some(' '..='~') => SIGN,
        _ => OTHER,
    }
}

/// Whether a character has a capital and a small form.
fn is_letter(character: char) -> bool {
    character.is_lowercase() || character.is_uppercase()
}

fn log(number: usize) -> Cost {
    10 * number.max(1).ilog2()
}

/// Returns the cost of several characters together, if they are more than a row of single characters.
fn part(typed: &[u32], begin: usize, end: usize) -> Option<Cost> {
    let part = &typed[begin..end];
    if part.len() < 3 {
        return None;
    }
    let common = COMMON.split_whitespace().enumerate();
    let common = common.filter_map(|(rank, word)| Some(20 + log(rank + 1) + disguise(part, word)?)).min();
    let listed = || words::all().filter_map(|word| Some(LISTED + disguise(part, word)?)).next();
    let known = common.or_else(listed);
    let step = |step: i64| part.windows(2).all(|pair| i64::from(pair[1]) - i64::from(pair[0]) == step);
    let sequence = [0, 1, -1].into_iter().any(step).then(|| single(part[0]) + log(part.len()));
    let keys = is_on_keyboard(part).then(|| 60 + log(part.len()));
    [known, sequence, keys, date(part), word(typed, begin, end)].into_iter().flatten().min()
}

/// Returns what the difference between these characters and a word costs, or `None` if they are another word.
fn disguise(part: &[u32], word: &str) -> Option<Cost> {
    if part.len() != word.len() {
        return None;
    }
    let mut cost = 0;
    for (typed, letter) in part.iter().zip(word.chars()) {
        let typed = char::from_u32(*typed)?;
        if typed != letter {
            let looks_alike = match typed {
                '0' => letter == 'o',
                '1' | '!' => letter == 'i' || letter == 'l',
                '3' => letter == 'e',
                '4' | '@' => letter == 'a',
                '5' | '$' => letter == 's',
                '7' | '+' => letter == 't',
                _ => typed.eq_ignore_ascii_case(&letter),
            };
            cost = looks_alike.then_some(DISGUISE)?;
        }
    }
    Some(cost)
}

/// Whether these keys lie beside each other in a row of a keyboard.
fn is_on_keyboard(part: &[u32]) -> bool {
    let lower = |character: &u32| char::from_u32(*character).map(|character| character.to_ascii_lowercase());
    ROWS.iter().any(|row| {
        let place = |character: &u32| row.find(lower(character)?);
        let first = part.first().and_then(place);
        let goes = |step: isize| {
            let mut expected = first;
            part.iter().all(|character| {
                let is_next = expected.is_some() && place(character) == expected;
                expected = expected.and_then(|place| place.checked_add_signed(step));
                is_next
            })
        };
        goes(1) || goes(-1)
    })
}

/// A year, and a day as six or eight digits.
fn date(part: &[u32]) -> Option<Cost> {
    let digit = |character: &u32| char::from_u32(*character)?.to_digit(10);
    let begins = || Some(digit(&part[0])? * 10 + digit(&part[1])?);
    match (part.len(), part.iter().all(|character| digit(character).is_some())) {
        (4, true) if matches!(begins(), Some(19 | 20)) => Some(70),
        (6 | 8, true) => Some(160),
        _ => None,
    }
}

/// Returns the cost of letters that can be a word or a name: not a part of more letters, with capital letters only in
/// the first place or everywhere, and easy to say.
fn word(typed: &[u32], begin: usize, end: usize) -> Option<Cost> {
    let at = |index: usize| typed.get(index).and_then(|character| char::from_u32(*character));
    let letters = || (begin..end).filter_map(at);
    let goes_on = |index: usize| match (index.checked_sub(1).and_then(at), at(index)) {
        (Some(before), Some(after)) => {
            is_letter(before) && is_letter(after) && !(before.is_lowercase() && after.is_uppercase())
        }
        _ => false,
    };
    let is_regular = letters().skip(1).all(char::is_lowercase) || letters().all(char::is_uppercase);
    if goes_on(begin) || goes_on(end) || !letters().all(is_letter) || !is_regular || !can_be_said(letters()) {
        return None;
    }
    let length = end - begin;
    let capital = if at(begin).is_some_and(char::is_uppercase) { DISGUISE } else { 0 };
    Some(WORD + MORE * length.saturating_sub(8) as Cost + capital)
}

/// Whether letters have no five consonants together, and at most one kind of the rare letters. Letters that are not of
/// ASCII count as vowels.
fn can_be_said(letters: impl Iterator<Item = char>) -> bool {
    let (mut consonants, mut rare) = (0, [false; 4]);
    for letter in letters {
        let letter = letter.to_ascii_lowercase();
        let is_vowel = !letter.is_ascii() || "aeiouy".contains(letter);
        consonants = if is_vowel { 0 } else { consonants + 1 };
        if let Some(place) = "jqxz".find(letter) {
            rare[place] = true;
        }
        if consonants > 4 {
            return false;
        }
    }
    rare.into_iter().filter(|is_there| *is_there).count() < 2
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_zxcvbn_calls_weak_gets_a_note() {
        let plain = "a zz 12 qwe 1qaz2wsx P@ssw0rd passw0rd1 Password123 letmein! iloveyou2 elizabeth1987 Michelle99 \
            trustno1 qwertyuiop[] zxcvbn1 asdfasdf abcabcabc aaaaaaaaaaaa 987654321 11223344 20122012 19.07.1984 \
            D0g................. dragon2020 Summer2024! winter2023 football7 monkey123 sunshine1 hunter2 monkeymonkey \
            correct horse1 Fluffy12 schatz1 katze1234 hallo123 berlin2019 geheim1 soleil87 azerty123 motdepasse \
            christopher88 briansmith jonathan1 samsung1 starwars7 pokemon151 master2000 changeme1 admin1234 abcdefgh \
            zyxwvut 13571357 q1w2e3r4t5y6 1q2w3e4r5t6y internet7 princess99 liverpool1 barcelona10 superman12";
        let listed: Vec<_> = words::all().step_by(9).collect();
        let made = listed.iter().enumerate().map(|(number, word)| match number % 5 {
            0 => (*word).to_owned(),
            1 => format!("{word}{number}"),
            2 => format!("{}{}!", word[..1].to_uppercase(), &word[1..]),
            3 => format!("{word}{word}"),
            _ => word.replace('o', "0").replace('e', "3") + "1",
        });
        let mut weak = 0;
        for password in plain.split_whitespace().map(str::to_owned).chain(made) {
            let score = u8::from(zxcvbn::zxcvbn(&password, &[]).score());
            weak += u32::from(score <= 1);
            assert!(score > 1 || guessed(password.as_bytes()).is_some(), "{password}");
        }
        assert!(weak > 150, "{weak} of the list are weak");
        assert_eq!(guessed(b""), Some("in minutes"));
    }

    #[test]
    fn random_words_and_passwords_get_none() {
        for _ in 0..10 {
            for passphrase in [words::random(10, '-'), words::random(6, ' '), words::random(5, '-')] {
                assert_eq!(guessed(&passphrase.unwrap()), None);
            }
        }
        let mut state = 1_u64;
        let symbols = "ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnpqrstuvwxyz23456789-_.+=@%#";
        for _ in 0..60 {
            let password: String = (0..20)
                .map(|_| {
                    state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
                    char::from(symbols.as_bytes()[(state >> 58) as usize])
                })
                .collect();
            assert_eq!(guessed(password.as_bytes()), None, "{password}");
            assert_eq!(guessed(&password.as_bytes()[..16]), None, "{password}");
        }
        for good in ["horse correct battery staple", "rWibMFACxAUGZmxhVncy", "\u{4f60}\u{597d}\u{4e16}\u{754c}\u{548c}"]
        {
            assert_eq!(guessed(good.as_bytes()), None, "{good}");
        }
        assert_eq!(guessed(&[0xff; 20]), None);
        for famous in ["correct horse battery staple", "To be, or not to be: that is the question", "Tr0ub4dor&3"] {
            assert_eq!(guessed(famous.as_bytes()), Some("in minutes"), "{famous}");
        }
    }

    #[test]
    fn the_estimate_grows_with_the_passphrase() {
        let guesses = ["password1", "Fluffy-1984", "plum-Kettle!73", "abandon-zoo-ocean-fit"];
        let costs = guesses.map(|guess| cost(guess.as_bytes()));
        assert!(costs.is_sorted(), "{costs:?}");
        assert_eq!(guessed(b"password1"), Some("in minutes"));
        assert_eq!(cost(&[b'x'; 1000]), cost(&[b'x'; LONGEST]));
        assert_eq!(cost("stra\u{df}e".as_bytes()), WORD);
    }
}

//! Keys that the client cannot name. One of them would end a whole listing, so they are taken out of the answers, and
//! told beside.

use std::cell::RefCell;

use object_store::HeaderValue;
use object_store::client::{HttpError, HttpErrorKind, HttpResponse, HttpResponseBody};
use object_store::path::Path;

use crate::address::check_key;
use crate::error::tag;

/// The longest page of a listing: a thousand keys of a kilobyte, each byte of which can take six.
pub(crate) const LONGEST: u64 = 16 << 20;

tokio::task_local! {
    static ODD: RefCell<Vec<String>>;
}

/// Waits for a page of a listing, and returns the odd keys in it, too.
pub(crate) async fn beside<T>(page: impl Future<Output = T>) -> (T, Vec<String>) {
    ODD.scope(RefCell::default(), async {
        let page = page.await;
        (page, ODD.with(RefCell::take))
    })
    .await
}

/// Takes the odd keys out of a page. Marks of folders go, too: their keys end with a slash.
pub(crate) async fn sift(response: HttpResponse) -> Result<HttpResponse, HttpError> {
    if !response.status().is_success() {
        return Ok(response);
    }
    let (mut parts, body) = response.into_parts();
    let body = body.bytes().await?;
    let text = String::from_utf8_lossy(&body);
    if tag(&text, "IsTruncated") == Some("true") && tag(&text, "NextContinuationToken").is_none_or(str::is_empty) {
        let why = "it lists a part of the keys, and does not say how to go on";
        return Err(HttpError::new(HttpErrorKind::Unknown, std::io::Error::other(why)));
    }
    let (kept, odd) = sifted(&text);
    let _ = ODD.try_with(|all| all.borrow_mut().extend(odd));
    parts.headers.insert("content-length", HeaderValue::from(kept.len()));
    Ok(HttpResponse::from_parts(parts, HttpResponseBody::from(kept)))
}

/// The tags of an object in a listing: around it, around its key and around its length.
type Tags = [&'static str; 3];
const S3: Tags = ["Contents", "Key", "Size"];
const AZURE: Tags = ["Blob", "Name", "Content-Length"];

/// Returns a page without its odd keys, and the odd keys.
fn sifted(text: &str) -> (String, Vec<String>) {
    let [object, name, size] = if text.contains("<Blobs>") { AZURE } else { S3 };
    let (open, close) = (format!("<{object}>"), format!("</{object}>"));
    let (mut kept, mut odd, mut rest) = (String::with_capacity(text.len()), Vec::new(), text);
    while let Some(begin) = rest.find(&open) {
        let Some(length) = rest[begin..].find(&close).map(|length| length + close.len()) else { break };
        let entry = &rest[begin..begin + length];
        let key = tag(entry, name).map(unescaped).unwrap_or_default();
        kept.push_str(&rest[..begin]);
        let is_fit = check_key(&key).is_ok() && Path::parse(&key).is_ok_and(|path| path.as_ref() == key);
        match is_fit {
            true => kept.push_str(entry),
            // It has no data.
            false if key.ends_with('/') && tag(entry, size) == Some("0") => {}
            false => odd.push(key),
        }
        rest = &rest[begin + length..];
    }
    kept.push_str(rest);
    (kept, odd)
}

/// Returns the text that XML stands for.
pub(crate) fn unescaped(text: &str) -> String {
    let mut parts = text.split('&');
    let mut plain = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        let (name, rest) = part.split_once(';').unwrap_or((part, ""));
        let number = name.strip_prefix("#x").map(|digits| u32::from_str_radix(digits, 16).ok());
        let number = number.or_else(|| name.strip_prefix('#').map(|digits| digits.parse().ok())).flatten();
        plain.push(match (name, number) {
            ("amp", _) => '&',
            ("lt", _) => '<',
            ("gt", _) => '>',
            ("quot", _) => '"',
            ("apos", _) => '\'',
            (_, Some(number)) => char::from_u32(number).unwrap_or(char::REPLACEMENT_CHARACTER),
            _ => char::REPLACEMENT_CHARACTER,
        });
        plain.push_str(rest);
    }
    plain
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn odd_keys_are_taken_out() {
        let entry =
            |key: &str| format!("<Contents><Size>{}</Size><Key>{key}</Key></Contents>", u8::from(!key.ends_with('/')));
        let good = ["a", "a b/c&amp;d", "\u{e4}/&lt;x&gt;", "a%2Fb", "x&quot;&apos;&#65;"];
        let odd = ["a//b", "/a", "a/../b", ".", "a/./b", "a&#x1;b", "x&#10;y"];
        let page = |keys: &[&str]| format!("<R>{}<T>x</T></R>", keys.iter().map(|key| entry(key)).collect::<String>());
        let (kept, found) = sifted(&page(&[&good[..], &odd, &["folder/"]].concat()));
        assert_eq!(kept, page(&good));
        assert_eq!(found, ["a//b", "/a", "a/../b", ".", "a/./b", "a\u{1}b", "x\ny"]);
        assert_eq!(unescaped("x&quot;&apos;&#65;&lt;&gt;&amp;amp;"), "x\"'A<>&amp;");
        let blob = |key: &str| {
            let length = u8::from(key != "folder/");
            format!("<Blob><Name>{key}</Name><P><Content-Length>{length}</Content-Length></P></Blob>")
        };
        let page =
            |keys: &[&str]| format!("<R><Blobs>{}</Blobs></R>", keys.iter().map(|key| blob(key)).collect::<String>());
        assert_eq!(
            sifted(&page(&["a", "a//b", "folder/", "dir/"])),
            (page(&["a"]), vec!["a//b".into(), "dir/".into()])
        );
        // What does not end is left to the client.
        assert_eq!(sifted("<Contents><Key>a//b").0, "<Contents><Key>a//b");
    }
}

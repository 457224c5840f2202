//! Pages of listings, before the client reads them. Keys that the client cannot represent are removed from the page and
//! reported separately, since one such key would end the whole listing. This module requires ascending keys, so that a
//! listing must end.

use std::cell::RefCell;
use std::cmp::Ordering;

use object_store::HeaderValue;
use object_store::client::{HttpError, HttpResponse, HttpResponseBody};
use object_store::path::Path;

use crate::address::check_key;
use crate::fault::Fault;
use crate::xml::{self, Elements};

/// The longest page of a listing. A page has up to a thousand keys of up to a kilobyte, and each byte of a key can take
/// six bytes in the page.
pub(crate) const LONGEST: u64 = 16 << 20;
/// The most keys in a page. Azure sends up to 5000 keys in a page, and other stores send up to a thousand.
const MOST: usize = 5000;
/// The most bytes in a key. Azure allows 1024 characters.
const LONGEST_KEY: usize = 4096;

tokio::task_local! {
    static COURSE: RefCell<Course>;
}

/// The state of a listing.
#[derive(Debug, Default)]
pub(crate) struct Course {
    /// The last key.
    last: Option<String>,
    /// For each sort order in [`ORDERS`], whether the keys so far violate this order.
    without: [bool; ORDERS.len()],
    /// The keys of the last page, if the page was received over the network.
    pub(crate) page: Option<PageKeys>,
}

/// The keys of a page.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct PageKeys {
    /// Keys that the client cannot name.
    pub(crate) odd: Vec<String>,
    /// The number of keys that the client can represent.
    pub(crate) kept: usize,
    /// The number of all keys, including the keys that stand for folders.
    pub(crate) all: usize,
}

/// The orders of keys in listings. Most stores compare bytes. Stores that keep objects as files may sort a folder by
/// its name without the slash. Some stores compare the 16-bit units of UTF-16.
const ORDERS: [fn(&str, &str) -> Ordering; 3] = [
    |one, other| one.cmp(other),
    |one, other| in_folders(one).cmp(in_folders(other)),
    |one, other| one.encode_utf16().cmp(other.encode_utf16()),
];

fn in_folders(key: &str) -> impl Iterator<Item = u8> {
    key.bytes().map(|byte| if byte == b'/' { 0 } else { byte })
}

impl Course {
    /// Waits for a page. The keys of the page must come after the keys of the earlier pages.
    pub(crate) async fn follow<T>(&mut self, page: impl Future<Output = T>) -> T {
        let (page, course) = COURSE
            .scope(RefCell::new(std::mem::take(self)), async {
                let page = page.await;
                (page, COURSE.with(RefCell::take))
            })
            .await;
        *self = course;
        page
    }

    /// Moves on to the next key.
    fn advance(&mut self, key: String) -> Result<(), Fault> {
        if let Some(last) = &self.last {
            for (without, order) in self.without.iter_mut().zip(ORDERS) {
                *without |= order(last, &key) != Ordering::Less;
            }
            if self.without.iter().all(|without| *without) {
                let what = format!("its listing goes back, or in no order: {key:.100} comes after {last:.100}");
                return Err(Fault::protocol(what));
            }
        }
        self.last = Some(key);
        Ok(())
    }
}

/// Takes the odd keys out of a page. Also removes the keys that stand for folders, which end with a slash.
pub(crate) async fn sift(response: HttpResponse) -> Result<HttpResponse, HttpError> {
    if !response.status().is_success() {
        return Ok(response);
    }
    let (mut parts, body) = response.into_parts();
    let body = body.bytes().await?;
    let text = String::from_utf8_lossy(&body);
    let is_part = xml::text(&text, "IsTruncated").as_deref() == Some("true");
    if is_part && xml::text(&text, "NextContinuationToken").is_none_or(|token| token.is_empty()) {
        return Err(Fault::protocol("it lists a part of the keys, and does not say how to go on").of_request());
    }
    let sift = |course: &RefCell<Course>| sifted(&text, &mut course.borrow_mut());
    let kept = COURSE.try_with(sift).unwrap_or_else(|_| sifted(&text, &mut Course::default()));
    let kept = kept.map_err(Fault::of_request)?;
    parts.headers.insert("content-length", HeaderValue::from(kept.len()));
    Ok(HttpResponse::from_parts(parts, HttpResponseBody::from(kept)))
}

/// The names of the XML elements for an object in a listing, for the object's key and for its length.
type Tags = [&'static str; 3];
const S3: Tags = ["Contents", "Key", "Size"];
const AZURE: Tags = ["Blob", "Name", "Content-Length"];

/// Returns a page without the keys that the client cannot represent. Records the keys of the page in `course`.
fn sifted(text: &str, course: &mut Course) -> Result<String, Fault> {
    let [object, name, size] = if text.contains("<Blobs>") { AZURE } else { S3 };
    let (mut kept, mut page, mut done) = (String::with_capacity(text.len()), PageKeys::default(), 0);
    for entry in Elements::new(text, object) {
        let sent = Elements::new(entry.inside, name).next().map_or("", |key| key.inside);
        page.all += 1;
        if page.all > MOST || sent.len() > 6 * LONGEST_KEY {
            let what = format!("it lists more than {MOST} keys at once, or one of more than {LONGEST_KEY} bytes");
            return Err(Fault::protocol(what));
        }
        let plain = xml::unescaped(sent);
        let is_fit = plain
            .as_ref()
            .is_some_and(|key| check_key(key).is_ok() && Path::parse(key).is_ok_and(|path| path.as_ref() == key));
        let key = plain.unwrap_or_else(|| sent.to_owned());
        course.advance(key.clone())?;
        if is_fit {
            page.kept += 1;
            kept.push_str(&text[done..entry.place.end]);
        } else {
            kept.push_str(&text[done..entry.place.start]);
            // The mark of a folder has no data.
            if !key.ends_with('/') || xml::text(entry.inside, size).as_deref() != Some("0") {
                page.odd.push(key);
            }
        }
        done = entry.place.end;
    }
    kept.push_str(&text[done..]);
    course.page = Some(page);
    Ok(kept)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn odd(text: &str) -> (String, Vec<String>) {
        // Each page is checked separately, so its keys need not come after the keys of another page.
        let mut course = Course::default();
        let kept = sifted(text, &mut course).expect("a page");
        (kept, course.page.expect("keys").odd)
    }

    fn entry(key: &str) -> String {
        format!("<Contents><Size>{}</Size><Key>{key}</Key></Contents>", u8::from(!key.ends_with('/')))
    }

    #[test]
    fn odd_keys_are_taken_out() {
        let all = [
            (true, "&#x1;a"),
            (true, "&#0;"),
            (true, "."),
            (true, "/a"),
            (false, "a"),
            (false, "a b/c&amp;d"),
            (false, "a%2Fb"),
            (true, "a/../b"),
            (true, "a//b"),
            (false, "x&quot;&apos;&#65;"),
            (true, "y&#10;y"),
            (false, "\u{e4}/&lt;x&gt;"),
        ];
        let page = |keys: &[&str]| format!("<R>{}<T>x</T></R>", keys.iter().map(|key| entry(key)).collect::<String>());
        let good: Vec<_> = all.iter().filter(|(is_odd, _)| !is_odd).map(|(_, key)| *key).collect();
        let mut keys = all.map(|(_, key)| key).to_vec();
        keys.insert(9, "folder/");
        assert_eq!(
            odd(&page(&keys)),
            (page(&good), ["\u{1}a", "&#0;", ".", "/a", "a/../b", "a//b", "y\ny"].map(str::to_owned).into())
        );
        let blob = |key: &str| {
            let length = u8::from(key != "folder/");
            format!("<Blob><Name>{key}</Name><P><Content-Length>{length}</Content-Length></P></Blob>")
        };
        let page =
            |keys: &[&str]| format!("<R><Blobs>{}</Blobs></R>", keys.iter().map(|key| blob(key)).collect::<String>());
        assert_eq!(odd(&page(&["a", "a//b", "dir/", "folder/"])), (page(&["a"]), vec!["a//b".into(), "dir/".into()]));
        // An element without an end tag stays in the page for the client.
        assert_eq!(odd("<Contents><Key>a//b").0, "<Contents><Key>a//b");
    }

    #[test]
    fn keys_grow_in_one_order() {
        let run = |pages: &[&[&str]]| {
            let mut course = Course::default();
            let mut pages = pages.iter().map(|keys| keys.iter().map(|key| entry(key)).collect::<String>());
            pages.try_for_each(|page| sifted(&page, &mut course).map(drop)).map_err(|fault| fault.to_string())
        };
        let (emoji, wide) = ("\u{1f600}", "\u{ff21}");
        for pages in [
            &[&["a", "a-b"][..], &["a/x", "b"]][..],
            &[&["a//b", "a/x"], &["a-b", "b"]],
            &[&[wide, emoji]],
            &[&[emoji], &[wide]],
            &[&[], &["a"], &[], &["b"]],
        ] {
            assert_eq!(run(pages), Ok(()), "{pages:?}");
        }
        for pages in [
            &[&["a", "a"][..]][..],
            &[&["b"], &["a"]],
            &[&["a//b"], &["a//b"]],
            &[&["a/"], &["a/"]],
            // Each pair of neighbors is ascending in one of the orders, but no order fits all pairs.
            &[&["a-b"], &["a/x"], &["a-b"]],
            &[&[emoji], &[wide], &[emoji]],
        ] {
            assert!(run(pages).is_err_and(|why| why.contains("in no order")), "{pages:?}");
        }
    }

    #[test]
    fn a_page_has_so_many_keys_and_no_more() {
        let page = |keys: usize| (0..keys).map(|key| entry(&format!("/{key:05}"))).collect::<String>();
        let run = |page: &str| sifted(page, &mut Course::default()).map(drop).map_err(|fault| fault.to_string());
        assert_eq!(run(&page(MOST)), Ok(()));
        for page in [page(MOST + 1), entry(&"x".repeat(6 * LONGEST_KEY + 1))] {
            assert!(run(&page).is_err_and(|why| why.contains("more than 5000 keys")));
        }
    }
}

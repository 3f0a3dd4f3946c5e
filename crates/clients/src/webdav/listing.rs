//! What a server answers to PROPFIND (RFC 4918, section 9.1).

use lanlab_files::{Entry, is_name};
use lanlab_wire::{percent, xml};

#[derive(Default)]
struct Response {
    href: String,
    is_directory: bool,
    size_bytes: Option<u64>,
}

/// The entries of the directory of which the path, encoded, is `of`: not itself.
///
/// # Errors
/// What cannot be understood in the answer.
pub fn parse(document: &[u8], of: &str) -> Result<Vec<Entry>, String> {
    let own = percent::decode(of).unwrap_or_default();
    let (mut entries, mut current) = (Vec::new(), Response::default());
    let mut wrong = None;
    xml::elements(document, |names, text| {
        let names: Vec<&str> = names.iter().map(String::as_str).collect();
        let text = text.trim();
        match names[..] {
            ["multistatus", "response", "href"] => text.clone_into(&mut current.href),
            ["multistatus", "response", "propstat", "prop", "resourcetype", "collection"] => {
                current.is_directory = true;
            }
            ["multistatus", "response", "propstat", "prop", "getcontentlength"]
                if !text.is_empty() =>
            {
                match text.parse() {
                    Ok(size_bytes) => current.size_bytes = Some(size_bytes),
                    Err(_) => {
                        wrong.get_or_insert(format!("length `{}`", text.escape_debug()));
                    }
                }
            }
            ["multistatus", "response"] => match entry(&std::mem::take(&mut current), &own) {
                Ok(found) => entries.extend(found),
                Err(found) => {
                    wrong.get_or_insert(found);
                }
            },
            _ => {}
        }
    })?;
    wrong.map_or(Ok(entries), Err)
}

/// One entry, unless it is the directory itself or not ours: we write only names of UTF-8.
fn entry(response: &Response, own: &str) -> Result<Option<Entry>, String> {
    // RFC 4918, section 8.3: a path, or a URL with one.
    let path = match response.href.split_once("://") {
        Some((_, rest)) => rest.find('/').map_or("/", |slash| &rest[slash..]),
        None => &response.href,
    };
    let Some(path) = percent::decode(path) else { return Ok(None) };
    if path.trim_end_matches('/') == own.trim_end_matches('/') {
        return Ok(None);
    }
    let name = path.trim_end_matches('/').rsplit('/').next().unwrap_or_default().to_owned();
    if !is_name(&name) {
        return Ok(None);
    }
    let size_bytes = match (response.is_directory, response.size_bytes) {
        (true, _) => 0,
        (false, Some(size_bytes)) => size_bytes,
        (false, None) => return Err(format!("no length of `{}`", name.escape_debug())),
    };
    Ok(Some(Entry { name, size_bytes, is_directory: response.is_directory }))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// As nginx 1.22 with dav-ext answers, cut to two entries; the second href as Apache writes it.
    const ANSWER: &str = r#"<?xml version="1.0" encoding="utf-8" ?>
<D:multistatus xmlns:D="DAV:">
<D:response><D:href>/a%20b/</D:href><D:propstat><D:prop>
<D:resourcetype><D:collection/></D:resourcetype></D:prop>
<D:status>HTTP/1.1 200 OK</D:status></D:propstat></D:response>
<D:response><D:href>http://host:81/a%20b/x&amp;%25.bin</D:href><D:propstat><D:prop>
<D:getcontentlength>17</D:getcontentlength><D:resourcetype></D:resourcetype></D:prop>
<D:status>HTTP/1.1 200 OK</D:status></D:propstat></D:response>
<D:response><D:href>/a%20b/in</D:href><D:propstat><D:prop><D:getcontentlength/>
<D:resourcetype><D:collection/></D:resourcetype></D:prop></D:propstat></D:response>
</D:multistatus>"#;

    #[test]
    fn a_directory_is_listed_without_itself() {
        let entries = parse(ANSWER.as_bytes(), "/a%20b/").unwrap();
        let file = Entry { name: "x&%.bin".to_owned(), size_bytes: 17, is_directory: false };
        let directory = Entry { name: "in".to_owned(), size_bytes: 0, is_directory: true };
        assert_eq!(entries, [file, directory]);
    }

    #[test]
    fn a_file_without_a_length_is_not_taken_for_an_empty_one() {
        let answer = ANSWER.replace("<D:getcontentlength>17</D:getcontentlength>", "");
        assert_eq!(parse(answer.as_bytes(), "/a%20b/").unwrap_err(), "no length of `x&%.bin`");
        let answer = ANSWER.replace("17", "-1");
        assert_eq!(parse(answer.as_bytes(), "/a%20b/").unwrap_err(), "length `-1`");
    }
}

//! Responses to PROPFIND (RFC 4918, section 9.1).

use lanlab_files::{Entry, is_name};
use lanlab_wire::{percent, xml};

#[derive(Default)]
struct Response {
    href: String,
    is_directory: bool,
    size_bytes: Option<u64>,
}

/// The entries of the directory with the encoded path `of`, without the directory itself.
pub fn parse(document: &[u8], of: &str) -> Result<Vec<Entry>, String> {
    let own = percent::decode(of).unwrap_or_default();
    let listed = responses(document)?;
    let itself = itself(&listed, &own);
    let others = listed.iter().enumerate().filter(|(place, _)| Some(*place) != itself);
    others.filter_map(|(_, (path, response))| entry(path, response).transpose()).collect()
}

/// The properties in the only response, for a request of depth 0.
pub fn parse_one(document: &[u8]) -> Result<Entry, String> {
    let listed = responses(document)?;
    let [(path, response)] = &listed[..] else {
        return Err(format!("{} responses; allowed: 1", listed.len()));
    };
    entry(path, response)?.ok_or_else(|| "a response without a name".to_owned())
}

/// Each response with its decoded path. Names are not kept: their number is the server's choice.
fn responses(document: &[u8]) -> Result<Vec<(String, Response)>, String> {
    let (mut listed, mut current) = (Vec::new(), Response::default());
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
            ["multistatus", "response"] => {
                let mut response = std::mem::take(&mut current);
                // Such a name is not ours, because we write only UTF-8 names.
                if let Some(path) = path(&std::mem::take(&mut response.href)) {
                    listed.push((path, response));
                }
            }
            _ => {}
        }
    })?;
    wrong.map_or(Ok(listed), Err)
}

/// The decoded path of an href (RFC 4918, section 8.3: a path, or a URL with one).
fn path(href: &str) -> Option<String> {
    percent::decode(match href.split_once("://") {
        Some((_, rest)) => rest.find('/').map_or("/", |slash| &rest[slash..]),
        None => href,
    })
}

fn names(path: &str) -> impl DoubleEndedIterator<Item = &str> {
    path.split('/').filter(|name| !matches!(*name, "" | "."))
}

fn lower(path: &str) -> impl Iterator<Item = String> {
    names(path).map(str::to_ascii_lowercase)
}

/// Find the directory's own entry. Behind a proxy that changes paths, its path differs from the
/// requested one. It is then the entry that contains all others, or the only one with its name.
fn itself(listed: &[(String, Response)], own: &str) -> Option<usize> {
    let same = |a: &str, b: &str| a.eq_ignore_ascii_case(b);
    if let Some(found) = listed.iter().position(|(path, _)| lower(path).eq(lower(own))) {
        return Some(found);
    }
    let (place, (path, response)) =
        listed.iter().enumerate().min_by_key(|(_, (path, _))| names(path).count())?;
    let mut others = listed.iter().enumerate().filter(|(other, _)| *other != place).peekable();
    let is_it = if others.peek().is_none() {
        names(path).next_back().zip(names(own).next_back()).is_none_or(|(a, b)| same(a, b))
    } else {
        others.all(|(_, (other, _))| names(other).rev().skip(1).eq(names(path).rev()))
    };
    (response.is_directory && is_it).then_some(place)
}

/// An entry, unless its name is invalid.
fn entry(path: &str, response: &Response) -> Result<Option<Entry>, String> {
    let Some(name) = names(path).next_back().filter(|name| is_name(name)) else { return Ok(None) };
    let size_bytes = match (response.is_directory, response.size_bytes) {
        (true, _) => 0,
        (false, Some(size_bytes)) => size_bytes,
        (false, None) => return Err(format!("no length of `{}`", name.escape_debug())),
    };
    Ok(Some(Entry { name: name.to_owned(), size_bytes, is_directory: response.is_directory }))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A response of nginx 1.22 with dav-ext, cut to two entries; the second href as Apache writes
    /// it.
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
    fn a_file_of_unknown_length_is_not_empty() {
        let answer = ANSWER.replace("<D:getcontentlength>17</D:getcontentlength>", "");
        assert_eq!(parse(answer.as_bytes(), "/a%20b/").unwrap_err(), "no length of `x&%.bin`");
        let answer = ANSWER.replace("17", "-1");
        assert_eq!(parse(answer.as_bytes(), "/a%20b/").unwrap_err(), "length `-1`");
    }

    /// Names of the entries of `/nas/own/` for a response with these hrefs; a trailing `/` marks a
    /// directory.
    fn listed(hrefs: &[&str]) -> Vec<String> {
        let response = |href: &&str| {
            let kind = if href.ends_with('/') { "<collection/>" } else { "" };
            format!(
                "<response><href>{href}</href><propstat><prop><resourcetype>{kind}</resourcetype>\
                 <getcontentlength>1</getcontentlength></prop></propstat></response>"
            )
        };
        let responses: String = hrefs.iter().map(response).collect();
        let answer = format!("<multistatus xmlns=\"DAV:\">{responses}</multistatus>");
        let entries = parse(answer.as_bytes(), "/nas/own/").unwrap();
        entries.into_iter().map(|entry| entry.name).collect()
    }

    #[test]
    fn a_directory_listed_under_another_name_is_not_its_own_entry() {
        for own in
            ["/nas/own/", "/own/", "/dav/own/", "http://inside:81/x/y/own/", "own/", "/NAS/own/"]
        {
            assert!(listed(&[own]).is_empty(), "{own}");
            let (file, below) = (format!("{own}file"), format!("{own}below/"));
            assert_eq!(listed(&[own, &file, &below]), ["file", "below"], "{own}");
            assert_eq!(listed(&[&file, own]), ["file"], "{own}");
        }
    }

    #[test]
    fn entries_of_a_server_that_omits_the_directory_itself_stay() {
        assert_eq!(listed(&["/nas/own/below/"]), ["below"]);
        assert_eq!(listed(&["/nas/own/file"]), ["file"]);
        assert_eq!(listed(&["/own/a", "/own/b/"]), ["a", "b"]);
    }
}

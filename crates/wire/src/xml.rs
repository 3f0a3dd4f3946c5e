//! A minimal XML reader for replies: elements by path, without name spaces.

use quick_xml::Reader;
use quick_xml::escape::resolve_predefined_entity;
use quick_xml::events::Event;

/// Maximum nesting of elements.
const MAX_DEPTH: usize = 32;

/// Call `visit` at the end of each element with the local names of the element and its ancestors,
/// outermost first, and the unmodified text directly in it.
///
/// # Errors
/// What is wrong with the document. Only XML's own entities (section 4.6) are allowed, so
/// reading cannot expand the document.
pub fn elements(document: &[u8], mut visit: impl FnMut(&[String], &str)) -> Result<(), String> {
    let mut reader = Reader::from_reader(document);
    reader.config_mut().expand_empty_elements = true;
    let (mut names, mut texts): (Vec<String>, Vec<String>) = (Vec::new(), Vec::new());
    let mut found_any = false;
    loop {
        let event = reader.read_event().map_err(|error| error.to_string())?;
        match event {
            Event::Start(element) => {
                if names.len() == MAX_DEPTH {
                    return Err(format!("elements more than {MAX_DEPTH} deep"));
                }
                names.push(utf8(element.local_name().as_ref())?.to_owned());
                texts.push(String::new());
                found_any = true;
            }
            Event::End(_) => {
                let text = texts.pop().unwrap_or_default();
                visit(&names, &text);
                names.pop();
            }
            Event::Text(text) => add(&mut texts, utf8(&text)?),
            Event::CData(text) => add(&mut texts, utf8(&text)?),
            Event::GeneralRef(reference) => {
                let character = reference.resolve_char_ref().map_err(|error| error.to_string())?;
                if let Some(character) = character {
                    add(&mut texts, character.encode_utf8(&mut [0; 4]));
                } else {
                    let name = utf8(&reference)?;
                    let meant = resolve_predefined_entity(name);
                    add(&mut texts, meant.ok_or_else(|| format!("entity `{name}`"))?);
                }
            }
            Event::Eof if names.is_empty() && found_any => return Ok(()),
            Event::Eof if !found_any => return Err("no XML".to_owned()),
            Event::Eof => return Err("the end within an element".to_owned()),
            Event::Empty(_) | Event::Comment(_) | Event::Decl(_) | Event::PI(_) => {}
            Event::DocType(_) => return Err("a document type; allowed: none".to_owned()),
        }
    }
}

fn utf8(octets: &[u8]) -> Result<&str, String> {
    std::str::from_utf8(octets).map_err(|_| "octets that are not UTF-8".to_owned())
}

fn add(texts: &mut [String], text: &str) {
    if let Some(innermost) = texts.last_mut() {
        innermost.push_str(text);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn all(document: &str) -> Result<Vec<(String, String)>, String> {
        let mut found = Vec::new();
        elements(document.as_bytes(), |names, text| found.push((names.join("/"), text.to_owned())))
            .map(|()| found)
    }

    #[test]
    fn elements_come_with_their_path_and_text() {
        let found =
            all("<?xml version='1.0'?><D:a xmlns:D='DAV:'> <D:b>x &amp;&#x79;</D:b><c/></D:a>");
        let pair = |a: &str, b: &str| (a.to_owned(), b.to_owned());
        assert_eq!(found.unwrap(), [pair("a/b", "x &y"), pair("a/c", ""), pair("a", " ")]);
    }

    #[test]
    fn incomplete_documents_are_refused() {
        let deep = "<a>".repeat(100);
        for bad in ["", "text", "<a>", "<a></b>", "<a>&x;</a>", "<!DOCTYPE a []><a/>", &deep] {
            assert!(all(bad).is_err(), "{bad}");
        }
    }

    proptest! {
        #[test]
        fn never_panics(document: Vec<u8>) {
            let _ = elements(&document, |_, _| {});
        }
    }
}

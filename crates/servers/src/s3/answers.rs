//! Responses: XML documents and common headers.

use std::fmt::{Display, Write as _};
use std::io;
use std::time::SystemTime;

use bytes::Bytes;
use http_body_util::combinators::UnsyncBoxBody;
use http_body_util::{BodyExt, Full};
use hyper::header::CONTENT_TYPE;
use hyper::http::response::Builder;
use hyper::{Response, StatusCode};
use lanlab_wire::calendar;

pub type Answer = Response<UnsyncBoxBody<Bytes, io::Error>>;

const NAME_SPACE: &str = "http://s3.amazonaws.com/doc/2006-03-01/";

pub fn empty(status: StatusCode) -> Answer {
    with_body(Response::builder().status(status), Bytes::new())
}

pub fn with_body(builder: Builder, body: impl Into<Bytes>) -> Answer {
    let body = Full::new(body.into()).map_err(|never| match never {}).boxed_unsync();
    built(builder, body)
}

pub fn built(builder: Builder, body: UnsyncBoxBody<Bytes, io::Error>) -> Answer {
    builder.body(body).unwrap_or_else(|_| {
        // A field that HTTP cannot represent.
        let mut answer =
            Response::new(Full::default().map_err(|never| match never {}).boxed_unsync());
        *answer.status_mut() = StatusCode::INTERNAL_SERVER_ERROR;
        answer
    })
}

pub fn document(name: &str, fill: impl FnOnce(&mut Document)) -> Answer {
    let mut document = Document::new();
    document.text.extend(["<", name, " xmlns=\"", NAME_SPACE, "\">"]);
    fill(&mut document);
    document.close(name);
    with_body(Response::builder().header(CONTENT_TYPE, "application/xml"), document.finish())
}

#[derive(Debug)]
pub struct Document {
    text: String,
}

impl Document {
    pub fn new() -> Self {
        Self { text: "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n".to_owned() }
    }

    pub fn open(&mut self, name: &str) {
        self.text.extend(["<", name, ">"]);
    }

    pub fn close(&mut self, name: &str) {
        self.text.extend(["</", name, ">"]);
    }

    pub fn text(&mut self, name: &str, text: &str) {
        self.open(name);
        for character in text.chars() {
            match character {
                '&' => self.text.push_str("&amp;"),
                '<' => self.text.push_str("&lt;"),
                '>' => self.text.push_str("&gt;"),
                '"' => self.text.push_str("&quot;"),
                // XML 1.0 cannot represent most of these; S3 writes them like this anyway.
                control if control.is_ascii_control() => {
                    let _ = write!(self.text, "&#x{:X};", u32::from(control));
                }
                other => self.text.push(other),
            }
        }
        self.close(name);
    }

    pub fn value<T: Display + Copy>(&mut self, name: &str, value: T) {
        self.text(name, &value.to_string());
    }

    pub fn moment(&mut self, name: &str, moment: SystemTime) {
        let since = moment.duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
        self.text(name, &calendar::extended(since.as_millis() as u64));
    }

    pub fn etag(&mut self, etag: &str) {
        self.text("ETag", &format!("\"{etag}\""));
    }

    pub fn finish(self) -> String {
        self.text
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use lanlab_wire::xml;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn written_data_is_read_back(text in "[^\0\u{fffe}\u{ffff}]*") {
            let mut document = Document::new();
            document.text("Key", &text);
            let mut read = None;
            let whole = document.finish();
            xml::elements(whole.as_bytes(), |_, found| read = Some(found.to_owned())).unwrap();
            prop_assert_eq!(read, Some(text));
        }
    }
}

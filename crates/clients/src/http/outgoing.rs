//! A request: the content of its header, and its body.

use bytes::Bytes;
use hyper::header::{CONTENT_LENGTH, HOST, HeaderValue};
use hyper::http::request::{Builder, Parts};
use hyper::{Method, Request};
use lanlab_files::{Class, Fault, Result};

#[derive(Debug)]
pub enum Outgoing {
    Whole(Option<Bytes>),
    Parts(u64),
}

impl Outgoing {
    pub fn nothing() -> Self {
        Self::Whole(None)
    }

    pub fn size_bytes(&self) -> u64 {
        match self {
            Self::Whole(data) => data.as_ref().map_or(0, |data| data.len() as u64),
            Self::Parts(size_bytes) => *size_bytes,
        }
    }

    pub fn at_hand(&self) -> &[u8] {
        match self {
            Self::Whole(Some(data)) => data,
            Self::Whole(None) | Self::Parts(_) => &[],
        }
    }
}

pub fn whole_request(what: &str, request: Builder, body: Outgoing) -> Result<Request<Outgoing>> {
    request
        .body(body)
        .map_err(|error| Fault::new(Class::Name, format!("{what}: no request of HTTP: {error}")))
}

/// Write the header of a request (RFC 9112, sections 3 and 5) with a body of `size_bytes`.
pub fn write_head(head: &mut Vec<u8>, parts: &Parts, host: &HeaderValue, size_bytes: u64) {
    let path = parts.uri.path_and_query().map_or("/", |path| path.as_str());
    for piece in [parts.method.as_str(), " ", path, " HTTP/1.1\r\n"] {
        head.extend_from_slice(piece.as_bytes());
    }
    let mut field = |name: &[u8], value: &[u8]| {
        for piece in [name, b": ", value, b"\r\n"] {
            head.extend_from_slice(piece);
        }
    };
    field(HOST.as_ref(), host.as_bytes());
    for (name, value) in &parts.headers {
        field(name.as_ref(), value.as_bytes());
    }
    if size_bytes > 0 || !matches!(parts.method, Method::GET | Method::HEAD) {
        field(CONTENT_LENGTH.as_ref(), size_bytes.to_string().as_bytes());
    }
    head.extend_from_slice(b"\r\n");
}

#[cfg(test)]
mod tests {
    use super::*;

    fn head(request: Builder, size_bytes: u64) -> String {
        let parts = request.body(()).unwrap().into_parts().0;
        let mut head = Vec::new();
        write_head(&mut head, &parts, &HeaderValue::from_static("nas:8080"), size_bytes);
        String::from_utf8(head).unwrap()
    }

    #[test]
    fn request_heads_have_the_expected_bytes() {
        let put = Request::builder().method("PUT").uri("/a%20b?x=1").header("If-None-Match", "*");
        let expected = "PUT /a%20b?x=1 HTTP/1.1\r\nhost: nas:8080\r\nif-none-match: *\r\n\
                        content-length: 7\r\n\r\n";
        assert_eq!(head(put, 7), expected);
        let put = Request::builder().method("PUT").uri("/");
        assert!(head(put, 0).contains("content-length: 0\r\n"), "RFC 9110, section 8.6");
        let get = Request::builder().uri("/");
        assert_eq!(head(get, 0), "GET / HTTP/1.1\r\nhost: nas:8080\r\n\r\n");
    }
}

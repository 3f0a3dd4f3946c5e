//! `WebDAV`: dav-server for what concerns names and directories and for PUT; files are given out by
//! ourselves, because dav-server reads 16 KiB at a time and fills up with zeros when a file becomes
//! shorter while it is sent.

use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use base64::Engine;
use base64::prelude::BASE64_STANDARD;
use dav_server::localfs::LocalFs;
use dav_server::{DavHandler, DavMethod, DavMethodSet};
use http_body_util::BodyExt;
use http_body_util::combinators::UnsyncBoxBody;
use hyper::header::{
    ACCEPT_RANGES, AUTHORIZATION, CONTENT_RANGE, HeaderValue, RANGE, WWW_AUTHENTICATE,
};
use hyper::{Method, Request, Response, StatusCode};

use super::http::{self, FileBody, Lingering, confined, octets_asked};
use crate::clients::http::percent;
use crate::fault::Result;
use crate::servers::{Bounds, Offer, Serving, login};
use crate::target::ServiceKind;

type Body = UnsyncBoxBody<bytes::Bytes, io::Error>;

/// What is served, to whom.
struct Served {
    root: PathBuf,
    authorization: Option<String>,
    dav: DavHandler,
    read_only: bool,
}

/// Begin to serve.
pub fn serve(offer: &Offer, bounds: &Bounds) -> Result<Serving> {
    let mut allowed = DavMethodSet::none();
    let looking = [DavMethod::Options, DavMethod::PropFind];
    for method in looking.into_iter().chain([DavMethod::Put, DavMethod::MkCol, DavMethod::Delete]) {
        allowed.add(method);
    }
    let dav = DavHandler::builder()
        .filesystem(LocalFs::new(&offer.root, true, false, false))
        .methods(allowed)
        .build_handler();
    let authorization = offer.credentials.as_ref().map(|credentials| {
        let pair = format!("{}:{}", credentials.user, credentials.secret);
        format!("Basic {}", BASE64_STANDARD.encode(pair))
    });
    let served = Arc::new(Served {
        root: offer.root.clone(),
        authorization,
        dav,
        read_only: offer.read_only,
    });
    let with_tls = offer.service == ServiceKind::Webdavs;
    http::serve(offer, bounds, with_tls, None, move |request| {
        let served = Arc::clone(&served);
        async move { served.answer(request).await }
    })
}

impl Served {
    async fn answer(&self, request: Request<Lingering>) -> Response<Body> {
        let given = request.headers().get(AUTHORIZATION).map(HeaderValue::as_bytes);
        if let Some(wanted) = &self.authorization
            && !given.is_some_and(|given| is_same(given, wanted.as_bytes()))
        {
            if given.is_some() {
                tokio::time::sleep(login::DELAY).await;
            }
            let mut answer = plain(StatusCode::UNAUTHORIZED);
            let scheme = HeaderValue::from_static("Basic realm=\"lanlab\", charset=\"UTF-8\"");
            answer.headers_mut().insert(WWW_AUTHENTICATE, scheme);
            return answer;
        }
        http::admit(request.extensions());
        let Some(names) = percent::decode(request.uri().path()) else {
            return plain(StatusCode::BAD_REQUEST);
        };
        let root = self.root.clone();
        if matches!(*request.method(), Method::GET | Method::HEAD) {
            let is_head = request.method() == Method::HEAD;
            let range = request.headers().get(RANGE).and_then(|range| range.to_str().ok());
            let range = range.map(str::to_owned);
            return blocking(move || give(&root, &names, range.as_deref(), is_head)).await;
        }
        if self.read_only && !matches!(request.method().as_str(), "OPTIONS" | "PROPFIND") {
            return plain(StatusCode::FORBIDDEN);
        }
        let is_root = names.bytes().all(|octet| octet == b'/');
        let method = request.method().clone();
        let looked = tokio::task::spawn_blocking(move || {
            let path = confined(&root, &names)?;
            Ok(method != Method::PUT || path.parent().is_some_and(Path::is_dir))
        });
        match looked.await {
            // What is served cannot be taken away.
            Ok(Ok(_)) if is_root && request.method() == Method::DELETE => {
                plain(StatusCode::FORBIDDEN)
            }
            Ok(Ok(true)) => self.dav.handle(request).await.map(BodyExt::boxed_unsync),
            // RFC 4918, section 9.7.1; dav-server would say 412, as if the file were there.
            Ok(Ok(false)) => plain(StatusCode::CONFLICT),
            Ok(Err(error)) => plain(status(&error)),
            Err(_) => plain(StatusCode::INTERNAL_SERVER_ERROR),
        }
    }
}

async fn blocking(
    work: impl FnOnce() -> io::Result<Response<Body>> + Send + 'static,
) -> Response<Body> {
    match tokio::task::spawn_blocking(work).await {
        Ok(Ok(answer)) => answer,
        Ok(Err(error)) => plain(status(&error)),
        Err(_) => plain(StatusCode::INTERNAL_SERVER_ERROR),
    }
}

/// A file, or the one range of it that was asked for; more than one range may be answered by all of
/// it (RFC 9110, section 14.2).
fn give(
    root: &Path,
    names: &str,
    range: Option<&str>,
    is_head: bool,
) -> io::Result<Response<Body>> {
    let file = std::fs::File::open(confined(root, names)?)?;
    let found = file.metadata()?;
    if !found.is_file() {
        return Ok(plain(StatusCode::METHOD_NOT_ALLOWED));
    }
    let size_bytes = found.len();
    let (status, first, count) = match range.and_then(|range| octets_asked(range, size_bytes)) {
        None => (StatusCode::OK, 0, size_bytes),
        Some((first, last)) if first <= last => {
            (StatusCode::PARTIAL_CONTENT, first, last - first + 1)
        }
        Some(_) => {
            let mut answer = plain(StatusCode::RANGE_NOT_SATISFIABLE);
            if let Ok(value) = HeaderValue::from_str(&format!("bytes */{size_bytes}")) {
                answer.headers_mut().insert(CONTENT_RANGE, value);
            }
            return Ok(answer);
        }
    };
    let mut builder = Response::builder().status(status).header(ACCEPT_RANGES, "bytes");
    if status == StatusCode::PARTIAL_CONTENT {
        let range = format!("bytes {first}-{}/{size_bytes}", first + count - 1);
        builder = builder.header(CONTENT_RANGE, range);
    }
    builder = builder.header(hyper::header::CONTENT_LENGTH, count);
    let body = if is_head { FileBody::empty() } else { FileBody::new(file, first, count)? };
    builder.body(body.boxed_unsync()).map_err(io::Error::other)
}

fn plain(status: StatusCode) -> Response<Body> {
    let mut answer = Response::new(FileBody::empty().boxed_unsync());
    *answer.status_mut() = status;
    answer
}

fn status(error: &io::Error) -> StatusCode {
    use io::ErrorKind as K;
    match error.kind() {
        K::NotFound | K::NotADirectory => StatusCode::NOT_FOUND,
        K::PermissionDenied | K::ReadOnlyFilesystem => StatusCode::FORBIDDEN,
        K::InvalidFilename | K::InvalidInput => StatusCode::URI_TOO_LONG,
        _ => StatusCode::INTERNAL_SERVER_ERROR,
    }
}

/// Whether octets are the same, in a time that tells nothing of where they are not.
fn is_same(given: &[u8], wanted: &[u8]) -> bool {
    let differing = given.iter().zip(wanted).fold(0, |all, (one, other)| all | (one ^ other));
    given.len() == wanted.len() && differing == 0
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_password_is_the_same_or_not() {
        assert!(is_same(b"abc", b"abc"));
        for other in [&b""[..], b"ab", b"abd", b"abcd"] {
            assert!(!is_same(other, b"abc"));
        }
    }
}

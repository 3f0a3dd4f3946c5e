//! `WebDAV` (RFC 4918, classes 1, 2 and 3). dav-server handles names, directories, locks, properties and PUT. GET
//! is our own, because dav-server reads 16 KiB at a time and pads with zeros if a file shrinks while being sent.
//!
//! Requests that dav-server would mishandle are refused first: destinations on other servers, directories copied
//! into themselves or over their parents, and endlessly nested documents.

use std::io;
use std::sync::Arc;
use std::sync::atomic::Ordering;

use base64::Engine;
use base64::prelude::BASE64_STANDARD;
use dav_server::{DavConfig, DavHandler, DavMethod, DavMethodSet};
use http_body_util::combinators::UnsyncBoxBody;
use http_body_util::{BodyExt, Full};
use hyper::header::{AUTHORIZATION, HeaderName, HeaderValue, WWW_AUTHENTICATE};
use hyper::{Method, Request, Response, StatusCode};
use lanlab_files::{Result, ServiceKind};
use lanlab_wire::percent;
use subtle::ConstantTimeEq;

use super::http::{self, FileBody, Lingering};
use crate::visits::READ_ONLY;
use crate::{Bounds, Offer, Serving, login};
use lanlab_served::{Confined, Names};

mod destination;
mod documents;
mod errors;
mod facts;
mod files;
mod get;
mod locks;
mod opened;
mod properties;

use destination::Ways;
use documents::Document;
use files::Files;
use locks::Locks;
use properties::Properties;

type Body = UnsyncBoxBody<bytes::Bytes, io::Error>;

const LOOKING: [DavMethod; 4] =
    [DavMethod::Options, DavMethod::PropFind, DavMethod::Get, DavMethod::Head];

const CHANGING: [DavMethod; 8] = [
    DavMethod::Put,
    DavMethod::MkCol,
    DavMethod::Delete,
    DavMethod::Copy,
    DavMethod::Move,
    DavMethod::PropPatch,
    DavMethod::Lock,
    DavMethod::Unlock,
];

struct Served {
    confined: Confined,
    authorization: Option<String>,
    user: Option<String>,
    dav: DavHandler,
    files: Files,
    properties: Arc<Properties>,
    read_only: bool,
}

pub fn serve(offer: &Offer, bounds: &Bounds) -> Result<Serving> {
    let mut allowed = DavMethodSet::none();
    let changing = CHANGING.into_iter().filter(|_| !offer.read_only);
    for method in LOOKING.into_iter().chain(changing) {
        allowed.add(method);
    }
    let properties = Arc::new(Properties::default());
    let confined = crate::confined(offer)?;
    let files = Files::new(confined.clone(), Arc::clone(&properties));
    let mut dav = DavHandler::builder().filesystem(Box::new(files.clone())).methods(allowed);
    if !offer.read_only {
        dav = dav.locksystem(Box::new(Locks::default()));
    }
    let authorization = offer.credentials.as_ref().map(|credentials| {
        let pair = format!("{}:{}", credentials.user, credentials.secret);
        format!("Basic {}", BASE64_STANDARD.encode(pair))
    });
    let served = Arc::new(Served {
        confined,
        authorization,
        user: offer.credentials.as_ref().map(|credentials| credentials.user.clone()),
        dav: dav.build_handler(),
        files,
        properties,
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
            && !given.is_some_and(|given| bool::from(given.ct_eq(wanted.as_bytes())))
        {
            if given.is_some() {
                if let Some(visitor) = http::visitor(request.extensions()) {
                    visitor.refused("wrong password or user");
                }
                tokio::time::sleep(login::DELAY).await;
            }
            let mut answer = plain(StatusCode::UNAUTHORIZED);
            let scheme = HeaderValue::from_static("Basic realm=\"lanlab\", charset=\"UTF-8\"");
            answer.headers_mut().insert(WWW_AUTHENTICATE, scheme);
            return answer;
        }
        http::admit(request.extensions(), request.headers(), self.user.as_deref());
        let Some(names) = percent::decode(request.uri().path()) else {
            return plain(StatusCode::BAD_REQUEST);
        };
        match request.method().as_str() {
            "GET" | "HEAD" => {
                let is_head = request.method() == Method::HEAD;
                get::get(&self.confined, &names, request.headers(), is_head)
                    .unwrap_or_else(|error| plain(status(&error)))
            }
            "OPTIONS" => self.options(request).await,
            "PROPFIND" => self.with_document(request, names).await,
            _ if self.read_only => {
                if let Some(visitor) = http::visitor(request.extensions()) {
                    visitor.refused(READ_ONLY);
                }
                plain(StatusCode::FORBIDDEN)
            }
            "PROPPATCH" | "LOCK" => self.with_document(request, names).await,
            "COPY" | "MOVE" => self.carry(request, names).await,
            _ => self.change(request, names).await,
        }
    }

    async fn change(&self, request: Request<Lingering>, names: String) -> Response<Body> {
        let names = match judged(&self.confined, &names) {
            Ok(names) => names,
            Err(status) => return plain(status),
        };
        // The served directory itself cannot be removed.
        if names.is_empty() && request.method() == Method::DELETE {
            return plain(StatusCode::FORBIDDEN);
        }
        let above = names.split_last().map(|(_, above)| above);
        let is_directory =
            |above: &[String]| self.confined.metadata(above).is_ok_and(|found| found.is_dir());
        if request.method() == Method::PUT && !above.is_some_and(is_directory) {
            // RFC 4918, section 9.7.1; dav-server would return 412, as if the file existed.
            return plain(StatusCode::CONFLICT);
        }
        self.pass(request).await
    }

    async fn options(&self, request: Request<Lingering>) -> Response<Body> {
        let mut answer = self.pass(request).await;
        // A server without locks is not of class 2 (section 18.2).
        let classes = if self.read_only { "1, 3" } else { "1, 2, 3" };
        let name = HeaderName::from_static("dav");
        if answer.headers().contains_key(&name) {
            answer.headers_mut().insert(name, HeaderValue::from_static(classes));
        }
        answer
    }

    async fn carry(&self, mut request: Request<Lingering>, names: String) -> Response<Body> {
        let ways = match Ways::of(&names, request.headers()) {
            Ok(ways) => ways,
            Err(status) => return plain(status),
        };
        for names in [ways.from(), ways.to()] {
            if let Err(status) = judged(&self.confined, &names) {
                return plain(status);
            }
        }
        // Pass on the checked path, however dav-server would have parsed the original.
        let Ok(to) = HeaderValue::from_str(&percent::encode(&ways.to())) else {
            return plain(StatusCode::BAD_REQUEST);
        };
        request.headers_mut().insert(destination::FIELD, to);
        let is_copy = request.method().as_str() == "COPY";
        let mut answer = self.pass(request).await;
        if is_copy && answer.status().is_success() {
            ways.carry_properties(&self.properties);
        }
        if answer.status() == StatusCode::METHOD_NOT_ALLOWED {
            // Another client created it after dav-server's check (section 9.9.4).
            *answer.status_mut() = StatusCode::PRECONDITION_FAILED;
        }
        answer
    }

    async fn with_document(&self, request: Request<Lingering>, names: String) -> Response<Body> {
        let names = match judged(&self.confined, &names) {
            Ok(names) => names,
            Err(status) => return plain(status),
        };
        let (mut head, body) = request.into_parts();
        let is_deep = |depth: &HeaderValue| depth.as_bytes().eq_ignore_ascii_case(b"infinity");
        if head.headers.get("depth").is_none_or(is_deep) && head.method.as_str() == "PROPFIND" {
            // Without `Depth`, dav-server omits the resource itself; without `x-litmus` it refuses `infinity`.
            head.headers.insert("depth", HeaderValue::from_static("infinity"));
            head.headers.insert("x-litmus", HeaderValue::from_static("depth"));
        }
        let document = match Document::read(&head.method, body).await {
            Ok(document) => document,
            Err(status) => return plain(status),
        };
        let times = document.times();
        let is_listing = head.method.as_str() == "PROPFIND";
        let request = Request::from_parts(head, Full::new(document.octets()));
        if is_listing {
            let (files, is_broken) = self.files.listed();
            let config = DavConfig::new().filesystem(Box::new(files));
            // An error instead of trailers breaks the connection off.
            let end = async move {
                let is_broken = is_broken.load(Ordering::Relaxed);
                is_broken.then(|| Err(io::Error::other("the listing is incomplete")))
            };
            let answer = self.dav.handle_with(config, request).await;
            return answer.map(|body| body.with_trailers(end).boxed_unsync());
        }
        let answer = self.dav.handle(request).await.map(BodyExt::boxed_unsync);
        match times {
            Some(times) => documents::set_times(&self.confined, &names, times, answer).await,
            None => answer,
        }
    }

    async fn pass(&self, request: Request<Lingering>) -> Response<Body> {
        self.dav.handle(request).await.map(BodyExt::boxed_unsync)
    }
}

/// The names of a path without symbolic links.
fn judged(confined: &Confined, path: &str) -> std::result::Result<Names, StatusCode> {
    let names = Confined::plain_names(path).map_err(|error| status(&error))?;
    match confined.metadata_of_any(&names) {
        Ok(found) if found.is_symlink() => Err(StatusCode::FORBIDDEN),
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(status(&error)),
        _ => Ok(names),
    }
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
        // The system's own refusal is ENAMETOOLONG.
        K::InvalidFilename if error.raw_os_error().is_some() => StatusCode::URI_TOO_LONG,
        K::InvalidFilename | K::InvalidInput => StatusCode::BAD_REQUEST,
        _ => StatusCode::INTERNAL_SERVER_ERROR,
    }
}

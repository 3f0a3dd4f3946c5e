//! HTTP with `WebDAV` methods (RFC 4918). A server without them can serve files for reading.
//!
//! A file is written by one PUT with its whole length, and read by one GET as a stream. Reads out
//! of order request ranges, one request each. Every request is authenticated: by Digest (RFC 7616)
//! if the server supports it, otherwise by Basic (RFC 7617), which does not protect the password
//! without TLS.

use base64::Engine;
use base64::prelude::BASE64_STANDARD;
use hyper::header::{
    AUTHORIZATION, CONTENT_TYPE, HeaderName, HeaderValue, IF_NONE_MATCH, LOCATION, WWW_AUTHENTICATE,
};
use hyper::http::request::Builder;
use hyper::{Method, Request, StatusCode};
use lanlab_files::{
    self as files, Access, Class, Credentials, Entry, Facts, Fault, Result, ServiceKind,
    ServicePath, Target, TransferCapabilities,
};
use lanlab_wire::percent;

use digest::Digest;

use crate::http::{
    self, Answer, BLOCK_BYTES, Download, Http, LISTING_BYTES, Outgoing, REFUSAL_BYTES, Upload,
};

mod digest;
pub mod listing;

const PROPFIND: &str = concat!(
    r#"<?xml version="1.0" encoding="utf-8"?>"#,
    r#"<propfind xmlns="DAV:"><prop><resourcetype/><getcontentlength/></prop></propfind>"#
);

#[derive(Debug)]
pub struct Session {
    http: Http,
    base: String,
    authorization: Authorization,
    is_let_in: bool,
    has_dav: bool,
}

#[derive(Debug)]
enum Authorization {
    None,
    Basic(HeaderValue),
    Digest(Box<Digest>),
}

#[derive(Debug)]
pub enum File {
    Read(Download, ServicePath),
    Write(Upload),
}

pub async fn connect(target: &Target) -> Result<Session> {
    let http = Http::new(target, target.service == ServiceKind::Webdavs)?;
    let base = match target.directory.trim_matches('/') {
        "" => "/".to_owned(),
        directory => {
            let bad = |bad: lanlab_files::BadPath| Fault::new(Class::Name, bad.message);
            format!("/{}/", percent::encode(ServicePath::new(directory).map_err(bad)?.as_str()))
        }
    };
    let authorization = Authorization::None;
    let mut session = Session { http, base, authorization, is_let_in: false, has_dav: true };
    let what = format!("PROPFIND {}", session.base);
    // Neither scheme supports every user name.
    let basic = target.credentials.as_ref().map(basic).transpose()?;
    // A request without a password gets the server's challenge.
    let mut answer = session.propfind(&what, &session.base, "0").await?;
    if let (Some(who), Some(basic)) = (&target.credentials, basic) {
        let basic = Authorization::Basic(basic);
        if answer.status() == StatusCode::UNAUTHORIZED {
            session.authorization = session.way_in(&what, answer, who, basic).await?;
            answer = session.propfind(&what, &session.base, "0").await?;
        } else if answer.status() == StatusCode::MULTI_STATUS {
            answer.whole(&session.http, &what, LISTING_BYTES).await?;
            session.authorization = session.later_way_in(who, basic).await?;
            answer = session.propfind(&what, &session.base, "0").await?;
        } else {
            session.authorization = basic;
        }
    }
    match answer.status().as_u16() {
        207 => {
            answer.whole(&session.http, &what, LISTING_BYTES).await?;
        }
        // Servers without WebDAV do not know the method, or forbid all unknown methods.
        400 | 403 | 405 | 501 => {
            let status = answer.status();
            let text = answer.whole(&session.http, &what, LISTING_BYTES).await?;
            let refusal = session.refusal(&what, status, &text);
            // Plain HTTP at a port for TLS.
            if status == StatusCode::BAD_REQUEST && refusal.hint.is_some() {
                return Err(refusal);
            }
            session.has_dav = false;
        }
        _ => return Err(session.refused(&what, answer).await),
    }
    session.is_let_in = true;
    Ok(session)
}

impl Session {
    /// Without PROPFIND, removing a directory could remove unlisted contents. So all files are in
    /// one directory on such servers: `+-` in a name stands for `/`, and `++` for `+`.
    fn at(&self, path: &ServicePath) -> String {
        let path = path.as_str();
        if self.has_dav {
            return format!("{}{}", self.base, percent::encode(path));
        }
        let flat = path.replace('+', "++").replace('/', "+-");
        format!("{}{}", self.base, percent::encode(&flat))
    }

    /// The login scheme, from the challenge of a server that refused a request without a password.
    async fn way_in(
        &self,
        what: &str,
        answer: Answer,
        who: &Credentials,
        basic: Authorization,
    ) -> Result<Authorization> {
        let offered = digest::challenges(challenge_fields(&answer));
        let digest = Digest::of(&offered, who);
        let takes_basic = offered.is_empty() || digest::takes_basic(&offered);
        let found = digest::names(&offered);
        answer.reason(&self.http, what).await?;
        match digest {
            Some(digest) => Ok(Authorization::Digest(Box::new(digest))),
            None if takes_basic => Ok(basic),
            None => {
                let message = format!(
                    "{what}: the server wants {found}; spoken: Digest (MD5, SHA-256, SHA-512-256), Basic"
                );
                Err(Fault::new(Class::Login, message).hint("have the server take one of these"))
            }
        }
    }

    /// The login scheme of a server that allows anonymous reading. It is read from the response to
    /// a write request that changes nothing, because the directory exists already (RFC 4918,
    /// section 9.3.1).
    async fn later_way_in(&self, who: &Credentials, basic: Authorization) -> Result<Authorization> {
        let what = format!("MKCOL {}", self.base);
        let answer = self.ask(&what, method("MKCOL"), &self.base).await?;
        if answer.status() == StatusCode::UNAUTHORIZED {
            return self.way_in(&what, answer, who, basic).await;
        }
        answer.reason(&self.http, &what).await?;
        Ok(basic)
    }

    fn request(&self, method: Method, uri: &str) -> Result<Builder> {
        let value = match &self.authorization {
            Authorization::None => None,
            Authorization::Basic(value) => Some(value.clone()),
            Authorization::Digest(digest) => Some(digest.authorization(method.as_str(), uri)?),
        };
        let builder = Request::builder().method(method).uri(uri);
        Ok(match value {
            Some(value) => builder.header(AUTHORIZATION, value),
            None => builder,
        })
    }

    async fn ask(&self, what: &str, verb: Method, uri: &str) -> Result<Answer> {
        let make =
            || http::whole_request(what, self.request(verb.clone(), uri)?, Outgoing::nothing());
        self.made(what, make).await
    }

    /// Make a request, and repeat it once if the server only needs a newer nonce.
    async fn made(
        &self,
        what: &str,
        make: impl Fn() -> Result<Request<Outgoing>>,
    ) -> Result<Answer> {
        let answer = self.http.ask(what, make()?).await?;
        if !self.renews(&answer) {
            return Ok(answer);
        }
        answer.reason(&self.http, what).await?;
        self.http.ask(what, make()?).await
    }

    /// Whether a response only says that the Digest nonce is stale; if so, replace the nonce.
    fn renews(&self, answer: &Answer) -> bool {
        match &self.authorization {
            Authorization::Digest(digest) if answer.status() == StatusCode::UNAUTHORIZED => {
                digest.renew(&digest::challenges(challenge_fields(answer)))
            }
            _ => false,
        }
    }

    async fn settle(&self, what: &str, answer: Answer, good: &[u16]) -> Result<()> {
        if !good.contains(&answer.status().as_u16()) {
            return Err(self.refused(what, answer).await);
        }
        answer.whole(&self.http, what, REFUSAL_BYTES).await.map(drop)
    }

    async fn propfind(&self, what: &str, uri: &str, depth: &'static str) -> Result<Answer> {
        let make = || {
            let request = self
                .request(method("PROPFIND"), uri)?
                .header(HeaderName::from_static("depth"), depth)
                .header(CONTENT_TYPE, "application/xml; charset=utf-8");
            http::whole_request(what, request, Outgoing::Whole(Some(PROPFIND.into())))
        };
        self.made(what, make).await
    }

    async fn refused(&self, what: &str, answer: Answer) -> Fault {
        let status = answer.status();
        let elsewhere = answer.header(LOCATION).filter(|_| status.is_redirection());
        let elsewhere = elsewhere.map(shown);
        let fault = match answer.reason(&self.http, what).await {
            Ok(text) => self.refusal(what, status, &text),
            Err(fault) => return fault,
        };
        match elsewhere {
            Some(hint) => fault.hint(hint),
            // The server sent the HTML page of a directory.
            None if status == StatusCode::OK => fault.hint("give the path of its WebDAV directory"),
            None => fault,
        }
    }

    fn refusal(&self, what: &str, status: StatusCode, text: &[u8]) -> Fault {
        let fault = http::refusal(what, status, text);
        if fault.class != Class::Login {
            return fault;
        }
        match &self.authorization {
            Authorization::None => fault.hint("name a user, as in `webdav://USER@HOST/`"),
            Authorization::Basic(_) => {
                fault.hint("the server rejected the user name or password (Basic scheme)")
            }
            // A file is not sent twice here; the caller retries as after a closed connection.
            Authorization::Digest(_) if self.is_let_in => {
                Fault::new(Class::Reset, format!("{what}: the server wants a new nonce of Digest"))
            }
            Authorization::Digest(digest) => {
                let scheme = digest.name();
                fault.hint(format!(
                    "the server rejected the user name or password ({scheme} scheme)"
                ))
            }
        }
    }

    fn needs_dav(&self, what: &str) -> Result<()> {
        if self.has_dav {
            return Ok(());
        }
        let message = format!("{what}: the server does not speak WebDAV");
        Err(Fault::new(Class::Unsupported, message))
    }

    async fn properties<T>(
        &self,
        (what, uri, depth): (&str, &str, &'static str),
        parse: impl FnOnce(&[u8]) -> std::result::Result<T, String>,
    ) -> Result<T> {
        self.needs_dav(what)?;
        let answer = self.propfind(what, uri, depth).await?;
        if answer.status() != StatusCode::MULTI_STATUS {
            return Err(self.refused(what, answer).await);
        }
        let text = answer.whole(&self.http, what, LISTING_BYTES).await?;
        parse(&text).map_err(|found| Fault::new(Class::Protocol, format!("{what}: found {found}")))
    }

    async fn list_at(&self, what: &str, uri: &str) -> Result<Vec<Entry>> {
        self.properties((what, uri, "1"), |text| listing::parse(text, uri)).await
    }
}

fn basic(credentials: &Credentials) -> Result<HeaderValue> {
    // RFC 7617, section 2: the first colon ends the user name.
    if credentials.user.contains(':') {
        let message = format!("user `{}`: found a colon; allowed: none", credentials.user);
        return Err(Fault::new(Class::Login, message));
    }
    let pair = format!("{}:{}", credentials.user, credentials.secret);
    let value = format!("Basic {}", BASE64_STANDARD.encode(pair));
    let mut value = HeaderValue::from_str(&value)
        .map_err(|error| Fault::new(Class::Login, format!("name and password: {error}")))?;
    value.set_sensitive(true);
    Ok(value)
}

fn challenge_fields(answer: &Answer) -> impl Iterator<Item = &str> {
    answer.headers(WWW_AUTHENTICATE)
}

fn shown(place: &str) -> String {
    let place: String = place.chars().filter(|one| !one.is_control()).take(300).collect();
    if place.starts_with("https:") {
        return format!("it is at `{place}`: ask there, over TLS, by `webdavs://`");
    }
    if place.contains('?') {
        return format!(
            "it sends to `{place}`, as browsers are: give the path where it has WebDAV"
        );
    }
    if place.starts_with('/') {
        return format!("it is at `{place}` of the same server: give that as the path of the URL");
    }
    format!("it is at `{place}`: give that as the URL, with `webdav://` for `http://`")
}

fn method(verb: &str) -> Method {
    Method::from_bytes(verb.as_bytes()).unwrap_or_default()
}

impl files::Session for Session {
    type File = File;

    fn capabilities(&self) -> TransferCapabilities {
        TransferCapabilities::stream(BLOCK_BYTES, true)
    }

    fn has_directories(&self) -> bool {
        self.has_dav
    }

    fn facts(&self) -> Facts {
        let protocol = if self.has_dav { "HTTP/1.1, WebDAV" } else { "HTTP/1.1" };
        let protocol = self.http.named(protocol);
        let facts = Facts::new(&protocol, &self.http.protection(), Some(true));
        Facts { server: self.http.server(), ..facts }
    }

    async fn open(&self, path: &ServicePath, access: Access) -> Result<File> {
        let uri = self.at(path);
        match access {
            Access::Read => {
                let what = format!("GET {path}");
                let answer = self.ask(&what, Method::GET, &uri).await?;
                if answer.status() != StatusCode::OK {
                    return Err(self.refused(&what, answer).await);
                }
                Ok(File::Read(Download::new(what, answer), path.clone()))
            }
            Access::Create { size_bytes } | Access::Replace { size_bytes } => {
                let what = format!("PUT {path}");
                let mut request = self.request(Method::PUT, &uri)?;
                if matches!(access, Access::Create { .. }) {
                    request = request.header(IF_NONE_MATCH, "*");
                }
                let upload = Upload::begin(&self.http, what, request, size_bytes).await?;
                Ok(File::Write(upload))
            }
            Access::Update => {
                let message = format!("{path}: HTTP writes whole files only");
                Err(Fault::new(Class::Unsupported, message))
            }
        }
    }

    async fn read_at(&self, file: &File, offset: u64, buffer: &mut [u8]) -> Result<usize> {
        let File::Read(download, path) = file else {
            return Err(Fault::new(Class::Unsupported, "a file that is written cannot be read"));
        };
        let request = || self.request(Method::GET, &self.at(path));
        let refused = |status, text: &[u8]| self.refusal(&format!("GET {path}"), status, text);
        download.read_at(&self.http, offset, buffer, request, refused).await
    }

    async fn write_at(&self, file: &File, offset: u64, data: &[u8]) -> Result<()> {
        let File::Write(upload) = file else {
            return Err(Fault::new(Class::Unsupported, "a file that is read cannot be written"));
        };
        let refused = |status, text: &[u8]| self.refusal(&upload.what, status, text);
        upload.write_at(&self.http, offset, data, refused).await
    }

    async fn sync(&self, _: &File) -> Result<()> {
        Err(Fault::new(Class::Unsupported, "HTTP has no word for `sync`"))
    }

    async fn close(&self, file: File) -> Result<()> {
        let upload = match file {
            File::Read(download, _) => return download.finish(&self.http).await,
            File::Write(upload) => upload,
        };
        let what = upload.what.clone();
        let answer = upload.finish(&self.http).await?;
        self.settle(&what, answer, &[200, 201, 204]).await
    }

    /// `WebDAV` has one method for files and directories, which removes a directory with its
    /// content. So `path` must be a file.
    async fn remove(&self, path: &ServicePath) -> Result<()> {
        let what = format!("DELETE {path}");
        let answer = self.ask(&what, Method::DELETE, &self.at(path)).await?;
        self.settle(&what, answer, &[200, 204]).await
    }

    async fn list(&self, path: Option<&ServicePath>) -> Result<Vec<Entry>> {
        let uri = path.map_or_else(|| self.base.clone(), |path| format!("{}/", self.at(path)));
        let what = format!("PROPFIND {}", path.map_or("/", ServicePath::as_str));
        self.list_at(&what, &uri).await
    }

    async fn make_directory(&self, path: &ServicePath) -> Result<()> {
        if !self.has_dav {
            return Ok(());
        }
        let what = format!("MKCOL {path}");
        let answer = self.ask(&what, method("MKCOL"), &format!("{}/", self.at(path))).await?;
        // RFC 4918, section 9.3.1: the name is in use.
        let is_taken = answer.status() == StatusCode::METHOD_NOT_ALLOWED;
        self.settle(&what, answer, &[200, 201]).await.map_err(|fault| match fault {
            Fault { message, .. } if is_taken => Fault::new(Class::Exists, message),
            fault => fault,
        })
    }

    /// Two operations: the `WebDAV` method also removes a directory's content, so it is listed
    /// first.
    async fn remove_directory(&self, path: &ServicePath) -> Result<()> {
        if !self.has_dav {
            return Ok(());
        }
        let uri = format!("{}/", self.at(path));
        let what = format!("DELETE {path}");
        let found = self.list_at(&what, &uri).await?.len();
        if found > 0 {
            let message = format!("{what}: found {found} entries in it; allowed: none");
            return Err(Fault::new(Class::Exists, message));
        }
        let answer = self.ask(&what, Method::DELETE, &uri).await?;
        self.settle(&what, answer, &[200, 204]).await
    }

    async fn stat(&self, path: &ServicePath) -> Result<Entry> {
        let what = format!("PROPFIND {path}");
        self.properties((&what, &self.at(path), "0"), listing::parse_one).await
    }

    /// An existing file is not replaced (RFC 4918, section 9.9).
    async fn rename(&self, from: &ServicePath, to: &ServicePath) -> Result<()> {
        let what = format!("MOVE {from}");
        self.needs_dav(&what)?;
        let destination = format!("{}{}", self.http.origin(), self.at(to));
        let make = || {
            let request = self
                .request(method("MOVE"), &self.at(from))?
                .header(HeaderName::from_static("destination"), &destination)
                .header(HeaderName::from_static("overwrite"), "F");
            http::whole_request(&what, request, Outgoing::nothing())
        };
        let answer = self.made(&what, make).await?;
        self.settle(&what, answer, &[201, 204]).await
    }

    async fn end(self) -> Result<()> {
        self.http.end().await
    }
}

//! Shared parts of the HTTP servers: connections, TLS, and files as responses.

use std::convert::Infallible;
use std::future::Future;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use hyper::body::Incoming;
use hyper::header::{CONNECTION, EXPECT, HeaderMap, HeaderValue, USER_AGENT};
use hyper::http::Extensions;
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper::{Request, Response};
use hyper_util::rt::{TokioIo, TokioTimer};
use lanlab_files::Result;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio_rustls::TlsAcceptor;

use super::admission::{Admission, Proof};
use super::identity::Identity;
use super::visits::{Visitor, Visits};
use super::{Bounds, Offer, Serving, listen};

mod doorway;
mod file_body;
mod lingering;
mod range;
mod settled;

use doorway::Doorway;
pub use file_body::FileBody;
use lingering::Begun;
pub use lingering::Lingering;
pub use range::octets_asked;
use settled::settled;

const MAX_HEAD_BYTES: usize = 1 << 15;

/// Memory of a connection before login: a head and the TLS handshake.
const STRANGER_BYTES: usize = 128 << 10;

/// Send or receive buffer of a connection, bytes.
const BUFFER_BYTES: usize = 1 << 19;

pub const IDLE: Duration = Duration::from_mins(10);

/// Time in which a client must complete its TLS handshake.
const HANDSHAKE: Duration = Duration::from_secs(10);

/// Serve HTTP by `answer`, with or without TLS. `answer` calls [`admit`] when a client has logged in.
pub fn serve<A, F, B>(
    offer: &Offer,
    bounds: &Bounds,
    with_tls: bool,
    share: Option<String>,
    answer: A,
) -> Result<Serving>
where
    A: Fn(Request<Lingering>) -> F + Clone + Send + Sync + 'static,
    F: Future<Output = Response<B>> + Send + 'static,
    B: hyper::body::Body + Send + 'static,
    B::Data: Send,
    B::Error: Into<Box<dyn std::error::Error + Send + Sync>>,
{
    let identity = with_tls.then(|| Identity::new(offer.bind.ip())).transpose()?;
    let tls = identity.as_ref().map(Identity::tls_server).transpose()?.map(TlsAcceptor::from);
    let (listener, port) = listen(offer)?;
    let visits = Arc::new(Visits::default());
    let admission = Admission::new(bounds, STRANGER_BYTES, &visits);
    let task = tokio::spawn(admission.serve(listener, move |stream, _, proof| {
        let (tls, answer) = (tls.clone(), answer.clone());
        async move {
            let Some(tls) = tls else { return speak(stream, answer, proof).await };
            if let Ok(Ok(stream)) = tokio::time::timeout(HANDSHAKE, tls.accept(stream)).await {
                speak(stream, answer, proof).await;
            }
        }
    }));
    let trust_sha256 = identity.map(|identity| identity.sha256());
    Ok(Serving { port, share, trust_sha256, visits, station: None, task })
}

/// Mark the connection of a request as logged in, as this user or without a login.
pub fn admit(extensions: &Extensions, headers: &HeaderMap, user: Option<&str>) {
    if let Some(proof) = extensions.get::<Proof>() {
        proof.admit(user, headers.get(USER_AGENT).and_then(|agent| agent.to_str().ok()));
    }
}

pub fn visitor(extensions: &Extensions) -> Option<&Visitor> {
    extensions.get::<Proof>().map(Proof::visitor)
}

async fn speak<S, A, F, B>(stream: S, answer: A, proof: Proof)
where
    S: AsyncRead + AsyncWrite + Unpin,
    A: Fn(Request<Lingering>) -> F,
    F: Future<Output = Response<B>>,
    B: hyper::body::Body + 'static,
    B::Error: Into<Box<dyn std::error::Error + Send + Sync>>,
{
    let stream = Doorway::new(stream, proof.clone());
    let service = service_fn(|mut request: Request<Incoming>| {
        request.extensions_mut().insert(proof.clone());
        let expects = request.headers().contains_key(EXPECT);
        let begun = Begun::default();
        let answering = answer(request.map(|body| Lingering::new(body, Arc::clone(&begun))));
        async move {
            let mut said = answering.await;
            if expects && !begun.load(Ordering::Relaxed) {
                // It is unknown whether the client still sends its body: the next bytes could be
                // that body or a request (RFC 9110, section 10.1.1).
                said.headers_mut().insert(CONNECTION, HeaderValue::from_static("close"));
            }
            Ok::<_, Infallible>(said)
        }
    });
    let serving = http1::Builder::new()
        .timer(TokioTimer::new())
        .header_read_timeout(IDLE)
        .max_buf_size(BUFFER_BYTES)
        .max_header_size(MAX_HEAD_BYTES)
        .serve_connection(TokioIo::new(stream), service);
    // The client reports a failed connection.
    let _ = settled(serving).await;
}

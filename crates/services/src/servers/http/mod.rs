//! What the servers that speak HTTP share: connections, TLS, files as answers, and where a client
//! may look.

use std::convert::Infallible;
use std::future::Future;
use std::sync::Arc;
use std::sync::atomic::AtomicU64;
use std::time::Duration;

use hyper::body::Incoming;
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper::{Request, Response};
use hyper_util::rt::{TokioIo, TokioTimer};
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::task::JoinSet;
use tokio_rustls::TlsAcceptor;

use super::identity::Identity;
use super::{Offer, Serving, accept_all, listen};
use crate::fault::Result;

mod confine;
mod file_body;
mod lingering;
mod range;

pub use confine::{confined, confined_path};
pub use file_body::FileBody;
pub use lingering::Lingering;
pub use range::octets_asked;

/// Octets that a connection holds of what it sends or receives.
const BUFFER_BYTES: usize = 1 << 19;

/// A client that says nothing for so long is gone.
pub const IDLE: Duration = Duration::from_mins(10);

/// A client that does not get its TLS handshake done in so long is none.
const HANDSHAKE: Duration = Duration::from_secs(10);

/// Serve HTTP by `answer`, over TLS or not.
pub fn serve<A, F, B>(
    offer: &Offer,
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
    let identity = with_tls.then(|| Identity::new(offer.bind)).transpose()?;
    let tls = identity.as_ref().map(Identity::tls_server).transpose()?.map(TlsAcceptor::from);
    let (listener, port) = listen(offer)?;
    let accepted = Arc::new(AtomicU64::new(0));
    let counted = Arc::clone(&accepted);
    let task = tokio::spawn(async move {
        // They end with this task.
        let mut connections = JoinSet::new();
        let each = |stream, _| {
            while connections.try_join_next().is_some() {}
            let (tls, answer) = (tls.clone(), answer.clone());
            connections.spawn(async move {
                let Some(tls) = tls else { return speak(stream, answer).await };
                if let Ok(Ok(stream)) = tokio::time::timeout(HANDSHAKE, tls.accept(stream)).await {
                    speak(stream, answer).await;
                }
            });
        };
        accept_all(listener, counted, each).await;
    });
    let trust_sha256 = identity.map(|identity| identity.sha256());
    Ok(Serving { port, share, trust_sha256, accepted, task })
}

async fn speak<S, A, F, B>(stream: S, answer: A)
where
    S: AsyncRead + AsyncWrite + Unpin,
    A: Fn(Request<Lingering>) -> F,
    F: Future<Output = Response<B>>,
    B: hyper::body::Body + 'static,
    B::Error: Into<Box<dyn std::error::Error + Send + Sync>>,
{
    let service = service_fn(|request: Request<Incoming>| {
        let answering = answer(request.map(Lingering::new));
        async { Ok::<_, Infallible>(answering.await) }
    });
    let serving = http1::Builder::new()
        .timer(TokioTimer::new())
        .header_read_timeout(IDLE)
        .max_buf_size(BUFFER_BYTES)
        .serve_connection(TokioIo::new(stream), service);
    // A connection that fails is the client's to tell.
    let _ = serving.await;
}

//! S3 over a directory that is one bucket: the object `folder/x` is the file `folder/x`, and every file is an
//! object.
//!
//! Addressing is path-style. An object's `ETag` is not its MD5, which would halve the write speed.
//! MD5, CRC, SHA and signatures from clients are verified. The only user metadata (`x-amz-meta-…`)
//! stored is rclone's time, as the file's modification time.

use std::sync::Arc;
use std::time::{Duration, SystemTime};

use hyper::http::request::Parts;
use hyper::{Request, StatusCode};
use lanlab_files::{Credentials, Result, ServiceKind};

use super::http::{self, IDLE, Lingering};
use crate::file_sessions::while_others_run;
use crate::visits::READ_ONLY;
use crate::{Bounds, Offer, Serving, login};

pub mod answers;
pub mod authentication;
mod buckets;
mod checksums;
mod chunk_signing;
mod keys;
mod lists;
pub mod objects;
pub mod operation;
pub mod parts;
pub mod receive;
pub mod refusal;
pub mod request;
mod store;
mod uploads;

use answers::{Answer, empty};
use authentication::Payload;
use operation::Operation;
use receive::Intake;
use refusal::{Code, Refusal};
use request::Asked;
use store::Store;
use uploads::Uploads;

const BUCKET: &str = "lanlab";

/// Limit of a document from a client, bytes: 10,000 parts fit.
const MAX_DOCUMENT_BYTES: u64 = 4 << 20;

/// Time in which a client must send a document.
const DOCUMENT: Duration = Duration::from_mins(1);

pub fn serve(offer: &Offer, bounds: &Bounds) -> Result<Serving> {
    serve_patiently(offer, bounds, IDLE)
}

fn serve_patiently(offer: &Offer, bounds: &Bounds, patience: Duration) -> Result<Serving> {
    let served = Arc::new(Served {
        store: Store::new(crate::confined(offer)?),
        uploads: Uploads::default(),
        credentials: offer.credentials.clone(),
        read_only: offer.read_only,
        patience,
    });
    let with_tls = offer.service == ServiceKind::S3s;
    http::serve(offer, bounds, with_tls, Some(BUCKET.to_owned()), move |request| {
        let served = Arc::clone(&served);
        async move { served.answer(request).await }
    })
}

#[derive(Debug)]
struct Served {
    store: Store,
    uploads: Uploads,
    credentials: Option<Credentials>,
    read_only: bool,
    /// A client that sends nothing for this time within an object is dropped.
    patience: Duration,
}

impl Served {
    async fn answer(&self, request: Request<Lingering>) -> Answer {
        let (head, body) = request.into_parts();
        self.done(head, body).await.unwrap_or_else(|refusal| refusal.answer())
    }

    async fn done(&self, mut head: Parts, body: Lingering) -> std::result::Result<Answer, Refusal> {
        let extensions = std::mem::take(&mut head.extensions);
        let visitor = http::visitor(&extensions);
        let asked = Asked::of(head)?;
        let admitted = authentication::admit(&asked, self.credentials.as_ref(), SystemTime::now());
        if let Err(Code::SignatureDoesNotMatch | Code::InvalidAccessKeyId) =
            admitted.as_ref().map_err(|refusal| refusal.code)
        {
            if let Some(visitor) = visitor {
                visitor.refused("wrong key or signature");
            }
            tokio::time::sleep(login::DELAY).await;
        }
        let payload = admitted?;
        let user = self.credentials.as_ref().map(|credentials| &*credentials.user);
        http::admit(&extensions, &asked.headers, user);
        let operation = Operation::of(&asked)?;
        match operation {
            Operation::ListBuckets => {}
            Operation::CreateBucket if asked.bucket != BUCKET => {
                return Err(Refusal::new(Code::AccessDenied, "the one bucket is `lanlab`"));
            }
            _ if asked.bucket != BUCKET => {
                if let Some(visitor) = visitor {
                    visitor
                        .refused(&format!("the bucket `{}`: `{BUCKET}` is served", asked.bucket));
                }
                return Err(Refusal::new(Code::NoSuchBucket, "the bucket is `lanlab`"));
            }
            _ => {}
        }
        if self.read_only && operation.writes() {
            if let Some(visitor) = visitor {
                visitor.refused(READ_ONLY);
            }
            return Err(Refusal::new(Code::AccessDenied, "nothing may be written here"));
        }
        match operation {
            Operation::ListBuckets => self.list_buckets(),
            Operation::CreateBucket => {
                Err(Refusal::new(Code::BucketAlreadyOwnedByYou, "the bucket is there"))
            }
            Operation::HeadBucket => Ok(empty(StatusCode::OK)),
            Operation::GetBucketLocation => Ok(buckets::location()),
            Operation::GetBucketVersioning => Ok(buckets::versioning()),
            Operation::ListObjects => self.list_objects(&asked),
            Operation::ListObjectsV2 => self.list_objects_v2(&asked),
            Operation::HeadObject => self.head_object(&asked),
            Operation::GetObject => self.get_object(&asked),
            Operation::PutObject => self.put_object(&asked, payload, body).await,
            Operation::CopyObject => self.copy_object(&asked),
            Operation::DeleteObject => self.delete_object(&asked.key),
            Operation::DeleteObjects => self.delete_objects(&asked, payload, body).await,
            Operation::CreateMultipartUpload => self.create_upload(&asked),
            Operation::UploadPart => self.upload_part(&asked, payload, body).await,
            Operation::CompleteMultipartUpload => self.complete_upload(&asked, payload, body).await,
            Operation::AbortMultipartUpload => self.abort_upload(&asked),
        }
    }

    fn with<T>(
        &self,
        work: impl FnOnce(&Store) -> std::result::Result<T, Refusal>,
    ) -> std::result::Result<T, Refusal> {
        while_others_run(|| work(&self.store))
    }

    async fn document(
        &self,
        asked: &Asked,
        payload: Payload,
        body: Lingering,
    ) -> std::result::Result<Vec<u8>, Refusal> {
        let too_long = Code::MaxMessageLengthExceeded;
        let intake = Intake::new(asked, payload, MAX_DOCUMENT_BYTES, too_long, Vec::new())?;
        let received = intake.receive(body, self.patience, Ok);
        tokio::time::timeout(DOCUMENT.min(self.patience), received).await.unwrap_or_else(|_| {
            Err(Refusal::new(Code::RequestTimeout, "the document did not come in time"))
        })
    }
}

#[cfg(test)]
mod tests {
    use tokio::io::{AsyncReadExt, AsyncWriteExt};

    use super::*;

    #[tokio::test]
    async fn a_client_that_stalls_mid_request_times_out() {
        let root = tempfile::tempdir().unwrap();
        let offer = Offer::new(ServiceKind::S3, root.path(), std::net::Ipv4Addr::LOCALHOST.into());
        let serving =
            serve_patiently(&offer, &Bounds::default(), Duration::from_millis(50)).unwrap();
        for line in ["PUT /lanlab/in/x", "POST /lanlab/x?uploadId=1"] {
            let address = ("127.0.0.1", serving.port());
            let mut stream = tokio::net::TcpStream::connect(address).await.unwrap();
            let head = format!("{line} HTTP/1.1\r\nHost: h\r\nContent-Length: 10\r\n\r\nfew");
            stream.write_all(head.as_bytes()).await.unwrap();
            let mut answer = Vec::new();
            let reading = stream.read_to_end(&mut answer);
            tokio::time::timeout(Duration::from_secs(30), reading).await.unwrap().unwrap();
            let answer = String::from_utf8_lossy(&answer);
            assert!(answer.contains("<Code>RequestTimeout</Code>"), "{line}: {answer}");
            assert_eq!(std::fs::read_dir(root.path()).unwrap().count(), 0, "{line}");
        }
        serving.end().await;
    }
}

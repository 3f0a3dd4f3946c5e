//! S3: s3s for the protocol and its signatures, over a directory that is one bucket. The object
//! `folder/x` of it is the file `folder/x` of the directory, and any file there is an object.
//!
//! Not s3s-fs: that keeps a bucket as a directory of its own, with a file of facts beside each
//! object, takes the MD5 of all that is written and, where it has none, of all that is read, and
//! gives out 4 KiB at a time.

use std::sync::Arc;

use s3s::auth::SimpleAuth;
use s3s::dto::{
    AbortMultipartUploadInput, AbortMultipartUploadOutput, CommonPrefix,
    CompleteMultipartUploadInput, CompleteMultipartUploadOutput, CreateMultipartUploadInput,
    CreateMultipartUploadOutput, DeleteObjectInput, DeleteObjectOutput, ETag, GetObjectInput,
    GetObjectOutput, HeadBucketInput, HeadBucketOutput, HeadObjectInput, HeadObjectOutput,
    ListObjectsInput, ListObjectsOutput, ListObjectsV2Input, ListObjectsV2Output, Object,
    PutObjectInput, PutObjectOutput, StreamingBlob, Timestamp, UploadPartInput, UploadPartOutput,
};
use s3s::service::S3ServiceBuilder;
use s3s::{Body, S3, S3Request, S3Response, S3Result, s3_error};

use super::http::{self, FileBody};
use crate::fault::Result;
use crate::servers::{Offer, Serving};
use crate::target::ServiceKind;

mod keys;
mod receive;
mod store;
mod uploads;

use receive::{Checks, receive};
use store::{Found, Store, fault};
use uploads::Uploads;

/// The one bucket.
const BUCKET: &str = "lanlab";

/// Entries of one answer that lists, at most.
const MAX_KEYS: i32 = 1000;

/// Begin to serve.
pub fn serve(offer: &Offer) -> Result<Serving> {
    let served = Served {
        store: Arc::new(Store::new(offer.root.clone())),
        uploads: Uploads::default(),
        read_only: offer.read_only,
    };
    let mut builder = S3ServiceBuilder::new(served);
    if let Some(credentials) = &offer.credentials {
        let (user, secret) = (credentials.user.clone(), credentials.secret.clone());
        builder.set_auth(SimpleAuth::from_single(user, secret));
    }
    let service = builder.build();
    let with_tls = offer.service == ServiceKind::S3s;
    http::serve(offer, with_tls, Some(BUCKET.to_owned()), move |request| {
        let service = service.clone();
        async move {
            service.call(request.map(Body::http_body)).await.unwrap_or_else(|_| {
                let mut answer = s3s::HttpResponse::new(Body::empty());
                *answer.status_mut() = hyper::StatusCode::INTERNAL_SERVER_ERROR;
                answer
            })
        }
    })
}

struct Served {
    store: Arc<Store>,
    uploads: Uploads,
    read_only: bool,
}

impl Served {
    /// Do something with the files of a bucket, where blocking is allowed.
    async fn with<T: Send + 'static>(
        &self,
        bucket: &str,
        work: impl FnOnce(&Store) -> std::io::Result<T> + Send + 'static,
    ) -> S3Result<T> {
        is_ours(bucket)?;
        let store = Arc::clone(&self.store);
        match tokio::task::spawn_blocking(move || work(&store)).await {
            Ok(done) => done.map_err(|error| fault(&error)),
            Err(_) => Err(s3_error!(InternalError)),
        }
    }

    fn may_write(&self, bucket: &str) -> S3Result<()> {
        is_ours(bucket)?;
        if self.read_only {
            return Err(s3_error!(AccessDenied, "nothing may be written here"));
        }
        Ok(())
    }

    /// A page of the list, and how many entries it may have.
    async fn list(&self, bucket: &str, asked: Asked) -> S3Result<(i32, Listed)> {
        let prefix = asked.prefix.unwrap_or_default();
        let by_directory = match asked.delimiter.as_deref() {
            None | Some("") => false,
            Some("/") => true,
            Some(_) => return Err(s3_error!(NotImplemented, "the delimiter is `/` or none")),
        };
        let wanted = asked.max_keys.unwrap_or(MAX_KEYS).clamp(0, MAX_KEYS);
        let after = asked.after;
        let page = self.with(bucket, move |store| {
            keys::page(store.root(), &prefix, by_directory, after.as_deref(), wanted as usize)
        });
        let keys::Page { objects, prefixes, next } = page.await?;
        let contents = objects.into_iter().map(|(key, found)| Object {
            e_tag: Some(etag(&found)),
            key: Some(key),
            last_modified: Some(Timestamp::from(found.modified)),
            size: Some(octets(found.size_bytes)),
            ..Default::default()
        });
        let prefixes = prefixes.into_iter().map(|prefix| CommonPrefix { prefix: Some(prefix) });
        let (contents, prefixes) = (contents.collect(), prefixes.collect());
        Ok((wanted, Listed { contents, prefixes, next }))
    }

    /// Take in what a client sends, into a file that nobody sees yet.
    async fn take_in(
        &self,
        bucket: &str,
        key: String,
        body: Option<StreamingBlob>,
        checks: Checks,
    ) -> S3Result<store::Unseen> {
        let unseen = self.with(bucket, move |store| store.unseen(&key)).await?;
        receive(unseen, body, checks).await
    }
}

/// What either version of the list is asked for.
struct Asked {
    prefix: Option<String>,
    delimiter: Option<String>,
    after: Option<String>,
    max_keys: Option<i32>,
}

/// What either version of the list gives.
struct Listed {
    contents: Vec<Object>,
    prefixes: Vec<CommonPrefix>,
    next: Option<String>,
}

fn is_ours(bucket: &str) -> S3Result<()> {
    match bucket {
        BUCKET => Ok(()),
        _ => Err(s3_error!(NoSuchBucket, "the bucket is `lanlab`")),
    }
}

/// Octets as S3 counts them.
fn octets(count: u64) -> i64 {
    i64::try_from(count).unwrap_or(i64::MAX)
}

/// No MD5, and not of its form, so that no client takes it for one.
fn etag(found: &Found) -> ETag {
    let since = found.modified.duration_since(std::time::UNIX_EPOCH).unwrap_or_default();
    ETag::Strong(format!("{:x}-{:x}", since.as_nanos(), found.size_bytes))
}

#[async_trait::async_trait]
impl S3 for Served {
    async fn head_bucket(
        &self,
        request: S3Request<HeadBucketInput>,
    ) -> S3Result<S3Response<HeadBucketOutput>> {
        is_ours(&request.input.bucket)?;
        Ok(S3Response::new(HeadBucketOutput::default()))
    }

    async fn head_object(
        &self,
        request: S3Request<HeadObjectInput>,
    ) -> S3Result<S3Response<HeadObjectOutput>> {
        let key = request.input.key;
        let found = self.with(&request.input.bucket, move |store| store.look_at(&key)).await?;
        Ok(S3Response::new(HeadObjectOutput {
            content_length: Some(octets(found.size_bytes)),
            e_tag: Some(etag(&found)),
            last_modified: Some(Timestamp::from(found.modified)),
            ..Default::default()
        }))
    }

    async fn get_object(
        &self,
        request: S3Request<GetObjectInput>,
    ) -> S3Result<S3Response<GetObjectOutput>> {
        let GetObjectInput { bucket, key, range, .. } = request.input;
        let opened = self.with(&bucket, move |store| {
            let (file, found) = store.open(&key)?;
            let wanted = match range {
                None => 0..found.size_bytes,
                Some(range) => match range.check(found.size_bytes) {
                    Ok(wanted) => wanted,
                    Err(_) => return Ok(None),
                },
            };
            let body = FileBody::new(file, wanted.start, wanted.end - wanted.start)?;
            Ok(Some((found, wanted, body)))
        });
        let Some((found, wanted, body)) = opened.await? else {
            return Err(s3_error!(InvalidRange));
        };
        let is_part = range.is_some();
        let size_bytes = found.size_bytes;
        let said = format!("bytes {}-{}/{size_bytes}", wanted.start, wanted.end.saturating_sub(1));
        Ok(S3Response::new(GetObjectOutput {
            accept_ranges: Some("bytes".to_owned()),
            body: Some(StreamingBlob::from(Body::http_body(body))),
            content_length: Some(octets(wanted.end - wanted.start)),
            content_range: is_part.then_some(said),
            e_tag: Some(etag(&found)),
            last_modified: Some(Timestamp::from(found.modified)),
            ..Default::default()
        }))
    }

    async fn put_object(
        &self,
        request: S3Request<PutObjectInput>,
    ) -> S3Result<S3Response<PutObjectOutput>> {
        let checks = Checks::of_object(&request.input);
        let PutObjectInput { bucket, key, body, if_none_match, .. } = request.input;
        self.may_write(&bucket)?;
        let only_new = if_none_match.is_some_and(|condition| condition.is_any());
        if only_new {
            // What would be refused at the end is refused before it is sent.
            let key = key.clone();
            if self.with(&bucket, move |store| Ok(store.look_at(&key).is_ok())).await? {
                return Err(s3_error!(PreconditionFailed, "the object is there"));
            }
        }
        let unseen = self.take_in(&bucket, key, body, checks).await?;
        let found = self.with(&bucket, move |_| unseen.show(only_new)).await?;
        let output = PutObjectOutput { e_tag: Some(etag(&found)), ..Default::default() };
        Ok(S3Response::new(output))
    }

    async fn delete_object(
        &self,
        request: S3Request<DeleteObjectInput>,
    ) -> S3Result<S3Response<DeleteObjectOutput>> {
        let DeleteObjectInput { bucket, key, .. } = request.input;
        self.may_write(&bucket)?;
        self.with(&bucket, move |store| store.remove(&key)).await?;
        Ok(S3Response::new(DeleteObjectOutput::default()))
    }

    /// The list as it was before version 2, which programs still ask for.
    async fn list_objects(
        &self,
        request: S3Request<ListObjectsInput>,
    ) -> S3Result<S3Response<ListObjectsOutput>> {
        let input = request.input;
        let asked = Asked {
            prefix: input.prefix.clone(),
            delimiter: input.delimiter.clone(),
            after: input.marker.clone(),
            max_keys: input.max_keys,
        };
        let (wanted, listed) = self.list(&input.bucket, asked).await?;
        Ok(S3Response::new(ListObjectsOutput {
            contents: Some(listed.contents),
            common_prefixes: Some(listed.prefixes),
            is_truncated: Some(listed.next.is_some()),
            next_marker: listed.next,
            marker: input.marker,
            delimiter: input.delimiter,
            max_keys: Some(wanted),
            name: Some(input.bucket),
            prefix: input.prefix,
            ..Default::default()
        }))
    }

    async fn list_objects_v2(
        &self,
        request: S3Request<ListObjectsV2Input>,
    ) -> S3Result<S3Response<ListObjectsV2Output>> {
        let input = request.input;
        let asked = Asked {
            prefix: input.prefix.clone(),
            delimiter: input.delimiter.clone(),
            after: input.continuation_token.clone().or_else(|| input.start_after.clone()),
            max_keys: input.max_keys,
        };
        let (wanted, listed) = self.list(&input.bucket, asked).await?;
        Ok(S3Response::new(ListObjectsV2Output {
            key_count: i32::try_from(listed.contents.len() + listed.prefixes.len()).ok(),
            contents: Some(listed.contents),
            common_prefixes: Some(listed.prefixes),
            is_truncated: Some(listed.next.is_some()),
            next_continuation_token: listed.next,
            continuation_token: input.continuation_token,
            delimiter: input.delimiter,
            max_keys: Some(wanted),
            name: Some(input.bucket),
            prefix: input.prefix,
            start_after: input.start_after,
            ..Default::default()
        }))
    }

    async fn create_multipart_upload(
        &self,
        request: S3Request<CreateMultipartUploadInput>,
    ) -> S3Result<S3Response<CreateMultipartUploadOutput>> {
        let CreateMultipartUploadInput { bucket, key, .. } = request.input;
        self.may_write(&bucket)?;
        let upload_id = self.uploads.begin(key.clone())?;
        Ok(S3Response::new(CreateMultipartUploadOutput {
            bucket: Some(bucket),
            key: Some(key),
            upload_id: Some(upload_id),
            ..Default::default()
        }))
    }

    async fn upload_part(
        &self,
        request: S3Request<UploadPartInput>,
    ) -> S3Result<S3Response<UploadPartOutput>> {
        let checks = Checks::of_part(&request.input);
        let UploadPartInput { bucket, key, body, part_number, upload_id, .. } = request.input;
        self.may_write(&bucket)?;
        self.uploads.is_there(&upload_id, &key)?;
        let unseen = self.take_in(&bucket, key.clone(), body, checks).await?;
        let e_tag = self.uploads.add(&upload_id, &key, part_number, unseen)?;
        let e_tag = Some(ETag::Strong(e_tag));
        Ok(S3Response::new(UploadPartOutput { e_tag, ..Default::default() }))
    }

    async fn complete_multipart_upload(
        &self,
        request: S3Request<CompleteMultipartUploadInput>,
    ) -> S3Result<S3Response<CompleteMultipartUploadOutput>> {
        let input = request.input;
        self.may_write(&input.bucket)?;
        let only_new = input.if_none_match.is_some_and(|condition| condition.is_any());
        let parts = input.multipart_upload.and_then(|upload| upload.parts).unwrap_or_default();
        let parts = self.uploads.take(&input.upload_id, &input.key, &parts)?;
        let found = self.with(&input.bucket, move |_| store::join(parts)?.show(only_new)).await?;
        Ok(S3Response::new(CompleteMultipartUploadOutput {
            bucket: Some(input.bucket),
            key: Some(input.key),
            e_tag: Some(etag(&found)),
            ..Default::default()
        }))
    }

    async fn abort_multipart_upload(
        &self,
        request: S3Request<AbortMultipartUploadInput>,
    ) -> S3Result<S3Response<AbortMultipartUploadOutput>> {
        let AbortMultipartUploadInput { bucket, key, upload_id, .. } = request.input;
        self.may_write(&bucket)?;
        self.uploads.forget(&upload_id, &key)?;
        Ok(S3Response::new(AbortMultipartUploadOutput::default()))
    }
}

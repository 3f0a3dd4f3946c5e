//! The S3 operation of a request.

use hyper::Method;

use super::refusal::{Code, Refusal};
use super::request::Asked;

/// Prefixes of fields for unsupported features, which must not be silently ignored.
const NOT_SERVED: [&str; 4] = [
    "x-amz-server-side-encryption",
    "x-amz-object-lock",
    "x-amz-tagging",
    "x-amz-write-offset-bytes",
];

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Operation {
    ListBuckets,
    CreateBucket,
    HeadBucket,
    GetBucketLocation,
    GetBucketVersioning,
    ListObjects,
    ListObjectsV2,
    HeadObject,
    GetObject,
    PutObject,
    CopyObject,
    DeleteObject,
    DeleteObjects,
    CreateMultipartUpload,
    UploadPart,
    CompleteMultipartUpload,
    AbortMultipartUpload,
}

impl Operation {
    /// The requested operation.
    ///
    /// # Errors The operation is unknown or unsupported. Unknown parameters are refused: otherwise `?acl` would
    /// return the object.
    pub fn of(asked: &Asked) -> Result<Self, Refusal> {
        let has = |name: &str| asked.parameter(name).is_some();
        let level = match (asked.bucket.is_empty(), asked.key.is_empty()) {
            (true, _) => Level::Service,
            (_, true) => Level::Bucket,
            _ => Level::Object,
        };
        let is_copy = asked.field("x-amz-copy-source").is_some();
        let operation = match (level, &asked.method) {
            (Level::Service, &Method::GET) => Self::ListBuckets,
            (Level::Bucket, &Method::PUT) => Self::CreateBucket,
            (Level::Bucket, &Method::HEAD) => Self::HeadBucket,
            (Level::Bucket, &Method::GET) if has("location") => Self::GetBucketLocation,
            (Level::Bucket, &Method::GET) if has("versioning") => Self::GetBucketVersioning,
            (Level::Bucket, &Method::GET) => match asked.parameter("list-type") {
                None | Some("1") => Self::ListObjects,
                Some("2") => Self::ListObjectsV2,
                Some(_) => {
                    return Err(Refusal::new(Code::InvalidArgument, "`list-type`: allowed: 2"));
                }
            },
            (Level::Object, &Method::HEAD) => Self::HeadObject,
            (Level::Object, &Method::GET) => Self::GetObject,
            (Level::Object, &Method::PUT) if has("uploadId") && is_copy => {
                return Err(Refusal::new(Code::NotImplemented, "a part is sent, not copied"));
            }
            (Level::Object, &Method::PUT) if has("uploadId") => Self::UploadPart,
            (Level::Object, &Method::PUT) if is_copy => Self::CopyObject,
            (Level::Object, &Method::PUT) => Self::PutObject,
            (Level::Object, &Method::DELETE) if has("uploadId") => Self::AbortMultipartUpload,
            (Level::Object, &Method::DELETE) => Self::DeleteObject,
            (Level::Object, &Method::POST) if has("uploads") => Self::CreateMultipartUpload,
            (Level::Object, &Method::POST) if has("uploadId") => Self::CompleteMultipartUpload,
            (Level::Bucket, &Method::POST) if has("delete") => Self::DeleteObjects,
            (Level::Bucket, &Method::DELETE) => {
                return Err(Refusal::new(Code::NotImplemented, "the one bucket stays"));
            }
            _ => {
                return Err(Refusal::new(Code::MethodNotAllowed, "no operation of S3 is asked so"));
            }
        };
        let mut fields = asked.headers.keys().map(hyper::header::HeaderName::as_str);
        if let Some(name) = fields.find(|name| NOT_SERVED.iter().any(|odd| name.starts_with(odd))) {
            let message = format!("field `{name}` is not served");
            return Err(Refusal::new(Code::NotImplemented, message));
        }
        // Some clients repeat the operation in `x-id`, which changes nothing; neither does a signature.
        let is_of_all = |name: &str| {
            let of_version_2 = ["AWSAccessKeyId", "Expires", "Signature"];
            name == "x-id"
                || of_version_2.contains(&name)
                || name.get(..6).is_some_and(|six| six.eq_ignore_ascii_case("x-amz-"))
        };
        let known = operation.parameters();
        let odd = asked
            .query
            .iter()
            .find(|(name, _)| !known.contains(&name.as_str()) && !is_of_all(name));
        match odd {
            None => Ok(operation),
            Some((name, _)) => {
                let name: String = name.escape_debug().take(64).collect();
                let message = format!("parameter `{name}` is not served with this");
                Err(Refusal::new(Code::NotImplemented, message))
            }
        }
    }

    fn parameters(self) -> &'static [&'static str] {
        match self {
            Self::GetBucketLocation => &["location"],
            Self::GetBucketVersioning => &["versioning"],
            Self::ListObjects => {
                &["list-type", "prefix", "delimiter", "marker", "max-keys", "encoding-type"]
            }
            Self::ListObjectsV2 => &[
                "list-type",
                "prefix",
                "delimiter",
                "start-after",
                "continuation-token",
                "max-keys",
                "encoding-type",
                "fetch-owner",
            ],
            Self::DeleteObjects => &["delete"],
            Self::CreateMultipartUpload => &["uploads"],
            Self::UploadPart => &["uploadId", "partNumber"],
            Self::CompleteMultipartUpload | Self::AbortMultipartUpload => &["uploadId"],
            _ => &[],
        }
    }

    pub fn writes(self) -> bool {
        !matches!(
            self,
            Self::ListBuckets
                | Self::HeadBucket
                | Self::GetBucketLocation
                | Self::GetBucketVersioning
                | Self::ListObjects
                | Self::ListObjectsV2
                | Self::HeadObject
                | Self::GetObject
        )
    }
}

enum Level {
    Service,
    Bucket,
    Object,
}

#[cfg(test)]
mod tests {
    use super::*;
    use hyper::Request;

    fn of(method: &str, uri: &str) -> Result<Operation, Code> {
        let request = Request::builder().method(method).uri(uri).body(()).unwrap();
        let asked = Asked::of(request.into_parts().0);
        asked.and_then(|asked| Operation::of(&asked)).map_err(|refusal| refusal.code)
    }

    #[test]
    fn operations_follow_from_method_path_and_parameters() {
        assert_eq!(of("GET", "/"), Ok(Operation::ListBuckets));
        assert_eq!(of("GET", "/b"), Ok(Operation::ListObjects));
        assert_eq!(of("GET", "/b/?list-type=2&prefix=a"), Ok(Operation::ListObjectsV2));
        assert_eq!(of("GET", "/b?location="), Ok(Operation::GetBucketLocation));
        assert_eq!(of("GET", "/b?versioning"), Ok(Operation::GetBucketVersioning));
        assert_eq!(of("GET", "/b/k?x-id=GetObject"), Ok(Operation::GetObject));
        assert_eq!(of("PUT", "/b/k?X-Amz-Signature=0"), Ok(Operation::PutObject));
        assert_eq!(of("PUT", "/b/k?Signature=0&Expires=1"), Ok(Operation::PutObject));
        assert_eq!(of("PUT", "/b/k?partNumber=1&uploadId=u"), Ok(Operation::UploadPart));
        assert_eq!(of("POST", "/b/k?uploads"), Ok(Operation::CreateMultipartUpload));
        assert_eq!(of("POST", "/b/?delete"), Ok(Operation::DeleteObjects));
    }

    #[test]
    fn unsupported_requests_are_not_mistaken_for_others() {
        for uri in ["/b/k?acl", "/b/k?versionId=1", "/b?versions", "/b/k?partNumber=1", "/?x"] {
            assert_eq!(of("GET", uri), Err(Code::NotImplemented), "{uri}");
        }
        assert_eq!(of("GET", "/b/k?uploadId=u"), Err(Code::NotImplemented));
        assert_eq!(of("DELETE", "/b"), Err(Code::NotImplemented));
        assert_eq!(of("POST", "/b/k"), Err(Code::MethodNotAllowed));
        assert_eq!(of("PATCH", "/b/k"), Err(Code::MethodNotAllowed));
        assert_eq!(of("GET", "/b?list-type=3"), Err(Code::InvalidArgument));
        assert_eq!(of("GET", "/b/%ff"), Err(Code::InvalidURI));
        assert_eq!(of("GET", "/b?prefix=%ff"), Err(Code::InvalidURI));
    }
}

//! S3 error codes for refused requests.

use std::borrow::Cow;
use std::io;

use hyper::header::CONTENT_TYPE;
use hyper::{Response, StatusCode};

use super::answers::{Answer, Document, with_body};

macro_rules! codes {
    ($($name:ident $status:ident,)+) => {
        /// S3 error codes ("Error responses" of the Amazon S3 API Reference).
        #[derive(Debug, Clone, Copy, PartialEq, Eq)]
        pub enum Code {
            $($name,)+
        }

        impl Code {
            pub fn name(self) -> &'static str {
                match self {
                    $(Self::$name => stringify!($name),)+
                }
            }

            pub fn status(self) -> StatusCode {
                match self {
                    $(Self::$name => StatusCode::$status,)+
                }
            }
        }
    };
}

codes! {
    AccessDenied FORBIDDEN,
    AuthorizationHeaderMalformed BAD_REQUEST,
    AuthorizationQueryParametersError BAD_REQUEST,
    BadDigest BAD_REQUEST,
    BucketAlreadyOwnedByYou CONFLICT,
    EntityTooLarge BAD_REQUEST,
    EntityTooSmall BAD_REQUEST,
    IncompleteBody BAD_REQUEST,
    InsufficientStorage INSUFFICIENT_STORAGE,
    InternalError INTERNAL_SERVER_ERROR,
    InvalidAccessKeyId FORBIDDEN,
    InvalidArgument BAD_REQUEST,
    InvalidDigest BAD_REQUEST,
    InvalidPart BAD_REQUEST,
    InvalidPartOrder BAD_REQUEST,
    InvalidRange RANGE_NOT_SATISFIABLE,
    InvalidRequest BAD_REQUEST,
    InvalidURI BAD_REQUEST,
    KeyTooLongError BAD_REQUEST,
    MalformedTrailerError BAD_REQUEST,
    MalformedXML BAD_REQUEST,
    MaxMessageLengthExceeded BAD_REQUEST,
    MethodNotAllowed METHOD_NOT_ALLOWED,
    MissingContentLength LENGTH_REQUIRED,
    NoSuchBucket NOT_FOUND,
    NoSuchKey NOT_FOUND,
    NoSuchUpload NOT_FOUND,
    NotImplemented NOT_IMPLEMENTED,
    PreconditionFailed PRECONDITION_FAILED,
    RequestTimeTooSkewed FORBIDDEN,
    RequestTimeout BAD_REQUEST,
    SignatureDoesNotMatch FORBIDDEN,
    SlowDown SERVICE_UNAVAILABLE,
    XAmzContentSHA256Mismatch BAD_REQUEST,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Refusal {
    pub code: Code,
    pub message: Cow<'static, str>,
}

impl Refusal {
    pub fn new(code: Code, message: impl Into<Cow<'static, str>>) -> Self {
        Self { code, message: message.into() }
    }

    pub fn describe(&self, document: &mut Document) {
        document.text("Code", self.code.name());
        document.text("Message", &self.message);
    }

    pub fn answer(&self) -> Answer {
        let mut document = Document::new();
        document.open("Error");
        self.describe(&mut document);
        document.close("Error");
        let builder = Response::builder().status(self.code.status());
        with_body(builder.header(CONTENT_TYPE, "application/xml"), document.finish())
    }
}

impl From<Code> for Refusal {
    fn from(code: Code) -> Self {
        let message = match code {
            Code::InternalError => "the server could not do it",
            Code::NoSuchKey => "there is no such object",
            Code::NoSuchUpload => "there is no such upload by parts",
            Code::AccessDenied => "it is not allowed here",
            Code::SignatureDoesNotMatch => {
                "the signature is not that of the request and the secret"
            }
            _ => "",
        };
        Self::new(code, message)
    }
}

impl From<io::Error> for Refusal {
    fn from(error: io::Error) -> Self {
        use io::ErrorKind as K;
        match error.kind() {
            K::NotFound | K::NotADirectory => Code::NoSuchKey.into(),
            K::PermissionDenied | K::ReadOnlyFilesystem => Code::AccessDenied.into(),
            K::AlreadyExists => Self::new(Code::PreconditionFailed, "the object is there"),
            K::InvalidFilename | K::InvalidInput => {
                Self::new(Code::KeyTooLongError, "no name of a file here")
            }
            K::IsADirectory | K::DirectoryNotEmpty => {
                Self::new(Code::InvalidRequest, "there are objects whose keys begin so")
            }
            K::StorageFull | K::QuotaExceeded | K::FileTooLarge => {
                Self::new(Code::InsufficientStorage, "no space is left")
            }
            _ => Self::new(Code::InternalError, error.to_string()),
        }
    }
}

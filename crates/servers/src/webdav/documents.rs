//! Request documents, checked before dav-server sees them, and the file times that Windows sets with them.

use bytes::Bytes;
use http_body_util::{BodyExt, Full, LengthLimitError, Limited};
use hyper::{Method, Response, StatusCode};
use lanlab_wire::{calendar, xml};

use super::super::http::{IDLE, Lingering};
use super::{Body, plain, status};
use lanlab_served::Confined;
use lanlab_served::changes::Changes;

const MAX_BYTES: usize = 1 << 16;

const MAX_LOCK_BYTES: usize = 1 << 13;

pub struct Document(Bytes);

impl Document {
    /// Read the document of a request. dav-server parses XML recursively, so deep nesting would end the whole
    /// process.
    ///
    /// # Errors It is too long, late, or not XML with at most 32 levels.
    pub async fn read(method: &Method, body: Lingering) -> Result<Self, StatusCode> {
        let limit = if method.as_str() == "LOCK" { MAX_LOCK_BYTES } else { MAX_BYTES };
        let collected = tokio::time::timeout(IDLE, Limited::new(body, limit).collect()).await;
        let octets = match collected {
            Err(_) => return Err(StatusCode::REQUEST_TIMEOUT),
            Ok(Ok(collected)) => collected.to_bytes(),
            Ok(Err(error)) if error.is::<LengthLimitError>() => {
                return Err(StatusCode::PAYLOAD_TOO_LARGE);
            }
            Ok(Err(_)) => return Err(StatusCode::BAD_REQUEST),
        };
        if !octets.is_empty() && xml::elements(&octets, |_, _| {}).is_err() {
            return Err(StatusCode::BAD_REQUEST);
        }
        Ok(Self(octets))
    }

    pub fn octets(self) -> Bytes {
        self.0
    }

    /// File times set by Windows under its own property names. dav-server reports success for these without setting
    /// any.
    pub fn times(&self) -> Option<Result<Changes, StatusCode>> {
        let (mut times, mut is_odd) = (Changes::default(), false);
        let read = xml::elements(&self.0, |names, text| {
            let names: Vec<&str> = names.iter().map(String::as_str).collect();
            let ["propertyupdate", "set", "prop", name] = names[..] else { return };
            let place = match name {
                "Win32LastModifiedTime" => &mut times.modified_s,
                "Win32LastAccessTime" => &mut times.accessed_s,
                _ => return,
            };
            *place = calendar::parse_http_date(text.trim());
            is_odd |= place.is_none();
        });
        let is_any = is_odd || times != Changes::default();
        let times = if is_odd { Err(StatusCode::CONFLICT) } else { Ok(times) };
        (read.is_ok() && is_any).then_some(times)
    }
}

/// Set the times of a file if `answer` reports full success.
pub async fn set_times(
    confined: &Confined,
    names: &[String],
    times: Result<Changes, StatusCode>,
    answer: Response<Body>,
) -> Response<Body> {
    if answer.status() != StatusCode::MULTI_STATUS {
        return answer;
    }
    let times = match times {
        Ok(times) => times,
        Err(status) => return plain(status),
    };
    let (head, body) = answer.into_parts();
    let Ok(said) = body.collect().await.map(http_body_util::Collected::to_bytes) else {
        return plain(StatusCode::INTERNAL_SERVER_ERROR);
    };
    let mut all_done = true;
    let read = xml::elements(&said, |names, text| {
        all_done &= names.last().is_none_or(|name| name != "status") || text.contains(" 200");
    });
    if read.is_ok()
        && all_done
        && let Err(error) = confined.change(names, &times)
    {
        return plain(status(&error));
    }
    Response::from_parts(head, Full::new(said).map_err(|never| match never {}).boxed_unsync())
}

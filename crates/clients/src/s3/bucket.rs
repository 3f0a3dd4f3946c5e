//! Requests to one bucket, signed in their URLs.

use std::time::{Duration, SystemTime, UNIX_EPOCH};

use hyper::http::request::Builder;
use hyper::{Method, Request};
use lanlab_files::Credentials;
use lanlab_wire::sigv4::{self, ALGORITHM, Key, Scope, Signed, UNSIGNED};
use lanlab_wire::{calendar, percent};

const SIGNED_FOR: Duration = Duration::from_mins(15);

#[derive(Debug)]
pub struct Bucket {
    pub name: String,
    pub host: String,
    pub region: String,
    /// Credentials; absent: requests are not signed.
    pub credentials: Option<Credentials>,
}

impl Bucket {
    /// A request for an object, or for the bucket itself if the key is empty.
    pub fn request(&self, method: Method, key: &str, query: &[(&str, &str)]) -> Builder {
        let uri = self.uri(&method, key, query, SystemTime::now());
        Request::builder().method(method).uri(uri)
    }

    fn uri(&self, method: &Method, key: &str, query: &[(&str, &str)], now: SystemTime) -> String {
        let path = format!("/{}/{key}", self.name);
        let path = match (self.name.is_empty(), key.is_empty()) {
            // The list of buckets.
            (true, _) => "/",
            (false, true) => path.trim_end_matches('/'),
            (false, false) => &path,
        };
        let mut uri = percent::encode(path);
        let Some(Credentials { user, secret, .. }) = &self.credentials else {
            if !query.is_empty() {
                uri.push('?');
                uri.push_str(&sigv4::query(query));
            }
            return uri;
        };
        let time = calendar::basic(now.duration_since(UNIX_EPOCH).unwrap_or_default().as_secs());
        let scope = Scope { day: &time[..8], region: &self.region };
        let credential = format!("{user}/{}", scope.text());
        let expires = SIGNED_FOR.as_secs().to_string();
        let mut query = query.to_vec();
        query.extend([
            ("X-Amz-Algorithm", ALGORITHM),
            ("X-Amz-Credential", &credential),
            ("X-Amz-Date", &time),
            ("X-Amz-Expires", &expires),
            ("X-Amz-SignedHeaders", "host"),
        ]);
        let fields = [("host", self.host.as_str())];
        let signed = Signed {
            method: method.as_str(),
            path,
            query: &query,
            fields: &fields,
            payload: UNSIGNED,
        };
        let signature = Key::new(secret, &scope).sign(&signed.text(&time, &scope));
        query.push(("X-Amz-Signature", &signature));
        format!("{uri}?{}", sigv4::query(&query))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn bucket(credentials: Option<Credentials>) -> Bucket {
        let (host, region) = ("s3.amazonaws.com".to_owned(), "us-east-1".to_owned());
        Bucket { name: "b".to_owned(), host, region, credentials }
    }

    #[test]
    fn urls_hold_the_request_and_its_signer() {
        let plain = bucket(None);
        let now = UNIX_EPOCH + Duration::from_hours(380_376);
        let uri = |bucket: &Bucket, key, query| bucket.uri(&Method::GET, key, query, now);
        assert_eq!(uri(&plain, "", &[]), "/b");
        assert_eq!(uri(&plain, "a b/c", &[("x", "1/ä")]), "/b/a%20b/c?x=1%2F%C3%A4");
        let (user, secret) = ("me".to_owned(), "s".to_owned());
        let signing = bucket(Some(Credentials { user, secret, domain: None, passphrase: None }));
        let found = uri(&signing, "k", &[]);
        let wanted = "/b/k?X-Amz-Algorithm=AWS4-HMAC-SHA256&X-Amz-Credential=me%2F20130524%2F\
                      us-east-1%2Fs3%2Faws4_request&X-Amz-Date=20130524T000000Z&\
                      X-Amz-Expires=900&X-Amz-Signature=";
        assert!(found.starts_with(wanted), "{found}");
        assert!(found.ends_with("&X-Amz-SignedHeaders=host"), "{found}");
    }
}

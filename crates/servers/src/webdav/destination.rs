//! Source and destination of COPY and MOVE (RFC 4918, sections 9.8, 9.9 and 10.3).

use dav_server::davpath::DavPath;
use hyper::header::{HOST, HeaderMap, HeaderName};
use hyper::{StatusCode, Uri};
use lanlab_wire::percent;

use super::properties::Properties;

pub const FIELD: HeaderName = HeaderName::from_static("destination");

#[derive(Debug, PartialEq, Eq)]
pub struct Ways {
    from: Vec<String>,
    to: Vec<String>,
    is_deep: bool,
}

impl Ways {
    /// The destination of a request for `names`.
    ///
    /// # Errors The destination is missing, on another server (502), or one of the two contains the other (403): a
    /// copy would never end, and an overwritten source would be lost.
    pub fn of(names: &str, fields: &HeaderMap) -> Result<Self, StatusCode> {
        let destination = fields.get(FIELD).and_then(|value| value.to_str().ok());
        let destination: Uri = destination
            .and_then(|text| text.parse().ok())
            .filter(|uri: &Uri| uri.path().starts_with('/') && !uri.path().starts_with("//"))
            .ok_or(StatusCode::BAD_REQUEST)?;
        if destination.authority().is_some() && !is_here(&destination, fields) {
            return Err(StatusCode::BAD_GATEWAY);
        }
        let to = percent::decode(destination.path()).ok_or(StatusCode::BAD_REQUEST)?;
        let split = |names: &str| -> Vec<String> {
            names.split('/').filter(|name| !name.is_empty()).map(str::to_owned).collect()
        };
        let (from, to) = (split(names), split(&to));
        if from.starts_with(&to) || to.starts_with(&from) {
            return Err(StatusCode::FORBIDDEN);
        }
        let is_deep = fields.get("depth").is_none_or(|depth| depth != "0");
        Ok(Self { from, to, is_deep })
    }

    pub fn from(&self) -> String {
        format!("/{}", self.from.join("/"))
    }

    pub fn to(&self) -> String {
        format!("/{}", self.to.join("/"))
    }

    pub fn carry_properties(&self, properties: &Properties) {
        let path = |names: String| DavPath::new(&percent::encode(&names));
        if let (true, Ok(from), Ok(to)) = (self.is_deep, path(self.from()), path(self.to())) {
            properties.carry(&from, &to, false);
        }
    }
}

fn is_here(destination: &Uri, fields: &HeaderMap) -> bool {
    let usual = if destination.scheme_str() == Some("https") { 443 } else { 80 };
    let host = fields.get(HOST).and_then(|value| value.to_str().ok());
    let Some(host) = host.and_then(|host| host.parse::<Uri>().ok()) else { return false };
    let same_port = destination.port_u16().unwrap_or(usual) == host.port_u16().unwrap_or(usual);
    let names = destination.host().zip(host.host());
    same_port && names.is_some_and(|(one, other)| one.eq_ignore_ascii_case(other))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(names: &str, destination: &str) -> Result<(String, String), StatusCode> {
        let mut fields = HeaderMap::new();
        fields.insert(HOST, "Server:8080".parse().unwrap());
        if !destination.is_empty() {
            fields.insert(FIELD, destination.parse().unwrap());
        }
        Ways::of(names, &fields).map(|ways| (ways.from(), ways.to()))
    }

    #[test]
    fn a_destination_is_on_this_server_and_not_inside_its_source() {
        let done = |to: &str| Ok(("/a b/c".to_owned(), to.to_owned()));
        assert_eq!(of("/a b/c", "http://server:8080/a%20b/d/"), done("/a b/d"));
        assert_eq!(of("/a b/c", "/x%2e%2e?y"), done("/x.."));
        assert_eq!(of("/a b/c", "/a b"), Err(StatusCode::BAD_REQUEST));
        for elsewhere in ["http://server/x", "https://server/x", "http://other:8080/x"] {
            assert_eq!(of("/a", elsewhere), Err(StatusCode::BAD_GATEWAY), "{elsewhere}");
        }
        for (from, to) in [("/a", "/a"), ("/a", "/a/b"), ("/a/b", "/a"), ("/a/", "/"), ("/", "/a")]
        {
            assert_eq!(of(from, to), Err(StatusCode::FORBIDDEN), "{from} {to}");
        }
        assert!(of("/a", "/ab").is_ok());
        for bad in ["", "x", "//other/x", "/%ff", "*"] {
            assert_eq!(of("/a", bad), Err(StatusCode::BAD_REQUEST), "{bad}");
        }
    }
}

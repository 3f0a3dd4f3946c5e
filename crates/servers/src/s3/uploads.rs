//! Multipart uploads in progress.

use std::collections::{BTreeMap, HashMap};
use std::time::SystemTime;

use parking_lot::Mutex;

use super::refusal::{Code, Refusal};
use super::store::{Found, Unseen};

type Result<T> = std::result::Result<T, Refusal>;

/// Maximum uploads in progress: clients that never finish them cannot fill the memory.
const MAX_UPLOADS: usize = 10_000;

/// Smallest size of each part except the last, as in S3.
const MIN_PART_BYTES: u64 = 5 << 20;

/// Maximum parts of an object, as in S3.
const MAX_PARTS: u32 = 10_000;

#[derive(Debug, Default)]
pub struct Uploads(Mutex<HashMap<String, Upload>>);

#[derive(Debug)]
struct Upload {
    key: String,
    modified: Option<SystemTime>,
    parts: BTreeMap<u32, Part>,
}

#[derive(Debug)]
struct Part {
    etag: String,
    found: Found,
    unseen: Unseen,
}

#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Listed {
    pub number: u32,
    pub etag: Option<String>,
}

impl Uploads {
    pub fn begin(&self, key: String, modified: Option<SystemTime>) -> Result<String> {
        let name = random()?;
        let mut uploads = self.0.lock();
        if uploads.len() >= MAX_UPLOADS {
            return Err(Refusal::new(Code::SlowDown, "too many uploads by parts are under way"));
        }
        uploads.insert(name.clone(), Upload { key, modified, parts: BTreeMap::new() });
        Ok(name)
    }

    /// Whether a part of this number can be added to the upload of this name for the key.
    pub fn expects(&self, name: &str, key: &str, number: u32) -> Result<()> {
        if !(1..=MAX_PARTS).contains(&number) {
            let message = "a part has a number from 1 to 10000";
            return Err(Refusal::new(Code::InvalidArgument, message));
        }
        match self.0.lock().get(name) {
            Some(upload) if upload.key == key => Ok(()),
            _ => Err(Code::NoSuchUpload.into()),
        }
    }

    /// Add or replace a part, and return its `ETag`.
    pub fn add(&self, name: &str, key: &str, number: u32, mut unseen: Unseen) -> Result<String> {
        let found = unseen.found()?;
        let etag = format!("{}-{:x}", random()?, found.size_bytes);
        let part = Part { etag: etag.clone(), found, unseen };
        let replaced = match self.0.lock().get_mut(name) {
            Some(upload) if upload.key == key => upload.parts.insert(number, part),
            _ => return Err(Code::NoSuchUpload.into()),
        };
        drop(replaced);
        Ok(etag)
    }

    /// Remove an upload, if the client lists exactly its parts. Returns the parts and the client's
    /// modification time.
    pub fn take(
        &self,
        name: &str,
        key: &str,
        listed: &[Listed],
    ) -> Result<(Vec<Unseen>, Option<SystemTime>)> {
        let mut uploads = self.0.lock();
        let upload = uploads.get(name).filter(|upload| upload.key == key);
        let upload = upload.ok_or(Code::NoSuchUpload)?;
        if listed.is_empty() {
            return Err(Refusal::new(Code::InvalidRequest, "an object has at least one part"));
        }
        if !listed.is_sorted_by(|one, next| one.number < next.number) {
            let message = "the parts are not in the order of their numbers";
            return Err(Refusal::new(Code::InvalidPartOrder, message));
        }
        for (at, Listed { number, etag }) in listed.iter().enumerate() {
            let there = upload
                .parts
                .get(number)
                .filter(|there| etag.as_ref().is_none_or(|etag| *etag == there.etag));
            let there = there.ok_or_else(|| {
                let message = format!("part {number} has not come, or was sent again since");
                Refusal::new(Code::InvalidPart, message)
            })?;
            if there.found.size_bytes < MIN_PART_BYTES && at + 1 < listed.len() {
                let message = "a part that is not the last has 5 MiB or more";
                return Err(Refusal::new(Code::EntityTooSmall, message));
            }
        }
        let mut upload = uploads.remove(name).ok_or(Code::NoSuchUpload)?;
        drop(uploads);
        let parts = listed.iter().filter_map(|part| upload.parts.remove(&part.number));
        Ok((parts.map(|part| part.unseen).collect(), upload.modified))
    }

    pub fn forget(&self, name: &str, key: &str) -> Result<()> {
        let mut uploads = self.0.lock();
        if uploads.get(name).is_none_or(|upload| upload.key != key) {
            return Err(Code::NoSuchUpload.into());
        }
        let upload = uploads.remove(name);
        drop(uploads);
        drop(upload);
        Ok(())
    }
}

fn random() -> Result<String> {
    let mut octets = [0; 16];
    getrandom::fill(&mut octets).map_err(|_| Code::InternalError)?;
    Ok(format!("{:032x}", u128::from_ne_bytes(octets)))
}

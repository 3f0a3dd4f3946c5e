//! Objects that are sent by parts.

use std::collections::{BTreeMap, HashMap};
use std::sync::{Mutex, MutexGuard, PoisonError};

use s3s::dto::CompletedPart;
use s3s::{S3Result, s3_error};

use super::store::Unseen;

/// Uploads under way at once: clients that begin and never end cannot fill the memory.
const MAX_UPLOADS: usize = 10_000;

/// Octets of each part but the last, at least, as S3 has it.
const MIN_PART_BYTES: u64 = 5 << 20;

/// Parts of one object, as S3 has it.
const MAX_PARTS: i32 = 10_000;

/// The uploads under way. What they hold goes when they go.
#[derive(Debug, Default)]
pub struct Uploads(Mutex<HashMap<String, Upload>>);

#[derive(Debug)]
struct Upload {
    key: String,
    parts: BTreeMap<i32, Part>,
}

#[derive(Debug)]
struct Part {
    etag: String,
    size_bytes: u64,
    unseen: Unseen,
}

impl Uploads {
    fn lock(&self) -> MutexGuard<'_, HashMap<String, Upload>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Begin one, and give its name.
    pub fn begin(&self, key: String) -> S3Result<String> {
        let name = random()?;
        let mut uploads = self.lock();
        if uploads.len() >= MAX_UPLOADS {
            return Err(s3_error!(SlowDown, "too many uploads by parts are under way"));
        }
        uploads.insert(name.clone(), Upload { key, parts: BTreeMap::new() });
        Ok(name)
    }

    /// Whether there is one of the name for the key.
    pub fn is_there(&self, name: &str, key: &str) -> S3Result<()> {
        match self.lock().get(name) {
            Some(upload) if upload.key == key => Ok(()),
            _ => Err(s3_error!(NoSuchUpload)),
        }
    }

    /// Add a part, in place of one of the same number, and give its name.
    pub fn add(&self, name: &str, key: &str, number: i32, unseen: Unseen) -> S3Result<String> {
        if !(1..=MAX_PARTS).contains(&number) {
            return Err(s3_error!(InvalidArgument, "a part has a number from 1 to 10000"));
        }
        let size_bytes = unseen.size_bytes().map_err(|error| super::fault(&error))?;
        let etag = format!("{}-{size_bytes:x}", random()?);
        let part = Part { etag: etag.clone(), size_bytes, unseen };
        let replaced = match self.lock().get_mut(name) {
            Some(upload) if upload.key == key => upload.parts.insert(number, part),
            _ => return Err(s3_error!(NoSuchUpload)),
        };
        drop(replaced);
        Ok(etag)
    }

    /// Take all parts of one out, if they are those that the client lists.
    pub fn take(&self, name: &str, key: &str, listed: &[CompletedPart]) -> S3Result<Vec<Unseen>> {
        self.is_there(name, key)?;
        let mut uploads = self.lock();
        let Some(upload) = uploads.get(name) else { return Err(s3_error!(NoSuchUpload)) };
        if listed.is_empty() {
            return Err(s3_error!(InvalidRequest, "an object has at least one part"));
        }
        let mut last_number = 0;
        for (at, part) in listed.iter().enumerate() {
            let number = part.part_number.unwrap_or_default();
            if number <= last_number {
                return Err(s3_error!(InvalidPartOrder));
            }
            last_number = number;
            let there = upload.parts.get(&number).ok_or_else(|| s3_error!(InvalidPart))?;
            if part.e_tag.as_ref().is_some_and(|etag| etag.value() != there.etag) {
                return Err(s3_error!(InvalidPart));
            }
            if there.size_bytes < MIN_PART_BYTES && at + 1 < listed.len() {
                return Err(s3_error!(EntityTooSmall));
            }
        }
        let Some(mut upload) = uploads.remove(name) else { return Err(s3_error!(NoSuchUpload)) };
        let number = |part: &CompletedPart| part.part_number.unwrap_or_default();
        Ok(listed
            .iter()
            .filter_map(|part| upload.parts.remove(&number(part)))
            .map(|part| part.unseen)
            .collect())
    }

    /// Remove one and its parts.
    pub fn forget(&self, name: &str, key: &str) -> S3Result<()> {
        self.is_there(name, key)?;
        let upload = self.lock().remove(name);
        drop(upload);
        Ok(())
    }
}

fn random() -> S3Result<String> {
    let mut octets = [0; 16];
    getrandom::fill(&mut octets).map_err(|_| s3_error!(InternalError))?;
    Ok(format!("{:032x}", u128::from_ne_bytes(octets)))
}

//! Bucket requests: there is one bucket, and it cannot be created or deleted.

use std::time::SystemTime;

use super::answers::{Answer, document};
use super::refusal::Refusal;
use super::{BUCKET, Served};

impl Served {
    pub(super) fn list_buckets(&self) -> Result<Answer, Refusal> {
        let made = self.with(|store| {
            let facts = store.confined.metadata(&[])?;
            let made = facts.created().or_else(|_| facts.modified());
            Ok(made.map_or(SystemTime::UNIX_EPOCH, cap_std::time::SystemTime::into_std))
        })?;
        Ok(document("ListAllMyBucketsResult", |answer| {
            answer.open("Owner");
            answer.text("ID", BUCKET);
            answer.close("Owner");
            answer.open("Buckets");
            answer.open("Bucket");
            answer.text("Name", BUCKET);
            answer.moment("CreationDate", made);
            answer.close("Bucket");
            answer.close("Buckets");
        }))
    }
}

/// An empty value means `us-east-1`, the default of clients.
pub fn location() -> Answer {
    document("LocationConstraint", |_| {})
}

/// An empty value means that versioning was never enabled.
pub fn versioning() -> Answer {
    document("VersioningConfiguration", |_| {})
}

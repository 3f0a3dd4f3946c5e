//! What our servers say and take, for comparison with what our clients take and say.

use std::net::IpAddr;
use std::sync::LazyLock;

use lanlab_connections::scripted::{Pieces, at_once};
use lanlab_files::Entry;
use tokio::runtime::{Builder, Runtime};

use crate::Bounds;
use crate::ftp::files::{self, Form};
use crate::nfs::MAX_RECORD_OCTETS;
use crate::nfs::records::{Held, Records, read_record};
use crate::s3::answers::Document;
use lanlab_served::Found;

/// A line of a listing of FTP: as `ls -l` has it, or by facts (MLSD).
pub fn ftp_line(is_long: bool, entry: &Entry) -> String {
    let Entry { name, size_bytes, is_directory } = entry.clone();
    let form = if is_long { Form::Long } else { Form::Facts };
    let found = Found { name, is_directory, size_bytes, mode: 0o644, modified_s: 0, accessed_s: 0 };
    files::line(form, &found, found.modified_s)
}

/// A page of a listing of S3, with what the next one begins behind.
pub fn s3_bucket_list(directory: &str, entries: &[Entry], next: Option<&str>) -> String {
    let mut document = Document::new();
    document.open("ListBucketResult");
    document.value("IsTruncated", next.is_some());
    for Entry { name, size_bytes, is_directory } in entries {
        if *is_directory {
            document.open("CommonPrefixes");
            document.text("Prefix", &format!("{directory}{name}/"));
            document.close("CommonPrefixes");
        } else {
            document.open("Contents");
            document.text("Key", &format!("{directory}{name}"));
            document.value("Size", *size_bytes);
            document.close("Contents");
        }
    }
    if let Some(next) = next {
        document.text("NextContinuationToken", next);
    }
    document.close("ListBucketResult");
    document.finish()
}

/// A runtime for what has a time, which nothing here waits for.
fn clock() -> &'static Runtime {
    static CLOCK: LazyLock<Runtime> = LazyLock::new(|| {
        Builder::new_current_thread().enable_time().build().expect("a runtime without a thread")
    });
    &CLOCK
}

/// All records of NFS that are in these octets, which come in pieces of at most `size`.
///
/// # Panics
/// If more memory is held than records may have.
pub fn nfs_records(said: &[u8], size: usize) -> Vec<Vec<u8>> {
    let mut stream = Pieces::new(said, size);
    let (mut records, mut record) = (Vec::new(), Vec::new());
    let _clock = clock().enter();
    let mut held = Held::new(Records::new(&Bounds::default()), IpAddr::from([127, 0, 0, 1]).into());
    while at_once(read_record(&mut stream, &mut record, &mut held)).is_some() {
        assert!(record.capacity() <= 2 * MAX_RECORD_OCTETS, "{} held", record.capacity());
        records.push(record.clone());
        held.release([&mut record, &mut Vec::new()]);
    }
    records
}

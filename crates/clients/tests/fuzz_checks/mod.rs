//! What a server may send to our clients, and what must hold then.
//!
//! One function for each fuzz target (`fuzz/`): it takes any octets and panics if something does not
//! hold. Where our own server does the same or answers the client, it is an argument: the targets and
//! the tests join the two (`fuzz/file_services.rs`). The tests feed them the seeds of the corpus, so
//! that what a fuzzer has found once stays mended.

mod ftp_answers;
mod http_answers;
mod nfs_answers;
mod nfs_results;
mod sftp_replies;

pub use ftp_answers::ftp_answers;
#[cfg(test)]
pub(crate) use http_answers::http;
pub use http_answers::{http_answers, s3_refusal};
pub use nfs_answers::nfs_answers;
pub use nfs_results::nfs_result;
pub use sftp_replies::{sftp_extensions, sftp_reply};

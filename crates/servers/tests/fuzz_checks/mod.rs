//! What a client may send to our servers, and what must hold then.
//!
//! As in the clients (`lanlab_clients::fuzz_checks`): one function for each fuzz target, and what our
//! client makes of an answer is an argument.

mod ground;
mod nfs_calls;
mod s3_requests;
mod sftp_messages;
mod words;

pub use nfs_calls::nfs_calls;
pub use s3_requests::s3_requests;
pub use sftp_messages::sftp_messages;
pub use words::{ftp_line, nfs_records, s3_bucket_list};

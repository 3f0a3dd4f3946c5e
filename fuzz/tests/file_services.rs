//! What is fed to clients and servers of file services, each beside the other end where there is one:
//! for the fuzz targets, and for the tests that feed them all seeds.

#![allow(dead_code, reason = "a fuzz target is one of them")]

use lanlab_clients::fuzz_checks as clients;
use lanlab_servers::fuzz_checks as servers;

pub fn ftp_answers(octets: &[u8]) {
    clients::ftp_answers(octets, servers::ftp_line);
}

pub fn http_answers(octets: &[u8]) {
    clients::http_answers(octets, servers::s3_bucket_list);
}

pub fn nfs_answers(octets: &[u8]) {
    clients::nfs_answers(octets, servers::nfs_records);
}

pub fn nfs_calls(octets: &[u8]) {
    servers::nfs_calls(octets, clients::nfs_result);
}

pub fn s3_requests(octets: &[u8]) {
    servers::s3_requests(octets, clients::s3_refusal);
}

pub fn sftp_messages(octets: &[u8]) {
    servers::sftp_messages(octets, clients::sftp_reply, clients::sftp_extensions);
}

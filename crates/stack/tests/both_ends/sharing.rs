//! Opens of one file at the same time, and what an open may cut.

use lanlab_wire::smb1::nt_create_andx::{access, disposition, options};
use lanlab_wire::smb1::status::error;
use lanlab_wire::smb1::strings::Text;
use lanlab_wire::smb1::{command, open};

use super::both::server;
use super::raw::{Raw, ended};

#[test]
fn opening_for_attributes_does_not_truncate_a_deny_write_file() {
    let mut raw = Raw::new(&server(), &["file"]);
    let access = open::access::READ_WRITE | open::access::DENY_ALL;
    let request = open::Request { access, search_attributes: 0, name: Text::Oem(b"FILE") };
    let said = raw.ask(command::OPEN, |writer| request.emit(writer));
    assert_eq!(ended(&said)[0].1, Some("success"));
    for cuts in [disposition::OVERWRITE, disposition::OVERWRITE_IF, disposition::SUPERSEDE] {
        let opened = raw.nt_open("file", cuts, access::READ_ATTRIBUTES, 0);
        assert_eq!(opened, Err(error::SHARING_VIOLATION.name), "{cuts}");
    }
    let opened = raw.nt_open("file", disposition::OPEN, access::READ_ATTRIBUTES, 0);
    assert!(opened.is_ok(), "it uses nothing of the file: {opened:?}");
    for uses in [
        access::READ_DATA,
        access::GENERIC_READ,
        access::GENERIC_EXECUTE,
        access::EXECUTE,
        access::WRITE_DATA,
        access::APPEND_DATA,
        access::GENERIC_WRITE,
        access::DELETE,
        access::GENERIC_ALL,
        access::MAXIMUM_ALLOWED,
    ] {
        let opened = raw.nt_open("file", disposition::OPEN, uses, 0);
        assert_eq!(opened, Err(error::SHARING_VIOLATION.name), "{uses:#x}");
    }
}

#[test]
fn a_directory_is_not_truncated() {
    let mut raw = Raw::new(&server(), &[]);
    raw.make_directory("there");
    for cuts in [disposition::OVERWRITE, disposition::OVERWRITE_IF, disposition::SUPERSEDE] {
        for name in ["there", "new"] {
            let opened = raw.nt_open(name, cuts, access::READ_DATA, options::DIRECTORY);
            assert_eq!(opened, Err(error::INVALID_PARAMETER.name), "{name} {cuts}");
        }
    }
    assert_eq!(raw.names(), ["there"]);
    let made = raw.nt_open("new", disposition::CREATE, access::READ_DATA, options::DIRECTORY);
    assert!(made.is_ok(), "{made:?}");
}

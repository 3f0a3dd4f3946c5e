//! What is removed, and what is not: by name, by pattern, and by the close of an open file.

use lanlab_stack::smb::server::{Offer, Server};
use lanlab_wire::smb1::file_information::{Disposition, set};
use lanlab_wire::smb1::negotiate::dialect;
use lanlab_wire::smb1::nt_create_andx::{access, disposition, options};
use lanlab_wire::smb1::status::error;
use lanlab_wire::smb1::strings::Text;
use lanlab_wire::smb1::transaction2::{self, File};
use lanlab_wire::smb1::{attributes, command, path, query_information, transaction};

use super::both::{offer, server};
use super::raw::{Raw, ended};

impl Raw {
    fn delete(&mut self, search_attributes: u16, name: &str) -> &'static str {
        let request = path::Delete { search_attributes, name: Text::Oem(name.as_bytes()) };
        let said = self.ask(command::DELETE, |writer| request.emit(writer));
        ended(&said)[0].1.unwrap()
    }

    fn remove_directory(&mut self, name: &str) -> &'static str {
        let request = path::Request { name: Text::Oem(name.as_bytes()) };
        let said = self.ask(command::DELETE_DIRECTORY, |writer| request.emit(writer));
        ended(&said)[0].1.unwrap()
    }

    fn attributes(&mut self, name: &str) -> &'static str {
        let request = path::Request { name: Text::Oem(name.as_bytes()) };
        let said = self.ask(command::QUERY_INFORMATION, |writer| request.emit(writer));
        ended(&said)[0].1.unwrap()
    }

    fn set_read_only(&mut self, name: &str) {
        let request = query_information::SetRequest {
            attributes: attributes::READ_ONLY,
            last_write_time: 0,
            name: Text::Oem(name.as_bytes()),
        };
        let said = self.ask(command::SET_INFORMATION, |writer| request.emit(writer));
        assert_eq!(ended(&said)[0].1, Some("success"));
    }

    fn doom(&mut self, fid: u16) -> &'static str {
        let (mut parameters, mut data) = (Vec::new(), Vec::new());
        File { fid, level: set::DISPOSITION }.emit(&mut parameters);
        Disposition { delete_pending: true }.emit(&mut data);
        let setup = transaction2::SET_FILE_INFORMATION.to_le_bytes();
        let request = transaction::Request::whole(&setup, &parameters, &data);
        let said = self.ask(command::TRANSACTION2, |writer| request.emit(writer));
        ended(&said)[0].1.unwrap()
    }
}

/// A client that may ask for what is newer than the core dialect.
fn logged_in(files: &[&str]) -> Raw {
    let server = Server::new(Offer { user: None, ..offer() });
    let mut raw = Raw::negotiated(&server, files, dialect::LM12);
    raw.log_in();
    raw.connect();
    raw
}

const ALL: u32 = access::READ_DATA | access::WRITE_DATA | access::DELETE;

#[test]
fn an_open_file_is_not_removed_in_any_sharing_mode() {
    let mut raw = Raw::new(&server(), &["file"]);
    let fid = raw.nt_open("\\FILE", disposition::OPEN, access::READ_DATA, 0).unwrap();
    assert_eq!(raw.delete(0, "file"), error::SHARING_VIOLATION.name);
    assert_eq!(raw.delete(0, "f*"), error::SHARING_VIOLATION.name);
    assert_eq!(raw.names(), ["file"]);
    assert_eq!(raw.close(fid), "success");
    assert_eq!(raw.delete(0, "file"), "success");
    assert!(raw.names().is_empty());
}

#[test]
fn a_pattern_removes_no_directory() {
    let mut raw = Raw::new(&server(), &["one.x"]);
    raw.make_directory("two.x");
    raw.make("two.x\\inner");
    assert_eq!(raw.delete(attributes::DIRECTORY, "t*.x"), error::FILE_IS_A_DIRECTORY.name);
    // What stands for the directory itself is found first.
    assert_eq!(raw.delete(attributes::DIRECTORY, "two.x\\*"), error::OBJECT_NAME_INVALID.name);
    assert_eq!(raw.attributes("two.x\\inner"), "success");
    assert_eq!(raw.delete(0, "*.x"), "success");
    assert_eq!(raw.names(), ["two.x"]);
}

#[test]
fn delete_on_close_requires_delete_access() {
    let mut raw = logged_in(&["file"]);
    let (create, close_removes) = (disposition::OPEN_IF, options::DELETE_ON_CLOSE);
    for name in ["file", "other"] {
        let opened = raw.nt_open(name, create, access::WRITE_DATA, close_removes);
        assert_eq!(opened, Err(error::INVALID_PARAMETER.name), "{name}");
    }
    assert_eq!(raw.names(), ["file"], "nothing was made");
    let fid = raw.nt_open("file", create, access::WRITE_DATA, 0).unwrap();
    assert_eq!(raw.doom(fid), error::ACCESS_DENIED.name);
    assert_eq!(raw.close(fid), "success");
    let fid = raw.nt_open("file", create, ALL, 0).unwrap();
    assert_eq!(raw.doom(fid), "success");
    assert_eq!(raw.attributes("file"), error::DELETE_PENDING.name);
    assert_eq!(raw.close(fid), "success");
    assert!(raw.names().is_empty());
}

#[test]
fn delete_on_close_keeps_a_read_only_file() {
    let mut raw = Raw::new(&server(), &["file"]);
    raw.set_read_only("file");
    let (open, close_removes) = (disposition::OPEN, options::DELETE_ON_CLOSE);
    let opened = raw.nt_open("file", open, access::DELETE, close_removes);
    assert_eq!(opened, Err(error::CANNOT_DELETE.name));
    assert_eq!(raw.names(), ["file"]);
}

#[test]
fn a_non_empty_directory_is_not_removed() {
    let mut raw = logged_in(&[]);
    raw.make_directory("full");
    raw.make("full\\inner");
    let fid = raw.nt_open("full", disposition::OPEN, ALL, options::DIRECTORY).unwrap();
    assert_eq!(raw.doom(fid), error::DIRECTORY_NOT_EMPTY.name);
    assert_eq!(raw.close(fid), "success");
    let dies = options::DIRECTORY | options::DELETE_ON_CLOSE;
    let fid = raw.nt_open("full", disposition::OPEN, ALL, dies).unwrap();
    assert_eq!(raw.close(fid), "success");
    assert_eq!(raw.remove_directory("full"), error::DIRECTORY_NOT_EMPTY.name);
    assert_eq!(raw.delete(0, "full\\inner"), "success");
    let fid = raw.nt_open("full", disposition::OPEN, ALL, dies).unwrap();
    assert_eq!(raw.close(fid), "success");
    assert!(raw.names().is_empty());
}

#[test]
fn delete_on_close_waits_for_the_last_open() {
    let mut raw = Raw::new(&server(), &["file"]);
    let dies = raw.open_to_remove("file");
    let other = raw.nt_open("file", disposition::OPEN, access::READ_DATA, 0).unwrap();
    assert_eq!(raw.close(dies), "success");
    assert_eq!(
        (raw.names(), raw.attributes("file")),
        (vec!["file".to_owned()], error::DELETE_PENDING.name)
    );
    let opened = raw.nt_open("file", disposition::OPEN, access::READ_DATA, 0);
    assert_eq!(opened, Err(error::DELETE_PENDING.name));
    assert_eq!(raw.close(other), "success");
    assert!(raw.names().is_empty());
}

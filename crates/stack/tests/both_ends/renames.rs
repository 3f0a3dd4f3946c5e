//! Renames by patterns, and of what is open.

use lanlab_wire::smb1::status::error;
use lanlab_wire::smb1::strings::Text;
use lanlab_wire::smb1::{attributes, command, rename};

use super::both::server;
use super::raw::{Raw, ended};

impl Raw {
    fn rename(&mut self, search_attributes: u16, from: &str, to: &str) -> &'static str {
        let (old_name, new_name) = (Text::Oem(from.as_bytes()), Text::Oem(to.as_bytes()));
        let request = rename::Request { search_attributes, old_name, new_name };
        let said = self.ask(command::RENAME, |writer| request.emit(writer));
        ended(&said)[0].1.expect("a known status")
    }
}

#[test]
fn a_wildcard_rename_renames_each_match_once() {
    let many: Vec<String> = (0..150).map(|number| format!("a{number:03}.txt")).collect();
    let mut many: Vec<_> = many.iter().map(String::as_str).collect();
    many.push("other.doc");
    let mut raw = Raw::new(&server(), &many);
    // The new names match the pattern, too, and come later in the order of names.
    assert_eq!(raw.rename(0, "*.txt", "b*.txt"), "success");
    let found = raw.names();
    assert_eq!(found.len(), 151);
    assert!(found[..150].iter().enumerate().all(|(at, name)| *name == format!("b{at:03}.txt")));
    assert_eq!(raw.rename(0, "b00?.*", "*.bak"), "success");
    assert_eq!(raw.names()[..10], std::array::from_fn::<_, 10, _>(|at| format!("b00{at}.bak")));
    // Also of one name.
    assert_eq!(raw.rename(0, "other.doc", "?ne.*"), "success");
    assert!(raw.names().contains(&"one.doc".to_owned()));
}

#[test]
fn renames_include_directories_only_on_request() {
    let mut raw = Raw::new(&server(), &["one.x"]);
    raw.make_directory("two.x");
    assert_eq!(raw.rename(0, "*.x", "*.y"), "success");
    assert_eq!(raw.names(), ["one.y", "two.x"]);
    assert_eq!(raw.rename(attributes::DIRECTORY, "*.?", "*.z"), "success");
    assert_eq!(raw.names(), ["one.z", "two.z"]);
}

#[test]
fn a_taken_or_invalid_name_ends_a_rename() {
    let mut raw = Raw::new(&server(), &["a.one", "b.one", "b.two"]);
    assert_eq!(raw.rename(0, "*.one", "*.two"), error::OBJECT_NAME_COLLISION.name);
    assert_eq!(raw.names(), ["a.two", "b.one", "b.two"], "those before it have their new names");
    assert_eq!(raw.rename(0, "*.none", "*.two"), error::NO_SUCH_FILE.name);
    for to in ["con.*", "<.x", "a:*", "*.*\\x", "..\\*.*"] {
        assert_eq!(raw.rename(0, "*.one", to), error::OBJECT_NAME_INVALID.name, "{to}");
    }
    assert_eq!(raw.names(), ["a.two", "b.one", "b.two"]);
}

#[test]
fn too_many_matches_are_refused_before_any_rename() {
    let many: Vec<String> = (0..900).map(|number| format!("{number:0100}.txt")).collect();
    let many: Vec<_> = many.iter().map(String::as_str).collect();
    let mut raw = Raw::new(&server(), &many);
    assert_eq!(raw.rename(0, "*.txt", "*.bak"), error::INSUFFICIENT_RESOURCES.name);
    assert!(raw.names().iter().all(|name| name.contains(".txt")));
}

/// A close that removes a file removes that file, and nothing that has come to its old place.
#[test]
fn a_file_renamed_while_open_is_removed_under_its_new_name() {
    let mut raw = Raw::new(&server(), &["old"]);
    let fid = raw.open_to_remove("\\OLD");
    assert_eq!(raw.rename(0, "old", "new"), "success");
    raw.make("old");
    assert_eq!(raw.close(fid), "success");
    assert_eq!(raw.names(), ["old"]);
}

#[test]
fn a_directory_with_an_open_file_below_keeps_its_name() {
    let mut raw = Raw::new(&server(), &[]);
    raw.make_directory("above");
    raw.make("above\\file");
    let fid = raw.open_to_remove("\\Above\\file");
    assert_eq!(raw.rename(attributes::DIRECTORY, "above", "other"), error::ACCESS_DENIED.name);
    assert_eq!(raw.close(fid), "success");
    assert_eq!(raw.rename(attributes::DIRECTORY, "above", "other"), "success");
    assert_eq!(raw.names(), ["other"]);
}

//! Compares the stored contents with a plain model: bytes in memory.

use proptest::prelude::*;

use super::*;

fn names(path: &str) -> Names {
    path.split('/').map(str::to_owned).collect()
}

fn pattern() -> Content {
    Content::new(1, 2, 0.25)
}

fn contents() -> Contents {
    let expected = |path: &[String]| path.last()?.starts_with('f').then(pattern);
    Contents::new(1 << 20, Rc::new(expected))
}

fn opened(contents: &mut Contents, path: &str, presence: Presence) -> FileAnswer {
    let path = names(path);
    let call = FileCall::Open { path, read: true, write: true, presence, truncate: false };
    contents.carry_out(call, &mut Vec::new())
}

fn handle(answer: &FileAnswer) -> Handle {
    let FileAnswer::Opened { handle, .. } = answer else { panic!("{answer:?}") };
    *handle
}

fn write(contents: &mut Contents, handle: Handle, offset: u64, data: &[u8]) -> FileAnswer {
    let mut data = data.to_vec();
    contents.carry_out(FileCall::Write { handle, offset, data: 0..data.len() }, &mut data)
}

fn read(contents: &mut Contents, handle: Handle, offset: u64, count: u32) -> Vec<u8> {
    let mut data = Vec::new();
    contents.carry_out(FileCall::Read { handle, offset, count }, &mut data);
    data
}

#[derive(Debug, Clone)]
enum Step {
    Write(u64, usize, bool),
    Size(u64),
    Read(u64, u32),
}

fn steps() -> impl Strategy<Value = Vec<Step>> {
    let step = prop_oneof![
        (0_u64..20_000, 0_usize..9_000, any::<bool>())
            .prop_map(|(at, len, is)| Step::Write(at, len, is)),
        (0_u64..20_000).prop_map(Step::Size),
        (0_u64..25_000, 0_u32..9_000).prop_map(|(at, count)| Step::Read(at, count)),
    ];
    prop::collection::vec(step, 1..24)
}

proptest! {
    #[test]
    fn files_hold_exactly_the_written_bytes(steps in steps(), seed: u8) {
        let mut contents = contents();
        let file = handle(&opened(&mut contents, "f.dat", Presence::New));
        let mut model = Vec::<u8>::new();
        for step in steps {
            match step {
                Step::Write(at, len, is_expected) => {
                    let mut data = vec![seed; len];
                    if is_expected {
                        pattern().fill(at, &mut data);
                    }
                    prop_assert_eq!(
                        write(&mut contents, file, at, &data), FileAnswer::Written(len as u32)
                    );
                    let end = at as usize + len;
                    if model.len() < end {
                        model.resize(end, 0);
                    }
                    model[at as usize..end].copy_from_slice(&data);
                }
                Step::Size(size_bytes) => {
                    contents.carry_out(
                        FileCall::SetSize { handle: file, size_bytes }, &mut Vec::new()
                    );
                    model.resize(size_bytes as usize, 0);
                }
                Step::Read(at, count) => {
                    let from = (at as usize).min(model.len());
                    let to = (at as usize + count as usize).min(model.len());
                    prop_assert_eq!(read(&mut contents, file, at, count), &model[from..to]);
                }
            }
        }
        prop_assert_eq!(read(&mut contents, file, 0, 1 << 20), &model[..]);
        let mut expected = vec![0; model.len()];
        pattern().fill(0, &mut expected);
        let size_bytes = model.len() as u64;
        let is_as_expected = contents.is_as_expected(&names("f.dat"), size_bytes);
        prop_assert_eq!(is_as_expected, Some(model == expected));
        prop_assert_eq!(contents.free_bytes, (1 << 20) - size_bytes);
    }
}

#[test]
fn a_file_of_the_expected_content_takes_no_memory() {
    let mut contents = Contents::new(u64::MAX, Rc::new(|_| Some(pattern())));
    contents.put(&names("d/big.dat"), 623_000_000).unwrap();
    let file = handle(&opened(&mut contents, "D/BIG.DAT", Presence::Old));
    let mut expected = vec![0; 5_000];
    pattern().fill(600_000_001, &mut expected);
    assert_eq!(read(&mut contents, file, 600_000_001, 5_000), expected);
    assert_eq!(contents.is_as_expected(&names("d/big.dat"), 623_000_000), Some(true));
    let bytes = contents.bytes(file).unwrap();
    assert!(bytes.kept.is_empty() && bytes.as_expected.len() == 1);
}

#[test]
fn names_match_in_any_case_and_invalid_ones_are_refused() {
    let mut contents = contents();
    let mut call = |call| contents.carry_out(call, &mut Vec::new());
    let refused = FileAnswer::Refused;
    let make = |path: &str| FileCall::MakeDirectory { path: names(path) };
    assert_eq!(call(make("a/b")), refused(FileRefusal::NoPath));
    assert_eq!([call(make("a")), call(make("a/b"))], [FileAnswer::Done, FileAnswer::Done]);
    assert_eq!(call(make("A")), refused(FileRefusal::Exists));
    let remove = FileCall::RemoveDirectory { path: names("a") };
    assert_eq!(call(remove.clone()), refused(FileRefusal::NotEmpty));
    assert_eq!(call(FileCall::Remove { path: names("a/b") }), refused(FileRefusal::IsDirectory));
    let rename = FileCall::Rename { from: names("a/b"), to: names("c") };
    assert_eq!([call(rename), call(remove)], [FileAnswer::Done, FileAnswer::Done]);
    let FileAnswer::Found(found) = call(FileCall::Look { path: names("C") }) else { panic!() };
    assert!(found.is_directory && found.name == "c");
    let listed = call(FileCall::List { path: Vec::new(), after: String::new(), most: 9 });
    assert_eq!(listed, FileAnswer::Listed(vec![found]));
    assert_eq!(opened(&mut contents, "c", Presence::Old), refused(FileRefusal::IsDirectory));
    assert_eq!(opened(&mut contents, "x", Presence::Old), refused(FileRefusal::Missing));
    let file = handle(&opened(&mut contents, "c/x", Presence::New));
    assert_eq!(opened(&mut contents, "C/X", Presence::New), refused(FileRefusal::Exists));
    let full = write(&mut contents, file, 1 << 20, &[1]);
    assert_eq!(full, refused(FileRefusal::NoSpace));
}

#[test]
fn files_have_unique_numbers_and_sizes_and_directories_none() {
    let mut contents = contents();
    contents.put_directory(&names("d"));
    contents.put(&names("d/f"), 700).unwrap();
    contents.put_bytes(&names("b"), &[1; 30]).unwrap();
    let number = |path| contents.number_at(&names(path)).unwrap();
    let files = contents.files();
    assert_eq!(files, [(number("d/f"), 700), (number("b"), 30)].into());
    assert_eq!(files.len(), 2);
}

#[test]
fn free_space_is_capacity_minus_files() {
    let mut contents = contents();
    let free = |contents: &mut Contents, used: u64| {
        let total_bytes = 1 << 20;
        let space = FileAnswer::Space { total_bytes, free_bytes: total_bytes - used };
        assert_eq!(contents.carry_out(FileCall::Space, &mut Vec::new()), space);
    };
    contents.put(&names("d/f"), 700).unwrap();
    contents.put_bytes(&names("b"), &[1; 30]).unwrap();
    free(&mut contents, 730);
    assert_eq!(contents.put(&names("big"), 1 << 20), Err(FileRefusal::NoSpace));
    assert_eq!(contents.put_bytes(&names("big"), &vec![0; 1 << 20]), Err(FileRefusal::NoSpace));
    let file = handle(&opened(&mut contents, "b", Presence::Old));
    write(&mut contents, file, 20, &[2; 30]);
    free(&mut contents, 750);
    let mut size = |size_bytes| {
        let call = FileCall::SetSize { handle: file, size_bytes };
        assert_eq!(contents.carry_out(call, &mut Vec::new()), FileAnswer::Done);
        free(&mut contents, 700 + size_bytes);
    };
    size(10);
    size(90);
    let path = names("d/f");
    let (presence, truncate) = (Presence::Any, true);
    let open = FileCall::Open { path, read: true, write: true, presence, truncate };
    let opened = contents.carry_out(open, &mut Vec::new());
    let FileAnswer::Opened { is_new: false, ref found, .. } = opened else { panic!("{opened:?}") };
    assert_eq!(found.size_bytes, 0);
    free(&mut contents, 90);
    contents.carry_out(FileCall::Remove { path: names("b") }, &mut Vec::new());
    free(&mut contents, 0);
}

#[test]
fn listings_are_paged_and_exclude_subdirectory_contents() {
    let mut contents = contents();
    for path in ["d/b", "d/a/x", "d/c", "d/a/y", "e", "d/B2"] {
        contents.put_bytes(&names(path), &[1; 3]).unwrap();
    }
    let mut list = |path: &str, after: &str, most| {
        let path = if path.is_empty() { Vec::new() } else { names(path) };
        let call = FileCall::List { path, after: after.to_owned(), most };
        let FileAnswer::Listed(found) = contents.carry_out(call, &mut Vec::new()) else { panic!() };
        found.into_iter().map(|found| found.name).collect::<Vec<_>>()
    };
    assert_eq!(list("", "", 9), ["d", "e"]);
    assert_eq!(list("D", "", 9), ["B2", "a", "b", "c"]);
    assert_eq!(list("d", "", 2), ["B2", "a"]);
    assert_eq!(list("d", "a", 2), ["b", "c"]);
    assert_eq!(list("d/a", "", 9), ["x", "y"]);
    assert!(list("d", "c", 9).is_empty());
}

#[test]
fn a_rename_moves_children_and_open_files() {
    let mut contents = contents();
    for path in ["d/x", "d/s/y", "e"] {
        contents.put_bytes(&names(path), path.as_bytes()).unwrap();
    }
    let file = handle(&opened(&mut contents, "d/s/y", Presence::Old));
    let other = handle(&opened(&mut contents, "e", Presence::Old));
    let rename = |contents: &mut Contents, from: &str, to: &str| {
        let call = FileCall::Rename { from: names(from), to: names(to) };
        contents.carry_out(call, &mut Vec::new())
    };
    let refused = FileAnswer::Refused;
    assert_eq!(rename(&mut contents, "none", "n"), refused(FileRefusal::Missing));
    assert_eq!(rename(&mut contents, "e", "D"), refused(FileRefusal::Exists));
    assert_eq!(rename(&mut contents, "e", "f/e"), refused(FileRefusal::NoPath));
    assert_eq!(rename(&mut contents, "d", "New"), FileAnswer::Done);
    // A file can be renamed to another case of its own name.
    assert_eq!(rename(&mut contents, "e", "E"), FileAnswer::Done);
    assert_eq!(read(&mut contents, file, 0, 9), b"d/s/y");
    assert_eq!((contents.size_bytes(file), contents.open_files()), (Some(5), 2));
    assert_eq!(contents.number(other), contents.number_at(&names("e")));
    assert_eq!(contents.number_at(&names("d/x")), None);
    let look = |contents: &mut Contents, path: &str| {
        let call = FileCall::Look { path: names(path) };
        let FileAnswer::Found(found) = contents.carry_out(call, &mut Vec::new()) else { panic!() };
        (found.name, found.size_bytes, found.is_directory)
    };
    assert_eq!(look(&mut contents, "new"), ("New".into(), 0, true));
    assert_eq!(look(&mut contents, "new/S/Y"), ("y".into(), 5, false));
    assert_eq!(look(&mut contents, "e"), ("E".into(), 1, false));
    let close = FileCall::Close { handle: file };
    assert_eq!(contents.carry_out(close, &mut Vec::new()), FileAnswer::Done);
    assert_eq!((contents.open_files(), contents.number(file)), (1, None));
    let flush = FileCall::Flush { handle: file };
    assert_eq!(contents.carry_out(flush, &mut Vec::new()), refused(FileRefusal::Failed));
}

#[test]
fn a_write_changes_only_its_range_of_a_file() {
    let mut contents = contents();
    contents.put_bytes(&names("b"), &[1; 3]).unwrap();
    let mut seen = |modified_s, is_read_only| {
        let call = FileCall::Change { path: names("b"), modified_s, is_read_only };
        assert_eq!(contents.carry_out(call, &mut Vec::new()), FileAnswer::Done);
        let look = FileCall::Look { path: names("b") };
        let FileAnswer::Found(found) = contents.carry_out(look, &mut Vec::new()) else { panic!() };
        (found.modified_s, found.is_read_only)
    };
    assert_eq!(seen(Some(77), None), (77, false));
    assert_eq!(seen(None, Some(true)), (77, true));
    assert_eq!(seen(Some(78), None), (78, true));
}

//! Procedures that change nothing.

use std::sync::Arc;

use cap_std::fs::FileType;
use lanlab_os::positioned;
use lanlab_served::is_unseen;
use lanlab_wire::nfs3::xdr::{Garbled, Reader, Writer, padding};
use lanlab_wire::nfs3::{Attributes, MAX_HANDLE_OCTETS, Status};

use super::MAX_DATA_OCTETS;
use super::files::{Failed, Files, read_name};

/// `.` and `..` in a listing; other names have larger numbers.
const ITSELF: u64 = 1;
const ABOVE: u64 = 2;

/// Upper bound of a listing page, bytes.
pub const MAX_PAGE_OCTETS: usize = 256 << 10;

/// Rights of ACCESS (RFC 1813, section 3.3.4): to read, to look up, to execute.
const ACCESS_TO_READ: u32 = 0x1 | 0x2 | 0x20;
const ACCESS_TO_ALL: u32 = 0x3f;

type Done = Result<(), Failed>;

/// RFC 1813, section 3.3.1.
pub fn getattr(files: &Files, arguments: &mut Reader<'_>, writer: &mut Writer) -> Done {
    let number = files.read_handle(arguments)?;
    files.attributes(number)?.write(writer);
    Ok(())
}

/// RFC 1813, section 3.3.3.
pub fn lookup(files: &Files, arguments: &mut Reader<'_>, writer: &mut Writer) -> Done {
    let directory = files.read_handle(arguments)?;
    let name = read_name(arguments)?;
    let (number, attributes) = match name {
        "" => return Err(Status::INVAL.into()),
        "." => (directory, files.attributes(directory)?),
        ".." => {
            let above = files.handles.lock().directory(directory);
            (above, files.attributes(above)?)
        }
        name => {
            let path = files.handles.lock().path(directory)?.join(name);
            // Only existing files get a number, and special files cannot be opened.
            if !is_served(files.root.symlink_metadata(&path)?.file_type()) {
                return Err(Status::ACCESS.into());
            }
            let number = files.handles.lock().number(directory, name)?;
            (number, files.attributes_at(number, &path)?)
        }
    };
    files.write_handle(number, writer);
    Attributes::write_optional(Some(&attributes), writer);
    writer.boolean(false);
    Ok(())
}

/// RFC 1813, section 3.3.4.
pub fn access(files: &Files, arguments: &mut Reader<'_>, writer: &mut Writer) -> Done {
    let number = files.read_handle(arguments)?;
    let wanted = arguments.u32()?;
    let attributes = files.attributes(number)?;
    Attributes::write_optional(Some(&attributes), writer);
    writer.u32(wanted & if files.read_only { ACCESS_TO_READ } else { ACCESS_TO_ALL });
    Ok(())
}

/// RFC 1813, section 3.3.5.
pub fn readlink(files: &Files, arguments: &mut Reader<'_>, writer: &mut Writer) -> Done {
    let number = files.read_handle(arguments)?;
    let path = files.handles.lock().path(number)?;
    let target = files.root.read_link_contents(&path)?;
    writer.boolean(false);
    writer.opaque(target.to_string_lossy().as_bytes());
    Ok(())
}

pub fn octets_wanted(arguments: &mut Reader<'_>) -> Result<usize, Garbled> {
    arguments.opaque(MAX_HANDLE_OCTETS)?;
    arguments.u64()?;
    Ok(arguments.u32()?.min(MAX_DATA_OCTETS) as usize)
}

/// RFC 1813, section 3.3.6.
pub fn read(files: &Files, arguments: &mut Reader<'_>, writer: &mut Writer) -> Done {
    let number = files.read_handle(arguments)?;
    let (offset, wanted) = (arguments.u64()?, arguments.u32()?.min(MAX_DATA_OCTETS) as usize);
    let file = files.file(number)?;
    writer.boolean(false);
    let begin = writer.octets().len();
    // Count, end flag and data length are filled in after reading.
    let data = &mut writer.room(12 + wanted)[12..];
    let mut count = 0;
    while count < wanted {
        match positioned::read_at(&file, &mut data[count..], offset.saturating_add(count as u64))? {
            0 => break,
            more => count += more,
        }
    }
    let at_end = offset.saturating_add(count as u64) >= file.metadata()?.len();
    for (word, value) in [count as u32, u32::from(at_end), count as u32].into_iter().enumerate() {
        writer.set_u32(begin + 4 * word, value);
    }
    writer.truncate(begin + 12 + count);
    writer.room(padding(count));
    Ok(())
}

/// RFC 1813, sections 3.3.16 and, with `plus` attributes and handles, 3.3.17. A page starts after the number at which the
/// last one ended, so changes in between do not shift it.
pub fn readdir(files: &Files, arguments: &mut Reader<'_>, writer: &mut Writer, plus: bool) -> Done {
    let directory = files.read_handle(arguments)?;
    let after = arguments.u64()?;
    arguments.fixed(8)?;
    let first_bound = arguments.u32()? as usize;
    let names_bound = if plus { first_bound } else { usize::MAX };
    let page_bound = if plus { arguments.u32()? as usize } else { first_bound };
    let page_bound = page_bound.min(MAX_PAGE_OCTETS);

    let numbers = numbers(files, directory, after != 0)?;
    let from = numbers.partition_point(|number| *number <= after);
    let above = [ITSELF, ABOVE].into_iter().filter(|number| *number > after);
    writer.boolean(false);
    writer.fixed(&[0; 8]);
    let begin = writer.octets().len();
    let mut names_octets = 0;
    let mut written = 0;
    let mut at_end = true;
    for number in above.chain(numbers[from..].iter().copied()) {
        let name = match number {
            ITSELF => ".".to_owned(),
            ABOVE => "..".to_owned(),
            // Omit an entry that has just been removed or moved.
            _ => match files.handles.lock().name_in(directory, number) {
                Some(name) => name,
                None => continue,
            },
        };
        let before = writer.octets().len();
        writer.boolean(true);
        entry(files, directory, (number, &name), plus, writer);
        names_octets += 24 + name.len();
        // Two words follow the last entry.
        if writer.octets().len() - begin + 8 > page_bound || names_octets > names_bound {
            writer.truncate(before);
            at_end = false;
            break;
        }
        written += 1;
    }
    if written == 0 && !at_end {
        return Err(Status::TOOSMALL.into());
    }
    writer.boolean(false);
    writer.boolean(at_end);
    Ok(())
}

/// Numbers of a directory's names, in order.
fn numbers(files: &Files, directory: u64, is_later: bool) -> Result<Arc<[u64]>, Failed> {
    let path = files.handles.lock().path(directory)?;
    let opened = files.root.open_dir(&path)?;
    files.listings.get(directory, &opened.dir_metadata()?, is_later, || {
        let mut numbers = Vec::new();
        for entry in opened.entries()? {
            let entry = entry?;
            // Names that are not UTF-8 cannot be requested, and are omitted.
            if let Ok(name) = entry.file_name().into_string()
                && !is_unseen(&name)
                && entry.file_type().is_ok_and(is_served)
            {
                numbers.push(files.handles.lock().number(directory, &name)?);
            }
        }
        Ok(numbers)
    })
}

/// Excludes pipes, sockets and devices, which are never opened.
fn is_served(kind: FileType) -> bool {
    kind.is_file() || kind.is_dir() || kind.is_symlink()
}

fn entry(
    files: &Files,
    directory: u64,
    (cookie, name): (u64, &str),
    plus: bool,
    writer: &mut Writer,
) {
    let number = match cookie {
        ITSELF => directory,
        ABOVE => files.handles.lock().directory(directory),
        number => number,
    };
    writer.u64(number);
    writer.opaque(name.as_bytes());
    writer.u64(cookie);
    if plus {
        // An entry that has just been removed has no attributes.
        let attributes = files.attributes(number).ok();
        Attributes::write_optional(attributes.as_ref(), writer);
        writer.boolean(attributes.is_some());
        if attributes.is_some() {
            files.write_handle(number, writer);
        }
    }
}

/// RFC 1813, section 3.3.18. File counts are unknown: zero.
pub fn fsstat(files: &Files, arguments: &mut Reader<'_>, writer: &mut Writer) -> Done {
    let number = files.read_handle(arguments)?;
    files.handles.lock().path(number)?;
    let (total_bytes, free_bytes) = files.space()?;
    writer.boolean(false);
    for number in [total_bytes, free_bytes, free_bytes, 0, 0, 0] {
        writer.u64(number);
    }
    writer.u32(0); // It may change at once.
    Ok(())
}

/// RFC 1813, section 3.3.19.
pub fn fsinfo(files: &Files, arguments: &mut Reader<'_>, writer: &mut Writer) -> Done {
    const PROPERTIES: u32 = 0x8 | 0x10;
    let number = files.read_handle(arguments)?;
    files.handles.lock().path(number)?;
    writer.boolean(false);
    for _read_then_write in 0..2 {
        writer.u32(MAX_DATA_OCTETS);
        writer.u32(MAX_DATA_OCTETS);
        writer.u32(4096);
    }
    writer.u32(64 << 10);
    writer.u64(i64::MAX as u64);
    writer.u32(0);
    writer.u32(1); // Time resolution: 1 ns.
    writer.u32(PROPERTIES);
    Ok(())
}

/// RFC 1813, section 3.3.20.
pub fn pathconf(files: &Files, arguments: &mut Reader<'_>, writer: &mut Writer) -> Done {
    let number = files.read_handle(arguments)?;
    files.handles.lock().path(number)?;
    writer.boolean(false);
    writer.u32(1);
    writer.u32(255);
    writer.boolean(true);
    writer.boolean(true);
    writer.boolean(false);
    writer.boolean(true);
    Ok(())
}

#[cfg(test)]
mod tests {
    use std::time::Instant;

    use super::super::handles::ROOT;
    use super::*;

    /// Names of a page after a number, and the number of its last entry.
    fn page(files: &Files, after: u64) -> (Vec<String>, u64) {
        let (mut asked, mut answer) = (Writer::default(), Writer::default());
        files.write_handle(ROOT, &mut asked);
        asked.u64(after);
        asked.fixed(&[0; 8]);
        asked.u32(4096);
        assert!(readdir(files, &mut Reader::new(asked.octets()), &mut answer, false).is_ok());
        let (mut reader, mut names, mut last) = (Reader::new(answer.octets()), Vec::new(), after);
        assert!(!reader.boolean().unwrap());
        reader.fixed(8).unwrap();
        while reader.boolean().unwrap() {
            reader.u64().unwrap();
            names.push(String::from_utf8(reader.opaque(255).unwrap().to_vec()).unwrap());
            last = reader.u64().unwrap();
        }
        (names, last)
    }

    fn served(count: usize) -> (tempfile::TempDir, Files) {
        let root = tempfile::tempdir().unwrap();
        for number in 0..count {
            std::fs::write(root.path().join(format!("{number:05}")), "").unwrap();
        }
        let files = Files::new(root.path(), false).unwrap();
        (root, files)
    }

    #[test]
    fn a_page_costs_the_same_in_directories_of_any_size() {
        let best_s = [500, 20_000].map(|count| {
            let (_root, files) = served(count);
            let (_, second) = page(&files, 0);
            (0..50)
                .map(|_| {
                    let start = Instant::now();
                    assert!(!page(&files, second).0.is_empty());
                    start.elapsed().as_secs_f64()
                })
                .fold(f64::INFINITY, f64::min)
        });
        assert!(best_s[1] < 4.0 * best_s[0], "{best_s:?}");
    }

    #[test]
    fn pages_together_name_each_entry_once_and_follow_changes() {
        let (root, files) = served(1000);
        let (mut names, mut after) = (Vec::new(), 0);
        loop {
            let (more, last) = page(&files, after);
            if more.is_empty() {
                break;
            }
            if after == 0 {
                let gone = files.root.open_dir(".").unwrap();
                let name = |number: u64| files.handles.lock().name_in(ROOT, number).unwrap();
                let (next, moved) = (name(last + 1), name(last + 2));
                gone.remove_file(&next).unwrap();
                files.handles.lock().forget(ROOT, &next);
                gone.rename(&moved, &gone, "moved").unwrap();
                files.handles.lock().rename((ROOT, &moved), (ROOT, "moved"));
            }
            names.extend(more);
            after = last;
        }
        let mut now: Vec<_> = std::fs::read_dir(root.path())
            .unwrap()
            .map(|entry| entry.unwrap().file_name().into_string().unwrap())
            .collect();
        now.extend([".".to_owned(), "..".to_owned()]);
        now.sort_unstable();
        names.sort_unstable();
        assert_eq!(names, now);
        std::fs::write(root.path().join("new"), "").unwrap();
        let numbers = numbers(&files, ROOT, false).ok().unwrap();
        assert_eq!(numbers.len(), 1000, "a first page shows what other programs made");
    }
}

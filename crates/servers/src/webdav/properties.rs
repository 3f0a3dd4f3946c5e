//! Client-defined ("dead") properties of files (RFC 4918, section 4.5), kept while the server runs.

use std::collections::BTreeMap;

use dav_server::davpath::DavPath;
use dav_server::fs::DavProp;
use hyper::StatusCode;
use parking_lot::Mutex;

const MAX_BYTES: usize = 16 << 20;

const OVERHEAD_BYTES: usize = 256;

type Name = (String, String);

type Path = Vec<u8>;

#[derive(Debug, Default)]
pub struct Properties(Mutex<BTreeMap<Path, BTreeMap<Name, DavProp>>>);

impl Properties {
    /// Set (`true`) or remove properties, all of them or none; returns a status for each.
    pub fn change(
        &self,
        path: &DavPath,
        asked: Vec<(bool, DavProp)>,
    ) -> Vec<(StatusCode, DavProp)> {
        let (path, mut kept) = (plain(path), self.0.lock());
        let new_bytes: usize =
            asked.iter().filter(|(sets, _)| *sets).map(|(_, one)| bytes(&path, one)).sum();
        let old_bytes: usize =
            kept.iter().flat_map(|(path, of)| of.values().map(|one| bytes(path, one))).sum();
        let status = if new_bytes > 0 && old_bytes + new_bytes > MAX_BYTES {
            StatusCode::INSUFFICIENT_STORAGE
        } else {
            StatusCode::OK
        };
        let answer = asked.iter().map(|(_, one)| (status, named(one))).collect();
        if status == StatusCode::OK {
            let of = kept.entry(path.clone()).or_default();
            for (sets, one) in asked {
                if sets {
                    of.insert(name(&one), one);
                } else {
                    // Removing a missing property is not an error (section 14.23).
                    of.remove(&name(&one));
                }
            }
            if of.is_empty() {
                kept.remove(&path);
            }
        }
        answer
    }

    pub fn all(&self, path: &DavPath, content: bool) -> Vec<DavProp> {
        let kept = self.0.lock();
        let of = kept.get(&plain(path)).into_iter().flat_map(BTreeMap::values);
        of.map(|one| if content { one.clone() } else { named(one) }).collect()
    }

    pub fn one(&self, path: &DavPath, wanted: &DavProp) -> Option<Vec<u8>> {
        self.0.lock().get(&plain(path))?.get(&name(wanted))?.xml.clone()
    }

    pub fn forget(&self, path: &DavPath) {
        let mut kept = self.0.lock();
        for path in of_tree(&kept, &plain(path)) {
            kept.remove(&path);
        }
    }

    /// Give `to` and everything below it the properties of `from`; with `moves`, `from` loses them.
    pub fn carry(&self, from: &DavPath, to: &DavPath, moves: bool) {
        let (from, to, mut kept) = (plain(from), plain(to), self.0.lock());
        for path in of_tree(&kept, &to) {
            kept.remove(&path);
        }
        for path in of_tree(&kept, &from) {
            let of = if moves { kept.remove(&path) } else { kept.get(&path).cloned() };
            let there = [&to[..], &path[from.len()..]].concat();
            kept.insert(there, of.unwrap_or_default());
        }
    }
}

fn plain(path: &DavPath) -> Path {
    let octets = path.as_bytes();
    octets.strip_suffix(b"/").unwrap_or(octets).to_vec()
}

fn of_tree<T>(kept: &BTreeMap<Path, T>, top: &Path) -> Vec<Path> {
    let below = [&top[..], b"/"].concat();
    let tree = kept.range(below.clone()..).map(|(path, _)| path);
    let tree = tree.take_while(|path| path.starts_with(&below));
    kept.get_key_value(top).map(|(path, _)| path).into_iter().chain(tree).cloned().collect()
}

fn name(of: &DavProp) -> Name {
    (of.namespace.clone().unwrap_or_default(), of.name.clone())
}

fn named(of: &DavProp) -> DavProp {
    DavProp { xml: None, ..of.clone() }
}

fn bytes(path: &[u8], of: &DavProp) -> usize {
    let texts = [&of.namespace, &of.prefix].into_iter().flatten().map(String::len).sum::<usize>();
    let content = of.xml.as_ref().map_or(0, Vec::len);
    OVERHEAD_BYTES + path.len() + texts + 2 * of.name.len() + content
}

#[cfg(test)]
mod tests {
    use super::*;

    fn path(text: &str) -> DavPath {
        DavPath::new(text).unwrap()
    }

    fn property(name: &str, text: &str) -> DavProp {
        DavProp::new(name.to_owned(), "x".to_owned(), "urn:x".to_owned(), text.to_owned())
    }

    #[test]
    fn properties_move_with_their_file() {
        let kept = Properties::default();
        let set = |at: &str| kept.change(&path(at), vec![(true, property("p", at))]);
        let has = |at: &str| kept.one(&path(at), &property("p", "")).is_some();
        for at in ["/a/", "/a/b", "/a!", "/c/old"] {
            assert_eq!(set(at)[0].0, StatusCode::OK);
        }
        kept.carry(&path("/a"), &path("/c"), true);
        assert!(has("/c") && has("/c/b") && has("/a!"));
        assert!(!has("/a") && !has("/a/b") && !has("/c/old"));
        kept.carry(&path("/c/"), &path("/d/"), false);
        assert!(has("/c/b") && has("/d/b") && has("/d"));
        kept.forget(&path("/d"));
        assert!(!has("/d") && !has("/d/b") && has("/c"));
        assert_eq!(kept.all(&path("/c"), true).len(), 1);
        kept.change(&path("/c"), vec![(false, property("p", ""))]);
        assert!(kept.all(&path("/c"), true).is_empty());
    }

    #[test]
    fn stored_properties_are_bounded() {
        let kept = Properties::default();
        let large = "x".repeat(60_000);
        let mut done = 0;
        while kept.change(&path(&format!("/{done}")), vec![(true, property("p", &large))])[0].0
            == StatusCode::OK
        {
            done += 1;
            assert!(done < 1000, "no end");
        }
        assert!(done > 200, "{done}");
        let refused = kept
            .change(&path("/0"), vec![(false, property("p", "")), (true, property("q", &large))]);
        assert!(refused.iter().all(|(status, _)| *status == StatusCode::INSUFFICIENT_STORAGE));
        assert_eq!(kept.all(&path("/0"), true).len(), 1, "all of a change is done, or nothing");
    }
}

use std::collections::BTreeSet;

use lanlab_stack::dos_names::can_be_asked_for;
use proptest::prelude::*;
use proptest::sample::select;

use super::*;

fn of(names: &[&str]) -> Index {
    let mut index = Index::new(can_be_asked_for);
    for name in names {
        index.insert(name);
    }
    index
}

fn all(index: &Index) -> Vec<Known> {
    index.list("", usize::MAX)
}

fn short(index: &Index, on_disk: &str) -> Option<String> {
    all(index).into_iter().find(|known| *known.on_disk == *on_disk).map(|known| known.short)
}

#[test]
fn a_long_name_keeps_its_short_name_when_others_appear() {
    let alone = short(&of(&["a long name.text"]), "a long name.text").unwrap();
    assert_eq!(alone, made("a long name.text", 1));
    let among = of(&["a long name", "0", "zz.text.text", "a long name.text"]);
    assert_eq!(short(&among, "a long name.text").unwrap(), alone);
}

#[test]
fn names_differing_in_case_get_different_short_names() {
    let mut index = of(&["readme", "README", "Readme"]);
    assert_eq!(short(&index, "README").unwrap(), "README");
    let others = ["readme", "Readme"].map(|name| short(&index, name).unwrap());
    assert!(others[0] != others[1] && others.iter().all(|short| short.contains('~')), "{others:?}");
    assert_eq!(&*index.find("rEADME").unwrap().on_disk, "README", "the first of them");
    index.remove("README");
    assert_eq!(short(&index, "Readme").unwrap(), "README");
    assert_eq!(&*index.find("readme").unwrap().on_disk, "readme");
}

#[test]
fn unrepresentable_names_are_reachable_by_short_name() {
    let names = ["a\\b", "co:lon", "CON", "new\nline", "end.", "what?", "plain"];
    let index = of(&names);
    let listed = all(&index);
    assert_eq!(listed.len(), names.len());
    for known in listed {
        assert!(can_be_asked_for(&known.name), "{known:?}");
        assert_eq!(index.find(&known.name).as_ref(), Some(&known));
        assert_eq!(index.find(&known.name.to_lowercase()), Some(known.clone()));
        assert_eq!(&*known.on_disk == "plain", known.name == known.on_disk);
    }
    for name in &names[..6] {
        assert_eq!(index.find(name), None, "{name:?}");
    }
}

#[test]
fn valid_names_take_short_names_from_generated_ones() {
    let mut index = of(&["co:lon"]);
    let first = made("co:lon", 1);
    index.insert(&first);
    assert_eq!(&*index.find(&first).unwrap().on_disk, &first);
    assert_eq!(&*index.find(&made("co:lon", 2)).unwrap().on_disk, "co:lon");
    index.remove(&first);
    assert_eq!(&*index.find(&first).unwrap().on_disk, "co:lon");
    assert_eq!(index.find(&made("co:lon", 2)), None);
}

/// Names that share a hash, differ only in case, or look like generated short names.
fn names() -> impl Strategy<Value = String> {
    let mut names: Vec<String> =
        ["a", "A", "readme.txt", "README.TXT", "ReadMe.txt", "größe", "GRÖSSE"]
            .map(str::to_owned)
            .into();
    // Names with the same beginning, grouped by the first short name generated for them.
    let mut alike = std::collections::BTreeMap::<_, Vec<String>>::new();
    for number in 0..200_000 {
        for mark in [":", "-"] {
            let name = format!("xy {mark}{number:05}");
            alike.entry(made(&name, 1)).or_default().push(name);
        }
    }
    let mut groups: Vec<_> = alike.into_iter().collect();
    groups.sort_by_key(|(_, group)| std::cmp::Reverse(group.len()));
    for (first, group) in groups.into_iter().take(2) {
        names.extend(group.into_iter().take(14));
        names.extend([first.clone(), first.to_lowercase(), first.replace("~1", "~3")]);
    }
    select(names)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn index_updates_equal_a_fresh_read(
        changes in prop::collection::vec((any::<bool>(), names()), 0..120),
    ) {
        let (mut index, mut there) = (of(&[]), BTreeSet::new());
        for (comes, name) in &changes {
            if *comes {
                index.insert(name);
                there.insert(name.as_str());
            } else {
                index.remove(name);
                there.remove(name.as_str());
            }
        }
        let backwards: Vec<_> = there.iter().rev().copied().collect();
        let listed = all(&index);
        prop_assert_eq!(&listed, &all(&of(&backwards)));
        let whole = Index::of(can_be_asked_for, backwards.iter().map(|name| (*name).into()).collect());
        prop_assert_eq!(&listed, &all(&whole));
        // All names that clients can request are listed. Each name and each short name belongs to
        // one entry, and finds it.
        let plain = there.iter().filter(|name| can_be_asked_for(name)).count();
        prop_assert!(listed.iter().filter(|known| known.name == known.on_disk).count() == plain);
        let mut short = BTreeSet::new();
        for known in &listed {
            prop_assert!(can_be_asked_for(&known.name));
            prop_assert_eq!(index.find(&known.name), Some(known.clone()));
            if !known.short.is_empty() {
                prop_assert!(short.insert(known.short.clone()), "{:?}", known);
                prop_assert_eq!(own(&known.short), Some(known.short.clone()));
                if !listed.iter().any(|other| *other.name == *known.short) {
                    prop_assert_eq!(index.find(&known.short), Some(known.clone()));
                }
            }
        }
    }

    #[test]
    fn any_names_are_listed_in_order_a_page_at_a_time(there: BTreeSet<String>, most in 1_usize..5) {
        let index = of(&there.iter().map(String::as_str).collect::<Vec<_>>());
        let (mut after, mut listed) = (String::new(), Vec::new());
        loop {
            let page = index.list(&after, most);
            let Some(last) = page.last() else { break };
            after = last.name.to_string();
            listed.extend(page);
        }
        prop_assert!(listed.is_sorted_by(|one, other| one.name < other.name));
        prop_assert_eq!(listed, all(&index));
    }
}

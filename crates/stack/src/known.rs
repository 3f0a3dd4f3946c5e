//! Marks the certainty of each number of a period stack.

pub(crate) const fn observed<T: Copy>(value: T) -> T {
    value
}

pub(crate) const fn primary<T: Copy>(value: T) -> T {
    value
}

pub(crate) const fn secondary<T: Copy>(value: T) -> T {
    value
}

pub(crate) const fn assumed<T: Copy>(value: T) -> T {
    value
}

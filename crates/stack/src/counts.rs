//! Counters of a station, each with its key in results.

/// A struct of counters, initially 0, that can be added up. Its method `keyed` returns those that have a key, in
/// order. Carriers that count the same thing use the same key.
macro_rules! counts {
    ($(#[$doc:meta])* $visible:vis struct $name:ident {
        $($(#[$about:meta])* $field:ident $(: $key:literal)?,)+
    }) => {
        $(#[$doc])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
        $visible struct $name {
            $($(#[$about])* $visible $field: u64,)+
        }

        impl $name {
            $visible fn keyed(&self) -> Vec<$crate::carrier::Count> {
                vec![$($(($key, self.$field),)?)+]
            }
        }

        impl std::ops::Add for $name {
            type Output = Self;

            fn add(self, other: Self) -> Self {
                Self { $($field: self.$field + other.$field,)+ }
            }
        }
    };
}

pub(crate) use counts;

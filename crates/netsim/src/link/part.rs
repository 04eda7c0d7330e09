//! How servers and channels register themselves.
//!
//! Each is one file in the folder of its kind, and one line in the list of that folder's `mod.rs`. The file has the keys of a
//! scenario file that select it, how it is read from them, and its behaviour in a run. The keys that are allowed, their schema
//! and their messages follow from the lists.

use aqmlab_units::{Parameter, ParameterValue};

/// The keys of a link in a scenario file.
pub trait Keys {
    /// Return the value of a key; `None` if it is absent or not valid, which is reported elsewhere.
    fn value(&self, parameter: &Parameter) -> Option<ParameterValue<'_>>;

    /// Return whether a key is there, valid or not.
    fn has(&self, key: &str) -> bool;

    /// Return the keys of the table that stands in place of the value of a key.
    fn table(&self, key: &str) -> Option<Box<dyn Keys + '_>>;
}

/// Declare the parts of a kind from the list of their files: the modules, a type for plans that holds any of them, an enum of their
/// states in a run, dispatched statically, and the keys of all.
///
/// `$each!(Enum, part, p => ..)` evaluates an expression with `p` as whichever part or state it is, `$every!(T => ..)` one for each
/// type in the order of the list.
macro_rules! parts {
    (
        $(#[$doc:meta])* $all:ident,
        $(#[$state_doc:meta])* $state:ident,
        $part:ident, $each:ident, $every:ident;
        $($(#[$condition:meta])* $module:ident: $name:ident),* $(,)?
    ) => {
        $($(#[$condition])* mod $module;)*
        $($(#[$condition])* use $module::$name;)*

        $(#[$doc])*
        #[derive(Clone, Debug, PartialEq)]
        pub struct $all(Kind);

        #[derive(Clone, Debug, PartialEq)]
        enum Kind {
            $($(#[$condition])* $name($name),)*
        }

        $(#[$state_doc])*
        #[derive(Clone, Debug)]
        pub(crate) enum $state {
            $($(#[$condition])* $name(<$name as $part>::State),)*
        }

        $(
            $(#[$condition])*
            impl From<$name> for $all {
                fn from(part: $name) -> Self {
                    Self(Kind::$name(part))
                }
            }
        )*

        impl $all {
            /// The keys of all parts, in the order of their list.
            pub fn parameters() -> Vec<aqmlab_units::Parameter> {
                let mut all = Vec::new();
                $($(#[$condition])* all.extend_from_slice(<$name as $part>::PARAMETERS);)*
                all
            }

            /// Start it at time 0 of a run with this seed, for the link of this name.
            pub(crate) fn start(&self, seed: u64, link: &str) -> $state {
                match &self.0 {
                    $($(#[$condition])* Kind::$name(part) => $state::$name(part.start(seed, link)),)*
                }
            }
        }

        macro_rules! $each {
            ($of:ident, $value:expr, $p:ident => $call:expr) => {
                match $value {
                    $($(#[$condition])* $of::$name($p) => $call,)*
                }
            };
        }

        macro_rules! $every {
            ($t:ident => $call:expr) => {
                $($(#[$condition])* {
                    type $t = $name;
                    $call
                })*
            };
        }
    };
}
pub(super) use parts;

//! How the parts of RED register themselves.
//!
//! A curve, spacing rule, victim rule or adaptation is one file in the folder of its kind, and one line in the list of
//! that folder's `mod.rs`. The file has the name, the description, the parameters that only this part has, and how the
//! part is read from a specification. The words of `curve`, `spacing`, `victim` and `adaptation`, the parameters of RED,
//! the schema, the documentation and the shared tests follow from the lists.

use super::adaptation::{self, AdaptationKind};
use super::curve::CurveKind;
use super::spacing::SpacingKind;
use super::victim::VictimKind;
use crate::{Parameter, ParameterError, Value};

/// The description that every part provides.
pub(crate) trait Part: Sized {
    /// The word in a scenario file.
    const NAME: &'static str;
    /// A description in one line.
    const DOC: &'static str;
    /// The parameters that only queues with this part have. Several parts may list the same constant.
    const PARAMETERS: &'static [Parameter] = &[];

    /// Return the parameters without which the part cannot be had, with values that will do.
    fn needs() -> Vec<(&'static str, Value)> {
        Vec::new()
    }

    /// Return a change of each of its parameters that changes the decisions of a queue, or its curve.
    #[cfg(test)]
    fn changes() -> Vec<tests::Change> {
        Vec::new()
    }
}

/// A registered part.
#[derive(Clone, Copy, Debug)]
pub struct PartInfo {
    /// The word in a scenario file.
    pub name: &'static str,
    /// A description in one line.
    pub doc: &'static str,
    /// The parameters that only queues with this part have.
    pub parameters: &'static [Parameter],
    /// Returns the parameters without which the part cannot be had, with values that will do.
    pub needs: fn() -> Vec<(&'static str, Value)>,
    /// Returns a change of each of its parameters.
    #[cfg(test)]
    pub(crate) changes: fn() -> Vec<tests::Change>,
}

impl PartInfo {
    pub(crate) const fn of<T: Part>() -> Self {
        Self {
            name: T::NAME,
            doc: T::DOC,
            parameters: T::PARAMETERS,
            needs: T::needs,
            #[cfg(test)]
            changes: T::changes,
        }
    }
}

/// All parts of a kind.
#[derive(Clone, Copy, Debug)]
pub struct PartKind {
    /// The key in a scenario file whose words are the names of the parts.
    pub key: &'static str,
    /// The parts, in the order of their list.
    pub parts: &'static [PartInfo],
    /// Parameters of several parts that are listed before those of a single one.
    pub(crate) shared: &'static [Parameter],
}

/// The kinds of parts that register themselves.
pub const PART_KINDS: [PartKind; 4] = [
    PartKind { key: "curve", parts: CurveKind::PARTS, shared: &[] },
    PartKind { key: "spacing", parts: SpacingKind::PARTS, shared: &[] },
    PartKind { key: "victim", parts: VictimKind::PARTS, shared: &[] },
    PartKind { key: "adaptation", parts: AdaptationKind::PARTS, shared: adaptation::SHARED },
];

impl PartKind {
    /// Return the kind with this key.
    pub fn find(key: &str) -> Option<Self> {
        PART_KINDS.into_iter().find(|kind| kind.key == key)
    }

    /// Return the part with this name.
    pub fn part(&self, name: &str) -> Option<&'static PartInfo> {
        self.parts.iter().find(|part| part.name == name)
    }

    /// Return the parameters of all its parts, each once.
    pub fn parameters(&self) -> Vec<Parameter> {
        let mut all: Vec<Parameter> = Vec::new();
        for parameter in self.shared.iter().chain(self.parts.iter().flat_map(|part| part.parameters)) {
            if !all.iter().any(|known| known.key == parameter.key) {
                all.push(*parameter);
            }
        }
        all
    }
}

/// Return the error about a word that is not in the list of a kind of parts.
pub(crate) fn not_registered(key: &str, name: &str, names: &[&str]) -> ParameterError {
    let names: Vec<_> = names.iter().map(|name| format!("\"{name}\"")).collect();
    ParameterError::new(key, format!("\"{name}\" is not registered"), &format!("one of {}", names.join(", ")))
}

/// Declare the parts of a kind from the list of their files: the modules, an enum of parts, dispatched statically, an enum
/// of their names, and the table of the registry.
///
/// `$each!(part, p => ..)` evaluates an expression with `p` as whichever part it is, and `$of!(kind, T => ..)` with `T` as
/// the type of the part. `plugin` names a variant that has no name in a scenario file.
macro_rules! parts {
    (
        $key:literal, $(#[$attribute:meta])* enum $all:ident, $kind:ident, $each:ident, $of:ident $(, plugin $plugin:ident)?;
        $($module:ident: $name:ident),* $(,)?
    ) => {
        $(
            mod $module;
            pub use $module::$name;
        )*

        $(#[$attribute])*
        #[allow(missing_docs, reason = "each part is described in its file")]
        pub enum $all {
            $($name($name),)*
            $($plugin($plugin),)?
        }

        $(
            impl From<$name> for $all {
                #[inline]
                fn from(part: $name) -> Self {
                    Self::$name(part)
                }
            }
        )*

        #[doc = concat!("The names of the parts: the words of `", $key, "` in a scenario file.")]
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        #[allow(missing_docs, reason = "each part is described in its file")]
        pub enum $kind {
            $($name,)*
        }

        impl $kind {
            /// All of them, in the order of their list.
            pub const ALL: &'static [Self] = &[$(Self::$name),*];
            /// Their names, in the same order.
            pub const NAMES: &'static [&'static str] = &[$(<$name as $crate::red::part::Part>::NAME),*];
            /// Their descriptions for the registry, in the same order.
            pub const PARTS: &'static [$crate::red::part::PartInfo] =
                &[$($crate::red::part::PartInfo::of::<$name>()),*];

            /// Return its name.
            pub const fn name(self) -> &'static str {
                match self {
                    $(Self::$name => <$name as $crate::red::part::Part>::NAME,)*
                }
            }

            /// Return the part of this name.
            ///
            /// # Errors
            /// If no part is registered under this name; the names that are registered are allowed.
            pub fn named(name: &str) -> Result<Self, $crate::ParameterError> {
                let found = Self::ALL.iter().copied().find(|kind| kind.name() == name);
                found.ok_or_else(|| $crate::red::part::not_registered($key, name, Self::NAMES))
            }
        }

        macro_rules! $each {
            ($part:expr, $p:ident => $call:expr) => {
                match $part {
                    $($all::$name($p) => $call,)*
                    $($all::$plugin($p) => $call,)?
                }
            };
        }

        macro_rules! $of {
            ($of_kind:expr, $t:ident => $call:expr) => {
                match $of_kind {
                    $($kind::$name => {
                        type $t = $name;
                        $call
                    })*
                }
            };
        }
    };
}
pub(crate) use parts;

#[cfg(test)]
pub(crate) mod tests;

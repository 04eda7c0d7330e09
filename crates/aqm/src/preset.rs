use std::iter;
use std::sync::LazyLock;

use crate::Parameter;
use crate::disciplines::{self, Kind, Named};
use crate::plugin::{Definition, Idea};
#[cfg(feature = "red")]
use crate::red::parameters::RED;
#[cfg(feature = "red")]
use crate::red::preset::{CLASSIC, FAMILY, RedPreset};
use crate::registry::{CLASS, DROP_TAIL, LIMIT};

/// A named discipline: a documented choice of parts with its paper's parameters.
#[derive(Clone, Debug)]
pub struct Preset {
    /// The name in a scenario file.
    pub name: &'static str,
    /// The name in words.
    pub title: &'static str,
    /// The paper.
    pub paper: &'static str,
    /// The idea in one sentence.
    pub doc: &'static str,
    /// The discipline and its defaults.
    pub(crate) make: Make,
}

/// The discipline of a preset, with the preset's defaults.
#[derive(Clone, Debug)]
pub(crate) enum Make {
    DropTail,
    #[cfg(feature = "red")]
    Red(RedPreset),
    NonRed(Kind),
    Plugin {
        definition: &'static Definition,
        parameters: &'static [Parameter],
    },
}

/// All presets of the disciplines that are compiled.
pub static PRESETS: LazyLock<Vec<Preset>> = LazyLock::new(|| {
    let mut all = vec![TAIL_DROP];
    #[cfg(feature = "red")]
    all.extend_from_slice(FAMILY);
    all.extend(disciplines::presets());
    all
});

/// Drop-tail.
const TAIL_DROP: Preset = Preset {
    name: "drop-tail",
    title: "Drop-tail",
    paper: "",
    doc: "First in, first out; what arrives at a full buffer is dropped.",
    make: Make::DropTail,
};

impl Preset {
    /// A non-RED discipline.
    pub(crate) fn non_red(named: &Named, kind: Kind) -> Self {
        let &Named { name, title, paper, doc } = named;
        Self { name, title, paper, doc, make: Make::NonRed(kind) }
    }

    /// The preset of a plugin: a discipline of its own, or classic RED with another curve or victim rule.
    pub(crate) fn plugin(definition: &'static Definition) -> Self {
        let Definition { name, title, source, doc, .. } = definition;
        let make = match &definition.idea {
            Idea::Discipline { parameters, .. } => {
                let parameters = parameters.iter().map(|(parameter, _)| *parameter);
                Make::Plugin {
                    definition,
                    parameters: iter::once(LIMIT).chain(parameters).collect::<Vec<_>>().leak(),
                }
            }
            #[cfg(feature = "red")]
            Idea::Curve(_) | Idea::Victim(_) => Make::Red(RedPreset { idea: Some(definition), ..CLASSIC }),
        };
        Self { name, title, paper: source, doc, make }
    }

    /// Return the preset of this name, registered plugins included.
    pub fn find(name: &str) -> Option<&'static Self> {
        Self::all().find(|p| p.name == name)
    }

    /// Whether all packets wait in one queue, whose parameter `limit` is never exceeded.
    pub fn has_one_queue(&self) -> bool {
        match &self.make {
            Make::DropTail => true,
            #[cfg(feature = "red")]
            Make::Red(red) => red.classes.is_empty(),
            Make::NonRed(kind) => kind.has_one_queue,
            Make::Plugin { .. } => disciplines::plugin::ONE_QUEUE,
        }
    }

    /// Whether the discipline can have classes.
    pub fn has_classes(&self) -> bool {
        self.is_red() || self.has_class_queues()
    }

    /// Whether its classes have queues of their own.
    pub fn has_class_queues(&self) -> bool {
        #[cfg(feature = "schedulers")]
        return disciplines::has_class_queues(self.name);
        #[cfg(not(feature = "schedulers"))]
        false
    }

    /// Whether the discipline is a member of the RED family.
    fn is_red(&self) -> bool {
        match self.make {
            #[cfg(feature = "red")]
            Make::Red(_) => true,
            _ => false,
        }
    }

    /// The parameters that a class may have of its own.
    pub fn class_parameters(&self) -> impl Iterator<Item = &'static Parameter> {
        let of_red: &[_] = if self.is_red() { self.parameters() } else { &[] };
        let of_scheduler: &[_] = match self.make {
            #[cfg(feature = "schedulers")]
            Make::NonRed(_) if self.has_class_queues() => disciplines::class_parameters(self.name),
            _ => &[],
        };
        of_red.iter().filter(|p| CLASS.contains(&p.key)).chain(of_scheduler)
    }

    /// The parameters that may be set.
    pub fn parameters(&self) -> &'static [Parameter] {
        match self.make {
            Make::DropTail => DROP_TAIL,
            #[cfg(feature = "red")]
            Make::Red(_) => &RED,
            Make::NonRed(kind) => kind.parameters,
            Make::Plugin { parameters, .. } => parameters,
        }
    }
}

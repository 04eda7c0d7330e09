//! Disciplines that are written elsewhere and made known while the program runs: a whole discipline, or RED with another
//! curve or another victim rule. They are for trying an idea out; one that stays is a file beside the others.
//!
//! A name is registered once, before the first scenario that uses it is read, and stays. The digest of its source is
//! part of a scenario's identity, so that results of two versions of an idea are never taken for each other.

use std::collections::VecDeque;
use std::fmt::Debug;
use std::sync::{Arc, PoisonError, RwLock};

use aqmlab_units::{Span, Time};

use crate::preset::Make;
use crate::{DropReason, Meta, PRESETS, Parameter, Preset, State};

/// Lends random numbers, uniform on [0, 1).
pub type Uniform<'a> = &'a mut dyn FnMut() -> f64;

/// What becomes of an arriving packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// It is put at the tail, or dropped if the buffer is full.
    Accept,
    /// The same, and marked if it is ECN-capable; dropped if it is not.
    Mark,
    /// It is dropped.
    Drop(DropReason),
}

/// Something to be done with a waiting packet; places count from the head, 0.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Order {
    /// Drop it; those behind it move up.
    Drop(usize, DropReason),
    /// Mark it; nothing happens to one that is not ECN-capable.
    Mark(usize),
}

/// A whole discipline: it decides, the packets are kept for it. Orders are carried out in their order, before the verdict.
pub trait Policy: Debug + Send + Sync {
    /// A packet arrives.
    fn enqueue(&mut self, now: Time, arriving: &Meta, draw: Uniform<'_>, orders: &mut Vec<Order>) -> Verdict;

    /// The packet that arrived is at the tail now.
    fn accepted(&mut self, packet: &Meta);

    /// The link is free and something waits: the place of the packet to send, in the queue as the orders leave it; none
    /// once nothing is left.
    ///
    /// The packet at that place has left afterwards.
    fn dequeue(&mut self, now: Time, draw: Uniform<'_>, orders: &mut Vec<Order>) -> Option<usize>;

    /// Called as often as [`Idea::Discipline`] says.
    fn on_timer(&mut self, now: Time, draw: Uniform<'_>, orders: &mut Vec<Order>);

    /// What is to be seen of the inside.
    fn state(&self) -> State;

    /// The values of the gauges of [`Idea::Discipline`].
    fn gauges(&self, out: &mut dyn FnMut(f64));

    /// The same discipline with the same state.
    fn copied(&self) -> Box<dyn Policy>;
}

/// Which of the waiting packets pays, the arriving one the last of them; none: the arriving one.
pub trait Rule: Debug + Send + Sync {
    /// The place of the victim.
    fn pick(&self, waiting: &VecDeque<Meta>, draw: Uniform<'_>) -> Option<usize>;
}

/// The numbers of RED that a curve goes by; queue lengths in packets.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct CurveNumbers {
    /// Average from which packets are dropped.
    pub min_th: f64,
    /// Average at which `max_p` is reached.
    pub max_th: f64,
    /// p_b at `max_th`.
    pub max_p: f64,
    /// Size of the buffer.
    pub limit: f64,
}

/// Makes a policy of the parameters, by key in the order of the definition: numbers in packets, bytes, seconds or 1.
pub type MakePolicy = dyn Fn(&[(&'static str, f64)], f64) -> Result<Box<dyn Policy>, String> + Send + Sync;
/// p_b at an average, in packets.
pub type CurveFunction = dyn Fn(f64, CurveNumbers) -> Result<f64, String> + Send + Sync;

/// What is written elsewhere.
#[derive(Clone)]
pub enum Idea {
    /// A whole discipline.
    Discipline {
        /// Makes it; its arguments are the parameters and the link's bit rate.
        make: Arc<MakePolicy>,
        /// Parameters beside `limit`, with defaults in the unit of each.
        parameters: Vec<(Parameter, f64)>,
        /// How often the timer is called, if it is.
        every: Option<Span>,
        /// Names of the gauges.
        gauges: Vec<&'static str>,
    },
    /// RED with another curve.
    Curve(Arc<CurveFunction>),
    /// RED with another victim rule.
    Victim(Arc<dyn Rule>),
}

impl Debug for Idea {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.write_str(match self {
            Self::Discipline { .. } => "a discipline",
            Self::Curve(_) => "a curve",
            Self::Victim(_) => "a victim rule",
        })
    }
}

/// A name and what it stands for.
#[derive(Clone, Debug)]
pub struct Definition {
    /// The name in a scenario file.
    pub name: String,
    /// The name in words.
    pub title: String,
    /// Where the idea comes from.
    pub source: String,
    /// The idea in one sentence.
    pub doc: String,
    /// Digest of the program text.
    pub digest: String,
    /// What it stands for.
    pub idea: Idea,
}

static REGISTERED: RwLock<Vec<&'static Preset>> = RwLock::new(Vec::new());

/// Makes a discipline known. The same definition again, by name and digest, takes the place of the first.
///
/// # Errors
/// If the name is no name, or another discipline's.
pub fn register(definition: Definition) -> Result<(), String> {
    let name = definition.name.as_str();
    let is_word = name.chars().all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-');
    if !is_word || !name.starts_with(|c: char| c.is_ascii_lowercase()) {
        return Err(format!(
            "{name:?} is no name of a discipline: lower-case letters, digits and hyphens are"
        ));
    }
    if PRESETS.iter().any(|p| p.name == name) {
        return Err(format!("there is a discipline {name} already"));
    }
    let mut registered = REGISTERED.write().unwrap_or_else(PoisonError::into_inner);
    // Whoever has read a scenario may hold the definition: it lives as long as the program.
    let definition: &'static Definition = Box::leak(Box::new(definition));
    registered.retain(|p| p.name != definition.name);
    registered.push(Box::leak(Box::new(Preset::foreign(definition))));
    Ok(())
}

impl Preset {
    /// All presets: those of this library, and those that were registered since.
    pub fn all() -> impl Iterator<Item = &'static Self> + Clone {
        let registered = REGISTERED.read().unwrap_or_else(PoisonError::into_inner).clone();
        PRESETS.iter().chain(registered)
    }

    /// What was registered under this name, if it is not of this library.
    pub fn definition(&self) -> Option<&'static Definition> {
        match &self.make {
            Make::Foreign { definition, .. } => Some(definition),
            Make::Red(red) => red.idea,
            _ => None,
        }
    }
}

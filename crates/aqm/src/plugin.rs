//! Plugins: disciplines that a caller registers at run time, either a whole discipline or RED with another curve or victim
//! rule. They are meant for trying out an idea; a discipline to keep becomes a file in `disciplines`.
//!
//! Register a name once, before reading the first scenario that uses it; it stays registered until the process ends. The
//! digest of its source is part of the identity of a scenario, which keeps the results of two versions apart.

use std::collections::VecDeque;
use std::fmt::Debug;
use std::sync::{Arc, PoisonError, RwLock};

use aqmlab_units::{Span, Time};

use crate::preset::Make;
use crate::{DropReason, Meta, PRESETS, Parameter, Preset};

/// Draws a random number, uniform on [0, 1).
pub type Uniform<'a> = &'a mut dyn FnMut() -> f64;

/// The decision about an arriving packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ArrivalDecision {
    /// Append it at the tail; drop it if the buffer is full.
    Accept,
    /// Mark it and append it at the tail; drop it if it is not ECN-capable or if the buffer is full.
    Mark,
    /// Drop it.
    Drop(DropReason),
}

/// An operation on a waiting packet. Positions count from the head, which is 0.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Action {
    /// Drop it; the packets after it move up.
    Drop(usize, DropReason),
    /// Mark it; has no effect on a packet that is not ECN-capable.
    Mark(usize),
}

/// A whole discipline. It only decides; the core holds the packets. Actions are executed in sequence, before the decision about
/// the arriving packet.
pub trait Policy: Debug + Send + Sync {
    /// Decide about an arriving packet.
    fn enqueue(
        &mut self,
        now: Time,
        arriving: &Meta,
        draw: Uniform<'_>,
        actions: &mut Vec<Action>,
    ) -> ArrivalDecision;

    /// Note whether the link transmits a packet from now on, before any other call.
    fn link_is(&mut self, busy: bool, now: Time);

    /// Note that the arriving packet was appended at the tail.
    fn accepted(&mut self, packet: &Meta);

    /// Return the position of the packet to send next, in the queue after the actions, or `None` if it is empty.
    ///
    /// Called when the link is free and a packet waits. The packet at that position leaves the queue.
    fn dequeue(&mut self, now: Time, draw: Uniform<'_>, actions: &mut Vec<Action>) -> Option<usize>;

    /// Handle a timer tick; its period is `every` in [`Idea::Discipline`].
    fn on_timer(&mut self, now: Time, draw: Uniform<'_>, actions: &mut Vec<Action>);

    /// Return the gauge `average` in packets, not negative.
    fn average(&self) -> f64;

    /// Return the gauge `p_b`, a probability.
    fn p_b(&self) -> f64;

    /// Report the values of the further gauges named in [`Idea::Discipline`], in that order.
    fn gauges(&self, out: &mut dyn FnMut(f64));

    /// Return a copy with the same state.
    fn copied(&self) -> Box<dyn Policy>;
}

/// A victim rule for RED: which of the waiting packets is dropped or marked. The arriving packet is the last of them.
pub trait VictimRule: Debug + Send + Sync {
    /// Return the position of the victim; `None` selects the arriving packet.
    fn pick(&self, waiting: &VecDeque<Meta>, draw: Uniform<'_>) -> Option<usize>;
}

/// The parameters of RED that a curve uses; queue lengths in packets.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct CurveNumbers {
    /// Average at which drops begin.
    pub min_th: f64,
    /// Average at which `max_p` is reached.
    pub max_th: f64,
    /// p_b at `max_th`.
    pub max_p: f64,
    /// Size of the buffer.
    pub limit: f64,
}

/// Creates a policy from its parameters and the bit rate of the link. Parameters are in the order of the definition, in
/// packets, bytes, seconds or without unit.
pub type MakePolicy = dyn Fn(&[(&'static str, f64)], f64) -> Result<Box<dyn Policy>, String> + Send + Sync;
/// p_b at an average, in packets.
pub type CurveFunction = dyn Fn(f64, CurveNumbers) -> Result<f64, String> + Send + Sync;

/// The implementation that a plugin provides.
#[derive(Clone)]
#[non_exhaustive]
pub enum Idea {
    /// A whole discipline.
    Discipline {
        /// Creates it from the parameters and the bit rate of the link.
        make: Arc<MakePolicy>,
        /// Parameters other than `limit`, with the default of each in its unit.
        parameters: Vec<(Parameter, f64)>,
        /// Period of the timer, if the discipline has one.
        every: Option<Span>,
        /// Names of the gauges.
        gauges: Vec<&'static str>,
    },
    /// RED with another curve.
    #[cfg(feature = "red")]
    Curve(Arc<CurveFunction>),
    /// RED with another victim rule.
    #[cfg(feature = "red")]
    Victim(Arc<dyn VictimRule>),
}

impl Debug for Idea {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.write_str(match self {
            Self::Discipline { .. } => "a discipline",
            #[cfg(feature = "red")]
            Self::Curve(_) => "a curve",
            #[cfg(feature = "red")]
            Self::Victim(_) => "a victim rule",
        })
    }
}

/// A plugin and the name under which it is registered.
#[derive(Clone, Debug)]
pub struct Definition {
    /// The name in a scenario file.
    pub name: String,
    /// The name in words.
    pub title: String,
    /// The paper or other source.
    pub source: String,
    /// The idea in one sentence.
    pub doc: String,
    /// Digest of the program text.
    pub digest: String,
    /// The implementation.
    pub idea: Idea,
}

static REGISTERED: RwLock<Vec<&'static Preset>> = RwLock::new(Vec::new());

/// Register a plugin. A later definition with the same name replaces the earlier one.
///
/// # Errors
/// If the name is not valid, or is that of a built-in discipline.
pub fn register(definition: Definition) -> Result<(), String> {
    let name = definition.name.as_str();
    let is_word = name.chars().all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-');
    if !is_word || !name.starts_with(|c: char| c.is_ascii_lowercase()) {
        return Err(format!(
            "{name:?} is not a valid name of a discipline (allowed: lower-case letters, digits and hyphens)"
        ));
    }
    if PRESETS.iter().any(|p| p.name == name) {
        return Err(format!("a built-in discipline is named {name} (choose another name)"));
    }
    let mut registered = REGISTERED.write().unwrap_or_else(PoisonError::into_inner);
    // Scenarios that were read hold references to the definition, so it lives until the process ends.
    let definition: &'static Definition = Box::leak(Box::new(definition));
    registered.retain(|p| p.name != definition.name);
    registered.push(Box::leak(Box::new(Preset::plugin(definition))));
    Ok(())
}

impl Preset {
    /// Return all presets: the built-in ones, then the registered plugins.
    pub fn all() -> impl Iterator<Item = &'static Self> + Clone {
        let registered = REGISTERED.read().unwrap_or_else(PoisonError::into_inner).clone();
        PRESETS.iter().chain(registered)
    }

    /// Return the plugin of this preset, or `None` for a built-in discipline.
    pub fn definition(&self) -> Option<&'static Definition> {
        match &self.make {
            Make::Plugin { definition, .. } => Some(definition),
            #[cfg(feature = "red")]
            Make::Red(red) => red.idea,
            _ => None,
        }
    }
}

//! A run: the stations of a plan and the engine that evaluates them.

use aqmlab_aqm::Kind;
use aqmlab_units::Time;

use crate::events::Events;
use crate::network::Network;
use crate::observe::Observation;
use crate::plan::{LinkId, Plan};
use crate::tables::Counting;
use crate::windows::{Division, Lookahead, Parallel, Windows};

/// Which engine evaluates a plan.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum EngineChoice {
    /// Windows where the plan allows them, else events; on two threads if a core is to spare and that pays.
    #[default]
    Auto,
    /// The event queue.
    Events,
    /// Windows; the event queue where the plan does not allow them.
    Windows,
    /// Windows on two threads; on one, or the event queue, where the plan does not allow that.
    Parallel,
}

impl EngineChoice {
    /// All, by name.
    pub const ALL: [Self; 4] = [Self::Auto, Self::Events, Self::Parallel, Self::Windows];

    /// The name that a user gives.
    pub fn name(self) -> &'static str {
        match self {
            Self::Auto => "auto",
            Self::Events => "events",
            Self::Parallel => "parallel",
            Self::Windows => "windows",
        }
    }

    /// Return the choice of this name.
    pub fn find(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|choice| choice.name() == name)
    }
}

/// How to evaluate a plan; all ways give the same results.
#[derive(Clone, Copy, Debug)]
pub struct Options {
    /// Take the exact shortcuts. Off: every end of service and every arrival is an event.
    pub shortcuts: bool,
    /// The engine; without shortcuts it is the event queue.
    pub engine: EngineChoice,
    /// Whether a second core has nothing to do, so that [`EngineChoice::Auto`] may take two threads.
    pub spare_core: bool,
}

impl Default for Options {
    fn default() -> Self {
        Self { shortcuts: true, engine: EngineChoice::Auto, spare_core: false }
    }
}

#[derive(Debug)]
pub(crate) enum Engine {
    /// And why it is not windows.
    Events(Events, String),
    Windows(Box<Windows>),
    Parallel(Box<Parallel>),
}

/// A run in progress.
#[derive(Debug)]
pub struct Simulation {
    pub(crate) network: Network,
    pub(crate) engine: Engine,
    why_not_parallel: Option<String>,
}

impl Simulation {
    /// Create a run of `plan` with this seed, at time 0, and draw the random values of the plan.
    ///
    /// # Panics
    /// If a flow has no path there and back; in a checked plan every flow has.
    pub fn new(plan: &Plan, seed: u64, options: Options) -> Self {
        let network = Network::new(plan, seed, options.shortcuts);
        let lookahead = match options.engine {
            _ if !options.shortcuts => Err("shortcuts are off".to_owned()),
            EngineChoice::Events => Err("the event queue was asked for".to_owned()),
            EngineChoice::Auto | EngineChoice::Windows | EngineChoice::Parallel => Lookahead::new(&network),
        };
        let mut why_not_parallel = None;
        let engine = match lookahead {
            Err(reason) => Engine::Events(Events::new(&network), reason),
            Ok(lookahead) => {
                let asked = options.engine == EngineChoice::Parallel;
                let spare = options.engine == EngineChoice::Auto && options.spare_core;
                let division = (asked || spare)
                    .then(|| Division::new(&network, &lookahead))
                    .transpose()
                    .unwrap_or_else(|reason| {
                        why_not_parallel = Some(reason);
                        None
                    })
                    .filter(|division| asked || division.pays(plan.duration));
                match division {
                    Some(division) => {
                        let again = || Network::new(plan, seed, options.shortcuts);
                        Engine::Parallel(Box::new(Parallel::new(&network, lookahead, division, again)))
                    }
                    None => Engine::Windows(Box::new(Windows::new(&network, &lookahead))),
                }
            }
        };
        Self { network, engine, why_not_parallel }
    }

    /// Create a run of `plan` with this seed, at time 0, whose queue at `link` changes between events.
    ///
    /// # Panics
    /// As [`Simulation::new`].
    pub(crate) fn controlled(plan: &Plan, seed: u64, link: LinkId) -> Self {
        let network = Network::with_controlled(plan, seed, true, Some(link));
        let engine = match Lookahead::new(&network) {
            Ok(lookahead) => Engine::Windows(Box::new(Windows::new(&network, &lookahead))),
            Err(reason) => Engine::Events(Events::new(&network), reason),
        };
        Self { network, engine, why_not_parallel: None }
    }

    /// Goes on to just before `until` (or the end of the run, if that is earlier).
    pub fn run_until(&mut self, until: Time) {
        let until = until.min(self.network.end());
        match &mut self.engine {
            Engine::Events(events, _) => events.run_until(&mut self.network, until),
            Engine::Windows(windows) => windows.run_until(&mut self.network, until),
            Engine::Parallel(parallel) => parallel.run_until(&mut self.network, until),
        }
    }

    /// Ends the run: all counters are those at the end instant.
    pub fn finish(&mut self) {
        self.run_until(self.network.end());
        self.network.finish();
    }

    /// Return warnings of the disciplines about probably mistaken settings, with the names of their links; and flows
    /// that ran out of sequence numbers.
    pub fn warnings(&self) -> Vec<String> {
        let links = self.network.plan.links.iter().zip(&self.network.fabric.links);
        let of_links =
            links.flat_map(|(p, l)| l.warnings().into_iter().map(|w| format!("link {}: {w}", p.name)));
        let flows = self.network.plan.flows.iter().zip(&self.network.sources);
        let exhausted = flows.filter(|(_, source)| source.is_exhausted()).map(|(flow, _)| {
            format!("flow {}: stopped after 2^30 packets, the most of profile ns2-2.35 (tcp.profile = \"rfc\" has no such limit)", flow.name)
        });
        of_links.chain(exhausted).collect()
    }

    /// The error of a run whose logs (events, packets, losses) grew beyond [`Probe::most_records`](crate::plan::Probe): what
    /// was recorded is incomplete. `None` while they fit.
    pub fn full_log(&self) -> Option<String> {
        let most = self.network.plan.probe.most_records();
        let logs =
            self.network.fabric.links.iter().filter_map(Counting::observation).map(Observation::records);
        let records: usize = logs.sum();
        (records > most).then(|| {
            format!(
                "probe.max_records: more than {most} entries of events, packets and losses (record a shorter time by \
                 events_until, fewer links, or allow more; 1000000 entries take about 0.25 GB)"
            )
        })
    }

    /// Events evaluated so far; 0 where there is no event queue.
    pub fn events(&self) -> u64 {
        match &self.engine {
            Engine::Events(events, _) => events.evaluated(),
            Engine::Windows(_) | Engine::Parallel(_) => 0,
        }
    }

    /// The engine that evaluates this run: `windows`, `parallel` or `events`.
    pub fn engine(&self) -> &'static str {
        let choice = match &self.engine {
            Engine::Events(..) => EngineChoice::Events,
            Engine::Windows(_) => EngineChoice::Windows,
            Engine::Parallel(_) => EngineChoice::Parallel,
        };
        choice.name()
    }

    /// Why this run is evaluated by events, if it is.
    pub fn why_events(&self) -> Option<&str> {
        match &self.engine {
            Engine::Events(_, reason) => Some(reason),
            Engine::Windows(_) | Engine::Parallel(_) => None,
        }
    }

    /// Why this run is not evaluated by two threads, if that was asked for.
    pub fn why_not_parallel(&self) -> Option<&str> {
        self.why_not_parallel.as_deref().or_else(|| self.why_events())
    }

    /// The links that the data packets of flow `flow` cross, in order.
    pub fn path(&self, flow: usize) -> impl Iterator<Item = u32> {
        self.network.fabric.paths.links(flow, Kind::Data)
    }
}

//! One-way delays of flows.

use aqmlab_units::Span;

use super::{Table, integers, reals, texts};
use crate::network::Network;
use crate::plan::Flow;
use crate::watch::Delays;

impl Network {
    /// Flows whose delays are recorded.
    fn delays(&self) -> impl Iterator<Item = (&Flow, &Delays)> {
        let flows = self.plan.flows.iter().zip(&self.sinks);
        flows.filter_map(|(flow, sink)| Some((flow, sink.watch()?.delays.as_ref()?)))
    }

    pub(super) fn flow_delays_table(&self) -> Table {
        let rows: Vec<_> = self.delays().collect();
        let secs = |span: Option<Span>| span.map_or(f64::NAN, Span::secs);
        vec![
            ("flow", texts(&rows, |(flow, _)| &flow.name)),
            ("group", texts(&rows, |(flow, _)| &flow.group)),
            ("packets", integers(&rows, |(_, d)| d.packets)),
            ("mean_s", reals(&rows, |(_, d)| d.moments.mean())),
            ("sd_s", reals(&rows, |(_, d)| d.moments.sd())),
            ("min_s", reals(&rows, |(_, d)| secs(d.least))),
            ("max_s", reals(&rows, |(_, d)| secs(d.most))),
        ]
    }

    pub(super) fn flow_delay_histogram_table(&self) -> Table {
        let rows: Vec<_> =
            self.delays().flat_map(|(flow, d)| d.histogram.bins().map(move |bin| (flow, bin))).collect();
        vec![
            ("flow", texts(&rows, |(flow, _)| &flow.name)),
            ("low_s", reals(&rows, |(_, (low, _, _))| *low)),
            ("high_s", reals(&rows, |(_, (_, high, _))| *high)),
            ("count", integers(&rows, |(_, (_, _, n))| *n)),
        ]
    }
}

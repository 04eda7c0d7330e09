use std::sync::Arc;

use aqmlab_units::Span;

use super::{Spec, Value, name_of, named, word_of};
use crate::plugin::Idea;
use crate::preset::{CUSTOM, RedPreset};
use crate::red::victim::{
    Candidates, Choke, Custom, Ddred, Distance, ListParams, PcRed, PcRedParams, Ties, Victim,
};

const TIES: &[(&str, Ties)] = &[("newest", Ties::Newest), ("oldest", Ties::Oldest), ("random", Ties::Random)];

/// PC-RED's g is not printed: the loaded round-trip time of its first network.
const LOSS_INTERVAL_S: f64 = 0.36;

impl Spec {
    pub(super) fn victim(&self, preset: &RedPreset, effective: &mut Vec<(String, Value)>) -> Victim {
        let name = self.word("victim").unwrap_or(preset.victim);
        effective.push(("victim".into(), Value::Word(name.into())));
        match name {
            "pc-red" => self.pc_red(effective),
            "ddred" => self.ddred(effective),
            "choke" => self.choke(effective),
            CUSTOM => match preset.idea.map(|definition| &definition.idea) {
                Some(Idea::Victim(rule)) => Victim::Custom(Custom(Arc::clone(rule))),
                _ => Victim::Arriving,
            },
            _ => Victim::Arriving,
        }
    }

    fn pc_red(&self, effective: &mut Vec<(String, Value)>) -> Victim {
        let word = |key: &str, default: &'static str| self.word(key).unwrap_or(default).to_owned();
        let interval = self.seconds("loss_interval").unwrap_or(LOSS_INTERVAL_S);
        let timeout = self.seconds("list_timeout");
        let (decay, refresh) = (word("loss_decay", "real"), word("status_refresh", "on-drop"));
        let (scan, over) = (word("scan", "to-tail"), word("over_r_p_max", "warn"));
        let list = ListParams {
            limit: self.number("loss_limit").unwrap_or(70.0),
            size: self.number("list_size").unwrap_or(4096.0) as u32,
            timeout: timeout.map(Span::from_secs),
            r_p_max: self.number("r_p_max").unwrap_or(1.0),
            refuse: over == "refuse",
        };
        let params = PcRedParams {
            weight: self.number("loss_weight").unwrap_or(0.003),
            interval: Span::from_secs(interval),
            floor: decay == "floor",
            refresh_on_arrival: refresh == "on-arrival",
            circular: scan == "circular",
            list,
        };
        effective.extend(named(vec![
            ("loss_limit", Value::Bytes(params.list.limit as u64)),
            ("loss_interval", Value::Seconds(interval)),
            ("loss_weight", Value::Number(params.weight)),
            ("loss_decay", Value::Word(decay)),
            ("status_refresh", Value::Word(refresh)),
            ("scan", Value::Word(scan)),
            ("list_size", Value::Number(f64::from(params.list.size))),
            ("list_timeout", timeout.map_or_else(|| Value::Word("never".into()), Value::Seconds)),
            ("r_p_max", Value::Number(params.list.r_p_max)),
            ("over_r_p_max", Value::Word(over)),
        ]));
        Victim::PcRed(Box::new(PcRed::new(params)))
    }

    fn ddred(&self, effective: &mut Vec<(String, Value)>) -> Victim {
        let rule = Ddred {
            distance: self.distance(effective),
            ties: word_of(TIES, self.word("ties")).unwrap_or(Ties::Newest),
            arrival_is_candidate: self.flag("arrival_is_candidate", false),
            early_only: self.word("search") == Some("early"),
        };
        let search = if rule.early_only { "early" } else { "all" };
        effective.extend(named(vec![
            ("ties", Value::Word(name_of(TIES, rule.ties).into())),
            ("arrival_is_candidate", Value::Flag(rule.arrival_is_candidate)),
            ("search", Value::Word(search.into())),
        ]));
        Victim::Ddred(rule)
    }

    fn choke(&self, effective: &mut Vec<(String, Value)>) -> Victim {
        let parts = self.number("parts").unwrap_or(8.0);
        let is_auto = self.word("candidates").is_some();
        let fixed = self.number("candidates").unwrap_or(1.0);
        let shown = if is_auto { Value::Word("auto".into()) } else { Value::Number(fixed) };
        effective.extend(named(vec![("candidates", shown), ("parts", Value::Number(parts))]));
        let candidates =
            if is_auto { Candidates::Auto(parts as u32) } else { Candidates::Fixed(fixed as u32) };
        Victim::Choke(Choke { candidates })
    }

    fn distance(&self, effective: &mut Vec<(String, Value)>) -> Distance {
        let unknown = self.number("unknown_fraction").unwrap_or(1.0);
        let (name, distance) = match self.word("distance") {
            Some("fraction") => ("fraction", Distance::Fraction(unknown)),
            _ => ("ttl", Distance::Ttl),
        };
        effective.extend(named(vec![
            ("distance", Value::Word(name.into())),
            ("unknown_fraction", Value::Number(unknown)),
        ]));
        distance
    }
}

//! Tables of applications: requests and their results.

use aqmlab_units::{Span, Time};

use super::{Table, integers, reals, texts};
use crate::application::{Arrivals, Playback, Request};
use crate::network::Network;
use crate::plan::{Dispatch, Flow, Page, Size, Transport, Video};
use crate::watch::PacketDelay;

/// Gap in the arrivals of a call from which on the network counts as interrupted.
const SILENCE: Span = Span::from_millis(1000);

/// An object that was asked for, and when it was complete at the client.
struct Object<'a> {
    flow: &'a Flow,
    number: usize,
    request: Request,
    finish: Option<Time>,
}

/// A segment of video.
struct Segment<'a> {
    object: Object<'a>,
    video: &'a Video,
    /// Its place in the ladder, and what was in the buffer.
    choice: (usize, Span),
    stall: Option<Span>,
}

fn secs(t: Option<Time>) -> f64 {
    t.map_or(f64::NAN, Time::secs)
}

impl Network {
    fn arrivals(&self, flow: usize) -> &[Time] {
        let objects = self.sinks[flow].watch().and_then(|watch| watch.objects.as_ref());
        objects.map_or(&[], Arrivals::times)
    }

    fn objects(&self, number: usize) -> impl Iterator<Item = Object<'_>> {
        let (flow, arrivals) = (&self.plan.flows[number], self.arrivals(number));
        let requests = self.sources[number].requests().iter().enumerate();
        requests.map(move |(number, &request)| {
            let finish = arrivals.get(number).copied();
            Object { flow, number, request, finish }
        })
    }

    fn segments(&self, number: usize) -> Vec<Segment<'_>> {
        let Transport::Tcp { size: Size::Video(video), .. } = &*self.plan.flows[number].transport else {
            return Vec::new();
        };
        let mut playback = Playback::new(video.startup);
        let mut segments = Vec::new();
        for object in self.objects(number) {
            let Some(choice) = object.request.segment else { continue };
            let stall = object.finish.map(|at| playback.add(at, video.segment));
            segments.push(Segment { object, video, choice, stall });
        }
        segments
    }

    pub(super) fn pages_table(&self) -> Table {
        let rows: Vec<_> = self.plan.pages.iter().map(|page| self.page_row(page)).collect();
        vec![
            ("page", texts(&rows, |r| &r.page.name)),
            ("group", texts(&rows, |r| r.group)),
            ("start_s", reals(&rows, |r| r.start.secs())),
            ("finish_s", reals(&rows, |r| secs(r.finish))),
            ("load_s", reals(&rows, |r| r.finish.map_or(f64::NAN, |t| t.since(r.start).secs()))),
            ("objects", integers(&rows, |r| r.page.objects.into())),
            ("finished_objects", integers(&rows, |r| r.finished)),
            ("bytes", integers(&rows, |r| r.bytes)),
        ]
    }

    fn page_row<'a>(&'a self, page: &'a Page) -> PageRow<'a> {
        let first = page.first as usize;
        let flows = first..first + page.connections as usize;
        let bytes = |flow: &Flow| match &*flow.transport {
            Transport::Tcp { size: Size::Objects(objects), .. } => objects.sizes.iter().sum(),
            _ => 0,
        };
        let with_objects = match page.dispatch {
            Dispatch::InTurn => flows.clone(),
            Dispatch::FirstFree => first..first + 1,
        };
        let finished = flows.clone().map(|flow| self.arrivals(flow).len() as u64).sum();
        let last = flows.clone().filter_map(|flow| self.arrivals(flow).last().copied()).max();
        PageRow {
            page,
            group: &self.plan.flows[first].group,
            start: self.sources[first].start_time(),
            finish: last.filter(|_| finished == u64::from(page.objects)),
            finished,
            bytes: self.plan.flows[with_objects].iter().map(bytes).sum(),
        }
    }

    pub(super) fn objects_table(&self) -> Table {
        let flows = 0..self.plan.flows.len();
        let rows: Vec<_> = flows.flat_map(|flow| self.objects(flow)).collect();
        vec![
            ("flow", texts(&rows, |o| &o.flow.name)),
            ("group", texts(&rows, |o| &o.flow.group)),
            ("object", integers(&rows, |o| o.number as u64)),
            ("bytes", integers(&rows, |o| o.request.bytes)),
            ("requested_s", reals(&rows, |o| o.request.at.secs())),
            ("finish_s", reals(&rows, |o| secs(o.finish))),
        ]
    }

    pub(super) fn segments_table(&self) -> Table {
        let flows = 0..self.plan.flows.len();
        let rows: Vec<_> = flows.flat_map(|flow| self.segments(flow)).collect();
        let took = |o: &Object<'_>| o.finish.map_or(f64::NAN, |t| t.since(o.request.at).secs());
        vec![
            ("flow", texts(&rows, |s| &s.object.flow.name)),
            ("group", texts(&rows, |s| &s.object.flow.group)),
            ("segment", integers(&rows, |s| s.object.number as u64)),
            ("bitrate_bps", integers(&rows, |s| s.video.ladder[s.choice.0].0)),
            ("bytes", integers(&rows, |s| s.object.request.bytes)),
            ("requested_s", reals(&rows, |s| s.object.request.at.secs())),
            ("finish_s", reals(&rows, |s| secs(s.object.finish))),
            ("download_s", reals(&rows, |s| took(&s.object))),
            ("buffer_s", reals(&rows, |s| s.choice.1.secs())),
            ("stall_s", reals(&rows, |s| s.stall.map_or(f64::NAN, Span::secs))),
        ]
    }

    /// Packets of calls that arrived. Where none arrived that was sent within [`SILENCE`] of the last one sent, that follows, without a
    /// delay: otherwise an outage at the end would leave no trace.
    pub(super) fn call_packets_table(&self) -> Table {
        let mut rows: Vec<(&Flow, u64, f64, f64)> = Vec::new();
        for ((flow, source), sink) in self.plan.flows.iter().zip(&self.sources).zip(&self.sinks) {
            let Some(packets) = sink.watch().and_then(|watch| watch.packets.as_deref()) else { continue };
            let row = |p: &PacketDelay| (flow, p.number as u64, p.sent.secs(), p.delay.secs());
            rows.extend(packets.iter().map(row));
            let heard = packets.iter().map(|p| p.sent).max();
            if let Some((number, sent)) = source.last_datagram()
                && heard.is_none_or(|heard| heard + SILENCE < sent)
            {
                rows.push((flow, number, sent.secs(), f64::NAN));
            }
        }
        vec![
            ("flow", texts(&rows, |(flow, ..)| &flow.name)),
            ("packet", integers(&rows, |(_, number, ..)| *number)),
            ("sent_s", reals(&rows, |(_, _, sent, _)| *sent)),
            ("delay_s", reals(&rows, |(.., delay)| *delay)),
        ]
    }
}

/// A row of the table of pages.
struct PageRow<'a> {
    page: &'a Page,
    group: &'a str,
    start: Time,
    finish: Option<Time>,
    finished: u64,
    bytes: u64,
}

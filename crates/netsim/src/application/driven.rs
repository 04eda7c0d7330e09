use aqmlab_transport::{Ack, Data, Sender, Supply, Timer};
use aqmlab_units::Time;

use super::{Application, Numbers};
use crate::network::Out;

/// A sender of TCP that does what an application asks for.
#[derive(Debug)]
pub(crate) struct Driven {
    pub sender: Sender,
    pub application: Application,
    numbers: Numbers,
    /// The sequence number behind the object in progress.
    end: u32,
    /// Whether an object is in progress.
    is_busy: bool,
    /// No more is asked for.
    is_over: bool,
    /// The next request will be there then.
    next: Option<Timer>,
}

impl Driven {
    /// `sender` has the first object of the application.
    pub fn new(sender: Sender, application: Application, numbers: Numbers) -> Self {
        let end = sender.end();
        Self { sender, application, numbers, end, is_busy: false, is_over: false, next: None }
    }

    /// The first request.
    pub fn start(&mut self, now: Time, out: &mut impl Out<Data>) {
        self.application.ask(now);
        self.is_busy = true;
        let mut out = marked(self.numbers, self.end, out);
        self.sender.start(now, &mut out);
    }

    /// Nothing more is asked for, and no more is sent. Whether everything is done.
    pub fn stop(&mut self, now: Time, out: &mut impl Out<Data>) -> bool {
        (self.is_over, self.next) = (true, None);
        if self.is_busy {
            self.sender.stop(now, &mut |data| out.put(&data));
            self.is_busy = !self.sender.is_finished();
        }
        !self.is_busy
    }

    /// An acknowledgement arrives. Whether everything is done.
    pub fn on_ack(&mut self, now: Time, ack: &Ack, out: &mut impl Out<Data>) -> bool {
        self.sender.on_ack(now, ack, &mut marked(self.numbers, self.end, out));
        if !self.is_busy || !self.sender.is_finished() {
            return false;
        }
        self.is_busy = false;
        if self.is_over {
            return true;
        }
        match self.application.on_end(now) {
            None => self.is_over = true,
            Some(at) if at <= now => self.request(now, out),
            Some(at) => self.next = Some(Timer { deadline: at, set_at: now }),
        }
        self.is_over
    }

    /// The timer is due.
    pub fn on_timer(&mut self, now: Time, out: &mut impl Out<Data>) {
        if self.timer() == self.next {
            self.next = None;
            self.request(now, out);
        } else {
            self.sender.on_timer(now, &mut marked(self.numbers, self.end, out));
        }
    }

    /// The sender's timer or the next request, whichever comes first.
    pub fn timer(&self) -> Option<Timer> {
        let order = |timer: &Timer| (timer.deadline, timer.set_at);
        [self.next, self.sender.timer()].into_iter().flatten().min_by_key(order)
    }

    fn request(&mut self, now: Time, out: &mut impl Out<Data>) {
        let bytes = self.application.ask(now);
        self.sender.offer(Supply::Bytes(bytes));
        self.end = self.sender.end();
        self.is_busy = true;
        self.sender.go_on(now, &mut marked(self.numbers, self.end, out));
    }
}

/// Says of each packet whether it is the last of the object in progress.
fn marked<'o>(numbers: Numbers, end: u32, out: &'o mut impl Out<Data>) -> impl FnMut(Data) + 'o {
    move |data| {
        out.ends_object(!data.syn() && numbers.behind(&data) == end);
        out.put(&data);
    }
}

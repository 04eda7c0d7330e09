use super::SLOTS;
use crate::message::Message;

const NONE: u32 = u32::MAX;
/// Messages for which a new page has room.
const PAGE: usize = 64;

/// Inputs of the stations, by window, unsorted.
#[derive(Clone, Debug)]
pub(super) struct Inboxes {
    /// Of each station, by its rank.
    inboxes: Vec<Inbox>,
    pages: Vec<Vec<Message>>,
    free: Vec<u32>,
    /// A link does not send in order.
    is_unordered: bool,
}

/// The page of each window, and the inputs after the last window.
#[derive(Clone, Debug)]
struct Inbox {
    pages: [u32; SLOTS as usize],
    /// Windows, a bit each, into whose pages inputs have come late: after inputs that were sent later.
    unordered: u64,
    late: Vec<Message>,
}

impl Inboxes {
    /// Create an inbox for each of so many stations, in a network where all links send in order, or one does not.
    pub fn new(stations: usize, is_unordered: bool) -> Self {
        let inbox = Inbox { pages: [NONE; SLOTS as usize], unordered: 0, late: Vec::new() };
        Self { inboxes: vec![inbox; stations], pages: Vec::new(), free: Vec::new(), is_unordered }
    }

    /// Add an input in a window less than [`SLOTS`] ahead. Return whether it is the first of that window.
    #[inline(always)]
    pub fn put(&mut self, rank: u32, window: u64, message: &Message) -> bool {
        let page = &mut self.inboxes[rank as usize].pages[(window % SLOTS) as usize];
        if let Some(page) = self.pages.get_mut(*page as usize) {
            if page.len() == page.capacity() {
                make_room(page);
            }
            page.push(*message);
            return false;
        }
        self.put_first(rank, window, message);
        true
    }

    /// Add the first input in a window.
    #[inline(never)]
    fn put_first(&mut self, rank: u32, window: u64, message: &Message) {
        let page = self.free.pop().unwrap_or_else(|| {
            self.pages.push(Vec::with_capacity(PAGE));
            self.pages.len() as u32 - 1
        });
        self.inboxes[rank as usize].pages[(window % SLOTS) as usize] = page;
        self.pages[page as usize].push(*message);
    }

    /// Add an input after the last window.
    pub fn put_late(&mut self, rank: u32, message: &Message) {
        self.inboxes[rank as usize].late.push(*message);
    }

    /// Return whether a station has inputs that were too far ahead.
    #[inline(always)]
    pub fn has_late(&self, rank: u32) -> bool {
        !self.inboxes[rank as usize].late.is_empty()
    }

    /// Move the inputs that were too far ahead to their windows, of 2^`shift` ps, if these are before `limit`. Call `first` for
    /// each window of which one is the first input. Return whether any are left.
    pub fn put_due(&mut self, rank: u32, shift: u32, limit: u64, mut first: impl FnMut(u64)) -> bool {
        let mut late = core::mem::take(&mut self.inboxes[rank as usize].late);
        late.retain(|message| {
            let window = message.time.0 >> shift;
            if window < limit {
                if self.put(rank, window, message) {
                    first(window);
                }
                self.inboxes[rank as usize].unordered |= 1 << (window % SLOTS);
            }
            window >= limit
        });
        self.inboxes[rank as usize].late = late;
        !self.inboxes[rank as usize].late.is_empty()
    }

    /// Take the page of a window and its number; the caller must give it back.
    #[inline]
    pub fn take(&mut self, rank: u32, window: u64) -> Option<(u32, Vec<Message>)> {
        let inbox = &mut self.inboxes[rank as usize];
        let page = core::mem::replace(&mut inbox.pages[(window % SLOTS) as usize], NONE);
        self.pages.get_mut(page as usize).map(|messages| (page, core::mem::take(messages)))
    }

    /// [`Inboxes::take`], with the messages of each sender in the order in which they were sent.
    #[inline]
    pub fn take_in_order(&mut self, rank: u32, window: u64) -> Option<(u32, Vec<Message>)> {
        let mut taken = self.take(rank, window);
        let inbox = &mut self.inboxes[rank as usize];
        if self.is_unordered || inbox.unordered >> (window % SLOTS) & 1 != 0 {
            inbox.unordered &= !(1 << (window % SLOTS));
            if let Some((_, messages)) = &mut taken {
                messages.sort_unstable_by_key(Message::key);
            }
        }
        taken
    }

    /// Take the inputs of a window, and those that are too far ahead.
    pub fn take_all(&mut self, rank: u32, window: u64, mut take: impl FnMut(&[Message])) {
        if let Some((page, messages)) = self.take(rank, window) {
            take(&messages);
            self.give_back(page, messages);
        }
        let late = &mut self.inboxes[rank as usize].late;
        if !late.is_empty() {
            take(late);
            late.clear();
        }
    }

    /// Return a page for reuse.
    #[inline]
    pub fn give_back(&mut self, page: u32, mut messages: Vec<Message>) {
        messages.clear();
        self.pages[page as usize] = messages;
        self.free.push(page);
    }
}

/// Pages are reused, so all of them grow to the needed size: not by doubling, after which half of them would be empty.
#[cold]
fn make_room(page: &mut Vec<Message>) {
    page.reserve_exact(page.len() / 8);
}

use core::ops::{Index, IndexMut};

/// One for each class. The first, which is nearly always alone, is at hand.
#[derive(Clone, Debug)]
pub(super) struct ByClass<T> {
    first: T,
    others: Vec<T>,
}

impl<T> From<Vec<T>> for ByClass<T> {
    /// # Panics
    /// If `all` is empty.
    fn from(all: Vec<T>) -> Self {
        let mut all = all.into_iter();
        let first = all.next().expect("at least one class");
        Self { first, others: all.collect() }
    }
}

impl<T> ByClass<T> {
    #[inline]
    pub fn len(&self) -> usize {
        1 + self.others.len()
    }

    /// All of them, with the numbers of their classes.
    pub fn iter_mut(&mut self) -> impl DoubleEndedIterator<Item = (usize, &mut T)> {
        let others = self.others.iter_mut().enumerate().map(|(i, other)| (i + 1, other));
        core::iter::once((0, &mut self.first)).chain(others)
    }
}

impl<T> Index<usize> for ByClass<T> {
    type Output = T;

    #[inline]
    fn index(&self, class: usize) -> &T {
        if class == 0 { &self.first } else { &self.others[class - 1] }
    }
}

impl<T> IndexMut<usize> for ByClass<T> {
    #[inline]
    fn index_mut(&mut self, class: usize) -> &mut T {
        if class == 0 { &mut self.first } else { &mut self.others[class - 1] }
    }
}

//! Access to the tables of a run.

use std::borrow::Cow;

use aqmlab_netsim::{Column, Table, Words};

/// The tables of one run. A table or column may be absent.
pub trait Tables {
    /// Return a column of numbers; missing values are NaN.
    fn numbers(&self, table: &'static str, column: &'static str) -> Option<Cow<'_, [f64]>>;

    /// Return a column of words.
    fn words(&self, table: &'static str, column: &'static str) -> Option<Cow<'_, Words>>;
}

fn column<'t>(tables: &'t [(&str, Table)], table: &str, column: &str) -> Option<&'t Column> {
    let (_, columns) = tables.iter().find(|(name, _)| *name == table)?;
    columns.iter().find_map(|(name, values)| (*name == column).then_some(values))
}

/// Tables as the simulator returns them.
impl Tables for Vec<(&str, Table)> {
    fn numbers(&self, table: &'static str, name: &'static str) -> Option<Cow<'_, [f64]>> {
        match column(self, table, name)? {
            Column::Real(values) => Some(Cow::Borrowed(values)),
            Column::Integer(values) => Some(values.iter().map(|&value| value as f64).collect()),
            Column::Text(_) => None,
        }
    }

    fn words(&self, table: &'static str, name: &'static str) -> Option<Cow<'_, Words>> {
        match column(self, table, name)? {
            Column::Text(words) => Some(Cow::Borrowed(words)),
            Column::Real(_) | Column::Integer(_) => None,
        }
    }
}

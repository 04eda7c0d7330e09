use aqmlab_netsim::{Column, Table};

use super::Tables;

/// Maximum number of differences reported per table.
const MAX_REPORTED: usize = 5;

/// Where tables of the same name differ, in words; columns and rows that only one of them has count too. Tables that
/// only one side has do not.
pub fn differences(a: &Tables, b: &Tables) -> Vec<String> {
    let of = |name: &str| b.iter().find(|(other, _)| *other == name).map(|(_, table)| table);
    a.iter()
        .filter_map(|(name, table)| Some((name, table, of(name)?)))
        .flat_map(|(name, a, b)| table_differences(name, a, b))
        .collect()
}

fn table_differences(name: &str, a: &Table, b: &Table) -> Vec<String> {
    let mut found = Vec::new();
    let columns = |table: &Table| table.iter().map(|(column, _)| *column).collect::<Vec<_>>();
    if columns(a) != columns(b) {
        return vec![format!("{name}: columns {:?} and {:?}", columns(a), columns(b))];
    }
    for ((column, a), (_, b)) in a.iter().zip(b) {
        let (a, b) = (cells(a), cells(b));
        if a.len() != b.len() {
            found.push((a.len().min(b.len()), format!("{name}: {} rows and {}", a.len(), b.len())));
        }
        let pairs = a.iter().zip(&b).enumerate().filter(|(_, (a, b))| a != b);
        found.extend(pairs.map(|(row, (a, b))| (row, format!("{name}, row {row}: {column} {a} and {b}"))));
    }
    found.sort();
    found.dedup();
    found.into_iter().take(MAX_REPORTED).map(|(_, text)| text).collect()
}

/// Every cell in words that differ where the values do.
fn cells(column: &Column) -> Vec<String> {
    match column {
        Column::Integer(values) => values.iter().map(i64::to_string).collect(),
        Column::Real(values) => values.iter().map(|value| format!("{value:?}")).collect(),
        Column::Text(values) => values.iter().map(str::to_owned).collect(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tables(values: &[f64]) -> Tables {
        vec![("t", vec![("x", Column::Real(values.to_vec()))])]
    }

    #[test]
    fn differences_by_hand() {
        assert_eq!(differences(&tables(&[1.0, f64::NAN]), &tables(&[1.0, f64::NAN])), [""; 0]);
        let said = differences(&tables(&[1.0, 2.0]), &tables(&[1.0, 2.5, 3.0]));
        assert_eq!(said, ["t, row 1: x 2.0 and 2.5", "t: 2 rows and 3"]);
        assert_eq!(differences(&tables(&[0.0; 9]), &tables(&[1.0; 9])).len(), MAX_REPORTED);
        let other = vec![("t", vec![("y", Column::Integer(vec![]))])];
        assert_eq!(differences(&tables(&[]), &other), ["t: columns [\"x\"] and [\"y\"]"]);
        assert_eq!(differences(&tables(&[1.0]), &vec![]), [""; 0], "a table that one side has not");
    }
}

//! Which class a packet belongs to, by its code point.

use super::ParameterError;

/// Most classes of a queue.
const MAX_CLASSES: usize = 8;

/// The class of each code point.
#[derive(Clone, Debug)]
pub(crate) struct CodePoints(pub(super) [u8; 64]);

impl CodePoints {
    /// The class of a packet.
    pub fn class(&self, dscp: u8) -> usize {
        usize::from(self.0[usize::from(dscp & 63)])
    }
}

/// The class of each code point, from each class's name, code points, and whether it is the default.
pub(crate) fn code_points(classes: &[(&str, &[u8], bool)]) -> Result<CodePoints, Vec<ParameterError>> {
    let error = |key: String, message: String, allowed: &str| {
        Err(vec![ParameterError { key, message, allowed: allowed.into() }])
    };
    if classes.len() > MAX_CLASSES {
        let message = format!("there are {} classes", classes.len());
        return error("class".into(), message, &format!("at most {MAX_CLASSES}"));
    }
    let defaults: Vec<_> = (0..classes.len()).filter(|&i| classes[i].2).collect();
    let &[default] = defaults.as_slice() else {
        let key = defaults.get(1).map_or("class".into(), |&i| format!("class.{}.default", classes[i].0));
        let message = match defaults.len() {
            0 => "no class is the default, for packets with other code points".to_owned(),
            n => format!("{n} classes are the default"),
        };
        return error(key, message, "default = true in exactly one class");
    };
    let mut of = [None; 64];
    for (i, &(class, codes, _)) in classes.iter().enumerate() {
        for &dscp in codes {
            if let Some(other) = of[usize::from(dscp & 63)].replace(i) {
                let name = classes[other].0;
                let message = format!("code point {dscp} is class {name}'s already");
                return error(format!("class.{class}.dscp"), message, "each code point once");
            }
        }
    }
    Ok(CodePoints(of.map(|class| class.unwrap_or(default) as u8)))
}

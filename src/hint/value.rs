//! Reading the value of a hint: what was typed becomes one spelling, or a reason why not.

use super::table::Kind;
use crate::report::Wanted;

/// A switch that may be left to the library.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[allow(missing_docs)]
pub enum Toggle {
    Enable,
    Disable,
    #[default]
    Automatic,
}

/// The one spelling of `text` as a value of this kind, or why it is none.
pub(super) fn canonical(kind: Kind, text: &str) -> Result<String, String> {
    let text = text.trim();
    if text.is_empty() {
        return Err("the value is empty".into());
    }
    match kind {
        Kind::Boolean => match truth(text) {
            Some(truth) => Ok(truth.to_string()),
            None => Err(format!("'{text}' is neither true nor false")),
        },
        Kind::Toggle => match toggle(text) {
            Some(Toggle::Enable) => Ok("enable".into()),
            Some(Toggle::Disable) => Ok("disable".into()),
            Some(Toggle::Automatic) => Ok("automatic".into()),
            None => Err(format!("'{text}' is not enable, disable or automatic")),
        },
        Kind::Size(least) => whole(text, size(text), least, "a number of bytes"),
        Kind::Count(least) => whole(text, text.parse().ok(), least, "a whole number"),
        Kind::Choice(names) => {
            let name = text.to_ascii_lowercase();
            match names.split(", ").any(|known| known == name) {
                true => Ok(name),
                false => Err(format!("'{text}' is none of {names}")),
            }
        }
        Kind::Permissions => match permissions(text) {
            Some(bits) => Ok(format!("{bits:04o}")),
            None => Err(format!("'{text}' is not a set of permission bits in octal")),
        },
        Kind::Report => match Wanted::parse(text) {
            Some(wanted) => Ok(wanted.to_string()),
            None => Err(format!("'{text}' is not 0, text, json, text:PATH or json:PATH")),
        },
        Kind::Text | Kind::ReadOnly => Ok(text.into()),
    }
}

fn whole(text: &str, number: Option<i64>, least: i64, what: &str) -> Result<String, String> {
    match number {
        Some(number) if number >= least => Ok(number.to_string()),
        Some(_) => Err(format!("{text} is less than {least}")),
        None => Err(format!("'{text}' is not {what}")),
    }
}

/// The switch a canonical or a typed value means. Booleans are taken too: the same switch is a
/// boolean in Open MPI and an enable/disable in ROMIO.
pub(super) fn toggle(text: &str) -> Option<Toggle> {
    match text.to_ascii_lowercase().as_str() {
        "enable" | "enabled" | "requested" => Some(Toggle::Enable),
        "disable" | "disabled" => Some(Toggle::Disable),
        "automatic" | "auto" => Some(Toggle::Automatic),
        other => truth(other).map(|on| if on { Toggle::Enable } else { Toggle::Disable }),
    }
}

/// The boolean a value means; numbers are true unless zero, as in C.
pub(super) fn truth(text: &str) -> Option<bool> {
    match text.to_ascii_lowercase().as_str() {
        "true" | "yes" | "on" | "enable" | "enabled" => Some(true),
        "false" | "no" | "off" | "disable" | "disabled" => Some(false),
        other => other.parse::<i64>().ok().map(|number| number != 0),
    }
}

/// Bytes, with an optional suffix: `4194304`, `4m`, `4M`, `4MiB`, `4MB` are the same.
fn size(text: &str) -> Option<i64> {
    let end = text.rfind(|c: char| c.is_ascii_digit()).map_or(0, |last| last + 1);
    let (digits, suffix) = text.split_at(end);
    let shift = match suffix.trim().to_ascii_lowercase().as_str() {
        "" | "b" => 0,
        "k" | "kb" | "kib" => 10,
        "m" | "mb" | "mib" => 20,
        "g" | "gb" | "gib" => 30,
        "t" | "tb" | "tib" => 40,
        _ => return None,
    };
    digits.parse::<i64>().ok()?.checked_mul(1 << shift)
}

/// Permission bits: at most twelve, in octal.
pub(super) fn permissions(text: &str) -> Option<u32> {
    let digits = text.strip_prefix("0o").unwrap_or(text);
    u32::from_str_radix(digits, 8).ok().filter(|&bits| bits <= 0o7777 && !digits.starts_with('+'))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(kind: Kind, text: &str, expected: Result<&str, &str>) {
        let expected = expected.map(String::from).map_err(String::from);
        assert_eq!(canonical(kind, text), expected, "{kind:?} {text}");
    }

    #[test]
    fn sizes() {
        check(Kind::Size(1), "8388608", Ok("8388608"));
        check(Kind::Size(1), " 16M ", Ok("16777216"));
        check(Kind::Size(1), "1 GiB", Ok("1073741824"));
        check(Kind::Size(1), "abc", Err("'abc' is not a number of bytes"));
        check(Kind::Size(1), "4q", Err("'4q' is not a number of bytes"));
        check(Kind::Size(1), "-4", Err("-4 is less than 1"));
        check(Kind::Size(1), "0", Err("0 is less than 1"));
        check(Kind::Size(0), "0", Ok("0"));
        check(Kind::Size(1), "9T", Ok("9895604649984"));
        check(Kind::Size(1), "9999999T", Err("'9999999T' is not a number of bytes"));
        check(
            Kind::Size(1),
            "99999999999999999999",
            Err("'99999999999999999999' is not a number of bytes"),
        );
    }

    #[test]
    fn counts() {
        check(Kind::Count(0), "07", Ok("7"));
        check(Kind::Count(-1), "-1", Ok("-1"));
        check(Kind::Count(-1), "-2", Err("-2 is less than -1"));
        check(Kind::Count(0), "4M", Err("'4M' is not a whole number"));
        check(Kind::Count(0), "", Err("the value is empty"));
    }

    #[test]
    fn switches() {
        check(Kind::Toggle, "ENABLE", Ok("enable"));
        check(Kind::Toggle, "requested", Ok("enable"));
        check(Kind::Toggle, "0", Ok("disable"));
        check(Kind::Toggle, "auto", Ok("automatic"));
        check(Kind::Toggle, "perhaps", Err("'perhaps' is not enable, disable or automatic"));
        check(Kind::Boolean, "TRUE", Ok("true"));
        check(Kind::Boolean, "1", Ok("true"));
        check(Kind::Boolean, "disable", Ok("false"));
        check(Kind::Boolean, "maybe", Err("'maybe' is neither true nor false"));
    }

    #[test]
    fn choices() {
        check(Kind::Choice("automatic, even"), " EVEN", Ok("even"));
        check(Kind::Choice("automatic, even"), "odd", Err("'odd' is none of automatic, even"));
        check(
            Kind::Choice("automatic, even"),
            "automatic, even",
            Err("'automatic, even' is none of automatic, even"),
        );
    }

    #[test]
    fn permission_bits() {
        check(Kind::Permissions, "644", Ok("0644"));
        check(Kind::Permissions, "0o600", Ok("0600"));
        let why = "'rw' is not a set of permission bits in octal";
        check(Kind::Permissions, "rw", Err(why));
        check(Kind::Permissions, "99999", Err("'99999' is not a set of permission bits in octal"));
    }

    #[test]
    fn reports() {
        check(Kind::Report, "1", Ok("text"));
        check(Kind::Report, "json:/a/b", Ok("json:/a/b"));
        check(Kind::Report, "xml", Err("'xml' is not 0, text, json, text:PATH or json:PATH"));
    }
}

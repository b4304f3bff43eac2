//! Format strings that are constants: which conversion each value gets.
//!
//! ```python
//! "%s: %r" % (name, value)     # str(name), repr(value)
//! "{} {!r}".format(a, b)       # format(a), repr(b)
//! ```
//! Library Reference "printf-style String Formatting" and "Format String Syntax".

/// Which value a conversion takes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Field {
    /// The value at this place.
    Position(u32),
    /// The value of this name.
    Name(String),
}

/// A value and the special method by which it is converted.
pub(crate) type Conversion = (Field, &'static str);

/// The conversions of a `%` format: `%[(name)][flags][width][.precision][length]type`.
pub(crate) fn percent_conversions(format: &str) -> Vec<Conversion> {
    let mut found = Vec::new();
    let mut place = 0;
    let mut rest = format.chars().peekable();
    while let Some(c) = rest.next() {
        if c != '%' {
            continue;
        }
        let mut name = None;
        if rest.next_if_eq(&'(').is_some() {
            let mut depth = 1;
            let mut text = String::new();
            for c in rest.by_ref() {
                depth += i32::from(c == '(') - i32::from(c == ')');
                if depth == 0 {
                    break;
                }
                text.push(c);
            }
            name = Some(text);
        }
        // A `*` takes a value of its own.
        while let Some(c) = rest.next_if(|&c| c.is_ascii_digit() || "#0- +.*hlL".contains(c)) {
            place += u32::from(c == '*');
        }
        let method = match rest.next() {
            Some('s') => "__str__",
            Some('r' | 'a') => "__repr__",
            Some('d' | 'i' | 'u') => "__int__",
            Some('e' | 'E' | 'f' | 'F' | 'g' | 'G') => "__float__",
            Some('x' | 'X' | 'o' | 'c') => "__index__",
            _ => continue,
        };
        let field = match name {
            Some(name) => Field::Name(name),
            None => Field::Position(place),
        };
        place += 1;
        found.push((field, method));
    }
    found
}

/// The fields of a `str.format` format that have a conversion: `{[name][!conversion][:spec]}`. Of `{a.b[c]!r}` it is an
/// attribute that is converted, which is left out.
pub(crate) fn brace_conversions(format: &str) -> Vec<Conversion> {
    let mut found = Vec::new();
    let mut automatic = 0;
    let mut rest = format.chars().peekable();
    while let Some(c) = rest.next() {
        if c != '{' || rest.next_if_eq(&'{').is_some() {
            continue;
        }
        let mut text = String::new();
        while let Some(c) = rest.next_if(|&c| !"!:{}".contains(c)) {
            text.push(c);
        }
        let number = automatic;
        automatic += u32::from(text.is_empty());
        if rest.next_if_eq(&'!').is_none() {
            continue;
        }
        let method = match rest.next() {
            Some('s') => "__str__",
            Some('r' | 'a') => "__repr__",
            _ => continue,
        };
        let field = if text.is_empty() {
            Field::Position(number)
        } else if let Ok(number) = text.parse() {
            Field::Position(number)
        } else if text.contains(['.', '[']) {
            continue;
        } else {
            Field::Name(text)
        };
        found.push((field, method));
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn percent_formats_take_their_values_in_order() {
        let at = |place, method| (Field::Position(place), method);
        assert_eq!(percent_conversions("%s and %r"), [at(0, "__str__"), at(1, "__repr__")]);
        assert_eq!(percent_conversions("100%% of %-5.2f"), [at(0, "__float__")]);
        assert_eq!(percent_conversions("%*d %x"), [at(1, "__int__"), at(2, "__index__")]);
        assert_eq!(
            percent_conversions("%(name)r"),
            [(Field::Name("name".to_owned()), "__repr__")]
        );
        assert_eq!(percent_conversions("50%"), []);
    }

    #[test]
    fn brace_formats_number_their_fields() {
        let at = |place, method| (Field::Position(place), method);
        assert_eq!(brace_conversions("{} {!r} {{!r}}"), [at(1, "__repr__")]);
        assert_eq!(
            brace_conversions("{1!s:>5} {0!a}"),
            [at(1, "__str__"), at(0, "__repr__")]
        );
        assert_eq!(
            brace_conversions("{name!r} {x.y!r}"),
            [(Field::Name("name".to_owned()), "__repr__")]
        );
    }
}

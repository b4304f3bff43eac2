//! Magic numbers: which implementation and version wrote a `.pyc`.
//!
//! The first two bytes of a `.pyc` count the changes of the bytecode. A number belongs to one *stage* of one version: a
//! pre-release such as `a4` (the next one when the change was made), or `final` for what releases write. The reader
//! takes released numbers only, since opcodes and layouts still moved between pre-releases.
//! Sources: to 3.13 the list in CPython's `Lib/importlib/_bootstrap_external.py`; the released numbers of 3.8 to 3.15 as
//! those interpreters report them. The stages of pre-releases of 3.14 and 3.15 and the numbers of other implementations
//! are second-hand (the table of the package `xdis`, and notes) and serve messages only: no such file is read.

use crate::PythonVersion;
use std::fmt;

/// An implementation of Python that writes `.pyc` files.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Family {
    /// The reference implementation.
    CPython,
    /// PyPy
    PyPy,
    /// GraalPy
    GraalPy,
    /// RustPython
    RustPython,
}

impl Family {
    /// Its name.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::CPython => "CPython",
            Self::PyPy => "PyPy",
            Self::GraalPy => "GraalPy",
            Self::RustPython => "RustPython",
        }
    }
}

/// What a magic number says about who wrote a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct MagicInfo {
    /// The number.
    pub magic: u16,
    /// Who uses it, if that is known.
    pub family: Option<Family>,
    /// The Python version it stands for, if that is known.
    pub version: Option<PythonVersion>,
    /// Stage of the version: `final`, a pre-release such as `a4`, or `unreleased` for a number in a version's range
    /// that no release uses as far as this table knows. Empty if the number is not known.
    pub stage: &'static str,
}

impl MagicInfo {
    /// Whether a released version writes this number.
    #[must_use]
    pub fn is_released(&self) -> bool {
        // The table ends with the release candidate of 3.15, from which on the bytecode is frozen.
        self.stage == FINAL || self.stage == NEWEST_STAGE
    }
    /// The version, if files with this number can be read.
    #[must_use]
    pub fn readable_version(&self) -> Option<PythonVersion> {
        let version = self.version?;
        (self.family == Some(Family::CPython) && self.is_released() && version.is_supported()).then_some(version)
    }
}

impl fmt::Display for MagicInfo {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let magic = self.magic;
        let Some(family) = self.family else {
            return write!(f, "magic number {magic} belongs to no known version of Python");
        };
        write!(f, "written by {}", family.name())?;
        match self.version {
            Some(version) => write!(f, " {version}")?,
            None => f.write_str(" (version not known)")?,
        }
        match self.stage {
            FINAL | "" => {}
            "unreleased" => f.write_str(" (unreleased or newer than this program)")?,
            "pre-release" => f.write_str(" (a pre-release)")?,
            stage => write!(f, "{stage} (a pre-release)")?,
        }
        write!(f, ", magic number {magic}")
    }
}

const FINAL: &str = "final";
const NEWEST_STAGE: &str = "rc1";
const UNRELEASED: &str = "unreleased";

/// Identifies the writer of a file by the first two bytes (little endian).
#[must_use]
pub fn identify_magic(magic: u16) -> MagicInfo {
    let info = |family, version, stage| MagicInfo {
        magic,
        family: Some(family),
        version,
        stage,
    };
    if let Ok(at) = CPYTHON.binary_search_by_key(&magic, |row| row.0) {
        let (_, major, minor, stage) = CPYTHON[at];
        return info(Family::CPython, Some(PythonVersion { major, minor }), stage);
    }
    if let Some(&(_, family, major, minor)) = OTHERS.iter().find(|row| row.0 == magic) {
        return info(family, Some(PythonVersion { major, minor }), FINAL);
    }
    // Python 2 run with -U (string literals are unicode) adds one.
    if magic >= 20_000
        && let Ok(at) = CPYTHON.binary_search_by_key(&(magic - 1), |row| row.0)
    {
        let (_, major, minor, stage) = CPYTHON[at];
        return info(Family::CPython, Some(PythonVersion { major, minor }), stage);
    }
    match magic {
        // From 3.11 on, version 3.n owns the fifty numbers from 2900 + 50n.
        3450..=3999 => {
            let minor = u8::try_from((magic - 2900) / 50).unwrap_or(u8::MAX);
            info(Family::CPython, Some(PythonVersion::new(minor)), UNRELEASED)
        }
        3000..=3449 => info(Family::CPython, None, UNRELEASED),
        // PyPy counts in steps of 16 from a small number.
        16..=999 if magic.is_multiple_of(16) => info(Family::PyPy, None, UNRELEASED),
        _ => MagicInfo {
            magic,
            family: None,
            version: None,
            stage: "",
        },
    }
}

/// Every number of the table with what it stands for, in ascending order per family.
pub fn known_magics() -> impl Iterator<Item = MagicInfo> {
    let numbers = CPYTHON.iter().map(|row| row.0).chain(OTHERS.iter().map(|row| row.0));
    numbers.map(identify_magic)
}

/// Implementations other than CPython: number, who, version.
#[rustfmt::skip]
const OTHERS: &[(u16, Family, u8, u8)] = &[
    (48, Family::PyPy, 3, 2), (64, Family::PyPy, 3, 3), (112, Family::PyPy, 3, 5), (160, Family::PyPy, 3, 6),
    (192, Family::PyPy, 3, 6), (224, Family::PyPy, 3, 7), (240, Family::PyPy, 3, 7), (244, Family::PyPy, 3, 7),
    (256, Family::PyPy, 3, 8), (320, Family::PyPy, 3, 9), (336, Family::PyPy, 3, 9), (384, Family::PyPy, 3, 10),
    (416, Family::PyPy, 3, 11), (3187, Family::PyPy, 3, 2), (62218, Family::PyPy, 2, 7),
    (2997, Family::RustPython, 3, 13), (12641, Family::RustPython, 3, 12), (12897, Family::RustPython, 3, 12),
    (13413, Family::RustPython, 3, 13), (24881, Family::RustPython, 3, 13),
    (21150, Family::GraalPy, 3, 8), (21260, Family::GraalPy, 3, 8), (21280, Family::GraalPy, 3, 10),
    (21290, Family::GraalPy, 3, 11),
];

/// CPython: number, version, stage. Sorted by number.
#[rustfmt::skip]
const CPYTHON: &[(u16, u8, u8, &str)] = &[
    // 3.0
    (3000, 3, 0, "a"), (3010, 3, 0, "a"), (3020, 3, 0, "a"), (3030, 3, 0, "a"), (3040, 3, 0, "a"), (3050, 3, 0, "a"),
    (3060, 3, 0, "a"), (3061, 3, 0, "a"), (3071, 3, 0, "a"), (3081, 3, 0, "a"), (3091, 3, 0, "a"), (3101, 3, 0, "a"),
    (3103, 3, 0, "a"), (3111, 3, 0, "a4"), (3131, 3, 0, "final"),
    // 3.1
    (3141, 3, 1, "a1"), (3151, 3, 1, "final"),
    // 3.2
    (3160, 3, 2, "a1"), (3170, 3, 2, "a2"), (3180, 3, 2, "final"),
    // 3.3
    (3190, 3, 3, "a1"), (3200, 3, 3, "a1"), (3210, 3, 3, "a1"), (3220, 3, 3, "a2"), (3230, 3, 3, "final"),
    // 3.4
    (3250, 3, 4, "a1"), (3260, 3, 4, "a1"), (3270, 3, 4, "a1"), (3280, 3, 4, "a1"), (3290, 3, 4, "a4"),
    (3300, 3, 4, "a4"), (3310, 3, 4, "final"),
    // 3.5
    (3320, 3, 5, "a1"), (3330, 3, 5, "b1"), (3340, 3, 5, "b2"), (3350, 3, 5, "final"), (3351, 3, 5, "final"),
    // 3.6
    (3360, 3, 6, "a0"), (3361, 3, 6, "a1"), (3370, 3, 6, "a2"), (3371, 3, 6, "a2"), (3372, 3, 6, "a2"),
    (3373, 3, 6, "b1"), (3375, 3, 6, "b1"), (3376, 3, 6, "b1"), (3377, 3, 6, "b1"), (3378, 3, 6, "b2"),
    (3379, 3, 6, "final"),
    // 3.7
    (3390, 3, 7, "a1"), (3391, 3, 7, "a2"), (3392, 3, 7, "a4"), (3393, 3, 7, "b1"), (3394, 3, 7, "final"),
    // 3.8
    (3400, 3, 8, "a1"), (3401, 3, 8, "a1"), (3410, 3, 8, "a1"), (3411, 3, 8, "b2"), (3412, 3, 8, "b2"),
    (3413, 3, 8, "final"),
    // 3.9
    (3420, 3, 9, "a0"), (3421, 3, 9, "a0"), (3422, 3, 9, "a0"), (3423, 3, 9, "a2"), (3424, 3, 9, "a2"),
    (3425, 3, 9, "final"),
    // 3.10
    (3430, 3, 10, "a1"), (3431, 3, 10, "a1"), (3432, 3, 10, "a2"), (3433, 3, 10, "a2"), (3434, 3, 10, "a6"),
    (3435, 3, 10, "a7"), (3436, 3, 10, "b1"), (3437, 3, 10, "b1"), (3438, 3, 10, "b1"), (3439, 3, 10, "final"),
    // 3.11
    (3450, 3, 11, "a1"), (3451, 3, 11, "a1"), (3452, 3, 11, "a1"), (3453, 3, 11, "a1"), (3454, 3, 11, "a1"),
    (3455, 3, 11, "a1"), (3456, 3, 11, "a1"), (3457, 3, 11, "a1"), (3458, 3, 11, "a1"), (3459, 3, 11, "a1"),
    (3460, 3, 11, "a1"), (3461, 3, 11, "a1"), (3462, 3, 11, "a2"), (3463, 3, 11, "a3"), (3464, 3, 11, "a3"),
    (3465, 3, 11, "a3"), (3466, 3, 11, "a4"), (3467, 3, 11, "a4"), (3468, 3, 11, "a4"), (3469, 3, 11, "a4"),
    (3470, 3, 11, "a4"), (3471, 3, 11, "a4"), (3472, 3, 11, "a4"), (3473, 3, 11, "a4"), (3474, 3, 11, "a4"),
    (3475, 3, 11, "a5"), (3476, 3, 11, "a5"), (3477, 3, 11, "a5"), (3478, 3, 11, "a5"), (3479, 3, 11, "a5"),
    (3480, 3, 11, "a5"), (3481, 3, 11, "a5"), (3482, 3, 11, "a5"), (3483, 3, 11, "a5"), (3484, 3, 11, "a5"),
    (3485, 3, 11, "a5"), (3486, 3, 11, "a6"), (3487, 3, 11, "a6"), (3488, 3, 11, "a6"), (3489, 3, 11, "a6"),
    (3490, 3, 11, "a6"), (3491, 3, 11, "a6"), (3492, 3, 11, "a7"), (3493, 3, 11, "a7"), (3494, 3, 11, "a7"),
    (3495, 3, 11, "final"),
    // 3.12
    (3500, 3, 12, "a1"), (3501, 3, 12, "a1"), (3502, 3, 12, "a1"), (3503, 3, 12, "a1"), (3504, 3, 12, "a1"),
    (3505, 3, 12, "a1"), (3506, 3, 12, "a1"), (3507, 3, 12, "a1"), (3508, 3, 12, "a1"), (3509, 3, 12, "a1"),
    (3510, 3, 12, "a2"), (3511, 3, 12, "a2"), (3512, 3, 12, "a2"), (3513, 3, 12, "a4"), (3514, 3, 12, "a4"),
    (3515, 3, 12, "a5"), (3516, 3, 12, "a5"), (3517, 3, 12, "a5"), (3518, 3, 12, "a6"), (3519, 3, 12, "a6"),
    (3520, 3, 12, "a6"), (3521, 3, 12, "a7"), (3522, 3, 12, "a7"), (3523, 3, 12, "a7"), (3524, 3, 12, "a7"),
    (3525, 3, 12, "b1"), (3526, 3, 12, "b1"), (3527, 3, 12, "b1"), (3528, 3, 12, "b1"), (3529, 3, 12, "b1"),
    (3530, 3, 12, "b1"), (3531, 3, 12, "final"),
    // 3.13
    (3550, 3, 13, "a1"), (3551, 3, 13, "a1"), (3552, 3, 13, "a1"), (3553, 3, 13, "a1"), (3554, 3, 13, "a1"),
    (3555, 3, 13, "a1"), (3556, 3, 13, "a1"), (3557, 3, 13, "a1"), (3558, 3, 13, "a1"), (3559, 3, 13, "a1"),
    (3560, 3, 13, "a1"), (3561, 3, 13, "a1"), (3562, 3, 13, "a1"), (3563, 3, 13, "a1"), (3564, 3, 13, "a1"),
    (3565, 3, 13, "a1"), (3566, 3, 13, "a1"), (3567, 3, 13, "a1"), (3568, 3, 13, "a1"), (3569, 3, 13, "a5"),
    (3570, 3, 13, "a6"), (3571, 3, 13, "final"),
    // 3.14
    (3600, 3, 14, "a1"), (3601, 3, 14, "a1"), (3602, 3, 14, "a1"), (3603, 3, 14, "a1"), (3604, 3, 14, "a1"),
    (3605, 3, 14, "a1"), (3606, 3, 14, "a1"), (3607, 3, 14, "a1"), (3608, 3, 14, "a1"), (3609, 3, 14, "a2"),
    (3610, 3, 14, "a4"), (3611, 3, 14, "a4"), (3612, 3, 14, "a4"), (3613, 3, 14, "a4"), (3614, 3, 14, "a4"),
    (3615, 3, 14, "a5"), (3616, 3, 14, "a5"), (3617, 3, 14, "a6"), (3618, 3, 14, "a6"), (3619, 3, 14, "a6"),
    (3620, 3, 14, "a7"), (3621, 3, 14, "a7"), (3622, 3, 14, "a7"), (3623, 3, 14, "a7"), (3624, 3, 14, "b1"),
    (3625, 3, 14, "b3"), (3626, 3, 14, "rc2"), (3627, 3, 14, "final"),
    // 3.15
    (3650, 3, 15, "a1"), (3651, 3, 15, "a1"), (3652, 3, 15, "a1"), (3653, 3, 15, "a1"), (3654, 3, 15, "a1"),
    (3655, 3, 15, "a1"), (3656, 3, 15, "a2"), (3657, 3, 15, "pre-release"), (3658, 3, 15, "pre-release"),
    (3659, 3, 15, "pre-release"), (3660, 3, 15, "pre-release"), (3661, 3, 15, "pre-release"),
    (3662, 3, 15, "pre-release"), (3663, 3, 15, "pre-release"), (3664, 3, 15, "pre-release"),
    (3665, 3, 15, "pre-release"), (3666, 3, 15, "rc1"),
    // 1.5
    (20121, 1, 5, "final"),
    // 1.6
    (50428, 1, 6, "final"),
    // 2.0
    (50823, 2, 0, "final"),
    // 2.1
    (60202, 2, 1, "final"),
    // 2.2
    (60717, 2, 2, "final"),
    // 2.3
    (62011, 2, 3, "a0"), (62021, 2, 3, "final"),
    // 2.4
    (62041, 2, 4, "a0"), (62051, 2, 4, "a3"), (62061, 2, 4, "final"),
    // 2.5
    (62071, 2, 5, "a0"), (62081, 2, 5, "a0"), (62091, 2, 5, "a0"), (62092, 2, 5, "a0"), (62101, 2, 5, "b3"),
    (62111, 2, 5, "b3"), (62121, 2, 5, "c1"), (62131, 2, 5, "final"),
    // 2.6
    (62151, 2, 6, "a0"), (62161, 2, 6, "final"),
    // 2.7
    (62171, 2, 7, "a0"), (62181, 2, 7, "a0"), (62191, 2, 7, "a0"), (62201, 2, 7, "a0"), (62211, 2, 7, "final"),
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_table_is_sorted() {
        assert!(CPYTHON.windows(2).all(|pair| pair[0].0 < pair[1].0));
    }

    #[test]
    fn every_version_since_3_0_has_a_released_number() {
        for minor in 0..=15 {
            let released: Vec<_> = known_magics()
                .filter(|info| info.family == Some(Family::CPython) && info.version == Some(PythonVersion::new(minor)))
                .filter(MagicInfo::is_released)
                .collect();
            // 3.5.2 changed it in a maintenance release.
            assert_eq!(released.len(), if minor == 5 { 2 } else { 1 }, "3.{minor}");
            assert!(
                released
                    .iter()
                    .all(|info| info.readable_version().is_some() == (minor >= 8))
            );
        }
    }

    #[test]
    fn names_of_what_cannot_be_read() {
        let text = |magic| identify_magic(magic).to_string();
        assert_eq!(text(3394), "written by CPython 3.7, magic number 3394");
        assert_eq!(
            text(3470),
            "written by CPython 3.11a4 (a pre-release), magic number 3470"
        );
        assert_eq!(text(62211), "written by CPython 2.7, magic number 62211");
        assert_eq!(text(62212), "written by CPython 2.7, magic number 62212");
        assert_eq!(text(336), "written by PyPy 3.9, magic number 336");
        assert_eq!(
            text(432),
            "written by PyPy (version not known) (unreleased or newer than this program), magic number 432"
        );
        assert_eq!(
            text(3712),
            "written by CPython 3.16 (unreleased or newer than this program), magic number 3712"
        );
        assert_eq!(text(7), "magic number 7 belongs to no known version of Python");
    }
}

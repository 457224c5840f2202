//! The portable kernels, compiled for 32-byte vectors.

use super::{Choice, Cost, Course, Line, Table, Values, Ways, portable};

#[target_feature(enable = "avx2,bmi2")]
pub(super) fn embed(lines: &mut [Line], values: &Values, course: &mut Course, ways: Ways<'_>) -> Cost {
    portable::embed(lines, values, course, ways)
}

#[target_feature(enable = "avx2,bmi2")]
pub(super) fn extract(lines: &[Line], values: &mut Values, course: &mut Course, table: &Table, choices: &[Choice]) {
    portable::extract(lines, values, course, table, choices);
}

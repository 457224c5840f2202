//! The tests of the crate through its public interface, as one program.

mod coarse_clocks;
mod emulation;
mod foreign;
mod prepared;
mod report;
mod speed;
mod taint;
mod timing;
mod trace;
mod trace_aarch64;
mod trace_doubt;
mod trace_instructions;
mod traced;

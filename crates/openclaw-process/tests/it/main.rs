//! Programs that behave and programs that don't, started and ended for real.

#[cfg(target_os = "linux")]
#[cfg(test)]
mod ending;
#[cfg(target_os = "linux")]
#[cfg(test)]
mod programs;
#[cfg(target_os = "linux")]
#[cfg(test)]
mod starting;
#[cfg(target_os = "linux")]
#[cfg(test)]
mod sudden_death;

//! The store of sessions: in one process, in many, killed, damaged, without room.

#[cfg(test)]
mod damage;
#[cfg(unix)]
#[cfg(test)]
mod full;
#[cfg(test)]
mod keys;
#[cfg(test)]
mod kills;
#[cfg(test)]
mod lab;
#[cfg(test)]
mod media;
#[cfg(test)]
mod retention;
#[cfg(test)]
mod together;
#[cfg(test)]
mod turns;
#[cfg(test)]
mod worker;
